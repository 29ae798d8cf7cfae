package engine

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"runner/plan/element"
)

// groupRun is one thread group while it runs.
//
//	state      entered when                          threads
//	waiting    at first: `after`, then `delay`       none
//	running    the load's clock starts               walk the shape
//	finishing  the shape is over, or a stop: soft    finish their iteration
//	           ends
//	done       no thread is left, or hard has ended  none; 2 s after hard has
//	           (grace over, second signal)           ended they are left behind
//
// soft ends when no more iterations may start, hard when samples are cancelled;
// idle when no thread is left and none will come.
type groupRun struct {
	*group
	run     *run
	sharers *element.Shared
	present *element.Presence
	shard   element.Shard // of the scheduler

	begun     time.Duration // start of the load's clock, set before running
	warmUntil time.Duration
	completed atomic.Int64 // iterations
	alive     atomic.Int64 // threads
	taken     atomic.Int64 // of shared iterations
	state     atomic.Int32
	started   atomic.Int64 // begun, for status
	ended     chan struct{}

	mu     sync.Mutex
	pool   []*thread // by index − 1
	active int       // threads with a goroutine
	noMore bool      // no thread will be started any more
	peak   int       // threads that a staged load will still ask for
	ending bool      // the load is over: nobody waits for other threads
	halted string    // reason of a stop; "" if the shape ended by itself
	reason string    // why the group was skipped at run time; written before state says so
	free   []int     // heap of the indices of idle threads, of open groups

	soft, hard, idle                   context.Context
	endSoft, endHard, endIdle, endWalk context.CancelFunc
	walk                               context.Context // of the scheduler's waits: soft or idle
}

const (
	groupWaiting int32 = iota
	groupRunning
	groupFinishing
	groupDone
	groupSkipped
)

func newGroupRun(ctx context.Context, x *run, g *group) *groupRun {
	r := &groupRun{group: g, run: x, sharers: &element.Shared{Segment: g.dealt}, present: &element.Presence{}, peak: g.maxThreads, ended: make(chan struct{})}
	r.sharers.Seed = r.seed()
	r.attend()
	r.hard, r.endHard = context.WithCancel(ctx)
	r.soft, r.endSoft = context.WithCancel(r.hard)
	r.walk, r.endWalk = context.WithCancel(r.soft)
	r.idle, r.endIdle = context.WithCancel(context.Background())
	return r
}

// execute runs the group from its `after` to its end.
func (g *groupRun) execute() {
	if g.skipped {
		g.finish(groupSkipped)
		return
	}
	if !g.await() || g.unwanted() {
		return
	}
	g.shard = g.run.recorder.Shard(g.group.index, 0)
	g.state.Store(groupRunning)
	if g.arrivals != nil {
		g.runOpen()
	} else {
		g.runClosed()
	}
	g.drain()
	g.leaveOver()
	g.finish(groupDone)
}

// await waits for the group before and the delay; false if a stop came first.
func (g *groupRun) await() bool {
	if g.after >= 0 {
		select {
		case <-g.run.groups[g.after].ended:
		case <-g.soft.Done():
		}
	}
	start := g.run.clock.Now()
	if g.after < 0 {
		start = g.run.origin
	}
	start += g.delay
	if g.run.clock.SleepUntil(g.soft, start) != nil {
		g.leaveOver()
		g.finish(groupDone)
		return false
	}
	g.begun, g.warmUntil = start, start+g.warmUp
	g.started.Store(int64(start))
	if r, ok := g.run.recorder.(element.GroupStarter); ok {
		r.GroupStarted(g.group.index, start)
	}
	return true
}

// unwanted judges an `if` that Compile could not. One that cannot be evaluated
// is a failed sample.
func (g *groupRun) unwanted() bool {
	if !g.dynamic {
		return false
	}
	ok, err := g.plan.If.EvalBool(planScope{g.run.values, g.run.machine(uint64(g.idBase))})
	switch {
	case err != nil:
		th := g.run.newThread(g, 0, g.idBase, g.name, 0)
		_ = th.fail(g.hard, g.condition, err)
		g.stop("its condition cannot be evaluated")
		g.leaveOver()
		g.finish(groupDone)
	case ok:
		return false
	default:
		g.reason = "its condition is false: " + g.plan.If.Source()
		g.run.recorder.Note("thread group " + g.name + " was skipped: " + g.reason)
		g.finish(groupSkipped)
	}
	return true
}

func (g *groupRun) finish(state int32) {
	g.state.Store(state)
	for _, th := range g.pool {
		if g.staged && !th.abandoned.Load() {
			th.close()
		}
	}
	g.endHard()
	g.endIdle()
	close(g.ended)
}

// stop ends the group early: what has not started is dropped_abort.
func (g *groupRun) stop(reason string) {
	g.mu.Lock()
	if g.halted == "" {
		g.halted = reason
		if reason == "" {
			g.halted = "stopped"
		}
	}
	g.mu.Unlock()
	g.endSoft()
}

// halting reports whether a stop ended the group, not its shape.
func (g *groupRun) halting() bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.halted != ""
}

// launch starts a thread's goroutine. The caller holds mu.
func (g *groupRun) launch(th *thread, body func()) {
	g.active++
	g.attend()
	go g.runThread(th, body)
}

// left is called at a goroutine's very end.
func (g *groupRun) left() {
	g.mu.Lock()
	g.active--
	g.attend()
	g.quiet()
	g.mu.Unlock()
}

// closeDoors lets no new thread in: when the last one leaves, the group is idle.
func (g *groupRun) closeDoors() {
	g.mu.Lock()
	g.noMore = true
	g.attend()
	g.quiet()
	g.mu.Unlock()
}

