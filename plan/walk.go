package plan

import "runner/plan/element"

// Place says where in the tree a visit is.
type Place struct {
	Phase  element.Phase
	Group  *Group   // nil in setup and teardown
	Blocks []*Step  // the open blocks, outermost first; shared, read-only
	Scopes []*Scope // that apply, outermost first, the visited step's own last; shared, read-only
}

// Visitor is called for every group and step, in file order. Nil functions are
// left out; Leave is called after what is below a step.
type Visitor struct {
	Group func(g *Group, at Place)
	Step  func(s *Step, at Place)
	Leave func(s *Step, at Place)
}

// Walk visits setup, the groups and teardown.
func Walk(p *Plan, v Visitor) {
	outer := []*Scope{&p.Scope}
	// Setup and teardown are outside the plan's thresholds, but under everything
	// else of its scope.
	v.steps(p.Setup, Place{Phase: element.Setup, Scopes: outer})
	for _, g := range p.Groups {
		at := Place{Phase: element.Load, Group: g, Scopes: append(outer[:1:1], &g.Scope)}
		if v.Group != nil {
			v.Group(g, at)
		}
		v.steps(g.Steps, at)
	}
	v.steps(p.Teardown, Place{Phase: element.Teardown, Scopes: outer})
}

func (v Visitor) steps(steps []*Step, at Place) {
	for _, s := range steps {
		in := at
		in.Scopes = append(at.Scopes[:len(at.Scopes):len(at.Scopes)], &s.Scope)
		if v.Step != nil {
			v.Step(s, in)
		}
		below := in
		if s.Block {
			below.Blocks = append(at.Blocks[:len(at.Blocks):len(at.Blocks)], s)
		}
		for _, list := range s.Below() {
			v.steps(list, below)
		}
		v.steps(s.Else, at)
		if v.Leave != nil {
			v.Leave(s, in)
		}
	}
}

// Below returns the lists of steps that stand directly below a step and inherit
// its scope, in file order. What stands under `else` does not.
func (s *Step) Below() [][]*Step {
	var all [][]*Step
	add := func(steps []*Step) {
		if len(steps) > 0 {
			all = append(all, steps)
		}
	}
	add(s.Steps)
	for _, c := range s.Choose {
		add(c.Steps)
	}
	if s.Switch != nil {
		for _, c := range s.Switch.Cases {
			add(c.Steps)
		}
		add(s.Switch.Default)
	}
	add(s.Finally)
	return all
}

// Timers returns the timers that apply at the place, outermost first.
func (at Place) Timers() []*Timer {
	var out []*Timer
	for _, s := range at.Scopes {
		if s.NoInherit.Timers {
			out = nil
		}
		out = append(out, s.Timers...)
	}
	return out
}

// Extracts returns the extractors that apply at the place, outermost first.
func (at Place) Extracts() []*Extract {
	var out []*Extract
	for _, s := range at.Scopes {
		if s.NoInherit.Extract {
			out = nil
		}
		out = append(out, s.Extract...)
	}
	return out
}

// Assertions returns the assertions that apply at the place, outermost first.
func (at Place) Assertions() []*Assertion {
	var out []*Assertion
	for _, s := range at.Scopes {
		if s.NoInherit.Assertions {
			out = nil
		}
		out = append(out, s.Assertions...)
	}
	return out
}
