package stats

import (
	"testing"
	"time"
)

func TestAmountsAreNotJudgedInSegments(t *testing.T) {
	for _, tt := range []struct {
		figure, op string
		limit      float64
		window     time.Duration
		segment    string
		want       bool
	}{
		{"samples", "==", 41, 0, "2/5", true},
		{"throughput", ">", 100, 0, "2/5", true},
		{"throughput", ">=", 100, 0, "", false},
		{"throughput", ">", 100, 0, mergedSegments, false},
		{"throughput", ">", 100, time.Second, mergedSegments, false},
		{"throughput", "<", 100, time.Second, "2/5", false},
		{"dropped", "==", 0, 0, "2/5", false},
		{"error_count", "<=", 3, 0, "2/5", false},
		{"errors", ">", 0.5, 0, "2/5", false},
		{"p95", "<", 1e9, 0, "2/5", false},
	} {
		s := &state{out: &outline{Info: Info{Segment: tt.segment}}}
		j := newJudge(&thresholdOutline{Figure: tt.figure, Op: tt.op, Limit: tt.limit, Window: tt.window, Group: -1}, nil)
		if !j.known {
			t.Fatalf("%s is not known", tt.figure)
		}
		if got := s.partial(j); got != tt.want {
			t.Errorf("%s %s %g over %v in %q: %v", tt.figure, tt.op, tt.limit, tt.window, tt.segment, got)
		}
	}
}

// TestWindowsOverSegmentsHaveNoData: what each segment saw of an amount says
// nothing about the whole, whichever way the limit goes; what broke in a segment
// stays broken.
func TestWindowsOverSegmentsHaveNoData(t *testing.T) {
	for _, tt := range []struct {
		figure, op, segment    string
		window, hold           time.Duration
		judged, broken, noData bool
	}{
		{"samples", "<", mergedSegments, time.Second, 0, true, false, true},
		{"throughput", ">", mergedSegments, 0, time.Second, false, false, true},
		{"samples", "<", mergedSegments, time.Second, 0, true, true, false},
		{"errors", "<", mergedSegments, time.Second, 0, true, false, false},
		{"samples", "<", "", time.Second, 0, true, false, false},
		{"samples", "<", "", time.Second, 0, false, false, true}, // the run was shorter than the window
		{"samples", "<", "", 0, 0, false, false, false},
	} {
		s := &state{out: &outline{Info: Info{Segment: tt.segment}}}
		j := newJudge(&thresholdOutline{Figure: tt.figure, Op: tt.op, Limit: 100, Window: tt.window, For: tt.hold, Group: -1}, nil)
		j.judged, j.broken = tt.judged, tt.broken
		if got := s.unseen(j) != ""; got != tt.noData {
			t.Errorf("%+v: no data %v", tt, got)
		}
	}
}
