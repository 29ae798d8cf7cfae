package engine

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/expr"
)

// below compiles what stands in a block.
func (c *compiler) below(s *plan.Step, in inherited) sequence {
	switch {
	case len(s.Choose) > 0:
		if n := c.choose(s, in); n != nil {
			return sequence{n}
		}
		return nil
	case s.Switch != nil:
		return sequence{c.choice(s, in)}
	case s.Try:
		return sequence{&try{c.steps(s.Steps, in), c.steps(s.Finally, in)}}
	}
	steps := c.steps(s.Steps, in)
	switch s.Order {
	case plan.Random, plan.Interleave:
		return sequence{&one{slot: c.slot(), random: s.Order == plan.Random, steps: steps}}
	case plan.Shuffle:
		return sequence{&shuffle{steps}}
	case plan.Parallel:
		return sequence{&parallel{slot: c.slot(), steps: steps}}
	}
	return steps
}

func (c *compiler) choice(s *plan.Step, in inherited) node {
	c.use(s.Switch.On.Uses())
	n := &choice{on: &s.Switch.On, cases: map[string]sequence{}}
	n.control = c.control("switch on "+s.Switch.On.Source(), "switch", s.Switch.On.Range(), in, s)
	for _, k := range s.Switch.Cases {
		n.cases[k.Value] = c.steps(k.Steps, in)
	}
	n.otherwise = c.steps(s.Switch.Default, in)
	return n
}

// around adds what stands closely around a step.
func (c *compiler) around(s *plan.Step, n node, in inherited) node {
	if _, sampler := s.Action.(*plan.SamplerAction); !sampler && len(s.Record) > 0 {
		n = &recorded{control: c.control("record", "record", s.Record[0].Range, in, s), body: n, records: c.records(s)}
	}
	if name := s.Critical.Text; name != "" {
		if !slices.Contains(c.program.sections, name) {
			c.program.sections = append(c.program.sections, name)
		}
		n = &critical{name, n}
	}
	if s.Runtime != nil {
		c.use(s.Runtime.Uses())
		n = &period{control: c.mayFail(!s.Runtime.IsLiteral(), "runtime "+s.Runtime.Source(), "runtime", or(s.Runtime.Range(), s.Range), in, s), length: s.Runtime, body: n}
	}
	return n
}

func (c *compiler) percent(p *plan.Percent, body node) node {
	l := &loads{scope: c.scope, ds: &c.ds, where: p.Range}
	share, _ := value(l, &p.Value)
	if !(share >= 0 && share <= 1) {
		c.ds.Add(p.Range, "out-of-range", fmt.Sprintf("percent is %v", share), "write a share from 0% to 100%")
		share = 0
	}
	n := &percent{slot: c.slot(), share: uint64(math.Round(float64(share) * whole100)), random: -1, body: body}
	if p.Random {
		n.random = float64(share)
	}
	return n
}

// until compiles when a step is tried again. Its failures are counted in the
// sampler's row, or in one of its own.
func (c *compiler) until(s *plan.Step, in inherited) *until {
	u := s.Until
	c.use(u.Condition.Uses())
	for _, b := range []expr.Binder{&u.From, &u.To, &u.Max, &u.Within} {
		c.use(b.Uses())
	}
	where := or(u.Condition.Range(), s.Range)
	if _, sampler := s.Action.(*plan.SamplerAction); sampler {
		return &until{control: control{series: -1, where: where, onError: in.signal()}, plan: u}
	}
	return &until{control: c.control("until "+u.Condition.Source(), "until", where, in, s), plan: u}
}

// kept keeps the responses of the samplers below for a condition that looks at
// them after these.
func (in inherited) kept(condition *expr.Condition) inherited {
	uses := condition.Uses()
	in.needs |= needsOf(uses, condition.Source())
	in.hold = in.hold || in.needs != 0 || slices.ContainsFunc(uses, func(u expr.Use) bool { return u.Name == "url" })
	return in
}

// needsOf says what of a response an expression looks at. What a function takes is
// not known.
func needsOf(uses []expr.Use, text string) (n element.Needs) {
	for _, u := range uses {
		switch root, _, _ := strings.Cut(u.Name, "."); root {
		case "json", "body":
			n |= element.NeedBody
		case "headers", "cookies", "message":
			n |= element.NeedHeaders
		}
	}
	if strings.Contains(text, "(") {
		n |= element.NeedBody | element.NeedHeaders
	}
	return n
}

func (c *compiler) records(s *plan.Step) []record {
	var out []record
	for _, r := range s.Record {
		c.use(r.Value.Uses())
		out = append(out, record{r, c.metrics[r.Metric]})
	}
	return out
}

func (c *compiler) nextRow(a *plan.NextRow, in inherited) node {
	name := a.Data.Text
	f := &feed{name: name, feeder: c.program.options.Data[name], control: c.control("next_row "+name, "next_row", a.Data.Range, in, nil)}
	return &nextRow{f}
}

func (c *compiler) call(s *plan.Step, in inherited) node {
	n := &call{plan: s.Call, locals: s.Call.Locals}
	dynamic := false
	for _, v := range s.Call.With {
		dynamic = dynamic || !v.Value.IsStatic()
		c.use(v.Value.Uses())
		n.params = append(n.params, s.Call.Local(v.Name))
	}
	for _, w := range s.Call.Outputs {
		n.outputs = append(n.outputs, [2]string{s.Call.Local(w.Text), s.Call.Outer(w.Text)})
		c.results = append(c.results, s.Call.Outer(w.Text))
	}
	n.control = c.mayFail(dynamic, "call "+s.Call.Name, "call", s.Call.Range, in, s)
	n.body = c.block(s, in)
	return n
}

// counters returns the counters that the steps at hand use.
func (c *compiler) counters() []*tally {
	var out []*tally
	for _, d := range c.program.plan.Counters {
		if c.uses[d.Name] {
			out = append(out, c.counter(d))
		}
	}
	return out
}

func (c *compiler) counter(d *plan.Counter) *tally {
	l := &loads{scope: c.scope, ds: &c.ds, where: d.Range}
	n := &tally{name: d.Name, step: 1, perThread: d.PerThread}
	n.from, _ = value(l, &d.From)
	if d.Step.IsSet() {
		n.step, _ = value(l, &d.Step)
	}
	n.shape(d.Format)
	to, ends := value(l, &d.To)
	switch {
	case n.step == 0:
		c.ds.Add(d.Range, "out-of-range", "the step of the counter is 0", "write another number")
	case ends && to != n.from && (to < n.from) != (n.step < 0):
		c.ds.Add(d.Range, "out-of-range", fmt.Sprintf("the counter runs away from its end: from %d to %d by %d", n.from, to, n.step), "swap `from` and `to`, or change the sign of `step`")
	case ends:
		n.length = (to-n.from)/n.step + 1
	}
	if d.PerThread {
		n.slot = c.slot()
		return n
	}
	slot, known := c.shared[d.Name]
	if !known {
		slot = c.program.counters
		c.program.counters++
		c.shared[d.Name] = slot
	}
	n.slot = slot
	return n
}