// attend tells how many threads may still come to a step. The caller holds mu,
// or is the only one that knows the group.
func (g *groupRun) attend() {
	n := g.active
	switch {
	case g.ending:
		n = 0
	case g.noMore:
	case g.staged:
		n = max(n, g.peak)
	default:
		n = g.maxThreads - (len(g.pool) - g.active)
	}
	g.present.Set(n)
}

func (g *groupRun) quiet() {
	if g.noMore && g.active == 0 {
		g.endWalk()
		g.endIdle()
	}
}

// drain lets iterations finish within grace, then cancels them, then waits a
// little longer and leaves behind what does not obey.
func (g *groupRun) drain() {
	g.state.CompareAndSwap(groupRunning, groupFinishing)
	g.endSoft()
	g.mu.Lock()
	g.ending = true
	g.mu.Unlock()
	g.closeDoors()
	until := g.run.clock.Now() + g.grace
	if end := g.begun + g.length(); g.length() > 0 && end < until && !g.halting() {
		until = end + g.grace
	}
	wait, cancel := context.WithCancel(g.hard)
	defer cancel()
	defer context.AfterFunc(g.idle, cancel)()
	_ = g.run.clock.SleepUntil(wait, until) // its error only says that it was cut short
	g.endHard()
	if g.run.clock.Sleep(g.idle, hardEndWait) == nil {
		g.giveUp()
	}
}

func (g *groupRun) giveUp() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.active == 0 {
		return
	}
	for _, th := range g.pool {
		th.abandoned.Store(true)
	}
	g.run.log.Warn("threads did not end when they were cancelled and are left behind", "group", g.name, "threads", g.active)
}

// leaveOver accounts for the iterations of a shared total that nobody took.
func (g *groupRun) leaveOver() {
	if g.skipped {
		return
	}
	if g.shard == nil {
		g.shard = g.run.recorder.Shard(g.group.index, 0)
	}
	if g.arrivals != nil {
		if g.started.Load() == 0 && g.state.Load() == groupWaiting {
			g.dropRest(g.arrivals.Walk(g.seed()), 0)
		}
		return
	}
	if g.shared == 0 {
		return
	}
	g.shard.Count(element.IterationsScheduled, g.shared)
	left := g.shared - min(g.taken.Load(), g.shared)
	if left == 0 {
		return
	}
	c := element.DroppedAbort
	if !g.halting() && g.length() > 0 && g.run.clock.Now() >= g.begun+g.length() {
		c = element.DroppedEnd
	}
	g.shard.Count(c, left)
}

func (g *groupRun) seed() uint64 { return g.run.seed ^ uint64(g.group.index+1)<<32 }

func (g *group) length() time.Duration {
	if g.arrivals != nil {
		if g.arrivals.Timed() {
			return g.arrivals.Length()
		}
		return 0
	}
	return g.threads.Length()
}

func (g *groupRun) thread(index int) *thread {
	th := g.run.newThread(g, index, g.threadID(index), g.name, g.slots)
	th.soft = g.soft
	return th
}

// status is what the group looks like now.
func (g *groupRun) status() GroupStatus {
	state := g.state.Load()
	s := GroupStatus{Name: g.name, Active: int(g.alive.Load()),
		State: [...]string{"waiting", "running", "finishing", "done", "skipped"}[state]}
	switch state {
	case groupWaiting:
		s.Left = g.length()
		return s
	case groupDone, groupSkipped:
		s.Done = 1
		return s
	}
	s.Elapsed = g.run.clock.Now() - time.Duration(g.started.Load())
	s.Planned = g.planned(s.Elapsed)
	if length := g.length(); length > 0 {
		s.Left = max(0, length-s.Elapsed)
		s.Done = min(1, float64(s.Elapsed)/float64(length))
	}
	if total := g.total(); total > 0 {
		s.Done = min(1, max(s.Done, float64(g.completed.Load())/float64(total)))
	}
	return s
}

func (g *group) planned(at time.Duration) float64 {
	if g.arrivals != nil {
		return g.arrivals.Planned(at)
	}
	return g.threads.Planned(at)
}

// total is the number of iterations that the plan asks for, 0 if it is unknown.
func (g *group) total() int64 {
	switch {
	case g.arrivals != nil:
		return max(0, g.arrivals.Count())
	case g.shared > 0:
		return g.shared
	}
	return g.iterations * int64(g.maxThreads)
}

// indexes is a heap of ints, the lowest first.
func pushIndex(h []int, v int) []int {
	h = append(h, v)
	for i := len(h) - 1; i > 0; {
		parent := (i - 1) / 2
		if h[parent] <= h[i] {
			break
		}
		h[parent], h[i] = h[i], h[parent]
		i = parent
	}
	return h
}

func popIndex(h []int) (int, []int) {
	v, last := h[0], len(h)-1
	h[0] = h[last]
	h = h[:last]
	for i := 0; ; {
		least := i
		for c := 2*i + 1; c <= 2*i+2 && c < len(h); c++ {
			if h[c] < h[least] {
				least = c
			}
		}
		if least == i {
			return v, h
		}
		h[i], h[least] = h[least], h[i]
		i = least
	}
}

// dropIndex removes v, if it is there; rare, so it may be slow.
func dropIndex(h []int, v int) ([]int, bool) {
	i := slices.Index(h, v)
	if i < 0 {
		return h, false
	}
	rest := slices.Delete(h, i, i+1)
	slices.Sort(rest) // a sorted slice is a heap
	return rest, true
}
