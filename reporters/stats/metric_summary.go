package stats

import (
	"encoding/base64"
)

// metricRows returns the custom metrics of the run.
func (s *state) metricRows() []Metric {
	out := []Metric{}
	span := 0.0
	if d, ok := s.loaded(); ok {
		span = d.Seconds()
	}
	for i := range s.out.Metrics {
		o, c := &s.out.Metrics[i], &s.total.metrics[i]
		m := Metric{Name: o.Name, Type: o.Type, Count: c.n}
		if c.n > 0 {
			low, high := c.min, c.max
			m.Min, m.Max = &low, &high
		}
		m.Value, m.PerSecond = c.value(o.Type, span)
		if o.Type == trendMetric {
			m.Trend = c.trend()
		}
		out = append(out, m)
	}
	return out
}

// value is the one figure that stands for a metric over a span in seconds, and
// for a counter also its rate.
func (c *metricCell) value(kind string, span float64) (value, perSecond *float64) {
	v := c.sum
	switch {
	case kind == counterMetric:
		if span > 0 {
			r := c.sum / span
			perSecond = &r
		}
		return &v, perSecond
	case c.n == 0:
		return nil, nil
	case kind == gaugeMetric:
		v = c.last
	case kind == rateMetric:
		v = float64(c.truths) / float64(c.n)
	default:
		v = c.mean()
	}
	return &v, nil
}

// trend describes a trend's values, nil if there are none.
func (c *metricCell) trend() *Trend {
	if c.n == 0 {
		return nil
	}
	t := &Trend{Min: c.min, Max: c.max, Mean: c.mean(), StdDev: c.stdDev(), Curve: []TrendPoint{},
		Values: base64.StdEncoding.EncodeToString(c.values.encode(nil))}
	for _, x := range []struct {
		percent float64
		to      **float64
	}{{50, &t.P50}, {75, &t.P75}, {90, &t.P90}, {95, &t.P95}, {99, &t.P99}, {99.9, &t.P999}} {
		if Enough(x.percent, c.n) {
			v := c.percentile(x.percent)
			*x.to = &v
		}
	}
	for _, p := range []float64{0, 5, 10, 20, 30, 40, 50, 60, 70, 75, 80, 85, 90, 95, 98, 99, 99.5, 99.9} {
		v := c.min
		if p > 0 {
			v = c.percentile(p)
		}
		t.Curve = append(t.Curve, TrendPoint{p, v})
	}
	t.Curve = append(t.Curve, TrendPoint{100, c.max})
	return t
}

// timelineJoins is how coarse a trend's buckets are over time: 0.8 %.
const timelineJoins = 3

// metricPoint is one custom metric in one interval.
type metricPoint struct {
	metric int
	cell   metricCell
}

func pointOf(i int, c *metricCell) metricPoint {
	p := metricPoint{metric: i}
	p.cell.merge(c)
	p.cell.values.join(timelineJoins)
	return p
}

// size is about what the point takes in memory.
func (p *metricPoint) size() int { return 16 * len(p.cell.values.counts) }

func (t *timeline) putMetric(c *column, p metricPoint) {
	for i := range c.metrics {
		q := &c.metrics[i]
		if q.metric == p.metric {
			t.bytes -= q.size()
			q.cell.merge(&p.cell)
			t.bytes += q.size()
			return
		}
	}
	fresh := metricPoint{metric: p.metric} // shares no counts with p
	fresh.cell.merge(&p.cell)
	c.metrics = append(c.metrics, fresh)
	t.bytes += p.size()
}

// metricColumns returns the custom metrics over time.
func (t *timeline) metricColumns(out []metricOutline) []TimelineMetric {
	rows := make([]TimelineMetric, len(out))
	for i := range rows {
		rows[i] = TimelineMetric{Name: out[i].Name, Count: make([]int64, len(t.columns)), Value: make([]*float64, len(t.columns))}
		if out[i].Type == trendMetric {
			rows[i].P50, rows[i].P95 = make([]*float64, len(t.columns)), make([]*float64, len(t.columns))
			rows[i].Max = make([]*float64, len(t.columns))
		}
	}
	for k := range t.columns {
		for j := range t.columns[k].metrics {
			if p := &t.columns[k].metrics[j]; p.metric < len(rows) {
				rows[p.metric].fill(k, &p.cell, out[p.metric].Type, t.length(k))
			}
		}
	}
	return rows
}

// fill sets one interval: the rate of a counter, the last value of a gauge, the
// share of a rate, the mean and percentiles of a trend.
func (r *TimelineMetric) fill(k int, c *metricCell, kind string, seconds float64) {
	r.Count[k] = c.n
	value, perSecond := c.value(kind, seconds)
	if perSecond != nil {
		value = perSecond
	}
	r.Value[k] = value
	if kind == trendMetric {
		p50, p95, high := c.percentile(50), c.percentile(95), c.max
		r.P50[k], r.P95[k], r.Max[k] = &p50, &p95, &high
	}
}
