package engine

import (
	"context"
	"math"
	"time"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/expr"
)

// node is one step of the compiled tree.
type node interface {
	run(ctx context.Context, th *thread) signal
}

// sequence runs its nodes in order until one of them does not say proceed.
type sequence []node

func (n sequence) run(ctx context.Context, th *thread) signal {
	for _, step := range n {
		if sig := step.run(ctx, th); sig != proceed {
			return sig
		}
	}
	if ctx.Err() != nil {
		return interrupted
	}
	return proceed
}

// transaction measures the steps of a named block.
type transaction struct {
	series int
	wall   bool
	steps  sequence
}

func (n *transaction) run(ctx context.Context, th *thread) signal {
	start := th.Now()
	th.frames = append(th.frames, frame{})
	depth := len(th.frames)
	sig, cut := proceed, false
	for i, step := range n.steps {
		if sig = step.run(ctx, th); sig != proceed {
			if g, ok := step.(guard); ok {
				step = g.body
			}
			_, leaf := step.(*sampler)
			cut = sig == interrupted || sig == outOfTime || !leaf || i < len(n.steps)-1
			break
		}
	}
	f := th.frames[depth-1]
	th.frames = th.frames[:depth-1]
	if f.samples == 0 {
		return sig
	}
	if depth > 1 {
		th.frames[depth-2].include(f)
	}
	// One that a failed child ended has failed; aborted are those cut off otherwise.
	t := element.Transaction{Series: n.series, Due: f.first, Time: f.sum, Done: th.Now(), Failed: f.failed, Unsent: f.unsent == f.samples, Aborted: cut && !(f.failed && sig != interrupted && sig != outOfTime), WarmUp: th.warm(f.first)}
	if n.wall {
		t.Time = t.Done - start
	}
	if !th.abandoned.Load() {
		th.shard.Transaction(t)
	}
	return sig
}

func (f *frame) include(inner frame) {
	if f.samples == 0 {
		f.first = inner.first
	}
	f.samples += inner.samples
	f.unsent += inner.unsent
	f.sum += inner.sum
	f.failed = f.failed || inner.failed
}

// branch is if and else.
type branch struct {
	control
	condition *expr.Condition
	then      node
	otherwise sequence
}

func (n *branch) run(ctx context.Context, th *thread) signal {
	ok, err := n.condition.EvalBool(th)
	if err != nil {
		th.begin()
		return th.fail(ctx, n.control, err)
	}
	if ok {
		return n.then.run(ctx, th)
	}
	return n.otherwise.run(ctx, th)
}

// once runs in each thread's first iteration.
type once struct{ body node }

func (n *once) run(ctx context.Context, th *thread) signal {
	if th.Iteration > 0 {
		return proceed
	}
	return n.body.run(ctx, th)
}

// loopIndex is the name of the pass of the innermost loop.
const loopIndex = "loop.index"

func (th *thread) setLoop(i int64) {
	th.loop = i
	th.Set(loopIndex, i)
}

// endLoop gives the outer loop its index back.
func (th *thread) endLoop(outer int64) {
	if th.loop = outer; outer < 0 {
		th.Unset(loopIndex)
		return
	}
	th.Set(loopIndex, outer)
}

// repeat is loop, while and foreach: next says whether pass i takes place.
type repeat struct {
	control
	body node

	times *expr.Int // loop
	while *plan.While
	list  *expr.Condition // foreach
	as    string
}

func (n *repeat) run(ctx context.Context, th *thread) signal {
	limit, items, err := n.bounds(th)
	if err != nil {
		th.begin()
		return th.fail(ctx, n.control, err)
	}
	outer := th.loop
	defer th.endLoop(outer)
	for i := int64(0); i < limit; i++ {
		th.setLoop(i)
		if n.while != nil {
			ok, err := n.while.Condition.EvalBool(th)
			if err != nil {
				th.begin()
				return th.fail(ctx, n.control, err)
			}
			if !ok {
				break
			}
		}
		if n.list != nil {
			th.Set(n.as, items[i])
		}
		if sig := n.body.run(ctx, th); sig != proceed {
			return sig
		}
		if ctx.Err() != nil {
			return interrupted
		}
	}
	return proceed
}

