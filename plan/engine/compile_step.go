package engine

import (
	"fmt"
	"strings"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/source"
)

func (c *compiler) steps(steps []*plan.Step, in inherited) sequence {
	var out sequence
	for _, s := range steps {
		if n := c.step(s, in); n != nil {
			out = append(out, n)
		}
	}
	return out
}

// step compiles one step with its controls, from the inside out: what metrics take,
// the critical section, the runtime, the loop, percent, once, if.
func (c *compiler) step(s *plan.Step, in inherited) node {
	if s.SkipSet {
		name := s.Name
		if name == "" {
			name = title(s)
		}
		c.program.layout.Skipped = append(c.program.layout.Skipped, element.Skipped{Group: c.in, Name: name, Reason: s.Skip, Range: s.Range})
		return nil
	}
	if s.OnError != "" {
		in.onError = s.OnError
	}
	in.tags = append(in.tags[:len(in.tags):len(in.tags)], s.Tags...)
	if s.SplitBy != nil {
		c.use(s.SplitBy.Uses())
		in.split = s.SplitBy
	}
	outer := in
	if s.Until != nil && s.Block {
		in = in.kept(&s.Until.Condition)
	}
	n := c.around(s, c.body(s, in), outer)
	n = c.repeated(s, n, outer)
	if s.Percent != nil {
		n = c.percent(s.Percent, n)
	}
	if s.Once {
		n = &once{n}
	}
	if s.If.IsSet() {
		c.use(s.If.Uses())
		n = &branch{control: c.control("if "+s.If.Source(), "if", s.If.Range(), outer, s), condition: &s.If, then: n,
			otherwise: c.steps(s.Else, outer)}
	}
	return n
}

// body compiles what a step does, without its controls.
func (c *compiler) body(s *plan.Step, in inherited) node {
	switch a := s.Action.(type) {
	case *plan.SamplerAction:
		return c.sampler(s, a, in)
	case *plan.Pause:
		c.use(a.From.Uses())
		c.use(a.To.Uses())
		return &pause{c.mayFail(!a.From.IsLiteral() || !a.To.IsLiteral(), title(s), "pause", s.Range, in, s), a}
	case *plan.Set:
		dynamic := false
		for _, v := range a.Vars {
			dynamic = dynamic || !v.Value.IsStatic()
			c.use(v.Value.Uses())
			c.results = append(c.results, v.Name)
		}
		return &set{c.mayFail(dynamic, title(s), "set", s.Range, in, s), a.Vars}
	case *plan.Log:
		c.use(a.Text.Uses())
		return &logLine{c.mayFail(!a.Text.IsLiteral(), title(s), "log", s.Range, in, s), &a.Text}
	case *plan.Stop:
		return stop{stopSignal(a.What)}
	case *plan.NextRow:
		return c.nextRow(a, in)
	}
	if s.Call != nil {
		return c.call(s, in)
	}
	return c.block(s, in)
}

func stopSignal(what string) signal {
	switch what {
	case "thread":
		return stopThread
	case "group":
		return stopGroup
	case "plan":
		return stopPlan
	}
	return nextIteration
}

// block compiles a simple block, a transaction, or choose.
func (c *compiler) block(s *plan.Step, in inherited) node {
	in = in.enter(&s.Scope)
	row := -1
	if s.Name != "" {
		row = c.row(s.Name, "transaction", s.Range, true)
		in = c.rules.open(in, &s.Scope, c.path(s.Name), c.group, row)
	} else {
		in = c.rules.open(in, &s.Scope, c.path(title(s)), c.group)
	}
	steps := c.below(s, in)
	if s.Runtime != nil {
		for i := range steps {
			steps[i] = guard{steps[i]}
		}
	}
	if row >= 0 {
		return &transaction{series: row, wall: s.IncludeTimers, steps: steps}
	}
	return steps
}

