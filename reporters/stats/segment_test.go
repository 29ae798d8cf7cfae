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
		{"throughput", ">", 100, time.Second, mergedSegments, true},
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
