package engine

import (
	"context"
	"time"
)

// stagedState is a thread's place in a staged load, guarded by the group's mutex.
//
//	running  →  leaving (told to stop)  →  parked (its goroutine has ended)
//	   ↑___________|  started again in time   |
//	   ↑______________________________________|  started again
type stagedState struct {
	parked  bool
	leaving bool
	leave   int // how often it was told to leave: an older interrupt is void
	endHard context.CancelFunc
	endSoft context.CancelFunc
	hard    context.Context
}

// interrupt cuts a thread off that was told to leave and has not in time.
type interrupt struct {
	at    time.Duration
	th    *thread
	leave int
}

// runClosed walks the planned starts and stops of threads, then waits for the
// load's end.
func (g *groupRun) runClosed() {
	if length := g.threads.Length(); g.maxThreads == 0 && length > 0 {
		_ = g.run.clock.SleepUntil(g.soft, g.begun+length) // its threads are in other segments
		return
	}
	var late []interrupt // in order of time: the grace is the same for all
	events := g.threads.Events()
	e, more := events.Next()
	for {
		if !more && !g.staged {
			g.closeDoors()
		}
		at := forever
		if length := g.threads.Length(); length > 0 {
			at = g.begun + length
		}
		end := at
		if more {
			at = min(at, g.begun+e.At)
		}
		if len(late) > 0 {
			at = min(at, late[0].at)
		}
		if g.run.clock.SleepUntil(g.walk, at) != nil {
			break
		}
		switch {
		case len(late) > 0 && late[0].at <= at:
			g.interrupt(late[0])
			late = late[1:]
		case more && g.begun+e.At <= at:
			if e.Start {
				g.startThread(e)
			} else if i, ok := g.stopThread(e); ok {
				late = append(late, i)
			}
			g.ahead(events.Peak())
			e, more = events.Next()
		case at >= end:
			g.lateRest(late)
			return
		}
	}
	g.lateRest(late)
}

// lateRest keeps the promises of ramp_down_grace beyond the load's end.
func (g *groupRun) lateRest(late []interrupt) {
	if len(late) == 0 {
		return
	}
	g.endSoft()
	g.state.CompareAndSwap(groupRunning, groupFinishing)
	g.closeDoors()
	wait, cancel := context.WithCancel(g.hard)
	defer cancel()
	defer context.AfterFunc(g.idle, cancel)()
	until := g.run.clock.Now() + g.grace
	for _, i := range late {
		if i.at > until || g.run.clock.SleepUntil(wait, i.at) != nil {
			return
		}
		g.interrupt(i)
	}
}

// ahead notes how many threads the load will still ask for.
func (g *groupRun) ahead(threads int) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.peak = threads
	g.attend()
}

func (g *groupRun) startThread(e ThreadEvent) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.noMore {
		return
	}
	if e.Thread <= len(g.pool) {
		th := g.pool[e.Thread-1]
		th.staged.leaving = false
		if th.staged.parked {
			th.staged.parked = false
			g.contexts(th)
			g.launch(th, func() { g.work(th, g.begun+e.At) })
		}
		return
	}
	th := g.thread(e.Thread)
	g.pool = append(g.pool, th)
	g.contexts(th)
	g.launch(th, func() { g.work(th, g.begun+e.At) })
}

// contexts gives a thread contexts of its own where a stage may tell it to leave;
// others share the group's: two contexts a thread are 10 MB for ten thousand.
func (g *groupRun) contexts(th *thread) {
	th.staged.hard = g.hard
	if !g.threads.Lowers() {
		return
	}
	th.staged.hard, th.staged.endHard = context.WithCancel(g.hard)
	th.soft, th.staged.endSoft = context.WithCancel(g.soft)
}

