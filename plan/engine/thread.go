package engine

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
)

// thread is one thread of a group, or of setup or teardown, while it runs. It
// belongs to one goroutine; only abandoned, halt and the control block of a
// staged group are touched by others.
type thread struct {
	*element.Thread
	run    *run
	group  *groupRun // nil in setup and teardown
	index  int       // from 1 inside the group
	shard  element.Shard
	sample *element.Sample // lent: nil outside of samplers, unless an until around may look at it
	slots  []int64         // counters of controllers, by the node's slot
	frames []frame         // open transactions, innermost last
	vars   []any           // the group's vars, evaluated at the thread's start
	loop   int64           // loop.index, -1 outside of loops

	// soft ends when no further iteration may start; until this iteration has
	// done anything (begun), its waits end with it too.
	soft  context.Context
	begun bool
	idle  bool // this iteration has neither sampled nor paused

	worked  uint64            // samples and pauses of this thread
	ends    []time.Duration   // of the open runtimes, innermost last
	attempt int64             // of the innermost until, 0 outside
	held    *sampler          // whose response is kept for an until around it
	kids    map[int][]*thread // branches, by the slot of their block

	due     dueTime // of the iteration's first sample
	failure *failure
	setup   bool // the first failed sample ends everything
	ready   bool // vars and rows of the thread's start are there

	// abandoned: the group has given up waiting; nothing may be recorded any more.
	abandoned *atomic.Bool // shared with branches

	arrivals chan time.Duration // of open groups: due times handed to this thread
	staged   stagedState        // guarded by the group's mutex
}

// dueTime is a schedule's due time on its way to the first sample.
type dueTime struct {
	at, free time.Duration
	set      bool
}

// frame is an open transaction.
type frame struct {
	first   time.Duration // due time of its first sample
	sum     time.Duration // response times of the samples in it
	samples int
	unsent  int // of them
	failed  bool
}

// failure is the first failed sample of setup.
type failure struct {
	step, reason string
	where        source.Range
}

func (x *run) newThread(g *groupRun, index, id int, name string, slots int) *thread {
	seed := x.seed ^ uint64(id)*0x9e3779b97f4a7c15
	th := &thread{run: x, group: g, index: index, loop: -1, abandoned: &atomic.Bool{}}
	th.Thread = element.NewThread(id, name, expr.NewMachine(x.functions, seed), x.values)
	th.Clock, th.Seed, th.Plan, th.Masker = x.clock, seed, x.shared, x.options.Masker
	th.Rand = rand.New(rand.NewPCG(x.seed, uint64(id)))
	if slots > 0 {
		th.slots = make([]int64, slots)
	}
	if g != nil {
		th.Members, th.Presence = g.sharers, g.present
		th.shard = x.recorder.Shard(g.group.index, index)
	} else {
		th.Members = &element.Shared{}
		th.shard = x.recorder.Shard(-1, 0)
	}
	return th
}

// phase is the thread's number in its whole group, from 0: where it begins in
// what controllers deal out.
func (th *thread) phase() uint64 {
	if th.group == nil {
		return 0
	}
	return uint64(max(0, th.ID-th.group.idBase-1))
}

// begin counts the iteration as started, once. Closed groups count lazily, so
// that a thread which waits for its first slot when the load ends has not
// started an iteration that nobody would see.
func (th *thread) begin() {
	if th.begun {
		return
	}
	th.begun = true
	if th.group == nil {
		return
	}
	if th.group.group.arrivals == nil && th.group.group.shared == 0 {
		th.count(element.IterationsScheduled, 1)
	}
	th.count(element.IterationsStarted, 1)
}

func (th *thread) count(c element.Counter, n int64) {
	if !th.abandoned.Load() {
		th.shard.Count(c, n)
	}
}

// start evaluates the group's vars and per-thread rows. It reports whether the
// thread may go on.
func (th *thread) start(ctx context.Context) signal {
	g := th.group.group
	for _, v := range g.vars {
		value, err := v.Value.Eval(th)
		if err != nil {
			th.begin()
			return max(stopThread, th.fail(ctx, control{series: g.varSeries, where: v.Range, name: v.Name}, err))
		}
		th.vars = append(th.vars, value)
		th.Set(v.Name, value)
	}
	return th.feed(ctx, g.feeds, true)
}

