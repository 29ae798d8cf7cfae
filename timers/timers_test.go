package timers

import (
	"math"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
	"runner/plan/element/elementtest"
)

var config = elementtest.Config{Vars: map[string]string{"think_time": "1s", "longest": "3s", "r": "120/min", "back": "100ms", "crowd": "3"}}

func TestAll(t *testing.T) {
	for _, d := range All() {
		elementtest.Run(t, d, config)
	}
}

// bind returns the timer of one line of a plan.
func bind(t testing.TB, text string) (element.Timer, *elementtest.Bound) {
	t.Helper()
	for _, d := range All() {
		if len(text) > len(d.Name) && text[:len(d.Name)+1] == d.Name+":" {
			b := elementtest.Bind(t, d, text, config)
			return b.Element.(element.Timer), b
		}
	}
	t.Fatalf("no timer for %s", text)
	return nil, nil
}

func due(t testing.TB, timer element.Timer, th *element.Thread, now time.Duration) time.Duration {
	t.Helper()
	d, err := timer.Due(th, now)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestConstant(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"constant: 1s": 11 * time.Second, "constant: 0s": 10 * time.Second,
		"constant: ${think_time}": 11 * time.Second, "constant: {time: 1m30s}": 100 * time.Second,
	} {
		timer, b := bind(t, text)
		if got := due(t, timer, b.Thread(1), 10*time.Second); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
}

func TestThinkTimesAreNoSchedule(t *testing.T) {
	for text, want := range map[string]bool{"constant: 1s": false, "uniform: 1s..2s": false, "poisson: 1s": false, "constant_throughput: 1/s": true, "precise_throughput: 1/s": true,
		"synchronizing: {threads: 2, timeout: 1s}": false} {
		timer, _ := bind(t, text)
		s, ok := timer.(element.Scheduler)
		if got := ok && s.Scheduled(); got != want {
			t.Errorf("%s: scheduled %v", text, got)
		}
	}
}

func TestUniform(t *testing.T) {
	for text, bounds := range map[string][2]time.Duration{
		"uniform: 1s..3s":               {time.Second, 3 * time.Second},
		"uniform: 1500ms .. ${longest}": {1500 * time.Millisecond, 3 * time.Second},
	} {
		timer, b := bind(t, text)
		th, sum := b.Thread(1), time.Duration(0)
		const n = 10_000
		for range n {
			d := due(t, timer, th, time.Minute) - time.Minute
			if d < bounds[0] || d > bounds[1] {
				t.Fatalf("%s: waits %s", text, d)
			}
			sum += d
		}
		if mean, want := sum/n, (bounds[0]+bounds[1])/2; (mean - want).Abs() > 20*time.Millisecond {
			t.Errorf("%s: mean %s, want %s", text, mean, want)
		}
	}
}

func TestUniformOfOneTime(t *testing.T) {
	timer, b := bind(t, "uniform: 2s..2s")
	if got := due(t, timer, b.Thread(1), time.Second); got != 3*time.Second {
		t.Errorf("got %s", got)
	}
}

func TestDrawsFollowTheThreadsSource(t *testing.T) {
	for _, text := range []string{"uniform: 1s..3s", "gaussian: {mean: 2s, deviation: 1s}", "poisson: 1s"} {
		timer, b := bind(t, text)
		draw := func(id int) (list []time.Duration) {
			th := b.Thread(id)
			for range 20 {
				list = append(list, due(t, timer, th, 0))
			}
			return list
		}
		if !cmp.Equal(draw(1), draw(1)) || cmp.Equal(draw(1), draw(2)) {
			t.Errorf("%s: the draws do not follow the thread's random source", text)
		}
	}
}

func TestGaussian(t *testing.T) {
	timer, b := bind(t, "gaussian: {mean: 2s, deviation: 500ms, min: 1s, max: 3s}")
	th, sum, inside, low := b.Thread(1), 0.0, 0, 0
	const n = 20_000
	for range n {
		d := due(t, timer, th, 0)
		if d < time.Second || d > 3*time.Second {
			t.Fatalf("waits %s", d)
		}
		if d == time.Second {
			low++
		}
		if d > 1500*time.Millisecond && d < 2500*time.Millisecond {
			inside++
		}
		sum += d.Seconds()
	}
	if mean := sum / n; math.Abs(mean-2) > 0.02 {
		t.Errorf("mean %v s", mean)
	}
	if share := float64(inside) / n; math.Abs(share-0.683) > 0.02 {
		t.Errorf("%v within one deviation", share)
	}
	if share := float64(low) / n; math.Abs(share-0.0228) > 0.01 {
		t.Errorf("%v at the lower bound", share)
	}
}

func TestGaussianIsNeverNegative(t *testing.T) {
	timer, b := bind(t, "gaussian: {mean: 10ms, deviation: 10s}")
	th := b.Thread(1)
	for range 1000 {
		if d := due(t, timer, th, time.Second); d < time.Second {
			t.Fatalf("due %s, before now", d)
		}
	}
}

// slotsOf lists what n askers at these times get, one after the other.
func slotsOf(t testing.TB, text string, asked []time.Duration, threads ...int) []time.Duration {
	t.Helper()
	timer, b := bind(t, text)
	var all []*element.Thread
	members, plan := &element.Shared{}, &element.Shared{}
	for id := range 3 {
		th := b.Thread(id + 1)
		th.Members, th.Plan = members, plan
		if id == 2 { // the third is of another group
			th.Members = &element.Shared{}
		}
		all = append(all, th)
	}
	var got []time.Duration
	for i, now := range asked {
		id := 0
		if len(threads) > 0 {
			id = threads[i%len(threads)]
		}
		got = append(got, due(t, timer, all[id], now))
	}
	return got
}

func at(times ...int64) (list []time.Duration) {
	for _, ms := range times {
		list = append(list, time.Duration(ms)*time.Millisecond)
	}
	return list
}

func TestConstantThroughput(t *testing.T) {
	for name, c := range map[string]struct {
		text        string
		asked, want []time.Duration
		threads     []int
	}{
		"all at once":                 {"constant_throughput: 600/min", at(0, 0, 0, 0), at(0, 100, 200, 300), nil},
		"first takes a slot":          {"constant_throughput: 10/s", at(7000, 7000), at(7000, 7100), nil},
		"lost slots are not repaid":   {"constant_throughput: 10/s", at(0, 50, 1000, 1000, 1010), at(0, 100, 1000, 1100, 1200), nil},
		"catch up":                    {"constant_throughput: {rate: 10/s, catch_up: true}", at(0, 50, 450, 450, 450, 450, 450), at(0, 100, 200, 300, 400, 500, 600), nil},
		"1/min":                       {"constant_throughput: 1/min", at(500, 500, 500), at(500, 60500, 120500), nil},
		"40,000/min":                  {"constant_throughput: 40000/min", at(0, 0, 0, 0, 4), []time.Duration{0, 1500 * time.Microsecond, 3000 * time.Microsecond, 4500 * time.Microsecond, 6 * time.Millisecond}, nil},
		"20,000/s":                    {"constant_throughput: 20000/s", at(1, 1, 1), []time.Duration{1000 * time.Microsecond, 1050 * time.Microsecond, 1100 * time.Microsecond}, nil},
		"by group":                    {"constant_throughput: 10/s", at(0, 0, 0, 0, 0, 0), at(0, 100, 0, 200, 300, 100), []int{0, 1, 2}},
		"by plan":                     {"constant_throughput: {rate: 10/s, per: plan}", at(0, 0, 0, 0), at(0, 100, 200, 300), []int{0, 1, 2}},
		"by thread":                   {"constant_throughput: {rate: 10/s, per: thread}", at(0, 0, 0, 0, 0, 0), at(0, 0, 0, 100, 100, 100), []int{0, 1, 2}},
		"variable":                    {"constant_throughput: ${r}", at(0, 0, 0), at(0, 500, 1000), nil},
		"never":                       {"constant_throughput: {rate: [{at: 1/s, for: 1s}, {to: 0/s, over: 0s}]}", at(0, 0), []time.Duration{0, 1 * time.Second}, nil},
		"jump":                        {"constant_throughput: {rate: [{at: 2/s, for: 1s}, {at: 10/s, for: 1s}]}", at(0, 0, 0, 0, 0), at(0, 500, 1000, 1100, 1200), nil},
		"half a slot before the jump": {"constant_throughput: {rate: [{at: 2/s, for: 750ms}, {at: 10/s, for: 1s}]}", at(0, 0, 0), at(0, 500, 800), nil},
		"stays at the last":           {"constant_throughput: {rate: [{at: 1/s, for: 1s}]}", at(0, 0, 0, 0), at(0, 1000, 2000, 3000), nil},
		"from the first sample":       {"constant_throughput: {rate: [{at: 2/s, for: 1s}, {at: 10/s, for: 1s}]}", at(5000, 5000, 5000, 5000), at(5000, 5500, 6000, 6100), nil},
		"hold":                        {"constant_throughput: {rate: [{at: 2/s, for: 1s}, {hold: 1s}, {at: 10/s, for: 1s}]}", at(0, 0, 0, 0, 0, 0), at(0, 500, 1000, 1500, 2000, 2100), nil},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, slotsOf(t, c.text, c.asked, c.threads...)); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestLostSlotsAreNoted(t *testing.T) {
	for text, want := range map[string]int{"constant_throughput: 10/s": 1, "constant_throughput: {rate: 10/s, catch_up: true}": 0} {
		timer, _ := bind(t, text)
		if n := len(timer.(element.Noter).Notes()); n != want {
			t.Errorf("%s has %d notes, want %d", text, n, want)
		}
	}
}

func TestRampOfThroughputIsExact(t *testing.T) {
	const n = 51 // 0 → 10/s in 10 s is 50 slots after the first
	got := slotsOf(t, "constant_throughput: {rate: [{to: 10/s, over: 10s}]}", make([]time.Duration, n))
	for i, d := range got {
		if want := time.Duration(math.Sqrt(float64(i)*2) * float64(time.Second)); (d - want).Abs() > time.Microsecond {
			t.Fatalf("slot %d at %s, want %s", i, d, want)
		}
	}
}

func TestThroughputThatEndsIsNeverDue(t *testing.T) {
	got := slotsOf(t, "constant_throughput: {rate: [{at: 1/s, for: 2s}, {at: 0/s, for: 1s}]}", make([]time.Duration, 5))
	if got[2] != 2*time.Second || got[3] < 1000*time.Hour || got[4] < got[3] {
		t.Errorf("got %s", got)
	}
}

func TestThroughputDoesNotDrift(t *testing.T) {
	for text, perSecond := range map[string]float64{"constant_throughput: 7/s": 7, "constant_throughput: 130000/min": 130000. / 60} {
		const n = 200_000
		got := slotsOf(t, text, make([]time.Duration, n+1))[n]
		want := time.Duration(n / perSecond * float64(time.Second))
		if (got - want).Abs() > 10*time.Microsecond {
			t.Errorf("%s: slot %d at %s, want %s", text, n, got, want)
		}
	}
}

func TestThroughputUnderEightThreads(t *testing.T) {
	timer, b := bind(t, "constant_throughput: 1000/s")
	shared := &element.Shared{}
	const each = 2000
	var mu sync.Mutex
	seen := map[time.Duration]bool{}
	var wg sync.WaitGroup
	for id := range 8 {
		th := b.Thread(id + 1)
		th.Members = shared
		wg.Go(func() {
			for range each {
				d, err := timer.Due(th, 0)
				if err != nil {
					t.Error(err)
				}
				mu.Lock()
				seen[d] = true
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	for i := range 8 * each {
		if !seen[time.Duration(i)*time.Millisecond] {
			t.Fatalf("slot %d was not handed out", i)
		}
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string][]string{
		"uniform: 3s..1s": {`10: the range "3s..1s" runs backwards`},
		"uniform: 3s":     {`10: "3s" is not a range`},
		"uniform: 1..3s":  {`10: "1" has no unit`},
		"uniform: 1s..3":  {`14: "3" has no unit`},
		"gaussian: {mean: 2s, deviation: 1s, min: 3s, max: 1s}": {"51: max (1s) is below min (3s)"},
		"constant_throughput: 0/s":                              {"22: the rate must be above 0"},
		"constant_throughput: {rate: []}":                       {"29: the rate has no stages"},
		"constant_throughput: {rate: [{hold: 1s}]}":             {"30: the first stage has no rate to hold"},
		"constant_throughput: {rate: [{to: 5/s}]}":              {"35: a stage with `to` needs `over`"},
		"constant_throughput: {rate: [{for: 5s}]}":              {"30: `stage` needs one of `to`, `hold` and `at`"},
		"constant_throughput: {rate: 5/s, per: planet}":         {},
		"precise_throughput: 0/s":                               {"21: the rate must be above 0"},
		"precise_throughput: {rate: 1/s, batch: 0}":             {},
		"precise_throughput: {batch: 2}":                        {"21: `precise_throughput` needs `rate`"},
		"synchronizing: 5":                                      {"16: `synchronizing` must be a map, not the value \"5\""},
		"synchronizing: {threads: 5}":                           {"16: `synchronizing` needs `timeout`"},
		"synchronizing: {threads: 0, timeout: 1s}":              {},
	} {
		name, _, _ := cut(text)
		for _, d := range All() {
			if d.Name != name {
				continue
			}
			got := elementtest.Problems(t, d, text, config)
			if len(want) == 0 {
				if len(got) != 1 {
					t.Errorf("%s: got %q", text, got)
				}
			} else if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s", text, d)
			}
		}
	}
}

func cut(text string) (string, string, bool) {
	for i := range text {
		if text[i] == ':' {
			return text[:i], text[i+1:], true
		}
	}
	return text, "", false
}

func TestBadValuesAtRunTime(t *testing.T) {
	c := elementtest.Config{Vars: map[string]string{"zero": "0/s", "long": "5s"}}
	for text, want := range map[string]string{
		"constant_throughput: ${zero}": "the rate of constant_throughput is 0/s; it must be above 0",
		"uniform: ${long}..1s":         "the range 5s..1s runs backwards",
	} {
		name, _, _ := cut(text)
		for _, d := range All() {
			if d.Name == name {
				b := elementtest.Bind(t, d, text, c)
				if _, err := b.Element.(element.Timer).Due(b.Thread(1), 0); err == nil || err.Error() != want {
					t.Errorf("%s: got %v", text, err)
				}
			}
		}
	}
}

func TestDueDoesNotAllocate(t *testing.T) {
	for _, text := range []string{"constant: 1s", "uniform: 1s..3s", "gaussian: {mean: 2s, deviation: 1s}", "constant_throughput: 100/s", "constant_throughput: {rate: [{to: 5/s, over: 1m}]}", "poisson: 1s", "precise_throughput: 100/s"} {
		timer, b := bind(t, text)
		th := b.Thread(1)
		if n := testing.AllocsPerRun(100, func() { due(t, timer, th, 0) }); n != 0 && !raceEnabled {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func BenchmarkDue(b *testing.B) {
	for _, text := range []string{"constant: 1s", "uniform: 1s..3s", "constant_throughput: 100/s", "precise_throughput: 100/s"} {
		b.Run(text, func(b *testing.B) {
			timer, bound := bind(b, text)
			th := bound.Thread(1)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := timer.Due(th, 0); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
