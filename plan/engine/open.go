package engine

import (
	"time"

	"runner/plan/element"
)

// runOpen walks the planned arrivals and hands each to a thread when it is due.
func (g *groupRun) runOpen() {
	walk := g.arrivals.Walk(g.seed())
	for {
		at, ok := walk.Next()
		if !ok {
			break
		}
		if g.run.clock.SleepUntil(g.walk, g.begun+at) != nil {
			g.dropRest(walk, 1)
			return
		}
		g.arrive(g.begun + at)
	}
	if g.arrivals.Timed() {
		_ = g.run.clock.SleepUntil(g.walk, g.begun+g.arrivals.Length()) // a stop only makes it shorter
	}
}

// dropRest counts what a stop leaves over: n arrivals and the rest of the walk.
func (g *groupRun) dropRest(walk *ArrivalWalk, n int64) {
	n += walk.Remaining()
	g.shard.Count(element.IterationsScheduled, n)
	g.shard.Count(element.DroppedAbort, n)
}

// arrive gives an arrival to the lowest free thread, or to a new one, or drops
// it.
func (g *groupRun) arrive(due time.Duration) {
	g.shard.Count(element.IterationsScheduled, 1)
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case len(g.free) > 0:
		var index int
		index, g.free = popIndex(g.free)
		g.pool[index-1].arrivals <- due // never blocks: the thread is idle and the channel has room for one
	case len(g.pool) < g.maxThreads:
		th := g.thread(len(g.pool) + 1)
		th.arrivals = make(chan time.Duration, 1)
		g.pool = append(g.pool, th)
		g.launch(th, func() { g.serve(th, due) })
	default:
		g.shard.Count(element.DroppedNoThread, 1)
	}
}

// serve is the life of a thread of an open group.
func (g *groupRun) serve(th *thread, due time.Duration) {
	free := due // a new thread waits for nobody
	if th.start(g.hard) != proceed {
		if !th.begun {
			th.count(element.DroppedAbort, 1)
		} else {
			th.count(element.IterationsCompleted, 1)
		}
		return
	}
	for {
		if g.halting() {
			th.count(element.DroppedAbort, 1)
			return
		}
		th.due = dueTime{at: due, free: free, set: true}
		sig := th.iterate(g.hard, g.group)
		if !th.begun {
			th.count(element.DroppedAbort, 1)
		}
		if sig != proceed {
			return
		}
		free = th.Now()
		var ok bool
		if due, ok = g.next(th); !ok {
			return
		}
	}
}

// next waits for the thread's next arrival; false when there are no more.
func (g *groupRun) next(th *thread) (due time.Duration, ok bool) {
	g.mu.Lock()
	if g.soft.Err() != nil {
		g.mu.Unlock()
		return 0, false
	}
	g.free = pushIndex(g.free, th.index)
	g.mu.Unlock()
	select {
	case due = <-th.arrivals:
		return due, true
	case <-g.soft.Done():
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.free, ok = dropIndex(g.free, th.index); ok {
		return 0, false
	}
	return <-th.arrivals, true // it was handed over in the last moment
}
