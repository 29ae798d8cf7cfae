package stats

import (
	"bytes"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

// ramped is a load of 10 s: up for 3 s, held for 4, down for 3.
func ramped(open bool) element.Group {
	return element.Group{Name: "g", Open: open, MaxThreads: 6, Duration: 10 * time.Second, Planned: func(at time.Duration) float64 {
		s := at.Seconds()
		return math.Floor(min(6, 2*s+2, 2*(10-s)))
	}}
}

func TestSteadyThroughput(t *testing.T) {
	l := testLayout()
	l.Groups = []element.Group{ramped(false)}
	l.Series = l.Series[:1]
	from, to, top := heightOf(&l.Groups[0])
	if from != 2*time.Second || to < 6990*time.Millisecond || to > 7010*time.Millisecond || top != 6 {
		t.Errorf("at its height from %v to %v", from, to)
	}
	r := newRig(l)
	for s := range 10 {
		r.Shard(0, 0).Count(element.ThreadsStarted, int64(boolInt(s == 0)))
		for range []int{5, 15, 20, 20, 20, 20, 20, 15, 10, 5}[s] {
			r.run(0, sample(0, r.clock.at, time.Millisecond))
		}
		r.second()
	}
	r.Shard(0, 0).Count(element.ThreadsEnded, 1)
	sum := r.Summary(EndInfo{})
	for name, v := range map[string]*float64{"group": sum.Groups[0].SteadyPS, "series": sum.Series[0].SteadyPS, "total": sum.Total.SteadyPS} {
		if v == nil || *v != 20 {
			t.Errorf("%s: %v per second at the height, want 20", name, v)
		}
	}
	back, err := ReadJournal(bytes.NewReader(r.journal.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	diffEmpty(t, "from the journal", cmp.Diff(asJSON(t, sum), asJSON(t, back)))
}

// TestSteadyAfterTheWarmUp: neither the warm-up's time counts nor its samples,
// those begun in it that end after it included.
func TestSteadyAfterTheWarmUp(t *testing.T) {
	l := testLayout()
	l.Groups = []element.Group{{Name: "g", Open: true, MaxThreads: 6, Duration: 6 * time.Second, WarmUp: 3 * time.Second, Planned: func(time.Duration) float64 { return 100 }}}
	l.Series = l.Series[:1]
	r := newRig(l)
	for s := range 6 {
		for k := range 100 {
			if s == 1 {
				break // none of the warm-up's samples ends in it
			}
			x := sample(0, r.clock.at, time.Millisecond)
			x.WarmUp = s < 3 || s == 3 && k < 10
			r.run(0, x)
		}
		r.second()
	}
	sum := r.Summary(EndInfo{})
	for name, v := range map[string]*float64{"group": sum.Groups[0].SteadyPS, "series": sum.Series[0].SteadyPS, "total": sum.Total.SteadyPS} {
		if v == nil || *v != 100 {
			t.Errorf("%s: %v per second, want 100", name, v)
		}
	}
}

// TestTotalIsSteadyTogether: rates of groups that run one after the other are not
// added up.
func TestTotalIsSteadyTogether(t *testing.T) {
	for _, tt := range []struct {
		first, second [2]int // seconds in which each runs
		want          float64
	}{{[2]int{0, 4}, [2]int{4, 8}, 0}, {[2]int{0, 6}, [2]int{2, 8}, 200}, {[2]int{0, 8}, [2]int{0, 8}, 200}} {
		l := testLayout()
		for g, span := range [][2]int{tt.first, tt.second} {
			l.Groups[g] = element.Group{Name: "g", Open: true, MaxThreads: 6, Duration: time.Duration(span[1]-span[0]) * time.Second, Planned: func(time.Duration) float64 { return 100 }}
		}
		r := newRig(l)
		for s := range 8 {
			for g, span := range [][2]int{tt.first, tt.second} {
				for k := 0; k < 100 && s >= span[0] && s < span[1]; k++ {
					r.run(g, sample(g, r.clock.at, time.Millisecond))
				}
			}
			r.second()
		}
		s := r.Summary(EndInfo{})
		if got := s.Total.SteadyPS; (got != nil) != (tt.want > 0) || got != nil && *got != tt.want || *s.Groups[1].SteadyPS != 100 {
			t.Errorf("%v and %v: total %v, want %g", tt.first, tt.second, got, tt.want)
		}
	}
}

// TestSteadyKnowsWhenAGroupBegan: half a second of it is no steady second.
func TestSteadyKnowsWhenAGroupBegan(t *testing.T) {
	l := testLayout()
	l.Groups = []element.Group{{Name: "g", Open: true, MaxThreads: 6, Duration: 4 * time.Second, Planned: func(time.Duration) float64 { return 100 }}}
	l.Series = l.Series[:1]
	r := newRig(l)
	r.GroupStarted(0, 500*time.Millisecond)
	for _, n := range []int{50, 100, 100, 100, 50} {
		for range n {
			r.run(0, sample(0, r.clock.at, time.Millisecond))
		}
		r.second()
	}
	if v := r.Summary(EndInfo{}).Groups[0].SteadyPS; v == nil || *v != 100 {
		t.Errorf("%v per second, want 100", v)
	}
}

func TestDroppedShare(t *testing.T) {
	r := newRig(testLayout())
	for range 3 {
		r.run(0, sample(0, 0, 1))
		r.run(1, sample(1, 0, 1))
	}
	r.Shard(1, 0).Count(element.IterationsScheduled, 1)
	r.Shard(1, 0).Count(element.DroppedNoThread, 1)
	r.second()
	s := r.Summary(EndInfo{})
	if s.Series[0].DroppedShare != nil || *s.Series[1].DroppedShare != .25 || *s.Total.DroppedShare != .25 {
		t.Errorf("closed %v, open %v, total %v", s.Series[0].DroppedShare, s.Series[1].DroppedShare, s.Total.DroppedShare)
	}
}

// TestApdexIsExact counts at the limits themselves, T and 4T.
func TestApdexIsExact(t *testing.T) {
	const limit = 500 * time.Millisecond
	tests := []struct {
		took   []time.Duration
		failed int
		want   float64
	}{
		{[]time.Duration{limit}, 0, 1}, {[]time.Duration{limit + 1}, 0, .5}, {[]time.Duration{4 * limit}, 0, .5}, {[]time.Duration{4*limit + 1}, 0, 0},
		{[]time.Duration{0, 1, limit, limit + 1}, 0, .875}, {[]time.Duration{1}, 1, .5}, {nil, 2, 0},
	}
	for _, tt := range tests {
		r := newRig(testLayout())
		for _, d := range tt.took {
			r.run(0, sample(0, 0, d))
		}
		for range tt.failed {
			r.run(0, failed(sample(0, 0, 1), element.Status, "503"))
		}
		r.second()
		if got := r.Summary(EndInfo{}).Series[0].Apdex; got == nil || *got != tt.want {
			t.Errorf("%v and %d failed: %v, want %v", tt.took, tt.failed, got, tt.want)
		}
	}
}

// TestSplitsMergeBitForBit splits values at random into 2 to 64 histograms, merges
// them in a random tree and wants the one histogram of all, to the last bit.
func TestSplitsMergeBitForBit(t *testing.T) {
	rnd := rand.New(rand.NewPCG(5, 6))
	n := 20_000
	if testing.Short() || raceEnabled {
		n = 2_000
	}
	values := make([]int64, n)
	var one Histogram
	for i := range values {
		values[i] = int64(math.Exp(rnd.NormFloat64()*2 + 15))
		one.Record(values[i])
	}
	want := one.sparse()
	for range 100 {
		parts := make([]*Histogram, 2+rnd.IntN(63))
		for i := range parts {
			parts[i] = &Histogram{}
		}
		for _, v := range values {
			parts[rnd.IntN(len(parts))].Record(v)
		}
		for len(parts) > 1 {
			i := rnd.IntN(len(parts))
			from := parts[i]
			parts = slices.Delete(parts, i, i+1)
			parts[rnd.IntN(len(parts))].Merge(from)
		}
		if diff := cmp.Diff(want, parts[0].sparse(), cmp.AllowUnexported(sparse{}, wide{})); diff != "" {
			t.Fatalf("merged (-want +got):\n%s", diff)
		}
	}
}