// feed takes rows: those per thread at the thread's start, else the iteration's.
func (th *thread) feed(ctx context.Context, feeds []*feed, perThread bool) signal {
	for _, f := range feeds {
		if f.perThread != perThread {
			continue
		}
		if sig := th.take(ctx, f); sig != proceed {
			return sig
		}
	}
	return proceed
}

func (th *thread) take(ctx context.Context, f *feed) signal {
	row, err := th.nextRow(f)
	switch {
	case err == nil:
		th.Set(f.name, row)
		return proceed
	case isStop(err):
		return stopThread
	}
	th.begin()
	return max(stopThread, th.fail(ctx, f.control, err))
}

func (th *thread) nextRow(f *feed) (row map[string]any, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = th.run.panicked(f, "data "+f.name, v)
		}
	}()
	return f.feeder.Next(th.Thread)
}

// iterate runs one iteration. Its result is at least stopThread when the thread
// must not go on.
func (th *thread) iterate(ctx context.Context, g *group) signal {
	th.begun, th.idle = false, true
	th.frames, th.ends, th.loop, th.attempt = th.frames[:0], th.ends[:0], -1, 0
	th.Thread.StartIteration(g.newUser)
	if g.newUser {
		th.renew(g)
	}
	th.advance(g.counters)
	sig := th.feed(ctx, g.feeds, false)
	if sig == proceed {
		if g.arrivals != nil {
			th.begin()
		}
		sig = g.body.run(ctx, th)
	}
	th.due = dueTime{}
	return th.end(ctx, sig)
}

// end counts how the iteration ended and turns its signal into what the thread
// must do.
func (th *thread) end(ctx context.Context, sig signal) signal {
	if !th.begun && (sig == interrupted || sig == stopThread) {
		return stopThread // nothing was started
	}
	th.begin()
	th.Iteration++
	if sig == interrupted {
		th.count(element.IterationsInterrupted, 1)
		return stopThread
	}
	th.count(element.IterationsCompleted, 1)
	th.group.completed.Add(1)
	switch sig {
	case stopGroup:
		th.group.stop("a step stopped the group")
	case stopPlan:
		th.run.stop("", "a step of group "+th.group.name+" stopped the plan")
	}
	if sig <= nextIteration {
		return proceed
	}
	return sig
}

// renew makes a new user: what the thread's start had set stays.
func (th *thread) renew(g *group) {
	rows := make([]any, 0, 4)
	for _, f := range g.feeds {
		if f.perThread {
			row, _ := th.Lookup(f.name)
			rows = append(rows, row)
		}
	}
	th.ClearVars()
	for i, v := range th.vars {
		th.Set(g.vars[i].Name, v)
	}
	for _, f := range g.feeds {
		if f.perThread {
			th.Set(f.name, rows[0])
			rows = rows[1:]
		}
	}
}

// waitContext is what a wait of this iteration depends on.
func (th *thread) waitContext(ctx context.Context) context.Context {
	if th.begun || th.soft == nil {
		return ctx
	}
	return th.soft
}

// warm reports whether a sample due at that time belongs to the warm-up.
func (th *thread) warm(due time.Duration) bool {
	return th.group != nil && due < th.group.warmUntil
}

// runThread is a thread's goroutine around body: counts its start and end and
// survives what escapes from elements.
func (g *groupRun) runThread(th *thread, body func()) {
	th.count(element.ThreadsStarted, 1)
	g.alive.Add(1)
	defer func() {
		if v := recover(); v != nil {
			_ = g.run.panicked(g, "a thread of group "+g.name, v) // its iteration stays in flight
		}
		if !g.group.staged {
			th.close()
		}
		th.count(element.ThreadsEnded, 1)
		g.alive.Add(-1)
		g.left()
	}()
	body()
}

// close closes what the thread's elements hold.
func (th *thread) close() {
	defer func() {
		if v := recover(); v != nil {
			_ = th.run.panicked(th, "close", v)
		}
	}()
	th.Close()
}
