package compare

import (
	"fmt"
	"math"

	"runner/reporters/stats"
)

// figure is one number of a series that runs are compared by.
type figure struct {
	name, unit string
	lower      bool // less is worse
	of         func(*stats.Series) *float64
	column     func(*stats.TimelineSeries, float64, int) (float64, bool) // of an interval
}

func figures() []figure {
	return []figure{
		{name: "p50", unit: "ns", of: percentile(func(d *stats.Distribution) *int64 { return d.P50 }),
			column: percentileAt(func(s *stats.TimelineSeries) []*int64 { return s.P50 })},
		{name: "p95", unit: "ns", of: percentile(func(d *stats.Distribution) *int64 { return d.P95 }),
			column: percentileAt(func(s *stats.TimelineSeries) []*int64 { return s.P95 })},
		{name: "p99", unit: "ns", of: percentile(func(d *stats.Distribution) *int64 { return d.P99 }),
			column: percentileAt(func(s *stats.TimelineSeries) []*int64 { return s.P99 })},
		{name: "error rate", unit: "share", of: func(s *stats.Series) *float64 { return s.ErrorRate }, column: errorsAt},
		{name: "throughput", unit: "per_second", lower: true, of: func(s *stats.Series) *float64 { return s.ThroughputPS }, column: throughputAt},
	}
}

func percentile(of func(*stats.Distribution) *int64) func(*stats.Series) *float64 {
	return func(s *stats.Series) *float64 {
		if s.ResponseNS == nil {
			return nil
		}
		ns := of(s.ResponseNS)
		if ns == nil {
			return nil
		}
		v := max(1, float64(*ns))
		return &v
	}
}

func percentileAt(of func(*stats.TimelineSeries) []*int64) func(*stats.TimelineSeries, float64, int) (float64, bool) {
	return func(s *stats.TimelineSeries, _ float64, i int) (float64, bool) {
		list := of(s)
		if i >= len(list) || list[i] == nil {
			return 0, false
		}
		return math.Log(max(1, float64(*list[i]))), true
	}
}

func errorsAt(s *stats.TimelineSeries, _ float64, i int) (float64, bool) {
	if i >= len(s.Count) || i >= len(s.Failed) || s.Count[i] == 0 {
		return 0, false
	}
	return float64(s.Failed[i]) / float64(s.Count[i]), true
}

func throughputAt(s *stats.TimelineSeries, seconds float64, i int) (float64, bool) {
	if i >= len(s.Count) || seconds <= 0 {
		return 0, false
	}
	sent := s.Count[i]
	if i < len(s.Unsent) {
		sent -= s.Unsent[i]
	}
	return math.Log(float64(sent) / seconds), sent > 0
}

// scaled puts a figure on the scale on which changes are differences: times and
// rates as logarithms, shares as they are.
func (f *figure) scaled(v float64) float64 {
	if f.unit == "share" {
		return v
	}
	return math.Log(max(v, math.SmallestNonzeroFloat64))
}

// change turns a difference on the scale into what people read.
func (f *figure) change(d float64) float64 {
	if f.unit == "share" {
		return d
	}
	return math.Expm1(d)
}

// worse turns a change so that more is worse.
func (f *figure) worse(v float64) float64 {
	if f.lower {
		return -v
	}
	return v
}

// key names a series across runs.
type key struct{ group, name, kind string }

func (k key) String() string {
	if k.kind == "total" {
		return "total"
	}
	return fmt.Sprintf("%s / %s", k.group, k.name)
}

// seriesOf returns the total and the series and transactions of the load.
func seriesOf(s *stats.Summary) (order []key, all map[key]*stats.Series) {
	all = map[key]*stats.Series{}
	add := func(k key, one *stats.Series) {
		if _, there := all[k]; !there {
			order = append(order, k)
			all[k] = one
		}
	}
	add(key{kind: "total"}, &s.Total)
	for _, list := range [][]stats.Series{s.Series, s.Transactions} {
		for i := range list {
			if one := &list[i]; one.Phase == "" || one.Phase == "load" {
				add(key{one.Group, one.Name, one.Kind}, one)
			}
		}
	}
	return order, all
}
