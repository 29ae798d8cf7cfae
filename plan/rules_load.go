package plan

import (
	"fmt"
	"time"

	"runner/plan/expr"
)

// late warns of thresholds that are not judged before the load is over, refuses
// warm-ups that are not over before, and warns of loops that nothing ends.
func (c *checker) late() {
	end, known := c.length()
	check := func(s *Scope) {
		for _, t := range s.Thresholds {
			if known && t.After >= end && t.After > 0 {
				c.ds.Warn(t.Range, "after-the-end", fmt.Sprintf("the threshold is not judged before %s, and the load is over after %s", expr.FormatDuration(t.After), expr.FormatDuration(end)),
					"write a shorter `after`, or remove it: a threshold that is never judged has no data")
			}
		}
	}
	check(&c.plan.Scope)
	Walk(c.plan, Visitor{
		Group: func(g *Group, _ Place) {
			check(&g.Scope)
			c.allWarmUp(&g.Load)
		},
		Step: func(s *Step, at Place) {
			check(&s.Scope)
			c.endless(s, at)
		},
	})
}

// allWarmUp refuses a warm-up that leaves no samples. The engine does where a time
// is not written in the plan.
func (c *checker) allWarmUp(l *Load) {
	warmUp, fixed := l.WarmUp.Literal()
	if length, known := l.length(); known && fixed && l.WarmUp.IsSet() && length > 0 && warmUp >= length {
		c.ds.Add(l.WarmUp.Range(), "all-warm-up", fmt.Sprintf("the load is over after %s, and its first %s are warm-up: no sample counts", expr.FormatDuration(length), expr.FormatDuration(warmUp)),
			"write a warm_up shorter than the load")
	}
}

// endless warns of a `while: true` that nothing ends but the end of the load,
// where the load ends after so many iterations.
func (c *checker) endless(s *Step, at Place) {
	if s.While == nil || s.While.Max.IsSet() || s.While.Condition.Source() != "true" || at.Group == nil {
		return
	}
	if l := &at.Group.Load; l.Duration.IsSet() || len(l.ThreadStages) > 0 || len(l.RateStages) > 0 || leaves(s.Steps) {
		return
	}
	for _, b := range append([]*Step{s}, at.Blocks...) {
		if b.Runtime != nil {
			return
		}
	}
	c.ds.Warn(s.While.Condition.Range(), "endless-loop", "the loop never ends, and the load waits for its iterations to end", "add max: 100, or a `duration:` to the load")
}

// leaves reports whether a stop is among steps.
func leaves(steps []*Step) bool {
	found := false
	Visitor{Step: func(s *Step, _ Place) {
		if _, stop := s.Action.(*Stop); stop || s.OnError != "" && s.OnError != Continue {
			found = true
		}
	}}.steps(steps, Place{})
	return found
}

// length returns how long the load of all groups takes at most, as far as it is
// written in the plan; false if that is not known.
func (c *checker) length() (time.Duration, bool) {
	var longest, sum time.Duration
	inTurn := false
	for _, g := range c.plan.Groups {
		d, known := g.Load.length()
		delay, fixed := literalOr(g.Load.Delay, 0)
		if !known || !fixed {
			return 0, false
		}
		longest, sum = max(longest, delay+d), sum+delay+d
		inTurn = inTurn || g.Load.After != ""
	}
	if inTurn {
		longest = sum
	}
	return longest, longest > 0
}

// length returns how long iterations begin; false if that is not known.
func (l *Load) length() (time.Duration, bool) {
	stages := append(l.ThreadStages[:len(l.ThreadStages):len(l.ThreadStages)], l.RateStages...)
	if len(stages) == 0 {
		d, fixed := l.Duration.Literal()
		return d, fixed && l.Duration.IsSet()
	}
	var sum time.Duration
	for _, s := range stages {
		d, fixed := s.Time.Literal()
		if !fixed {
			return 0, false
		}
		sum += d
	}
	return sum, true
}

// literalOr returns the value of what is written without ${…}, or what it is if
// nothing is written.
func literalOr(v interface {
	IsSet() bool
	Literal() (time.Duration, bool)
}, otherwise time.Duration) (time.Duration, bool) {
	if !v.IsSet() {
		return otherwise, true
	}
	return v.Literal()
}
