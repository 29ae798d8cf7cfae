package engine

import (
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"runner/plan/element"
)

// delays keeps how late samples were dispatched.
type delays struct {
	mu   sync.Mutex
	late []time.Duration
}

func (c *delays) Shard(int, int) element.Shard    { return c }
func (c *delays) Note(string)                     {}
func (c *delays) Transaction(element.Transaction) {}
func (c *delays) Count(element.Counter, int64)    {}
func (c *delays) Record(s *element.Sample) {
	c.mu.Lock()
	c.late = append(c.late, s.Dispatched-s.Due)
	c.mu.Unlock()
}

// TestRealRate runs a rate on the real clock: the count is exact, the median
// dispatch delay small.
func TestRealRate(t *testing.T) {
	p := compiled(t, group1("{rate: 1000/s, duration: 500ms, max_threads: 500}", "- noop: A"), Options{})
	rec := &delays{}
	if err := (&Runner{Program: p, Recorder: rec}).Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(rec.late) != 500 {
		t.Errorf("%d samples, want 500", len(rec.late))
	}
	slices.Sort(rec.late)
	median := rec.late[len(rec.late)/2]
	t.Logf("dispatch delay: median %v, p95 %v, max %v", median, rec.late[len(rec.late)*95/100], rec.late[len(rec.late)-1])
	if rec.late[0] < 0 || median > time.Second {
		t.Errorf("dispatch delay from %v, median %v", rec.late[0], median)
	}
}

// TestMemoryOfThreads pins what a waiting thread costs.
func TestMemoryOfThreads(t *testing.T) {
	if raceEnabled {
		t.Log("memory is not measured under the race detector")
		return
	}
	const n = 5000
	p := compiled(t, group1("{threads: 5000, iterations: 1}", "- noop: A\n  assertions: [{status: 0}, {reply: ''}]\n- pause: 1h"), Options{})
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	r := &Runner{Program: p, Recorder: stubRecorder{}}
	done := make(chan error, 1)
	ctx := t.Context()
	go func() { done <- r.Run(ctx) }()
	for range 1000 {
		if st := r.Status(); len(st) > 0 && st[0].Active == n {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	runtime.GC()
	runtime.ReadMemStats(&after)
	each := (after.HeapAlloc + after.StackInuse - before.HeapAlloc - before.StackInuse) / n
	t.Logf("%d bytes a thread", each)
	if each > 12_000 {
		t.Errorf("%d bytes a thread", each)
	}
	r.mu.Lock()
	x := r.current
	r.mu.Unlock()
	x.groups[0].endHard()
	if err := <-done; err != nil {
		t.Error(err)
	}
}
