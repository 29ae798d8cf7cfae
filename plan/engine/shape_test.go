package engine

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func walk(s *ArrivalShape, seed uint64, most int) []time.Duration {
	var out []time.Duration
	for w := s.Walk(seed); len(out) < most; {
		at, ok := w.Next()
		if !ok {
			break
		}
		out = append(out, at)
	}
	return out
}

func seconds(n ...float64) []time.Duration {
	var out []time.Duration
	for _, v := range n {
		out = append(out, time.Duration(math.Round(v*1e9)))
	}
	return out
}

func TestArrivalsExactly(t *testing.T) {
	s := time.Second
	tests := []struct {
		name   string
		stages []ArrivalStage
		limit  int64
		want   []time.Duration
	}{
		{"a rate below one a second", []ArrivalStage{{0.5, 0.5, 10 * s}}, -1, seconds(0, 2, 4, 6, 8)},
		{"the limit ends first", []ArrivalStage{{2, 2, 10 * s}}, 3, seconds(0, 0.5, 1)},
		{"no duration", []ArrivalStage{{4, 4, 0}}, 3, seconds(0, 0.25, 0.5)},
		{"ten an hour", []ArrivalStage{{10. / 3600, 10. / 3600, time.Hour}}, -1,
			seconds(0, 360, 720, 1080, 1440, 1800, 2160, 2520, 2880, 3240)},
		{"ramp from zero", []ArrivalStage{{0, 2, 2 * s}}, -1, seconds(0, math.Sqrt2)},
		{"ramp to zero", []ArrivalStage{{2, 0, 2 * s}}, -1, seconds(0, 2-math.Sqrt2)},
		{"a fraction carries over", []ArrivalStage{{0.5, 0.5, s}, {2, 2, s}}, -1, seconds(0, 1.25, 1.75)},
		{"nothing is due at rate zero", []ArrivalStage{{0, 0, 3 * s}, {1, 1, 2 * s}}, -1, seconds(3, 4)},
		{"a pause in the middle", []ArrivalStage{{1, 1, 2 * s}, {0, 0, 5 * s}, {1, 1, 2 * s}}, -1, seconds(0, 1, 7, 8)},
		{"jump and hold", []ArrivalStage{{1, 1, s}, {4, 4, s}}, -1, seconds(0, 1, 1.25, 1.5, 1.75)},
		{"none", []ArrivalStage{{0, 0, s}}, -1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, walk(Arrivals(tt.stages, tt.limit, false), 1, 1000)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestArrivalCounts(t *testing.T) {
	s := time.Second
	tests := []struct {
		stages []ArrivalStage
		want   int
	}{
		{[]ArrivalStage{{30, 30, 30 * s}}, 900},
		{[]ArrivalStage{{0, 10, 10 * s}}, 50},
		{[]ArrivalStage{{0, 10, 10 * s}, {10, 10, 5 * s}, {10, 0, 10 * s}}, 150},
		{[]ArrivalStage{{30000. / 60, 30000. / 60, 10 * s}}, 5000},
		{[]ArrivalStage{{1. / 3, 1. / 3, 9 * s}}, 3},
		{[]ArrivalStage{{7. / 60, 7. / 60, 10 * time.Minute}}, 70},
		{[]ArrivalStage{{0, 1, s}, {1, 0, s}}, 1},
		{[]ArrivalStage{{2000, 2000, 10 * s}}, 20000},
	}
	for _, tt := range tests {
		shape := Arrivals(tt.stages, -1, false)
		if got := len(walk(shape, 1, 1e6)); got != tt.want || shape.Count() != int64(tt.want) {
			t.Errorf("%v: %d arrivals, Count %d, want %d", tt.stages, got, shape.Count(), tt.want)
		}
	}
}

func TestArrivalProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		var stages []ArrivalStage
		area, rate := 0.0, float64(r.IntN(50))
		for range 1 + r.IntN(6) {
			to := float64(r.IntN(50))
			if r.IntN(3) == 0 {
				to = rate
			}
			over := time.Duration(1+r.IntN(5000)) * time.Millisecond
			stages = append(stages, ArrivalStage{rate, to, over})
			area += (rate + to) / 2 * over.Seconds()
			rate = to
		}
		shape := Arrivals(stages, -1, false)
		got := walk(shape, 1, 1e6)
		if want := math.Ceil(area - 1e-6); math.Abs(float64(len(got))-want) > 0.5 {
			t.Fatalf("%v: %d arrivals, area %g", stages, len(got), area)
		}
		for i := range got {
			if got[i] < 0 || got[i] >= shape.Length() || i > 0 && got[i] < got[i-1] {
				t.Fatalf("%v: arrival %d at %v after %v of %v", stages, i, got[i], got[max(0, i-1)], shape.Length())
			}
			if shape.Planned(got[i]) < 0 {
				t.Fatalf("%v: negative rate", stages)
			}
		}
		w := shape.Walk(1)
		if len(got) > 0 {
			w.Next()
			if left := w.Remaining(); left != int64(len(got)-1) {
				t.Fatalf("%v: %d remaining of %d", stages, left, len(got))
			}
		}
	}
}

func TestPoissonIsSeededAndHasTheRate(t *testing.T) {
	shape := Arrivals([]ArrivalStage{{0, 100, 10 * time.Second}, {100, 100, 90 * time.Second}}, -1, true)
	a, b, c := walk(shape, 1, 1e6), walk(shape, 1, 1e6), walk(shape, 2, 1e6)
	if diff := cmp.Diff(a, b); diff != "" {
		t.Errorf("one seed, two results\n%s", diff)
	}
	if cmp.Equal(a, c) {
		t.Error("two seeds, one result")
	}
	if n := len(a); n < 9500-400 || n > 9500+400 {
		t.Errorf("%d arrivals, want about 9500", n)
	}
	var sum, squares float64
	tail := a[len(a)/2:]
	for i := 1; i < len(tail); i++ {
		gap := (tail[i] - tail[i-1]).Seconds()
		sum, squares = sum+gap, squares+gap*gap
	}
	n := float64(len(tail) - 1)
	if mean := sum / n; math.Abs(math.Sqrt(squares/n-mean*mean)/mean-1) > 0.1 {
		t.Errorf("gaps have mean %g, deviation %g: not exponential", mean, math.Sqrt(squares/n-mean*mean))
	}
	if n := len(walk(Arrivals([]ArrivalStage{{5, 5, 0}}, 7, true), 3, 100)); n != 7 {
		t.Errorf("%d arrivals with a limit of 7", n)
	}
}

func events(s *ThreadShape) []ThreadEvent {
	var out []ThreadEvent
	for e := s.Events(); ; {
		v, ok := e.Next()
		if !ok {
			return out
		}
		out = append(out, v)
	}
}

func TestThreadEvents(t *testing.T) {
	s := time.Second
	tests := []struct {
		name  string
		shape *ThreadShape
		want  []ThreadEvent
	}{
		{"ramp", Ramp(4, 2*s, 10*s), []ThreadEvent{{0, 1, true}, {s / 2, 2, true}, {s, 3, true}, {3 * s / 2, 4, true}}},
		{"thirds of a second are not rounded to ms", Ramp(3, s, 0),
			[]ThreadEvent{{0, 1, true}, {333333333, 2, true}, {666666666, 3, true}}},
		{"no ramp", Ramp(2, 0, s), []ThreadEvent{{0, 1, true}, {0, 2, true}}},
		{"the duration cuts the ramp", Ramp(4, 4*s, 2*s), []ThreadEvent{{0, 1, true}, {s, 2, true}}},
		{"staged", StagedThreads([]ThreadStage{{2, 2 * s}, {2, s}, {0, s}, {3, 0}, {1, 0}}), []ThreadEvent{
			{s, 1, true}, {2 * s, 2, true},
			{3*s + s/2, 2, false}, {4 * s, 1, false},
			{4 * s, 1, true}, {4 * s, 2, true}, {4 * s, 3, true},
			{4 * s, 3, false}, {4 * s, 2, false}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, events(tt.shape)); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestThreadEventProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 300 {
		var stages []ThreadStage
		for range 1 + r.IntN(6) {
			stages = append(stages, ThreadStage{r.IntN(40), time.Duration(r.IntN(4)) * time.Second})
		}
		shape := StagedThreads(stages)
		level, last, highest := 0, time.Duration(0), 0
		for _, e := range events(shape) {
			if e.At < last || e.At > shape.Length() {
				t.Fatalf("%v: %v after %v", stages, e, last)
			}
			last = e.At
			switch {
			case e.Start && e.Thread == level+1:
				level++
			case !e.Start && e.Thread == level:
				level--
			default:
				t.Fatalf("%v: %v with %d threads", stages, e, level)
			}
			highest = max(highest, level)
			if p := shape.Planned(e.At); e.At < shape.Length() && stages[0].Over > 0 && math.Abs(p-float64(level)) > 40 {
				t.Fatalf("%v: planned %g, walked %d", stages, p, level)
			}
		}
		if level != stages[len(stages)-1].To || highest != shape.Max() {
			t.Fatalf("%v: ends with %d, highest %d of %d", stages, level, highest, shape.Max())
		}
	}
}

func TestPlanned(t *testing.T) {
	s := time.Second
	ramp := Ramp(4, 2*s, 10*s)
	stages := StagedThreads([]ThreadStage{{10, 10 * s}, {10, 5 * s}, {0, 10 * s}})
	rate := Arrivals([]ArrivalStage{{0, 10, 10 * s}, {10, 10, 5 * s}}, -1, false)
	tests := []struct{ got, want float64 }{
		{ramp.Planned(0), 1}, {ramp.Planned(s), 3}, {ramp.Planned(9 * s), 4}, {ramp.Planned(10 * s), 0},
		{stages.Planned(0), 0}, {stages.Planned(5 * s), 5}, {stages.Planned(12 * s), 10}, {stages.Planned(20 * s), 5},
		{rate.Planned(5 * s), 5}, {rate.Planned(12 * s), 10}, {rate.Planned(15 * s), 0},
	}
	for i, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%d: planned %g, want %g", i, tt.got, tt.want)
		}
	}
}
