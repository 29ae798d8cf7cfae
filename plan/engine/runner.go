package engine

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
)

// Runner runs a Program once. Fill the fields, then call Run; the other methods
// may be called at any time from any goroutine.
type Runner struct {
	Program  *Program
	Recorder element.Recorder
	Clock    Clock        // nil: NewClock for the time of the run
	Log      *slog.Logger // nil: nothing is logged
	// Keep is shown every failed sample that was sent, before its buffers are given
	// back; nil: nobody wants them. It may be called by many threads at once.
	Keep func(s *element.Sample)
	Seed uint64

	mu      sync.Mutex
	current *run
	drained string // reason, set before the run began
}

// run is the state of one Run.
type run struct {
	*Program
	recorder  element.Recorder
	clock     Clock
	log       *slog.Logger
	keep      func(s *element.Sample)
	seed      uint64
	origin    time.Duration // when the groups may start
	values    *overlay      // plan-wide values with setup's results
	shared    *element.Shared
	functions *expr.Functions
	groups    []*groupRun
	panics    sync.Map                 // elements whose panic has been logged
	sections  map[string]chan struct{} // full while a thread is in the critical section
	counts    []atomic.Int64           // of counters that all threads share
	splits    []splitRows              // by split.slot
	phase     atomic.Pointer[phase]    // setup or teardown while it runs
	samples   sync.Pool                // lent to threads

	mu      sync.Mutex
	reason  string // why no more iterations are started; "" while they are
	abandon context.CancelFunc
}

