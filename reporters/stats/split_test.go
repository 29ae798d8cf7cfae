package stats

import (
	"bytes"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

// splitLayout has one step with a row for further values and two for values.
func splitLayout() element.Layout {
	l := testLayout()
	at := l.Series[0].Range
	l.Series = nil
	for i, name := range []string{"step: (other)", "step: value 1", "step: value 2"} {
		l.Series = append(l.Series, element.Series{ID: i, Group: 0, Name: name, Kind: "http", Phase: element.Load, Range: at, Reserved: true})
	}
	l.Thresholds = []element.Threshold{{Scope: "closed / step", Group: 0, Series: []int{1}, Single: 1, Comparison: comparison("errors == ", 0), Implied: true}}
	return l
}

// split records samples of values that came in that order.
func split(t *testing.T, counts ...map[string]int) *rig {
	t.Helper()
	r := newRig(splitLayout())
	next := 1
	for _, c := range counts {
		for name, n := range c {
			row := 0
			if name != "(other)" {
				row = next
				next++
				r.NameRow(row, "step: "+name)
			}
			for range n {
				r.run(0, sample(row, r.clock.at, time.Millisecond))
			}
		}
		r.second()
	}
	return r
}

func rowsOf(s *Summary) map[string]int64 {
	out := map[string]int64{}
	for _, r := range s.Series {
		out[r.Name] += r.Count
	}
	return out
}

func TestReservedRows(t *testing.T) {
	r := split(t, map[string]int{"red": 3})
	r.NameRow(99, "nothing")
	s := r.Summary(EndInfo{})
	diffEmpty(t, "rows", cmp.Diff(map[string]int64{"step: red": 3}, rowsOf(s)))
	back, err := ReadJournal(bytes.NewReader(r.journal.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	diffEmpty(t, "from the journal", cmp.Diff(asJSON(t, s), asJSON(t, back)))
	if s := newRig(splitLayout()).Summary(EndInfo{}); len(s.Series)+len(s.Thresholds) != 0 {
		t.Errorf("rows without samples are shown: %d, %d thresholds", len(s.Series), len(s.Thresholds))
	}
}

func TestMergedRowsGoByTheirNames(t *testing.T) {
	a := split(t, map[string]int{"red": 3}, map[string]int{"blue": 2})
	b := split(t, map[string]int{"green": 1}, map[string]int{"red": 5})
	c := split(t, map[string]int{"blue": 7}, map[string]int{"(other)": 1})
	var parts []Part
	for _, r := range []*rig{a, b, c} {
		r.Summary(EndInfo{})
		parts = append(parts, partOf(t, "x", r))
	}
	s, err := Merge(parts)
	if err != nil {
		t.Fatal(err)
	}
	diffEmpty(t, "rows", cmp.Diff(map[string]int64{"step: red": 8, "step: blue": 9, "step: (other)": 2}, rowsOf(s)))
	if total := s.Timeline.Series[0]; total.Count[0]+total.Count[1] != 19 {
		t.Errorf("over time: %v", total.Count)
	}
}
