package engine

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
)

// sampler runs one sampler with everything in its scope, in this order: timers,
// sampler, extractors, assertions, record, on_error.
type sampler struct {
	control
	element   element.Sampler
	kind      string
	describer element.Describer
	releaser  element.Releaser
	needs     element.Needs

	timers     []timer
	extracts   []extract
	assertions []assertion
	judged     []int // all assertions' indices in the series
	statusRule bool  // status >= 400 fails: no status assertion is in scope
	until      *until
	records    []record
	split      *split
	hold       bool // the response is kept for an until around it
}

type timer struct {
	element   element.Timer
	waiter    element.Waiter // nil: it says when, and the engine waits
	scheduled bool
	plan      *plan.Timer
}

type extract struct {
	element element.Extractor
	plan    *plan.Extract
	where   string // as written, for messages
}

type assertion struct {
	element element.Assertion
	plan    *plan.Assertion
	index   int // in the series
	class   element.Class
	failing signal // 0: the step's on_error
	own     bool   // failing is set
}

func (n *sampler) run(ctx context.Context, th *thread) signal {
	th.letGo()
	if th.late() {
		return outOfTime
	}
	due, now, err := n.wait(ctx, th)
	if err != nil {
		if th.waitContext(ctx).Err() != nil || ctx.Err() != nil {
			return interrupted
		}
		th.begin()
		return th.fail(ctx, n.control, err)
	}
	th.begin()
	th.idle = false
	th.worked++
	s := th.newSample()
	s.Series, s.Needs = n.series, n.needs
	if n.split != nil {
		if s.Series, err = n.split.row(th, n.series); err != nil {
			return th.fail(ctx, n.control, err)
		}
	}
	s.Dispatched = now
	s.Due, s.FreeSince = due.at, due.free
	if !due.set {
		s.Due, s.FreeSince = s.Dispatched, s.Dispatched
	}
	s.WarmUp = th.warm(s.Due)
	th.count(element.SamplesStarted, 1)
	if n.until != nil {
		n.tries(ctx, th, s)
	} else {
		err := n.call(ctx, th, s)
		th.count(element.SamplesReturned, 1)
		if err != nil {
			n.transportFailed(ctx, th, s, err)
		} else {
			n.judge(th, s)
		}
	}
	s.Before = max(0, s.Dispatched-now)
	if s.Done < s.Dispatched {
		s.Done = max(th.Now(), s.Dispatched)
	}
	sig := proceed
	if s.Class != element.Passed {
		sig = n.failed(th, s)
	}
	th.record(s)
	if n.hold {
		th.held = n
	} else if n.releaser != nil {
		n.release(th, s)
	}
	th.returnSample()
	if ctx.Err() != nil {
		return interrupted
	}
	return sig
}

// wait asks the timers one after another, each with the clock as it is when the
// wait before is over, and returns when the sample was due and the time now. A
// think time after a scheduled time moves the due time with it, so that it never
// counts as lateness.
func (n *sampler) wait(ctx context.Context, th *thread) (due dueTime, now time.Duration, err error) {
	due, now = th.due, th.Now()
	th.due = dueTime{}
	wait := th.waitContext(ctx)
	for i := range n.timers {
		t := &n.timers[i]
		if t.waiter != nil {
			if err := n.meet(wait, th, t); err != nil {
				return due, now, err
			}
			later := th.Now()
			if due.set {
				due.at, due.free = due.at+later-now, due.free+later-now
			}
			now = later
			continue
		}
		at, err := n.ask(th, t, now)
		if err != nil {
			return due, now, err
		}
		if th.run.think != 1 && !t.scheduled {
			at = now + th.run.thinkTime(at-now)
		}
		switch {
		case t.scheduled:
			due = dueTime{at: at, free: now, set: true}
			err = th.run.clock.SleepUntil(wait, at)
		case due.set:
			think := max(0, at-now)
			due.at, due.free = due.at+think, due.free+think
			err = th.run.clock.SleepUntil(wait, at)
		default:
			err = th.run.clock.Sleep(wait, at-now)
		}
		if err != nil {
			return due, now, err
		}
		if at > now {
			now = th.Now()
		}
	}
	return due, now, ctx.Err()
}

func (n *sampler) ask(th *thread, t *timer, now time.Duration) (at time.Duration, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = th.run.panicked(t.plan, "timer", v)
		}
	}()
	return t.element.Due(th.Thread, now)
}

func (n *sampler) meet(ctx context.Context, th *thread, t *timer) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = th.run.panicked(t.plan, "timer", v)
		}
	}()
	return t.waiter.Wait(ctx, th.Thread)
}

func (n *sampler) call(ctx context.Context, th *thread, s *element.Sample) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = th.run.panicked(n, n.kind, v)
		}
	}()
	return n.element.Sample(ctx, th.Thread, s)
}

