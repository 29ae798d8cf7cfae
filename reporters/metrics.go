package reporters

import (
	"strconv"

	"runner/reporters/stats"
)

// metricHeads are the columns of the table of custom metrics after the name.
func metricHeads() []string {
	return []string{"type", "values", "value", "min", "mean", "p50", "p95", "p99", "max"}
}

// metricCells tells a custom metric in those columns. The value is the sum of a
// counter with its rate, the last value of a gauge, the share of a rate.
func metricCells(m *stats.Metric) []string {
	cells := []string{m.Type, count(m.Count), metricValue(m), plain4(m.Min), "", "", "", "", plain4(m.Max)}
	if m.Type == "counter" || m.Type == "rate" {
		cells[3], cells[8] = "", ""
	}
	if t := m.Trend; t != nil {
		cells[2] = ""
		cells[4], cells[5], cells[6], cells[7] = significant(t.Mean, 4), plain4(t.P50), plain4(t.P95), plain4(t.P99)
	}
	return cells
}

// metricValue is the one figure that stands for a metric.
func metricValue(m *stats.Metric) string {
	switch {
	case m.Value == nil:
		return notMeasured
	case m.Type == "rate":
		return share(*m.Value)
	case m.PerSecond != nil:
		return significant(*m.Value, 4) + " (" + rate(*m.PerSecond) + ")"
	}
	return significant(*m.Value, 4)
}

func plain4(v *float64) string {
	if v == nil {
		return notMeasured
	}
	return significant(*v, 4)
}

// metricTable is the table of all custom metrics, the name first.
func metricTable(ms []stats.Metric) table {
	t := table{Heads: append([]string{"metric"}, metricHeads()...)}
	for i := range ms {
		t.Rows = append(t.Rows, append([]string{ms[i].Name}, metricCells(&ms[i])...))
	}
	return t
}

// metricProperties are a JUnit suite's properties for the custom metrics.
func metricProperties(ms []stats.Metric) []junitProperty {
	var out []junitProperty
	add := func(name string, v *float64) {
		if v != nil {
			out = append(out, junitProperty{CleanLine(name), strconv.FormatFloat(*v, 'g', -1, 64)})
		}
	}
	for i := range ms {
		m := &ms[i]
		name := "metric." + m.Name
		switch m.Type {
		case "counter":
			add(name+".count", m.Value)
			add(name+".rate", m.PerSecond)
		case "gauge":
			add(name+".value", m.Value)
			add(name+".max", m.Max)
		case "rate":
			add(name+".rate", m.Value)
		}
		if t := m.Trend; t != nil {
			add(name+".mean", &t.Mean)
			add(name+".p50", t.P50)
			add(name+".p95", t.P95)
			add(name+".p99", t.P99)
			add(name+".max", &t.Max)
		}
	}
	return out
}

// islandMetric is a custom metric over time, for the chart.
type islandMetric struct {
	Name  string     `json:"name"`
	Type  string     `json:"type"`
	Value []*float64 `json:"v"`
	P50   []*float64 `json:"p50,omitempty"`
	P95   []*float64 `json:"p95,omitempty"`
	Max   []*float64 `json:"max,omitempty"`
}

// maxMetricCells bounds the metrics' points in the page.
const maxMetricCells = 40_000

// islandMetrics returns the metrics that have values, as many as fit the page.
func islandMetrics(s *stats.Summary) []islandMetric {
	out, cells := []islandMetric{}, 0
	for i := range s.Timeline.Metrics {
		t := &s.Timeline.Metrics[i]
		if i >= len(s.Metrics) || s.Metrics[i].Count == 0 || len(t.Value) != len(s.Timeline.TS) {
			continue
		}
		m := islandMetric{CleanLine(t.Name), s.Metrics[i].Type, brief(t.Value), brief(t.P50), brief(t.P95), brief(t.Max)}
		if cells += len(m.Value) + len(m.P50) + len(m.P95) + len(m.Max); cells > maxMetricCells {
			break
		}
		out = append(out, m)
	}
	return out
}

// brief rounds to four significant digits.
func brief(col []*float64) []*float64 {
	out := make([]*float64, len(col))
	for i, v := range col {
		if v != nil {
			x, err := strconv.ParseFloat(strconv.FormatFloat(*v, 'g', 4, 64), 64)
			if err == nil {
				out[i] = &x
			}
		}
	}
	return out
}
