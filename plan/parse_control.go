package plan

import (
	"fmt"
	"time"

	"runner/plan/expr"
	"runner/plan/source"
)

// loopKeys are the controls of which a step has one.
var loopKeys = []string{"loop", "while", "foreach", "until"}

// repeats returns the keys that run a step again.
func (p *parser) repeats(n *source.Node, s *Step) []key {
	return []key{
		on("loop", func(v *source.Node) {
			loop := decode[int64](p, v)
			if x, ok := loop.Literal(); ok && x < 1 && isInt(v.Text) {
				p.add(v.Range, "out-of-range", "`loop` must be at least 1", "write the number of passes, or `skip: \"reason\"` to leave the step out")
			}
			s.Loop = &loop
		}),
		on("while", func(v *source.Node) {
			s.While = &While{Condition: p.condition(v)}
			if limit := n.Get("max"); limit != nil {
				s.While.Max = p.count(limit, "max")
			}
		}),
		{"until", func(f source.Field) { s.Until = p.until(n, f) }},
		on("max", func(v *source.Node) {
			if n.Get("while") == nil && n.Get("until") == nil {
				p.add(n.Field("max").Key.Range, "bad-control", "`max` limits a `while:` or an `until:`, and there is none", "add while: condition, or write loop: "+short(v.Text))
			}
		}),
		p.ofUntil(n, "every"), p.ofUntil(n, "within"), p.ofUntil(n, "on_max"),
		on("runtime", func(v *source.Node) {
			d := decode[time.Duration](p, v)
			if x, ok := d.Literal(); ok && x <= 0 {
				p.add(v.Range, "out-of-range", "`runtime` must be more than 0", "write one like 30s, or `skip: \"reason\"` to leave the block out")
			}
			s.Runtime = &d
		}),
		on("foreach", func(v *source.Node) {
			s.Foreach = &Foreach{}
			if v.Kind == source.List && v.Flow {
				p.add(v.Range, "wrong-type", "`foreach` needs an expression, not a YAML list", "put it in quotes: "+quoted(v.Range.Text()))
			} else {
				s.Foreach.List = p.condition(v)
			}
			as := n.Get("as")
			if as == nil {
				p.lacks(n, n.Field("foreach").Key.Range, "missing-key", "`foreach` needs `as`: the name of the item", "add as: item")
			} else if p.name(as, "a variable") {
				s.Foreach.As, s.Foreach.AsRange = p.prefix+as.Text, as.Range
			}
		}),
		on("as", func(v *source.Node) {
			if n.Get("foreach") == nil {
				p.add(n.Field("as").Key.Range, "bad-control", "`as` names the item of a `foreach:`, and there is none", "add foreach: list, or remove `as`")
			}
		}),
	}
}

// ofUntil is a key that belongs to until, which reads it.
func (p *parser) ofUntil(n *source.Node, name string) key {
	return on(name, func(*source.Node) {
		if n.Get("until") == nil {
			p.add(n.Field(name).Key.Range, "bad-control", fmt.Sprintf("`%s` belongs to an `until:`, and there is none", name), "add until: condition")
		}
	})
}

// until reads the condition and, from n, how often and how long to try.
func (p *parser) until(n *source.Node, f source.Field) *Until {
	u := &Until{Range: f.Key.Range, Condition: p.condition(f.Value)}
	if every := n.Get("every"); every == nil {
		p.lacks(n, f.Key.Range, "missing-key", "`until` needs `every`: how long to wait between tries", "add every: 500ms")
	} else if !every.Null {
		u.From, u.To = p.span(every, "`every`")
	}
	limit, within := n.Get("max"), n.Get("within")
	if limit == nil && within == nil {
		p.lacks(n, f.Key.Range, "missing-key", "`until` needs an end: `max` or `within`", "add max: 20, or within: 30s")
	}
	if limit != nil {
		u.Max = p.count(limit, "max")
	}
	if within != nil {
		u.Within = decode[time.Duration](p, within)
		if d, ok := u.Within.Literal(); ok && d <= 0 && !within.Null {
			p.add(within.Range, "out-of-range", "`within` must be more than 0", "write one like 30s")
		}
	}
	if end := n.Get("on_max"); end != nil {
		u.ContinueAtTheEnd = p.word(end, "`on_max`", "fail", "continue") == "continue"
	}
	return u
}

// percent reads P or {value, random}.
func (p *parser) percent(n *source.Node) *Percent {
	out := &Percent{Range: n.Range}
	read := func(v *source.Node) {
		out.Value = decode[expr.Share](p, v)
		if x, ok := out.Value.Literal(); ok && (x < 0 || x > 1) {
			p.add(v.Range, "out-of-range", "`percent` is a share of the passes, from 0% to 100%", "write one like 30%")
		}
	}
	if n.Kind != source.Map {
		read(n)
		return out
	}
	p.object(n, "`percent`", []key{
		on("value", read),
		on("random", func(v *source.Node) { out.Random = p.boolean(v, "`random`") }),
	}, nil)
	if n.Get("value") == nil {
		p.lacks(n, n.Range, "missing-key", "`percent` needs `value`", "write {value: 30%, random: true}, or percent: 30%")
	}
	return out
}

// switches reads {on, cases, default}.
func (p *parser) switches(n *source.Node) *Switch {
	out := &Switch{}
	ok := p.object(n, "`switch`", []key{
		on("on", func(v *source.Node) { out.On.Decode(v, &p.ds) }),
		on("cases", func(v *source.Node) { out.Cases = p.cases(v) }),
		on("default", func(v *source.Node) { out.Default = p.steps(v, "`default`") }),
	}, nil)
	for _, k := range []string{"on", "cases"} {
		if ok && n.Get(k) == nil {
			p.lacks(n, n.Range, "missing-key", fmt.Sprintf("`switch` needs `%s`", k), "write {on: name, cases: {value: [steps]}}")
		}
	}
	return out
}

func (p *parser) cases(n *source.Node) []*Case {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "`cases` must be a map, not "+kindOf(n), "write value: and its steps, one a line")
		return nil
	}
	var out []*Case
	for _, f := range n.Fields {
		out = append(out, &Case{Range: f.Key.Range, Value: f.Key.Text, Steps: p.steps(f.Value, fmt.Sprintf("the case %q", short(f.Key.Text)))})
	}
	if len(out) == 0 {
		p.add(n.Range, "empty-value", "`cases` is empty", "write value: and its steps, one a line")
	}
	return out
}

// record reads {metric: X}.
func (p *parser) record(n *source.Node) []*Record {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "`record` must be a map, not "+kindOf(n), "write {metric: expression}")
		return nil
	}
	var out []*Record
	for _, f := range n.Fields {
		r := &Record{Range: f.Key.Range, Metric: f.Key.Text}
		r.Value.Decode(f.Value, &p.ds)
		out = append(out, r)
	}
	return out
}

// blockRules checks the controls that only a block can have.
func (p *parser) blockRules(n *source.Node, s *Step) {
	if s.Action == nil && !s.Block {
		return // reported already
	}
	for _, k := range []string{"runtime", "critical_section"} {
		if f := n.Field(k); f != nil && !s.Block {
			p.add(f.Key.Range, "bad-control", fmt.Sprintf("`%s` belongs to a block", k), "put the step under `steps:`")
		}
	}
	if f := n.Field("parallel"); f != nil && n.Field("steps") == nil {
		p.add(f.Key.Range, "bad-control", "`parallel` belongs to a block: it runs its steps at once", "put the steps under `steps:`")
	}
}
