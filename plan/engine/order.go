package engine

import (
	"context"
	"math"
	"slices"
	"time"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/expr"
)

// percent lets its body run on a share of the passes. Pass k of thread u runs when
// floor((k+1)·p + o) > floor(k·p + o) with the offset o = 1 − p + u·p: so the
// first pass of the first thread runs, and each next thread is one pass further.
type percent struct {
	slot   int
	share  uint64 // p in billionths
	random float64
	body   node
}

const whole100 = 1_000_000_000

func (n *percent) run(ctx context.Context, th *thread) signal {
	if n.random >= 0 {
		if th.Rand.Float64() >= n.random {
			return proceed
		}
		return n.body.run(ctx, th)
	}
	k := uint64(th.slots[n.slot])
	th.slots[n.slot]++
	before := (k+th.phase()%whole100)*n.share + whole100 - n.share
	if (before+n.share)/whole100 == before/whole100 {
		return proceed
	}
	return n.body.run(ctx, th)
}

// one runs one of its steps on each pass: the next, or one at random.
type one struct {
	slot   int
	random bool
	steps  sequence
}

func (n *one) run(ctx context.Context, th *thread) signal {
	if len(n.steps) == 0 {
		return proceed
	}
	if n.random {
		return n.steps[th.Rand.IntN(len(n.steps))].run(ctx, th)
	}
	k := th.slots[n.slot]
	th.slots[n.slot]++
	return n.steps[k%int64(len(n.steps))].run(ctx, th)
}

// shuffle runs all of its steps in a new order on each pass.
type shuffle struct{ steps sequence }

func (n *shuffle) run(ctx context.Context, th *thread) signal {
	for _, i := range th.Rand.Perm(len(n.steps)) {
		if sig := n.steps[i].run(ctx, th); sig != proceed {
			return sig
		}
	}
	return proceed
}

// choice runs the case whose value is that of its expression, as text.
type choice struct {
	control
	on        *expr.Expression
	cases     map[string]sequence
	otherwise sequence
}

func (n *choice) run(ctx context.Context, th *thread) signal {
	v, err := n.on.Eval(th)
	if err == nil {
		var text string
		if text, err = expr.FormatText(v); err == nil {
			if steps, ok := n.cases[text]; ok {
				return steps.run(ctx, th)
			}
			return n.otherwise.run(ctx, th)
		}
	}
	th.begin()
	return th.fail(ctx, n.control, err)
}

// try runs its last steps after the first ones, whatever these say, unless
// samples are cancelled or nothing has begun.
type try struct{ steps, finally sequence }

func (n *try) run(ctx context.Context, th *thread) signal {
	sig := n.steps.run(ctx, th)
	if sig == interrupted || ctx.Err() != nil {
		return sig
	}
	ends := th.ends // the last steps run to their end, whatever runtime is over
	th.ends = nil
	last := n.finally.run(ctx, th)
	th.ends = ends
	return max(sig, last)
}

// period repeats its body for a time. Its steps are guarded: none begins later.
type period struct {
	control
	length *expr.Duration
	body   node
}

func (n *period) run(ctx context.Context, th *thread) signal {
	d, err := n.length.Eval(th)
	if err != nil {
		th.begin()
		return th.fail(ctx, n.control, err)
	}
	end := th.Now() + max(0, d)
	th.ends = append(th.ends, end)
	depth := len(th.ends)
	defer func() { th.ends = th.ends[:depth-1] }()
	for th.Now() < end {
		before := th.worked
		sig := n.body.run(ctx, th)
		switch {
		case sig == outOfTime:
			return proceed
		case sig != proceed:
			return sig
		case ctx.Err() != nil:
			return interrupted
		}
		if th.worked == before { // a pass without anything must not spin
			if th.run.clock.Sleep(th.waitContext(ctx), min(idleTime, end-th.Now())) != nil {
				return interrupted
			}
		}
	}
	return proceed
}

// guard is a step of a block with a runtime.
type guard struct{ body node }

func (n guard) run(ctx context.Context, th *thread) signal {
	if th.late() {
		return outOfTime
	}
	return n.body.run(ctx, th)
}

// late reports whether the runtime of a block around is over: then no step of the
// block and no sampler at any depth in it begins.
func (th *thread) late() bool {
	if len(th.ends) == 0 {
		return false
	}
	return th.Now() >= slices.Min(th.ends)
}

// critical lets one thread of the run at a time into its body.
type critical struct {
	name string
	body node
}

func (n *critical) run(ctx context.Context, th *thread) signal {
	door := th.run.sections[n.name]
	select {
	case door <- struct{}{}:
	case <-th.waitContext(ctx).Done():
		return interrupted
	}
	defer func() { <-door }()
	return n.body.run(ctx, th)
}

// thinkTime scales a think time.
func (x *run) thinkTime(d time.Duration) time.Duration {
	if x.think == 1 {
		return d
	}
	f := float64(d) * x.think
	if f >= math.MaxInt64/2 {
		return math.MaxInt64 / 2
	}
	return time.Duration(f)
}

// record feeds a metric.
type record struct {
	plan   *plan.Record
	metric int
}

// recorded feeds metrics after a step that is no sampler.
type recorded struct {
	control
	body    node
	records []record
}

func (n *recorded) run(ctx context.Context, th *thread) signal {
	if sig := n.body.run(ctx, th); sig != proceed {
		return sig
	}
	th.begin()
	for i := range n.records {
		if err := n.records[i].take(th); err != nil {
			return th.fail(ctx, n.control, err)
		}
	}
	return proceed
}

// take evaluates the expression and hands its value on, except in the warm-up.
func (r *record) take(th *thread) error {
	v, err := r.plan.Value.Eval(th)
	if err != nil {
		return recordError(r, err.Error())
	}
	f, ok := figure(v)
	if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
		return recordError(r, "it gives "+expr.TypeOf(v).String()+", not a number")
	}
	if metrics, ok := th.shard.(element.MetricShard); ok && !th.abandoned.Load() && !th.warm(th.Now()) {
		metrics.Metric(r.metric, f)
	}
	return nil
}

func recordError(r *record, reason string) error {
	return &element.Error{Class: element.Expression, Message: "record " + r.plan.Metric + ": " + reason}
}

// figure returns a value as a number: durations in milliseconds, true as 1.
func figure(v any) (float64, bool) {
	switch v := v.(type) {
	case bool:
		if v {
			return 1, true
		}
		return 0, true
	case int64:
		return float64(v), true
	case int:
		return float64(v), true
	case float64:
		return v, true
	case time.Duration:
		return float64(v) / float64(time.Millisecond), true
	case expr.Size:
		return float64(v), true
	case expr.Rate:
		return float64(v), true
	case expr.Share:
		return float64(v), true
	}
	return 0, false
}