func (c *compiler) choose(s *plan.Step, in inherited) node {
	n := &choose{slot: c.slot()}
	var weights []float64
	sum := 0.0
	for _, arm := range s.Choose {
		w := 1.0
		if arm.Weight.IsSet() {
			l := &loads{scope: c.scope, ds: &c.ds, where: arm.Range}
			w, _ = value(l, &arm.Weight)
		}
		if w < 0 || w != w || w > 1e9 {
			c.ds.Add(arm.Range, "out-of-range", fmt.Sprintf("the weight is %g", w), "write a weight of 0 or more")
			w = 1
		}
		weights, sum = append(weights, w), sum+w
		n.arms = append(n.arms, c.block(&plan.Step{Range: arm.Range, Name: arm.Name, Steps: arm.Steps, Block: true}, in))
	}
	if sum <= 0 {
		c.ds.Add(s.Range, "out-of-range", "all weights of choose are 0", "give one of them a weight of more than 0")
		return nil
	}
	n.cycle = cycle(weights)
	return n
}

// repeated wraps a step into its loop, if it has one.
func (c *compiler) repeated(s *plan.Step, body node, in inherited) node {
	n := &repeat{body: body}
	switch {
	case s.Loop != nil:
		c.use(s.Loop.Uses())
		n.times = s.Loop
		n.control = c.mayFail(!s.Loop.IsLiteral(), "loop "+s.Loop.Source(), "loop", or(s.Loop.Range(), s.Range), in, s)
	case s.While != nil:
		c.use(s.While.Condition.Uses())
		c.use(s.While.Max.Uses())
		n.while = s.While
		n.control = c.control("while "+s.While.Condition.Source(), "while", or(s.While.Condition.Range(), s.Range), in, s)
	case s.Foreach != nil:
		c.use(s.Foreach.List.Uses())
		n.list, n.as = &s.Foreach.List, s.Foreach.As
		n.control = c.control("foreach "+s.Foreach.List.Source(), "foreach", or(s.Foreach.List.Range(), s.Range), in, s)
	case s.Until != nil:
		if _, sampler := s.Action.(*plan.SamplerAction); sampler {
			return body // which tries by itself
		}
		return &retry{*c.until(s, in), body}
	default:
		return body
	}
	return n
}

func or(a, b source.Range) source.Range {
	if a.IsZero() {
		return b
	}
	return a
}

// mayFail is control for a step that is all literals unless dynamic: without a
// row, because it cannot fail.
func (c *compiler) mayFail(dynamic bool, name, kind string, where source.Range, in inherited, s *plan.Step) control {
	if !dynamic {
		return control{series: -1, name: name, where: where, onError: in.signal()}
	}
	return c.control(name, kind, where, in, s)
}

// control gives a step that is no sampler the row in which its failures are
// counted. The controls of a named sampler and of a transaction have rows of
// their own too: a failure to decide is no sample of the target.
func (c *compiler) control(name, kind string, where source.Range, in inherited, s *plan.Step) control {
	if s != nil && s.Name != "" && kind != "pause" && kind != "set" && kind != "log" {
		name = s.Name + ": " + name
	}
	if runes := []rune(name); len(runes) > 100 {
		name = string(runes[:99]) + "…"
	}
	id := c.row(name, element.ControlKind, where, false)
	c.rules.collect(in, id)
	if c.phase == element.Teardown {
		c.rules.errors(in, []int{id}, c.path(name), -1, where)
	}
	if c.phase == element.Load && !in.isCovered() {
		c.controls = append(c.controls, id)
	}
	return control{series: id, name: name, where: where, onError: in.signal()}
}

// title names a step that has no name.
func title(s *plan.Step) string {
	if s.Name != "" {
		return s.Name
	}
	switch a := s.Action.(type) {
	case *plan.SamplerAction:
		return a.Title
	case *plan.Pause:
		return "pause " + a.From.Source()
	case *plan.Set:
		var names []string
		for _, v := range a.Vars {
			names = append(names, plan.Plain(v.Name))
		}
		return "set " + strings.Join(names, ", ")
	case *plan.Log:
		return "log"
	case *plan.Stop:
		return "stop " + a.What
	case *plan.NextRow:
		return "next_row " + a.Data.Text
	}
	if len(s.Choose) > 0 {
		return "choose"
	}
	if s.Call != nil {
		return "call " + s.Call.Name
	}
	return "block at line " + fmt.Sprint(s.Range.Start.Line)
}

