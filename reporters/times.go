package reporters

import (
	"math"
	"strconv"

	"runner/reporters/stats"
)

// unitOf picks the one unit of a table of times, so that its columns can be
// compared: milliseconds with as many decimals as the smaller values need, seconds
// where milliseconds could not be read.
func unitOf(ds []*stats.Distribution) timeUnit {
	smallest, largest := math.Inf(1), 0.0
	for _, d := range ds {
		if d == nil {
			continue
		}
		typical := d.Mean
		if d.P50 != nil {
			typical = float64(*d.P50)
		}
		smallest, largest = min(smallest, typical), max(largest, float64(d.Max))
	}
	switch {
	case largest >= 1e11:
		return timeUnit{"s", 1e9, 2}
	case smallest < 1e6 && largest < 1e9:
		return timeUnit{"ms", 1e6, 3}
	case smallest < 1e7:
		return timeUnit{"ms", 1e6, 2}
	}
	return timeUnit{"ms", 1e6, 1}
}

// responses are the response times of some rows.
func responses(rows []stats.Series) []*stats.Distribution {
	out := make([]*stats.Distribution, len(rows))
	for i := range rows {
		out[i] = rows[i].ResponseNS
	}
	return out
}

// timeLine is one kind of time of one series.
type timeLine struct {
	Series *stats.Series
	Total  bool
	measure
}

// name is the series' name as shown in a list of times.
func (l *timeLine) name() string {
	if l.Total {
		return "total"
	}
	return title(l.Series)
}

// allTimes lists every kind of time of every series, the total first.
func allTimes(s *stats.Summary) []timeLine {
	var out []timeLine
	add := func(r *stats.Series, total bool) {
		for _, m := range measures(r) {
			out = append(out, timeLine{r, total, m})
		}
	}
	add(&s.Total, true)
	for i := range s.Series {
		add(&s.Series[i], false)
	}
	for i := range s.Transactions {
		add(&s.Transactions[i], false)
	}
	return out
}

// maxBriefSeries bounds the series in the short list of times.
const maxBriefSeries = 10

// briefTimes is the short list: the total with response and service time, and
// with and without failures where there are some; then the series whose response
// time is longer than their service time, since those waited for a thread, a
// connection or the generator.
func briefTimes(s *stats.Summary) []timeLine {
	var out []timeLine
	add := func(r *stats.Series, total bool) {
		for _, m := range measures(r) {
			switch {
			case m.D == r.ResponseNS, m.D == r.ServiceNS, (m.D == r.SuccessNS || m.D == r.FailureNS) && r.Failed > 0 && total:
				out = append(out, timeLine{r, total, m})
			}
		}
	}
	add(&s.Total, true)
	for i, n := 0, 0; len(s.Series) > 1 && i < len(s.Series) && n < maxBriefSeries; i++ {
		if waited(&s.Series[i]) {
			add(&s.Series[i], false)
			n++
		}
	}
	return out
}

// waited reports whether a series with enough samples has a response time that is
// clearly above its service time.
func waited(r *stats.Series) bool {
	a, b := r.ResponseNS, r.ServiceNS
	if a == nil || b == nil || a.P95 == nil {
		return false
	}
	longer := func(x, y float64) bool { return x > y*1.1 && x-y > 1e6 }
	return longer(a.Mean, b.Mean) || b.P95 != nil && longer(float64(*a.P95), float64(*b.P95)) ||
		a.P99 != nil && b.P99 != nil && longer(float64(*a.P99), float64(*b.P99))
}

// timeTable makes the table of times: percentiles with their confidence intervals
// and, for open groups, what was dropped beside them.
func timeTable(lines []timeLine) table {
	ds := make([]*stats.Distribution, len(lines))
	dropped := false
	for i := range lines {
		ds[i] = lines[i].D
		dropped = dropped || lines[i].Series.DroppedShare != nil && *lines[i].Series.DroppedShare > 0
	}
	u := unitOf(ds)
	t := table{Heads: []string{"name", "time", "mean " + u.Name, "p50 " + u.Name, "p95 " + u.Name, "95% interval", "p99 " + u.Name, "95% interval", "max " + u.Name}}
	if dropped {
		t.Heads = append(t.Heads, "dropped")
	}
	for i := range lines {
		l, d := &lines[i], lines[i].D
		row := []string{l.name(), l.Name, u.in(d.Mean), u.ptr(d.P50), u.ptr(d.P95), interval(u, d.P95CI), u.ptr(d.P99), interval(u, d.P99CI), u.in(float64(d.Max))}
		if dropped {
			row = append(row, droppedShare(l.Series))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

func interval(u timeUnit, i *stats.Interval) string {
	if i == nil {
		return ""
	}
	return u.in(float64(i.Low)) + " – " + u.in(float64(i.High))
}

// droppedShare writes what an open group dropped, "" for a closed one.
func droppedShare(r *stats.Series) string {
	if r.DroppedShare == nil {
		return ""
	}
	return share(*r.DroppedShare)
}

// apdex writes the index with two decimals, a star where fewer than 100 samples
// make it uncertain.
func apdex(r *stats.Series) string {
	if r.Apdex == nil {
		return notMeasured
	}
	text := strconv.FormatFloat(*r.Apdex, 'f', 2, 64)
	if r.Count < 100 {
		text += "*"
	}
	return text
}