// Run executes setup, the thread groups and teardown. It returns nil when the
// plan ran to its end or was stopped or drained, *SetupError when setup did not
// succeed, the context's cause when it was cancelled, and any other error when
// an element could not be opened. Teardown runs in all cases but a cancelled
// context and an element that could not be opened.
func (r *Runner) Run(ctx context.Context) error {
	x, release := r.begin(ctx)
	defer release()
	closeAll, err := x.open(ctx)
	defer closeAll()
	if err != nil {
		x.skipGroups()
		return err
	}
	err = x.runSetup(ctx)
	if err == nil && x.stopped() == "" && ctx.Err() == nil {
		x.runGroups()
	} else {
		x.skipGroups()
	}
	if ctx.Err() == nil {
		x.runTeardown(ctx)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return err
}

func (r *Runner) begin(ctx context.Context) (*run, func()) {
	x := &run{
		Program: r.Program, recorder: r.Recorder, clock: r.Clock, log: r.Log, keep: r.Keep, seed: r.Seed,
		values: &overlay{outer: r.Program.values}, shared: &element.Shared{Seed: r.Seed, Segment: r.Program.sharers},
		functions: r.Program.options.Functions,
		samples:   sync.Pool{New: func() any { return &element.Sample{} }},
		sections:  map[string]chan struct{}{}, counts: make([]atomic.Int64, r.Program.counters), splits: make([]splitRows, r.Program.splits),
	}
	for _, name := range x.Program.sections {
		x.sections[name] = make(chan struct{}, 1)
	}
	release := func() {}
	if x.clock == nil {
		x.clock, release = NewClock()
	}
	if x.log == nil {
		x.log = slog.New(slog.DiscardHandler)
	}
	for _, g := range r.Program.groups {
		x.groups = append(x.groups, newGroupRun(ctx, x, g))
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.current, x.reason = x, r.drained
	return x, release
}

// Drain starts no more iterations: those that run may finish within their
// group's grace, then teardown follows.
func (r *Runner) Drain() { r.Stop("", "interrupted") }

// Stop ends the group of that name, or the whole plan if scope is "" or "plan",
// as Drain does. The first reason is kept.
func (r *Runner) Stop(scope, reason string) {
	r.mu.Lock()
	x := r.current
	if x == nil && r.drained == "" {
		r.drained = reason
	}
	r.mu.Unlock()
	if x != nil {
		x.stop(scope, reason)
	}
}

// Reason returns why the plan was stopped before its end, "" if it was not.
func (r *Runner) Reason() string {
	r.mu.Lock()
	x, reason := r.current, r.drained
	r.mu.Unlock()
	if x == nil {
		return reason
	}
	return x.stopped()
}

// Status returns the progress of every thread group, in the plan's order.
func (r *Runner) Status() []GroupStatus {
	r.mu.Lock()
	x := r.current
	r.mu.Unlock()
	if x == nil {
		return nil
	}
	out := make([]GroupStatus, len(x.groups))
	for i, g := range x.groups {
		out[i] = g.status()
	}
	return out
}

// Phase returns "setup" or "teardown" while that runs, else "".
func (r *Runner) Phase() string {
	r.mu.Lock()
	x := r.current
	r.mu.Unlock()
	if x == nil {
		return ""
	}
	if p := x.phase.Load(); p != nil {
		return p.name
	}
	return ""
}

// SkippedGroups returns the groups that were left out while running, by their
// index in the layout, with the reason; to be called after Run.
func (r *Runner) SkippedGroups() map[int]string {
	r.mu.Lock()
	x := r.current
	r.mu.Unlock()
	out := map[int]string{}
	if x == nil {
		return out
	}
	for i, g := range x.groups {
		if g.state.Load() == groupSkipped && g.reason != "" {
			out[i] = g.reason
		}
	}
	return out
}

func (x *run) stopped() string {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.reason
}

// stop ends a group or, with "" or "plan", everything.
func (x *run) stop(scope, reason string) {
	for _, g := range x.groups {
		if g.name == scope {
			g.stop(reason)
			return
		}
	}
	x.mu.Lock()
	first := x.reason == ""
	if first {
		x.reason = reason
	}
	abandon := x.abandon
	x.mu.Unlock()
	if !first {
		return
	}
	x.log.Info("stopping: no more iterations are started", "reason", reason)
	if abandon != nil {
		abandon()
	}
	for _, g := range x.groups {
		g.stop(reason)
	}
}

func (x *run) runGroups() {
	x.origin = x.clock.Now()
	var wg sync.WaitGroup
	for _, g := range x.groups {
		wg.Go(func() { g.execute() })
	}
	wg.Wait()
}

// skipGroups accounts for groups that never begin.
func (x *run) skipGroups() {
	for _, g := range x.groups {
		g.stop(x.stopped())
		g.leaveOver()
		if g.skipped {
			g.finish(groupSkipped)
		} else {
			g.finish(groupDone)
		}
	}
}

// open opens all elements; the function it returns closes those that were.
func (x *run) open(ctx context.Context) (closeAll func(), err error) {
	n := 0
	closeAll = func() {
		for i := n - 1; i >= 0; i-- {
			c, ok := x.elements[i].value.(element.Closer)
			if !ok {
				continue
			}
			if err := x.protect(x.elements[i], c.Close); err != nil {
				x.log.Warn("close "+x.elements[i].kind, "error", err)
			}
		}
	}
	for _, e := range x.elements {
		if o, ok := e.value.(element.Opener); ok {
			if err := x.protect(e, func() error { return o.Open(ctx) }); err != nil {
				return closeAll, fmt.Errorf("open %s (%s): %w", e.kind, place(e.where), err)
			}
		}
		n++
	}
	return closeAll, nil
}

// protect turns a panic of an element into an error.
func (x *run) protect(e opened, call func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = x.panicked(e.value, e.kind, v)
		}
	}()
	return call()
}

// overlay resolves what setup has set, then the plan-wide values. It is written
// between setup and the groups only.
type overlay struct {
	set   map[string]any
	outer expr.Scope
}

// Lookup implements expr.Scope.
func (o *overlay) Lookup(name string) (any, bool) {
	if v, ok := o.set[name]; ok {
		return v, true
	}
	if o.outer == nil {
		return nil, false
	}
	return o.outer.Lookup(name)
}

// Machine implements expr.Scope; threads have machines of their own.
func (o *overlay) Machine() *expr.Machine {
	if o.outer == nil {
		return nil
	}
	return o.outer.Machine()
}

// planScope evaluates plan-wide text outside of threads.
type planScope struct {
	expr.Scope
	machine *expr.Machine
}

// Machine implements expr.Scope.
func (s planScope) Machine() *expr.Machine { return s.machine }

// Lookup implements expr.Scope.
func (s planScope) Lookup(name string) (any, bool) {
	if s.Scope == nil {
		return nil, false
	}
	return s.Scope.Lookup(name)
}

// timeout returns a context that ends after d on the clock.
func (x *run) timeout(ctx context.Context, d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeoutCause(ctx, d, errTimeLimit)
}
