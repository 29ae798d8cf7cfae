package engine

import (
	"context"
	"testing"
	"time"

	"runner/plan/element"
)

// stubShard counts nothing.
type stubShard struct{}

func (stubShard) Record(*element.Sample)          {}
func (stubShard) Transaction(element.Transaction) {}
func (stubShard) Count(element.Counter, int64)    {}

type stubRecorder struct{ stubShard }

func (stubRecorder) Shard(int, int) element.Shard { return stubShard{} }
func (stubRecorder) Note(string)                  {}

// iterator returns a function that runs one iteration of a thread: a timer, a
// sampler that does nothing, two assertions, a record.
func iterator(tb testing.TB) func() {
	_, iterate := soloist(tb, "- noop: A\n  timers: {wait: 0s}\n  assertions: [{status: 0}, {reply: ''}]")
	return iterate
}

// soloist returns a thread, and a function that runs one iteration of it.
func soloist(tb testing.TB, steps string) (*thread, func()) {
	p := compiled(tb, group1("{threads: 1, iterations: 1}", steps), Options{})
	r := &Runner{Program: p, Recorder: stubRecorder{}, Clock: NewPlainClock()}
	x, release := r.begin(context.Background())
	tb.Cleanup(release)
	g := x.groups[0]
	th := g.thread(1)
	ctx := g.hard
	return th, func() {
		if th.iterate(ctx, g.group) != proceed {
			tb.Fatal("stopped")
		}
	}
}

func BenchmarkIteration(b *testing.B) {
	iterate := iterator(b)
	b.ReportAllocs()
	for b.Loop() {
		iterate()
	}
}

func TestIterationAllocatesNothing(t *testing.T) {
	if raceEnabled {
		t.Log("allocations are not counted under the race detector")
		return
	}
	iterate := iterator(t)
	iterate()
	if n := testing.AllocsPerRun(1000, iterate); n != 0 {
		t.Errorf("%g allocations per iteration", n)
	}
}

func TestWaitsAllocateNothing(t *testing.T) {
	if raceEnabled {
		t.Log("allocations are not counted under the race detector")
		return
	}
	clock, release := NewClock()
	defer release()
	n := testing.AllocsPerRun(100, func() {
		_ = clock.SleepUntil(t.Context(), clock.Now()+20*time.Microsecond)
		_ = clock.Sleep(t.Context(), 20*time.Microsecond)
	})
	if n > 0 {
		t.Errorf("%g allocations per wait", n)
	}
}
