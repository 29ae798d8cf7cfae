package reporters

import (
	"slices"
	"strings"

	"runner/reporters/stats"
)

// The views are what the page's template shows: text only, all of it escaped by
// the template.
type (
	pair   struct{ Name, Value string }
	card   struct{ Name, Value, Unit, More, State string }
	option struct {
		ID   int
		Name string
	}
	verdictView struct {
		Word, Mark, State string
		Reasons           []string
	}
	thresholdView struct {
		Outcome, Mark, State         string
		Scope, Expression            string
		Value, Limit, Place, Message string
		Remarks                      []string
		Meter                        *meter
	}
	// meter is a bar of the measured value with the limit's mark; widths of 100.
	meter      struct{ Fill, Limit float64 }
	seriesView struct {
		Title, Key string
		Heads      []string
		Rows       []seriesRow
		Total      *seriesRow
		Filter     bool
	}
	seriesRow struct {
		Group, Name, Kind, Phase, Place string
		Failing                         bool
		Cells                           []valueCell
	}
	valueCell struct {
		Text string
		Sort float64
	}
	timesView struct {
		Heads []string
		Rows  []timesRow
		More  int
	}
	timesRow struct {
		Name, Group string
		First       bool
		Cells       []string
	}
	groupView struct {
		Name, Load, Model, Rate, Steady, Place, Skipped string
		MaxThreads, Scheduled, Iterations, Dropped      string
		Lost                                            bool
	}
)

// overview fills the first screen.
func (p *page) overview(s *stats.Summary) {
	p.Verdict = newVerdict(s)
	if !s.Started.IsZero() {
		p.Meta = append(p.Meta, s.Started.UTC().Format("2 January 2006, 15:04 UTC"))
	}
	p.Meta = append(p.Meta, runSpan(s))
	if s.Environment.Host != "" {
		p.Meta = append(p.Meta, "from "+s.Environment.Host)
	}
	if s.RunnerVersion != "" {
		p.Meta = append(p.Meta, "runner "+s.RunnerVersion)
	}
	if s.Description != "" {
		p.Meta = append(p.Meta, s.Description)
	}
	if s.Partial {
		p.Alerts = append(p.Alerts, "PARTIAL: made from a journal without the run's end; its last second or more may be missing.")
	}
	p.Alerts = append(p.Alerts, accusations(s)...)
	p.Cards = cards(s)
	p.thresholds(s)
	for i := range s.Groups {
		p.Groups = append(p.Groups, newGroup(&s.Groups[i]))
	}
}

// maxThresholds is the most thresholds shown at first; what holds beyond it is
// folded away, what does not never is.
const maxThresholds = 14

func (p *page) thresholds(s *stats.Summary) {
	for _, t := range ranked(s.Thresholds) {
		v := newThreshold(&t)
		if len(s.Thresholds) > maxThresholds && len(p.Thresholds) >= maxThresholds/2 && outcomeOf(&t) == held {
			p.Passing = append(p.Passing, v)
			continue
		}
		p.Thresholds = append(p.Thresholds, v)
	}
}

func newVerdict(s *stats.Summary) verdictView {
	v := verdictView{Word: strings.ToUpper(string(s.Verdict)), Reasons: summaryReasons(s)}
	switch s.Verdict {
	case stats.Passed:
		v.Mark, v.State = "✓", "good"
		if len(v.Reasons) == 0 {
			v.Reasons = []string{"Every threshold holds."}
		}
	case stats.Failed:
		v.Mark, v.State = "✕", "bad"
	case stats.Interrupted:
		v.Mark, v.State = "■", "warn"
	default:
		v.Mark, v.State = "!", "bad"
	}
	return v
}

func cards(s *stats.Summary) []card {
	t := &s.Total
	out := []card{
		{Name: "Samples", Value: count(t.Count), More: plural(s.Ledger.Requests, "request")},
		{Name: "Failed", Value: sharePtr(t.ErrorRate), More: plural(t.Failed, "sample")},
		{Name: "Throughput", Value: ratePtr(t.ThroughputPS), More: steadyOr(t, size(float64(t.BytesReceived))+" received")},
	}
	if t.Failed > 0 {
		out[1].State = "bad"
	}
	if d := t.ResponseNS; d != nil {
		out = append(out, card{Name: "Response p50", Value: durationPtr(d.P50), More: "mean " + duration(d.Mean)},
			card{Name: "Response p95", Value: durationPtr(d.P95)}, card{Name: "Response p99", Value: durationPtr(d.P99), More: "max " + duration(float64(d.Max))})
		if d.P90 != nil {
			out[4].More = "p90 " + durationPtr(d.P90)
		}
		if t.Apdex != nil {
			out[3].More = "apdex " + apdex(t)
		}
	}
	out = append(out, card{Name: "Threads", Value: count(int64(peakThreads(&s.Timeline))), More: "most at once"})
	i := &s.Ledger.Iterations
	last := card{Name: "Iterations", Value: count(i.Completed), More: "none dropped"}
	if lost := i.DroppedNoThread + i.DroppedEnd; lost > 0 {
		last.More, last.State = count(lost)+" dropped", "warn"
	}
	return append(out, last)
}