// transportFailed classes a sampler's error. What its extractors would have set
// is unset, so that no later step goes on with a value of an earlier response.
func (n *sampler) transportFailed(ctx context.Context, th *thread, s *element.Sample, err error) {
	p := element.Problem{Class: classOf(err), Assertion: -1, Message: err.Error(), Range: n.where}
	if ctx.Err() != nil {
		p.Class, p.Message = element.Cancelled, "cancelled while it was running"
		s.Done = th.Now()
	}
	if p.Class == element.Expression && s.Sent == 0 {
		s.Unsent = true
	}
	s.Fail(p)
	for i := range n.extracts {
		x := &n.extracts[i]
		if x.plan.Default == nil || th.setDefault(x) != nil {
			th.Unset(x.plan.Variable)
		}
	}
}

// judge runs extractors and assertions over a filled sample.
func (n *sampler) judge(th *thread, s *element.Sample) {
	if s.Done < s.Dispatched {
		s.Done = max(th.Now(), s.Dispatched)
	}
	n.extract(th, s)
	n.assert(th, s)
}

// extract runs the extractors.
func (n *sampler) extract(th *thread, s *element.Sample) {
	for i := range n.extracts {
		x := &n.extracts[i]
		if err := x.run(th, s); err != nil {
			failPart(s, element.Extract, err, x.plan.Range)
		}
	}
}

// assert judges the response and records what metrics take from it.
func (n *sampler) assert(th *thread, s *element.Sample) {
	s.Assertions = n.judged
	if n.statusRule && s.Status >= 400 {
		n.badStatus(s)
	}
	for i := range n.assertions {
		a := &n.assertions[i]
		if err := a.run(th, s); err != nil {
			a.fail(s, err)
		}
	}
	for i := range n.records {
		r := &n.records[i]
		if err := r.take(th); err != nil {
			failPart(s, element.Expression, err, r.plan.Range)
		}
	}
}

// The next ones are rare and need room for problems, which the stack of every
// thread would otherwise have to hold.

//go:noinline
func (n *sampler) badStatus(s *element.Sample) {
	status := strconv.Itoa(s.Status)
	s.Fail(element.Problem{Class: element.Status, Assertion: -1, Message: "status " + status,
		Expected: "a status below 400", Actual: status, Range: n.where})
}

//go:noinline
func failPart(s *element.Sample, class element.Class, err error, where source.Range) {
	s.Fail(element.Problem{Class: class, Assertion: -1, Message: err.Error(), Range: where})
}

//go:noinline
func (a *assertion) fail(s *element.Sample, err error) { s.Fail(a.problem(err)) }

func (a *assertion) run(th *thread, s *element.Sample) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = th.run.panicked(a.plan, "assertion", v)
		}
	}()
	return a.element.Assert(th.Thread, s)
}

func (a *assertion) problem(err error) element.Problem {
	p := element.Problem{Class: a.class, Assertion: a.index, Message: err.Error(), Range: a.plan.Range}
	var f *element.Failure
	if errors.As(err, &f) {
		p.Message, p.Expected, p.Actual = f.Message, f.Expected, f.Actual
	}
	if a.plan.Message != "" {
		p.Message = a.plan.Message
	}
	return p
}

func (x *extract) run(th *thread, s *element.Sample) error {
	v, err := x.take(th, s)
	if errors.Is(err, element.ErrNotFound) {
		if x.plan.Default != nil {
			return th.setDefault(x)
		}
		err = errors.New(plan.Plain(x.plan.Variable) + ": nothing found by " + x.where)
	} else if err != nil {
		err = errors.New(plan.Plain(x.plan.Variable) + ": " + err.Error())
	}
	if err != nil {
		th.Unset(x.plan.Variable)
		return err
	}
	th.Set(x.plan.Variable, x.hide(th, v))
	return nil
}

func (x *extract) take(th *thread, s *element.Sample) (v any, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = th.run.panicked(x.plan, "extractor", r)
		}
	}()
	return x.element.Extract(th.Thread, s, x.plan.Pick)
}

// hide makes a secret of a value that is one.
func (x *extract) hide(th *thread, v any) any {
	if !x.plan.Secret {
		return v
	}
	text, err := expr.FormatText(v)
	if err != nil {
		return v
	}
	th.Masker.Add(text)
	return expr.NewSecret(text)
}

func (th *thread) setDefault(x *extract) error {
	v, err := x.plan.Default.Eval(th)
	if err != nil {
		th.Unset(x.plan.Variable)
		return errors.New(plan.Plain(x.plan.Variable) + ": default: " + err.Error())
	}
	th.Set(x.plan.Variable, v)
	return nil
}

