package timers

import (
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"runner/plan/element"
)

func TestSegmentsShareTheThroughput(t *testing.T) {
	for _, text := range []string{
		"constant_throughput: 7/s", "constant_throughput: {rate: 600/min, per: plan}",
		"constant_throughput: {rate: [{to: 10/s, over: 3s}, {hold: 2s}, {to: 1/s, over: 1s}]}",
	} {
		const n, each = 5, 40
		want := slotsOf(t, text, make([]time.Duration, n*each))
		var got []time.Duration
		for i := range n {
			timer, b := bind(t, text)
			th := b.Thread(1)
			th.Members = &element.Shared{Segment: element.Segment{Index: i, Count: n}}
			th.Plan = &element.Shared{Segment: element.Segment{Index: i, Count: n}}
			for range each {
				got = append(got, due(t, timer, th, 0))
			}
		}
		slices.Sort(got)
		near := cmp.Comparer(func(a, b time.Duration) bool { return (a - b).Abs() <= time.Microsecond })
		if d := cmp.Diff(want, got, near, cmpopts.EquateEmpty()); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}