// path names a step in a threshold's scope.
func (c *compiler) path(name string) string { return c.in + " / " + name }

func (c *compiler) sampler(s *plan.Step, a *plan.SamplerAction, in inherited) node {
	in = in.enter(&s.Scope)
	name := title(s)
	var ids []int
	if in.split == nil {
		ids = []int{c.row(name, a.Definition.Name, s.Range, false)}
	} else {
		ids = c.splitRows(name, a.Definition.Name, s.Range)
	}
	id := ids[0]
	in = c.rules.open(in, &s.Scope, c.path(name), c.group, ids...)
	c.rules.collect(in, ids...)
	if c.phase != element.Setup {
		c.rules.errors(in, ids, c.path(name), c.group, s.Range)
	}
	n := &sampler{control: control{series: id, name: name, where: s.Range, onError: in.signal()},
		element: a.Element, kind: a.Definition.Name, statusRule: true, needs: in.needs, hold: in.hold}
	if c.program.plan.KeepFailures > 0 {
		n.needs = element.NeedBody | element.NeedHeaders
	}
	if in.split != nil {
		n.split = &split{by: in.split, name: name, rows: ids}
		n.split.slot = c.program.splits
		c.program.splits++
	}
	if s.Until != nil {
		n.until = c.until(s, in)
		n.needs |= needsOf(s.Until.Condition.Uses(), s.Until.Condition.Source())
	}
	for _, r := range s.Record {
		n.needs |= needsOf(r.Value.Uses(), r.Value.Source())
	}
	n.records = c.records(s)
	n.describer, _ = a.Element.(element.Describer)
	n.releaser, _ = a.Element.(element.Releaser)
	c.element(n.kind, a.Element, s.Range)
	for _, t := range in.timers {
		c.element("timer", t.Element, t.Range)
		scheduler, ok := t.Element.(element.Scheduler)
		waiter, _ := t.Element.(element.Waiter)
		n.timers = append(n.timers, timer{t.Element, waiter, ok && scheduler.Scheduled(), t})
	}
	for _, x := range in.extracts {
		c.element("extractor", x.Element, x.Range)
		if x.Default != nil {
			c.use(x.Default.Uses())
		}
		if x.Pick.Text != nil {
			c.use(x.Pick.Text.Uses())
		}
		c.results = append(c.results, x.Variable)
		n.needs |= needs(x.Element, x.Pick)
		n.extracts = append(n.extracts, extract{x.Element, x, written(x.Range)})
	}
	c.assertions(n, id, in.assertions)
	for _, other := range ids[1:] {
		c.program.layout.Series[other].Assertions = c.program.layout.Series[id].Assertions
	}
	return n
}

func (c *compiler) assertions(n *sampler, id int, list []*plan.Assertion) {
	for _, a := range list {
		c.element("assertion", a.Element, a.Range)
		out := assertion{element: a.Element, plan: a, class: element.Assert, index: c.assertionIndex(id, a)}
		if a.Definition != nil && a.Definition.Name == "status" {
			out.class, n.statusRule = element.Status, false
		}
		if a.OnFailure != "" {
			out.own, out.failing = true, signalOf(a.OnFailure)
		}
		n.needs |= needs(a.Element, element.Pick{})
		n.judged = append(n.judged, out.index)
		n.assertions = append(n.assertions, out)
	}
}

// assertionIndex returns the assertion's place in its row; steps that share the
// row share what they both inherit.
func (c *compiler) assertionIndex(id int, a *plan.Assertion) int {
	row := &c.program.layout.Series[id]
	for i, known := range row.Assertions {
		if known.Name == a.Title && known.Range == a.Range {
			return i
		}
	}
	row.Assertions = append(row.Assertions, element.AssertionInfo{Name: a.Title, Range: a.Range})
	return len(row.Assertions) - 1
}

// needs says what of the response an assertion or extractor looks at.
func needs(v any, pick element.Pick) element.Needs {
	if n, ok := v.(element.Needer); ok {
		need := n.Needs()
		if pick.Of == "headers" || pick.Of == "message" {
			need |= element.NeedHeaders
		}
		return need
	}
	return element.NeedBody | element.NeedHeaders
}
