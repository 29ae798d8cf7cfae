package compare

import (
	"fmt"
	"slices"
	"time"
)

// Compare judges new runs against base runs. Its error is an *IncomparableError,
// or says that a side has too few or too many runs.
func Compare(base, news []Run, o Options) (*Result, error) {
	o = o.complete()
	for _, side := range [][]Run{base, news} {
		if len(side) == 0 {
			return nil, fmt.Errorf("a comparison needs at least one run on each side")
		}
		if len(side) > maxRuns {
			return nil, fmt.Errorf("%d runs on a side; at most %d", len(side), maxRuns)
		}
	}
	bad, warnings := check(base, news)
	if len(bad) > 0 && !o.Force {
		return nil, &IncomparableError{bad}
	}
	r := &Result{
		Schema: ResultSchema, Plan: news[0].Summary.Plan, Alpha: o.Alpha, MinEffect: o.MinEffect,
		Reasons: []string{}, Warnings: append(append([]string{}, bad...), warnings...),
		Base: sides(base), New: sides(news),
	}
	c := &comparison{base: base, news: news, options: o, result: r}
	c.judge()
	return r, nil
}

func sides(runs []Run) []Side {
	var out []Side
	for _, r := range runs {
		s := r.Summary
		out = append(out, Side{r.Name, s.RunID, s.Started.UTC().Format(time.RFC3339), s.Verdict, s.Total.Count})
	}
	return out
}

// rows collects the figures of all series that both sides have.
func (c *comparison) rows() (total, series []*judged) {
	order, _ := seriesOf(c.base[0].Summary)
	for _, r := range slices.Concat(c.base[1:], c.news) {
		more, _ := seriesOf(r.Summary)
		for _, k := range more {
			if !slices.Contains(order, k) {
				order = append(order, k)
			}
		}
	}
	for _, k := range order {
		if missing := c.missing(k); missing != "" {
			c.result.Warnings = append(c.result.Warnings, fmt.Sprintf("%s is not compared: %s has no such series", k, missing))
			continue
		}
		for _, f := range figures() {
			row := c.row(k, f)
			switch {
			case k.kind == "total":
				total = append(total, row)
			case f.name != "throughput": // that of a step follows from the total's
				series = append(series, row)
			}
		}
	}
	return total, series
}

// missing returns the name of the first run without the series.
func (c *comparison) missing(k key) string {
	for _, r := range slices.Concat(c.base, c.news) {
		if _, all := seriesOf(r.Summary); all[k] == nil {
			return r.Name
		}
	}
	return ""
}

// row reads one figure of all runs.
func (c *comparison) row(k key, f figure) *judged {
	j := &judged{key: k, figure: f, Row: Row{Group: k.group, Series: k.name, Kind: k.kind, Figure: f.name, Unit: f.unit, Bases: []float64{}, News: []float64{}}}
	if k.kind == "total" {
		j.Series = "total"
	}
	var short string
	read := func(runs []Run, out *[]float64) {
		for _, r := range runs {
			_, all := seriesOf(r.Summary)
			v := f.of(all[k])
			if v == nil {
				short = r.Name
				continue
			}
			*out = append(*out, *v)
		}
	}
	read(c.base, &j.Bases)
	read(c.news, &j.News)
	if short != "" {
		j.Outcome, j.Reason = NotJudged, "too few samples in "+short
		return j
	}
	b, n := median(j.Bases), median(j.News)
	j.Row.Base, j.Row.New = &b, &n
	j.shift = shift(scaledAll(&f, j.Bases), scaledAll(&f, j.News))
	change := f.change(j.shift)
	j.Change = &change
	return j
}

func scaledAll(f *figure, values []float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = f.scaled(v)
	}
	return out
}
