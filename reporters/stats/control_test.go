package stats

import (
	"testing"
	"time"

	"runner/plan/element"
)

// TestControlsAreShownOnlyWhereTheyFailed: a step that is no sampler has a row,
// and the rule implied for it a verdict, only if it failed.
func TestControlsAreShownOnlyWhereTheyFailed(t *testing.T) {
	for _, fails := range []bool{false, true} {
		l := testLayout()
		l.Series = append(l.Series, element.Series{ID: 4, Group: 0, Name: "if x", Kind: element.ControlKind, Phase: element.Load})
		l.Thresholds = []element.Threshold{{Scope: "group closed", Group: 0, Series: []int{4}, Single: -1, Comparison: comparison("errors == 0%", 0), Implied: true}}
		r := newRig(l)
		r.run(0, sample(0, 0, time.Second))
		if fails {
			r.run(0, failed(sample(4, 0, 0), element.Expression, "x is not set"))
		}
		r.second()
		s := r.Summary(EndInfo{})
		rows := 0
		for i := range s.Series {
			if s.Series[i].Name == "if x" {
				rows++
			}
		}
		want, verdict := 0, Passed
		if fails {
			want, verdict = 1, Failed
		}
		if rows != want || len(s.Thresholds) != want || s.Verdict != verdict {
			t.Errorf("fails %v: %d rows, %d thresholds, %s %v", fails, rows, len(s.Thresholds), s.Verdict, s.Reasons)
		}
	}
}