func (g *groupRun) stopThread(e ThreadEvent) (interrupt, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if e.Thread > len(g.pool) {
		return interrupt{}, false
	}
	th := g.pool[e.Thread-1]
	if th.staged.parked || th.staged.leaving {
		return interrupt{}, false
	}
	th.staged.leaving = true
	th.staged.leave++
	th.staged.endSoft()
	return interrupt{g.begun + e.At + g.rampDownGrace, th, th.staged.leave}, true
}

func (g *groupRun) interrupt(i interrupt) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if s := &i.th.staged; s.leaving && !s.parked && s.leave == i.leave {
		s.endHard()
	}
}

// leave reports whether the thread must end its goroutine now. A thread that was
// told to leave and is wanted again before it has left gets a fresh soft context.
func (g *groupRun) leave(th *thread) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.soft.Err() != nil || th.staged.leaving {
		th.staged.parked = true
		return true
	}
	if th.soft.Err() != nil {
		th.soft, th.staged.endSoft = context.WithCancel(g.soft)
	}
	return false
}

// work is the life of a thread of a closed group, or one stretch of it in a
// staged one.
func (g *groupRun) work(th *thread, start time.Duration) {
	defer g.park(th)
	if !th.ready {
		th.ready = true
		if sig := th.start(th.staged.hard); sig != proceed {
			g.badStart(th, sig)
			return
		}
	}
	due, free, more := start, start, g.iterations
	for k := int64(0); more == 0 || th.Iteration < more; k++ {
		if g.staged && g.leave(th) || th.soft.Err() != nil {
			return
		}
		if g.pacing != nil {
			due = g.pacing.next(th, start, due, k)
			if k == 0 {
				due = start
			}
			if g.run.clock.SleepUntil(th.soft, due) != nil {
				if g.staged && !g.leave(th) {
					k--
					continue
				}
				return
			}
			th.due = dueTime{at: due, free: free, set: true}
		}
		if g.over() || !g.takeShared() {
			return
		}
		sig := th.iterate(th.staged.hard, g.group)
		if !th.begun {
			g.giveBack()
		}
		if sig == stopThread && !th.begun && g.staged && !g.leave(th) {
			continue // it was told to leave and is wanted again
		}
		if sig != proceed {
			return
		}
		if th.idle && g.endless() {
			_ = g.run.clock.Sleep(th.soft, idleTime) // the loop sees when soft has ended
		}
		if g.pacing != nil {
			free = th.Now()
		}
	}
}

// endless reports whether only time ends the threads.
func (g *groupRun) endless() bool { return g.iterations == 0 && g.shared == 0 }

// over reports whether the load's time has passed; a thread may wake at that very
// moment before it is told.
func (g *groupRun) over() bool {
	length := g.threads.length
	return length > 0 && g.run.clock.Now() >= g.begun+length
}

// badStart accounts for a thread whose variables or rows could not be had.
func (g *groupRun) badStart(th *thread, sig signal) {
	if !th.begun {
		return
	}
	if g.shared > 0 {
		g.taken.Add(1)
	}
	_ = th.end(th.staged.hard, sig)
}

// park marks the goroutine's end, so that a staged load can start it again. A
// thread that was interrupted and is wanted again by now goes on at once.
func (g *groupRun) park(th *thread) {
	if !g.staged {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	again := th.staged.hard.Err() != nil && !th.staged.leaving && !g.noMore && g.soft.Err() == nil
	if g.threads.Lowers() {
		th.staged.endSoft()
		th.staged.endHard()
	}
	th.staged.parked = !again
	if again {
		g.contexts(th)
		g.launch(th, func() { g.work(th, g.run.clock.Now()) })
	}
}

// takeShared takes one of the shared iterations, if the group has them; the last
// one taken closes the group to new threads.
func (g *groupRun) takeShared() bool {
	if g.shared == 0 {
		return true
	}
	n := g.taken.Add(1)
	if n > g.shared {
		g.taken.Add(-1)
		g.closeDoors()
		return false
	}
	return true
}

// giveBack returns an iteration that was taken and never started.
func (g *groupRun) giveBack() {
	if g.shared > 0 {
		g.taken.Add(-1)
	}
}
