package reporters

import (
	"slices"
	"strings"

	"runner/reporters/stats"
)

// maxExamples bounds the examples of one assertion or error that a text repeats.
const maxExamples = 3

// thresholdText tells a broken threshold in full: what was measured, what was
// allowed, where it is written, and which samples failed how.
func thresholdText(s *stats.Summary, t *stats.ThresholdResult) string {
	value, _ := measured(t)
	lines := []string{
		"threshold: " + qualified(t.Expression, t),
		"scope:     " + t.Scope,
		"expected:  " + qualified(t.Figure, t) + " " + opLimit(t),
		"actual:    " + value,
	}
	if t.Message != "" {
		lines = append(lines, "message:   "+t.Message)
	}
	if at := place(t.File, t.Line); at != "" {
		lines = append(lines, "plan:      "+at)
	}
	for _, r := range covered(s, t) {
		if r.Failed > 0 {
			lines = append(lines, "", title(r)+": "+count(r.Failed)+" of "+count(r.Count)+" failed")
			lines = append(lines, failureLines(r)...)
		}
	}
	return strings.Join(lines, "\n")
}

// covered returns the series that a threshold speaks of.
func covered(s *stats.Summary, t *stats.ThresholdResult) []*stats.Series {
	var out []*stats.Series
	for i := range s.Series {
		r := &s.Series[i]
		switch {
		case t.SeriesID != nil && *t.SeriesID != r.ID:
		case t.SeriesID == nil && t.Group != "" && t.Group != r.Group:
		default:
			out = append(out, r)
		}
	}
	return out
}

// seriesText tells a series' figures and its failed samples.
func seriesText(r *stats.Series) string {
	figures := []string{count(r.Count) + " samples", count(r.Failed) + " failed (" + sharePtr(r.ErrorRate) + ")", ratePtr(r.ThroughputPS)}
	lines := []string{strings.Join(figures, ", ")}
	for _, m := range measures(r) {
		if m.D == r.SuccessNS && r.Failed == 0 || m.D == r.LatencyNS {
			continue
		}
		d := m.D
		lines = append(lines, m.Name+": mean "+duration(d.Mean)+", p50 "+durationPtr(d.P50)+", p95 "+durationPtr(d.P95)+
			", p99 "+durationPtr(d.P99)+", max "+duration(float64(d.Max)))
	}
	if r.DroppedShare != nil && *r.DroppedShare > 0 {
		lines = append(lines, "dropped by its group: "+share(*r.DroppedShare)+" of the iterations")
	}
	return strings.Join(append(lines, failureLines(r)...), "\n")
}

// failureLines tells a series' failed assertions and errors, with counts, places
// and a few examples.
func failureLines(r *stats.Series) []string {
	var out []string
	for _, a := range r.Assertions {
		if a.Failed == 0 {
			continue
		}
		line := "assertion " + a.Name + ": " + count(a.Failed) + " of " + count(a.Failed+a.Passed) + " failed"
		if at := place(a.File, a.Line); at != "" {
			line += " (" + at + ")"
		}
		out = append(out, line)
		for _, e := range distinct(a.Examples) {
			out = append(out, "  request:  "+e.Request, "  expected: "+e.Expected, "  actual:   "+e.Actual)
			if e.Message != "" {
				out = append(out, "  message:  "+e.Message)
			}
		}
	}
	for _, e := range r.Errors {
		out = append(out, "error "+e.Class+": "+count(e.Count)+" × "+e.Message)
		for _, x := range distinct(e.Examples) {
			out = append(out, "  "+x)
		}
	}
	return out
}

// distinct returns a few examples, each once.
func distinct[T comparable](list []T) []T {
	var out []T
	for _, x := range list {
		if !slices.Contains(out, x) && len(out) < maxExamples {
			out = append(out, x)
		}
	}
	return out
}
