package engine

import (
	"context"
	"math"
	"strconv"
	"strings"
	"time"

	"runner/plan"
	"runner/plan/element"
)

// attemptName is the name of the number of the try.
const attemptName = "attempt"

func (th *thread) setAttempt(i int64) {
	th.attempt = i
	th.Set(attemptName, i)
}

// endAttempts gives the until around its number back.
func (th *thread) endAttempts(outer int64) {
	if th.attempt = outer; outer == 0 {
		th.Unset(attemptName)
		return
	}
	th.Set(attemptName, outer)
}

// endBlock does the same after a block, whose last sample nobody looks at any more.
func (th *thread) endBlock(outer int64) {
	th.letGo()
	th.endAttempts(outer)
	th.returnSample()
}

// until is when and how long a step is tried again.
type until struct {
	control
	plan *plan.Until
}

// limits are the bounds of one pass of an until.
type limits struct {
	tries      int64
	end        time.Duration // no try begins later
	every, top time.Duration
}

func (u *until) limits(th *thread) (l limits, err error) {
	l = limits{tries: math.MaxInt64, end: forever}
	if l.every, err = u.plan.From.Eval(th); err != nil {
		return l, err
	}
	if l.top, err = u.plan.To.Eval(th); err != nil {
		return l, err
	}
	if u.plan.Max.IsSet() {
		if l.tries, err = u.plan.Max.Eval(th); err != nil {
			return l, err
		}
	}
	if u.plan.Within.IsSet() {
		within, err := u.plan.Within.Eval(th)
		if err != nil {
			return l, err
		}
		l.end = th.Now() + within
	}
	return l, nil
}

// again waits for the next try; false if there is none.
func (u *until) again(ctx context.Context, th *thread, l limits, attempt int64) bool {
	if attempt >= l.tries {
		return false
	}
	d := between(th.Rand, l.every, l.top)
	if th.Now()+d > l.end {
		return false
	}
	return th.run.clock.Sleep(ctx, d) == nil
}

// unmet says that the condition did not become true.
func (u *until) unmet(th *thread, attempt int64, err error) *element.Failure {
	tries := "1 try"
	if attempt != 1 {
		tries = strconv.FormatInt(attempt, 10) + " tries"
	}
	f := &element.Failure{Message: "until: not true after its last try", Expected: u.plan.Condition.Source() + " within " + tries}
	if err != nil {
		f.Actual = err.Error()
		return f
	}
	_, f.Actual, _ = strings.Cut(u.plan.Condition.Explain(th), ", was ")
	if f.Actual == "" {
		f.Actual = "false"
	}
	return f
}

// tries runs the sampler until the condition holds. What is recorded is the last
// try, with the requests and bytes of all.
func (n *sampler) tries(ctx context.Context, th *thread, s *element.Sample) {
	outer := th.attempt
	defer th.endAttempts(outer)
	l, err := n.until.limits(th)
	if err != nil {
		th.count(element.SamplesReturned, 1)
		n.transportFailed(ctx, th, s, err)
		return
	}
	var all element.Sample
	for attempt := int64(1); ; attempt++ {
		th.setAttempt(attempt)
		failed := n.call(ctx, th, s)
		met, why := false, error(nil)
		if failed == nil {
			s.Done = max(s.Done, s.Dispatched)
			n.extract(th, s)
			met, why = n.until.plan.Condition.EvalBool(th)
		}
		if met || ctx.Err() != nil || !n.until.again(ctx, th, l, attempt) {
			th.count(element.SamplesReturned, 1)
			n.lastTry(ctx, th, s, failed, met, n.until.unmetOf(th, attempt, met, why))
			break
		}
		add(&all, s)
		n.nextTry(th, s)
	}
	add(s, &all)
}

func (u *until) unmetOf(th *thread, attempt int64, met bool, err error) *element.Failure {
	if met || u.plan.ContinueAtTheEnd {
		return nil
	}
	return u.unmet(th, attempt, err)
}

// lastTry judges the try that counts.
func (n *sampler) lastTry(ctx context.Context, th *thread, s *element.Sample, err error, met bool, unmet *element.Failure) {
	switch {
	case err != nil || ctx.Err() != nil && !met:
		if err == nil {
			err = ctx.Err()
		}
		n.transportFailed(ctx, th, s, err)
		return
	case s.Done < s.Dispatched:
		s.Done = max(th.Now(), s.Dispatched)
	}
	if unmet != nil {
		s.Fail(element.Problem{Class: element.Assert, Assertion: -1, Message: unmet.Message, Expected: unmet.Expected, Actual: unmet.Actual, Range: n.until.where})
	}
	n.assert(th, s)
}

// nextTry makes the sample ready for one more try.
func (n *sampler) nextTry(th *thread, s *element.Sample) {
	if n.releaser != nil {
		n.release(th, s)
	}
	series, warm := s.Series, s.WarmUp
	s.Reset()
	s.Series, s.Needs, s.WarmUp = series, n.needs, warm
	s.Dispatched = th.Now()
	s.Due, s.FreeSince = s.Dispatched, s.Dispatched
	th.worked++
}

// add adds what a try has sent and received.
func add(to, from *element.Sample) {
	to.Requests += from.Requests
	to.Reconnects += from.Reconnects
	to.BytesSent += from.BytesSent
	to.BytesReceived += from.BytesReceived
}

// retry runs a step that is no sampler until its condition holds. The samples in
// it are recorded in every try.
type retry struct {
	until
	body node
}

func (n *retry) run(ctx context.Context, th *thread) signal {
	outer := th.attempt
	defer th.endBlock(outer)
	l, err := n.limits(th)
	for attempt := int64(1); err == nil; attempt++ {
		th.setAttempt(attempt)
		if sig := n.body.run(ctx, th); sig != proceed {
			return sig
		}
		met, why := n.plan.Condition.EvalBool(th)
		if met {
			return proceed
		}
		failure := n.unmetOf(th, attempt, false, why)
		if th.letGo(); n.again(ctx, th, l, attempt) {
			continue
		}
		if ctx.Err() != nil {
			return interrupted
		}
		if failure == nil {
			return proceed
		}
		err = failure
	}
	th.begin()
	return th.fail(ctx, n.control, err)
}
