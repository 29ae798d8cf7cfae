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

func TestExamplesDiffer(t *testing.T) {
	r := newRig(testLayout())
	for second := range 3 {
		for k := range 30 {
			s := sample(0, r.clock.at, time.Millisecond)
			s.Assertions = []int{0}
			s.Request = "GET /x"
			if second == 2 && k == 5 {
				s.Request = "GET /y"
			}
			s.Fail(element.Problem{Class: element.Assert, Assertion: 0, Message: "wrong", Expected: "a", Actual: "b"})
			r.run(0, s)
		}
		r.second()
	}
	row := r.Summary(EndInfo{}).Series[0]
	if len(row.Errors[0].Examples) != 2 || len(row.Assertions[0].Examples) != 2 || row.Errors[0].Count != 90 {
		t.Errorf("%+v, %+v", row.Errors, row.Assertions[0])
	}
}
