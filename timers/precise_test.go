package timers

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

// schedule returns the first n due times of one line, all asked for at start.
func schedule(t testing.TB, text string, start time.Duration, n int, s *element.Shared) []time.Duration {
	t.Helper()
	timer, b := bind(t, text)
	th := b.Thread(1)
	th.Members = s
	out := make([]time.Duration, n)
	for i := range out {
		out[i] = due(t, timer, th, start)
	}
	return out
}

func TestPreciseThroughputIsExactInEveryWindow(t *testing.T) {
	for text, c := range map[string]struct {
		window time.Duration
		want   []int // in the first windows
	}{
		"precise_throughput: 1/min":                                 {10 * time.Minute, []int{10, 10, 10}},
		"precise_throughput: 30/min":                                {time.Minute, []int{30, 30, 30, 30}},
		"precise_throughput: {rate: 60/min, window: 1s}":            {time.Second, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
		"precise_throughput: {rate: 10/s, window: 250ms}":           {250 * time.Millisecond, []int{2, 3, 2, 3, 2, 3}},
		"precise_throughput: 10/h":                                  {time.Hour, []int{10, 10}},
		"precise_throughput: {rate: 10/h, window: 1m}":              {6 * time.Minute, []int{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}},
		"precise_throughput: {rate: 40000/min, window: 3s}":         {3 * time.Second, []int{2000, 2000, 2000}},
		"precise_throughput: {rate: 130000/min, window: 6s}":        {6 * time.Second, []int{13000, 13000}},
		"precise_throughput: {rate: 20000/s, window: 1s}":           {time.Second, []int{20000, 20000, 20000}},
		"precise_throughput: {rate: 100/s, batch: 5, window: 1s}":   {time.Second, []int{100, 100, 100}},
		"precise_throughput: {rate: \"${r}\", window: 10s}":         {10 * time.Second, []int{20, 20}},
		"precise_throughput: {rate: 7/s, batch: 2, window: 2s}":     {2 * time.Second, []int{14, 14, 14}},
		"precise_throughput: {rate: 999/min, window: 100s}":         {100 * time.Second, []int{1665, 1665}},
		"precise_throughput: {rate: 0.5/s, batch: 3, window: 12s}":  {12 * time.Second, []int{6, 6, 6}},
		"precise_throughput: {rate: 1/s, batch: 100, window: 500s}": {500 * time.Second, []int{500, 500}},
	} {
		total := 0
		for _, n := range c.want {
			total += n
		}
		const start = 7 * time.Second
		all := schedule(t, text, start, total+1, &element.Shared{Seed: 3})
		got := make([]int, len(c.want))
		before := start
		for _, at := range all[:total] {
			i := int((at - start) / c.window)
			if at < before || i >= len(got) {
				t.Fatalf("%s: due at %s after %s", text, at, before)
			}
			got[i]++
			before = at
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", text, d)
		}
		if end := start + time.Duration(len(c.want))*c.window; all[total] < end {
			t.Errorf("%s: one more, at %s, before %s", text, all[total], end)
		}
	}
}

func TestPreciseThroughputLooksLikePoisson(t *testing.T) {
	const n = 60_000
	all := schedule(t, "precise_throughput: 1000/s", 0, n, &element.Shared{Seed: 1})
	var sum, squares float64
	short := 0
	for i := 1; i < n; i++ {
		gap := (all[i] - all[i-1]).Seconds() * 1000 // its mean is 1
		sum, squares = sum+gap, squares+gap*gap
		if gap < 0.5 {
			short++
		}
	}
	mean := sum / n
	if deviation := math.Sqrt(squares/n - mean*mean); math.Abs(mean-1) > 0.01 || math.Abs(deviation-1) > 0.02 {
		t.Errorf("gaps have mean %v and deviation %v, want 1 and 1", mean, deviation)
	}
	if share := float64(short) / n; math.Abs(share-(1-math.Exp(-0.5))) > 0.01 {
		t.Errorf("%v of the gaps are below half the mean", share)
	}
}

func TestPreciseThroughputFollowsTheSeed(t *testing.T) {
	draw := func(text string, seed uint64) []time.Duration {
		return schedule(t, text, 0, 50, &element.Shared{Seed: seed})
	}
	const line = "precise_throughput: 10/s"
	if !cmp.Equal(draw(line, 1), draw(line, 1)) || cmp.Equal(draw(line, 1), draw(line, 2)) {
		t.Error("the schedule does not follow the seed")
	}
	if cmp.Equal(draw(line, 1), draw("precise_throughput: {rate: 10/s}", 1)) {
		t.Error("two timers of a group share one schedule")
	}
}

func TestPreciseThroughputComesInBatches(t *testing.T) {
	all := schedule(t, "precise_throughput: {rate: 10/s, batch: 4}", 0, 40, &element.Shared{})
	for i, at := range all {
		if at != all[i/4*4] || i >= 4 && i%4 == 0 && at == all[i-1] {
			t.Fatalf("sample %d is due at %s: %s", i, at, all)
		}
	}
}

// A moment that has passed is repaid at once and keeps its time.
func TestPreciseThroughputRepaysWhatIsLate(t *testing.T) {
	timer, b := bind(t, "precise_throughput: {rate: 10/s, window: 1s}")
	th := b.Thread(1)
	last := due(t, timer, th, 0)
	for i := 1; i < 50; i++ { // all slots of five seconds have passed
		at := due(t, timer, th, 5*time.Second)
		if at < last || at > 5*time.Second {
			t.Fatalf("sample %d is due at %s, the one before at %s", i, at, last)
		}
		last = at
	}
	if at := due(t, timer, th, 5*time.Second); at <= 5*time.Second || at > 6*time.Second {
		t.Errorf("the next is due at %s", at)
	}
}

func TestSegmentsOfPreciseThroughputAreOneSchedule(t *testing.T) {
	const line = "precise_throughput: {rate: 10/s, batch: 2}"
	whole := schedule(t, line, 0, 120, &element.Shared{Seed: 5})
	var parts [3][]time.Duration
	for i := range parts {
		parts[i] = schedule(t, line, 0, 40, &element.Shared{Seed: 5, Segment: element.Segment{Index: i, Count: 3}})
	}
	for i, at := range whole {
		batch := i / 2
		if got := parts[batch%3][batch/3*2+i%2]; got != at {
			t.Fatalf("sample %d is due at %s in its segment, at %s in the whole", i, got, at)
		}
	}
}

// TestThroughputFromOnePerMinute holds the exact due times over the whole range
// of rates, where periods rounded to milliseconds would give another rate.
func TestThroughputFromOnePerMinute(t *testing.T) {
	for _, c := range []struct {
		rate      string
		perMinute float64
	}{
		{"1/min", 1}, {"0.5/s", 30}, {"7/min", 7}, {"999/min", 999}, {"1000/min", 1000}, {"39999/min", 39999}, {"40000/min", 40000},
		{"60000/min", 60000}, {"100000/min", 100000}, {"119999/min", 119999}, {"130000/min", 130000}, {"1000000/min", 1e6}, {"20000/s", 1.2e6},
	} {
		for _, per := range []string{"thread", "group", "plan"} {
			const n = 20_000
			text := fmt.Sprintf("constant_throughput: {rate: %s, per: %s}", c.rate, per)
			for i, at := range slotsOf(t, text, make([]time.Duration, n)) {
				if want := time.Duration(math.Round(float64(i) * 60 / c.perMinute * float64(time.Second))); (at - want).Abs() > 200*time.Nanosecond {
					t.Fatalf("%s: slot %d at %s, want %s", text, i, at, want)
				}
			}
		}
	}
}

// TestThroughputSharedByModes lets three threads, two of one group, run in turn
// for a minute and counts.
func TestThroughputSharedByModes(t *testing.T) {
	for per, want := range map[string][3]int{"thread": {600, 600, 600}, "group": {300, 300, 600}, "plan": {200, 200, 200}} {
		timer, b := bind(t, "constant_throughput: {rate: 600/min, per: "+per+"}")
		members, plan := &element.Shared{}, &element.Shared{}
		var threads [3]*element.Thread
		var now [3]time.Duration
		var got [3]int
		for i := range threads {
			threads[i] = b.Thread(i + 1)
			threads[i].Members, threads[i].Plan = members, plan
		}
		threads[2].Members = &element.Shared{}
		for {
			next := 0 // the thread whose clock is behind goes on
			for i := range now {
				if now[i] < now[next] {
					next = i
				}
			}
			at := due(t, timer, threads[next], now[next])
			if at >= time.Minute {
				break
			}
			now[next] = at
			got[next]++
		}
		for i := range got {
			if got[i] < want[i]-1 || got[i] > want[i]+1 {
				t.Errorf("per %s: %v, want %v", per, got, want)
			}
		}
	}
}

func TestPoisson(t *testing.T) {
	timer, b := bind(t, "poisson: 2s")
	th, sum, long := b.Thread(1), 0.0, 0
	const n = 40_000
	for range n {
		d := due(t, timer, th, time.Second) - time.Second
		if d < 0 {
			t.Fatalf("waits %s", d)
		}
		if d > 6*time.Second {
			long++
		}
		sum += d.Seconds()
	}
	if mean := sum / n; math.Abs(mean-2) > 0.04 {
		t.Errorf("mean %v s", mean)
	}
	if share := float64(long) / n; math.Abs(share-math.Exp(-3)) > 0.005 {
		t.Errorf("%v are longer than three means", share)
	}
	limited, b := bind(t, "poisson: {mean: 2s, max: 3s}")
	for range 1000 {
		if d := due(t, limited, b.Thread(1), 0); d > 3*time.Second {
			t.Fatalf("waits %s", d)
		}
	}
}

func TestBranchesShareTheRateOfTheirThread(t *testing.T) {
	timer, b := bind(t, "constant_throughput: {rate: 10/s, per: thread}")
	th := b.Thread(1)
	branch := th.Branch(th.Machine(), th.Rand)
	th.Fork(branch)
	got := []time.Duration{due(t, timer, th, 0), due(t, timer, branch, 0), due(t, timer, th, 0)}
	if d := cmp.Diff(at(0, 100, 200), got); d != "" {
		t.Error(d)
	}
}