// failed puts the problems in the order of their classes, describes the request,
// and says what follows. An assertion's own on_failure stands before on_error.
func (n *sampler) failed(th *thread, s *element.Sample) signal {
	slices.SortStableFunc(s.Problems, func(a, b element.Problem) int { return rank(a.Class) - rank(b.Class) })
	s.Class = s.Problems[0].Class
	if n.describer != nil && !s.Unsent {
		s.Request = n.describe(th, s)
		if th.run.keep != nil {
			th.run.keep(s)
		}
	}
	sig := proceed
	for _, p := range s.Problems {
		then := n.onError
		for i := range n.assertions {
			if a := &n.assertions[i]; p.Assertion == a.index && a.own {
				then = a.failing
			}
		}
		sig = max(sig, then)
	}
	return th.verdict(s, n.control, sig)
}

func (n *sampler) describe(th *thread, s *element.Sample) (text string) {
	defer func() {
		if v := recover(); v != nil {
			_ = th.run.panicked(n, n.kind, v)
		}
	}()
	return th.Masker.Mask(n.describer.Describe(th.Thread, s))
}

func (n *sampler) release(th *thread, s *element.Sample) {
	defer func() {
		if v := recover(); v != nil {
			_ = th.run.panicked(n, n.kind, v)
		}
	}()
	n.releaser.Release(th.Thread, s)
	s.Body = nil
}

// letGo gives back the response that was kept for an until.
func (th *thread) letGo() {
	if n := th.held; n != nil {
		th.held = nil
		if n.releaser != nil {
			n.release(th, th.sample)
		}
	}
}

// newSample makes an empty sample the current one. It is lent by the run, so that a
// thread that waits holds none.
func (th *thread) newSample() *element.Sample {
	if th.sample == nil {
		th.sample = th.run.samples.Get().(*element.Sample)
	}
	th.Sample = th.sample
	th.sample.Reset()
	return th.sample
}

// returnSample gives the sample back, unless the condition of an until around may
// look at it.
func (th *thread) returnSample() {
	if th.attempt != 0 {
		return
	}
	if th.sample != nil {
		th.run.samples.Put(th.sample)
	}
	th.sample, th.Sample = nil, nil
}

// rank orders classes: transport, status, extract, other assertions.
func rank(c element.Class) int {
	switch c {
	case element.Status:
		return 1
	case element.Extract:
		return 2
	case element.Assert:
		return 3
	}
	return 0
}

// classOf classes the error of a sampler.
func classOf(err error) element.Class {
	var e *element.Error
	if errors.As(err, &e) && e.Class != element.Passed {
		return e.Class
	}
	if expressionError(err) {
		return element.Expression
	}
	return element.Protocol
}

func expressionError(err error) bool {
	var unset *expr.UnsetError
	var eval *expr.EvalError
	var typed *expr.TypeError
	return errors.As(err, &unset) || errors.As(err, &eval) || errors.As(err, &typed)
}

// record hands the sample to the recorder and to the open transactions.
func (th *thread) record(s *element.Sample) {
	if th.abandoned.Load() {
		return
	}
	th.shard.Record(s)
	if len(th.frames) == 0 {
		return
	}
	f := &th.frames[len(th.frames)-1]
	if f.samples == 0 {
		f.first = s.Moment()
	}
	f.samples++
	if s.Unsent {
		f.unsent++
	}
	f.sum += s.Response()
	f.failed = f.failed || s.Class != element.Passed
}

// fail records a failed, unsent sample of class expression of a step that is no
// sampler, or of a sampler that did not get that far, and says what follows.
func (th *thread) fail(ctx context.Context, c control, err error) signal {
	if ctx.Err() != nil {
		return interrupted
	}
	th.letGo()
	s := th.newSample()
	s.Series, s.Unsent = c.series, true
	s.Due = th.Now()
	s.Dispatched, s.FreeSince, s.Done = s.Due, s.Due, s.Due
	s.WarmUp = th.warm(s.Due)
	p := element.Problem{Class: element.Expression, Assertion: -1, Message: th.Masker.Mask(err.Error()), Range: c.where}
	var f *element.Failure
	if errors.As(err, &f) {
		p.Class, p.Message, p.Expected, p.Actual = element.Assert, f.Message, f.Expected, f.Actual
	}
	s.Fail(p)
	sig := th.verdict(s, c, c.onError)
	th.count(element.SamplesStarted, 1)
	th.count(element.SamplesReturned, 1)
	th.record(s)
	th.returnSample()
	return sig
}

// verdict is sig, unless this is setup, which every failure ends.
func (th *thread) verdict(s *element.Sample, c control, sig signal) signal {
	if !th.setup {
		return sig
	}
	if th.failure == nil {
		p := s.Problems[0]
		reason := p.Message
		if p.Expected != "" || p.Actual != "" {
			reason += ": expected " + p.Expected + ", was " + p.Actual
		}
		th.failure = &failure{step: c.name, reason: th.Masker.Mask(reason), where: p.Range}
	}
	return stopPlan
}

// control is what every step that may fail has.
type control struct {
	series  int
	name    string
	where   source.Range
	onError signal
}
