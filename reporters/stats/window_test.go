package stats

import (
	"bytes"
	"context"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

// windowed judges a comparison over 100 samples/s, from 15 ms on, whose ticks come at
// given times. It returns when it breaks, or −1.
func windowed(t *testing.T, th element.Threshold, ticks ...time.Duration) (ThresholdResult, time.Duration) {
	t.Helper()
	l := testLayout()
	th.Group, th.Series, th.Single = 0, []int{0}, -1
	l.Thresholds = []element.Threshold{th}
	r := newRig(l)
	broken := time.Duration(-1)
	due := 15 * time.Millisecond
	for _, at := range ticks {
		for ; due < at; due += 10 * time.Millisecond {
			r.clock.at = due
			r.run(0, sample(0, due, time.Millisecond))
		}
		r.clock.at = at
		if r.Tick(); broken < 0 && r.state.judges[0].broken {
			broken = at
		}
	}
	s := r.Summary(EndInfo{})
	back, err := ReadJournal(bytes.NewReader(r.journal.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	diffEmpty(t, "from the journal", cmp.Diff(s.Thresholds, back.Thresholds))
	return s.Thresholds[0], broken
}

// TestWindowsBeginAfterTheWarmUp: its samples are in no figure, so a window that
// reaches into it would see too few.
func TestWindowsBeginAfterTheWarmUp(t *testing.T) {
	for _, group := range []int{0, -1} {
		for _, window := range []time.Duration{0, time.Second, 2 * time.Second} {
			l := testLayout()
			l.Groups[0].WarmUp = 3 * time.Second
			th := element.Threshold{Comparison: comparison("samples > 90", 90), Window: window, Group: group, Series: []int{0}, Single: -1}
			if window == 0 {
				th.For = time.Second
			}
			l.Thresholds = []element.Threshold{th}
			r := newRig(l)
			for s := range 6 {
				for range 100 {
					x := sample(0, r.clock.at, time.Millisecond)
					x.WarmUp = s < 3
					r.run(0, x)
				}
				r.second()
			}
			if got := r.Summary(EndInfo{}).Thresholds[0]; !got.Passed || got.NoData {
				t.Errorf("group %d, window %v: %+v", group, window, got)
			}
		}
	}
}

// jittered are ticks each second, late by up to 20 ms.
func jittered(rnd *rand.Rand, seconds int) []time.Duration {
	var out []time.Duration
	for i := range seconds {
		out = append(out, time.Duration(i+1)*time.Second+time.Duration(rnd.Int64N(int64(20*time.Millisecond))))
	}
	return out
}

// TestWindowsWhateverTheJitter: a window covers as many seconds as it says, each
// of them once.
func TestWindowsWhateverTheJitter(t *testing.T) {
	for _, tt := range []struct {
		window  time.Duration
		seconds float64
	}{{time.Second, 1}, {300 * time.Millisecond, 1}, {1400 * time.Millisecond, 1}, {1500 * time.Millisecond, 2}, {2 * time.Second, 2}, {5 * time.Second, 5}} {
		for seed := range uint64(20) {
			ticks := append(jittered(rand.New(rand.NewPCG(seed, 1)), 12), 12*time.Second+30*time.Millisecond, 12*time.Second+400*time.Millisecond)
			few, many := 100*tt.seconds-3, 100*tt.seconds+3
			for _, c := range []element.Threshold{
				{Comparison: comparison("samples > n", few), Window: tt.window}, {Comparison: comparison("samples < n", many), Window: tt.window},
			} {
				if got, at := windowed(t, c, ticks...); !got.Passed || at >= 0 || got.Value == nil {
					t.Fatalf("window %v, seed %d: %+v, broken at %v", tt.window, seed, got, at)
				}
			}
		}
	}
}

// TestLateTicks: the interval of a process that stood still is judged whole, and
// is in as many windows as they have seconds.
func TestLateTicks(t *testing.T) {
	sec := time.Second
	tests := []struct {
		name   string
		window time.Duration
		text   string
		limit  float64
		ticks  []time.Duration
		want   time.Duration // when it breaks
	}{
		{"whole", sec, "samples < n", 290, []time.Duration{sec, 2 * sec, 5 * sec, 6 * sec}, 5 * sec},
		{"only once in a window of a second", sec, "samples < n", 310, []time.Duration{sec, 2 * sec, 5 * sec, 6 * sec, 7 * sec}, -1},
		{"a short rest joins the next", sec, "samples != n", 130, []time.Duration{sec, 3700 * time.Millisecond, 4 * sec, 5 * sec}, 5 * sec},
		{"full windows after it", 2 * sec, "samples > n", 195, []time.Duration{sec, 2 * sec, 5 * sec, 6 * sec, 7 * sec}, -1},
		{"twice in one of two", 2 * sec, "samples < n", 390, []time.Duration{sec, 2 * sec, 5 * sec, 6 * sec, 7 * sec, 8 * sec}, 6 * sec},
		{"not too often", 2 * sec, "samples < n", 410, []time.Duration{sec, 2 * sec, 5 * sec, 6 * sec, 7 * sec, 8 * sec}, -1},
	}
	for _, tt := range tests {
		th := element.Threshold{Comparison: comparison(tt.text, tt.limit), Window: tt.window}
		if got, at := windowed(t, th, tt.ticks...); at != tt.want {
			t.Errorf("%s: broken at %v, want %v: %s", tt.name, at, tt.want, got.Message)
		}
	}
}

// TestForWhateverTheJitter: a comparison that is false from the first window on
// breaks five seconds later, in every run.
func TestForWhateverTheJitter(t *testing.T) {
	for seed := range uint64(20) {
		ticks := jittered(rand.New(rand.NewPCG(seed, 2)), 9)
		c := element.Threshold{Comparison: comparison("samples > n", 200), Window: time.Second, For: 5 * time.Second}
		if _, at := windowed(t, c, ticks...); at != ticks[5] {
			t.Errorf("seed %d: broken at %v, want %v", seed, at, ticks[5])
		}
		c.For, c.After = 0, 4*time.Second
		if _, at := windowed(t, c, ticks...); at != ticks[3] {
			t.Errorf("seed %d: with after broken at %v, want %v", seed, at, ticks[3])
		}
	}
}

// TestTicksOnWholeSeconds: intervals are second 0, 1, 2… of the run's clock,
// whenever the recorder begins.
func TestTicksOnWholeSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		time.Sleep(300 * time.Millisecond)
		r := New(testLayout(), Options{Now: func() time.Duration { return time.Since(begun) }, Process: noProcess})
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		r.Run(ctx, nil)
		s := r.Summary(EndInfo{})
		diffEmpty(t, "lengths", cmp.Diff([]float64{.7, 1, 1, 1, .3}, s.Timeline.LengthS))
	})
	for now, want := range map[time.Duration]time.Duration{
		0: time.Second, 2 * time.Second: time.Second, 4100 * time.Millisecond: 900 * time.Millisecond, 4900 * time.Millisecond: 1100 * time.Millisecond,
	} {
		if got := untilTick(now); got != want {
			t.Errorf("%v until the tick after %v, want %v", got, now, want)
		}
	}
}

// TestTooFewThreads: dropped arrivals come with the number of threads needed.
func TestTooFewThreads(t *testing.T) {
	l := testLayout()
	l.Groups[1].Planned, l.Groups[1].Duration = func(time.Duration) float64 { return 100 }, 10*time.Second
	for _, group := range []int{1, -1} {
		l.Thresholds = append(l.Thresholds, element.Threshold{Scope: "plan", Group: group, Series: []int{1}, Single: -1, Comparison: comparison("dropped == n", 0), Implied: true})
	}
	r := newRig(l)
	for range 455 {
		r.run(1, sample(1, r.clock.at, 101*time.Millisecond))
	}
	r.Shard(1, 0).Count(element.IterationsScheduled, 545)
	r.Shard(1, 0).Count(element.DroppedNoThread, 545)
	r.second()
	for _, th := range r.Summary(EndInfo{}).Thresholds {
		if want := "raise max_threads of open, now 5; about 11 threads are needed (100/s × 101 ms for an iteration)"; th.Passed || !strings.Contains(th.Message, want) {
			t.Errorf("%q", th.Message)
		}
	}
}