// steadyOr is the throughput at the load's height, or text where there is none.
func steadyOr(t *stats.Series, text string) string {
	if t.SteadyPS == nil {
		return text
	}
	return rate(*t.SteadyPS) + " steady"
}

func newThreshold(t *stats.ThresholdResult) thresholdView {
	o := outcomeOf(t)
	v := thresholdView{Outcome: string(o), Scope: t.Scope, Expression: qualified(t.Expression, t), Place: place(t.File, t.Line), Remarks: flags(t), Limit: opLimit(t)}
	v.Value, _ = measured(t)
	v.Mark, v.State = map[outcome]string{held: "✓", few: "✓", broken: "✕", noData: "?", notJudged: "–"}[o],
		map[outcome]string{held: "good", few: "warn", broken: "bad", noData: "bad", notJudged: "none"}[o]
	if o == notJudged {
		v.Value, v.Message = "–", t.NotJudged
	} else {
		v.Message, v.Meter = t.Message, newMeter(t)
	}
	return v
}

// newMeter draws the value against the limit, which stands at 70 of 100.
func newMeter(t *stats.ThresholdResult) *meter {
	if t.Value == nil {
		return nil
	}
	m := &meter{Limit: 70}
	switch {
	case t.Limit > 0:
		m.Fill = min(100, max(0, 70**t.Value/t.Limit))
	case *t.Value > 0:
		m.Fill, m.Limit = 100, 1
	default:
		m.Limit = 1
	}
	return m
}

func newGroup(g *stats.Group) groupView {
	v := groupView{Name: g.Name, Load: g.Load, Model: g.Model, Rate: rate(g.ThroughputPS), Place: place(g.File, g.Line), Skipped: g.Skipped,
		MaxThreads: count(int64(g.MaxThreads)), Iterations: count(g.Iterations), Dropped: count(g.Dropped), Lost: g.Dropped > 0}
	v.Scheduled, v.Steady = "–", notMeasured
	if g.Model == "open" {
		v.Scheduled = count(g.Scheduled)
	}
	if g.SteadyPS != nil {
		v.Steady = rate(*g.SteadyPS)
	}
	return v
}

// maxTimeRows bounds the table of all times.
const maxTimeRows = 120

func newTimes(s *stats.Summary) *timesView {
	lines := allTimes(s)
	if len(lines) == 0 {
		return nil
	}
	t := timeTable(lines)
	v := &timesView{Heads: slices.Insert(t.Heads[1:], 1, "apdex"), More: max(0, len(lines)-maxTimeRows)}
	for i := range lines[:min(len(lines), maxTimeRows)] {
		l := &lines[i]
		row := timesRow{Name: CleanLine(l.Series.Name), Group: CleanLine(l.Series.Group), Cells: t.Rows[i][1:]}
		index := ""
		if row.First = i == 0 || lines[i-1].Series != l.Series; row.First {
			index = apdex(l.Series)
		}
		if l.Total {
			row.Name = "total"
		}
		row.Cells = slices.Insert(row.Cells, 1, index)
		v.Rows = append(v.Rows, row)
	}
	return v
}

// tables fills the series tables and the choice of series.
func (p *page) tables(s *stats.Summary) {
	p.Options = []option{{-1, "All samples"}}
	for _, rows := range [][]stats.Series{s.Series, s.Transactions} {
		for i := range rows {
			p.Options = append(p.Options, option{rows[i].ID, CleanLine(title(&rows[i]))})
		}
	}
	if len(s.Series) > 0 {
		p.Tables = append(p.Tables, newSeriesView("Samples", "samples", s.Series, &s.Total))
	}
	p.Times = newTimes(s)
	if len(s.Transactions) > 0 {
		p.Tables = append(p.Tables, newSeriesView("Transactions", "transactions", s.Transactions, nil))
	}
}

func newSeriesView(name, key string, rows []stats.Series, total *stats.Series) seriesView {
	all := append([]stats.Series{}, rows...)
	if total != nil {
		all = append(all, *total)
	}
	t, values := figuresOf(all)
	v := seriesView{Title: name, Key: key, Heads: t.Heads, Filter: len(rows) > 4}
	for i := range all {
		r := &all[i]
		row := seriesRow{Group: CleanLine(r.Group), Name: CleanLine(r.Name), Kind: r.Kind, Place: place(r.File, r.Line), Failing: r.Failed > 0}
		if r.Phase != "load" {
			row.Phase = r.Phase
		}
		for c, text := range t.Rows[i] {
			row.Cells = append(row.Cells, valueCell{text, values[i][c]})
		}
		if i == len(rows) {
			v.Total = &row
			continue
		}
		v.Rows = append(v.Rows, row)
	}
	return v
}