// bounds evaluates how often and over what the loop goes.
func (n *repeat) bounds(th *thread) (limit int64, items []any, err error) {
	switch {
	case n.times != nil:
		limit, err = n.times.Eval(th)
		return limit, nil, err
	case n.while != nil:
		if !n.while.Max.IsSet() {
			return math.MaxInt64, nil, nil
		}
		limit, err = n.while.Max.Eval(th)
		return limit, nil, err
	}
	v, err := n.list.Eval(th)
	if err != nil {
		return 0, nil, err
	}
	items, err = listOf(v)
	return int64(len(items)), items, err
}

// choose runs one of its arms by a fixed quota. Pass k of thread u takes entry
// u+k of one cycle in which every arm has its share, evenly spread: so the
// threads' first passes show the mix, and every full cycle of one thread holds
// it exactly.
type choose struct {
	slot  int
	cycle []uint16
	arms  []node
}

func (n *choose) run(ctx context.Context, th *thread) signal {
	k := th.slots[n.slot]
	th.slots[n.slot]++
	at := (uint64(k) + th.phase()) % uint64(len(n.cycle))
	return n.arms[n.cycle[at]].run(ctx, th)
}

// pause waits.
type pause struct {
	control
	plan *plan.Pause
}

func (n *pause) run(ctx context.Context, th *thread) signal {
	from, err := n.plan.From.Eval(th)
	to := from
	if err == nil && n.plan.To.IsSet() {
		to, err = n.plan.To.Eval(th)
	}
	th.begin()
	if err != nil {
		return th.fail(ctx, n.control, err)
	}
	d := th.run.thinkTime(between(th.Rand, from, to))
	th.idle = th.idle && d <= 0
	th.worked++
	if th.due.set {
		th.due.at, th.due.free = th.due.at+d, th.due.free+d
	}
	if err := th.run.clock.Sleep(ctx, d); err != nil {
		return interrupted
	}
	return proceed
}

// set assigns variables.
type set struct {
	control
	vars []*plan.Var
}

func (n *set) run(ctx context.Context, th *thread) signal {
	th.begin()
	for _, v := range n.vars {
		value, err := v.Value.Eval(th)
		if err != nil {
			th.Unset(v.Name)
			return th.fail(ctx, n.control, err)
		}
		th.Set(v.Name, value)
	}
	return proceed
}

// logLine writes to the run's log.
type logLine struct {
	control
	text *expr.String
}

func (n *logLine) run(ctx context.Context, th *thread) signal {
	th.begin()
	text, err := n.text.Eval(th)
	if err != nil {
		return th.fail(ctx, n.control, err)
	}
	th.run.log.Info(th.Masker.Mask(text), "group", th.Group, "thread", th.ID, "iteration", th.Iteration)
	return proceed
}

// stop ends the iteration, thread, group or plan.
type stop struct{ sig signal }

func (n stop) run(_ context.Context, th *thread) signal {
	th.begin()
	return n.sig
}

// pacing keeps the time between starts of iterations: start k is due at k
// periods from the thread's start, so an overrun is caught up, without drift.
type pacing struct {
	from, to time.Duration
	rate     float64 // per second, 0: by from and to
}

// next returns when iteration k is due, given when the one before was.
func (p *pacing) next(th *thread, start, before time.Duration, k int64) time.Duration {
	switch {
	case p.rate > 0:
		return start + time.Duration(math.Round(float64(k)/p.rate*float64(time.Second)))
	case p.from == p.to:
		return start + time.Duration(k)*p.from
	}
	return before + between(th.Rand, p.from, p.to)
}
