package plan

import (
	"fmt"
	"slices"
	"strings"

	"runner/plan/expr"
	"runner/plan/source"
)

// counters binds the counters and declares their names.
func (c *checker) counters() {
	for _, n := range c.plan.Counters {
		c.free(n.Name, n.Range, "a counter")
		if first, ok := c.fixed[n.Name]; ok {
			c.ds = append(c.ds, source.Diagnostic{Code: "redefined", Range: n.Range, Summary: fmt.Sprintf("%q is defined twice", n.Name),
				Detail: "rename one of them", Related: []source.Related{{Message: "the first is defined here", Range: first}}})
		}
		c.fixed[n.Name] = n.Range
		for _, v := range []*expr.Int{&n.From, &n.To, &n.Step} {
			v.Bind(c.only, &c.ds)
		}
		c.names[n.Name] = expr.IntType
		if n.Format != "" {
			c.names[n.Name] = expr.TextType
		}
		c.countable(n)
	}
}

// countable reports a counter that cannot advance.
func (c *checker) countable(n *Counter) {
	step, fixed := n.Step.Literal()
	if !n.Step.IsSet() {
		step, fixed = 1, true
	}
	from, ok1 := n.From.Literal()
	to, ok2 := n.To.Literal()
	switch {
	case fixed && step == 0:
		c.ds.Add(n.Range, "out-of-range", fmt.Sprintf("the counter %q never advances: its step is 0", n.Name), "write a step of 1 or more, or of -1 or less to count down")
	case fixed && ok1 && ok2 && (to-from)*step < 0 && (to < from) != (step < 0):
		c.ds.Add(n.Range, "out-of-range", fmt.Sprintf("the counter %q runs away from its end: from %d to %d by %d", n.Name, from, to, step), "swap `from` and `to`, or change the sign of `step`")
	}
}

// metrics checks that metrics are recorded, and judged where they are known.
func (c *checker) metrics() {
	types, recorded := map[string]bool{}, map[string]bool{}
	var known []string
	for _, m := range c.plan.Metrics {
		if figures := expr.Figures(nil); slices.Contains(figures, m.Name) || slices.ContainsFunc(figures, func(f string) bool { return strings.HasPrefix(f, m.Name+".") }) {
			c.ds.Add(m.Range, "reserved-name", fmt.Sprintf("%q is a figure of the language and cannot be the name of a metric", m.Name), fmt.Sprintf("choose another, like `my_%s`", m.Name))
		}
		types[m.Name] = true
		known = append(known, m.Name)
	}
	Walk(c.plan, Visitor{
		Group: func(g *Group, _ Place) { c.planOnly(&g.Scope, types) },
		Step: func(s *Step, _ Place) {
			c.planOnly(&s.Scope, types)
			for _, r := range s.Record {
				if recorded[r.Metric] = true; !types[r.Metric] {
					c.ds.Add(r.Range, "unknown-metric", fmt.Sprintf("the plan has no metric %q", r.Metric), suggest(r.Metric, known, "metrics")+"; `metrics: {"+r.Metric+": trend}` at the plan makes one")
				}
			}
		},
	})
	for _, m := range c.plan.Metrics {
		if !recorded[m.Name] {
			c.ds = append(c.ds, source.Diagnostic{Severity: source.Warning, Code: "unused-metric", Range: m.Range,
				Summary: fmt.Sprintf("nothing is recorded into the metric %q", m.Name), Detail: "write `record: {" + m.Name + ": expression}` on a step, or remove it"})
		}
	}
}

// planOnly reports thresholds on metrics that do not stand on the plan.
func (c *checker) planOnly(s *Scope, metrics map[string]bool) {
	for _, t := range s.Thresholds {
		if name, _, _ := strings.Cut(t.Comparison.Figure, "."); metrics[name] {
			c.ds.Add(t.Range, "metric-threshold", fmt.Sprintf("the metric %q is the plan's: a threshold on it stands there", name), "move it to `thresholds:` of the plan")
		}
	}
}

// tags checks that the tags which thresholds name stand on steps below them.
func (c *checker) tags() {
	check := func(s *Scope, below ...[]*Step) {
		for _, t := range s.Thresholds {
			if t.Tag == "" {
				continue
			}
			var known []string
			for _, steps := range below {
				Visitor{Step: func(s *Step, _ Place) { known = append(known, s.Tags...) }}.steps(steps, Place{})
			}
			if !slices.Contains(known, t.Tag) {
				slices.Sort(known)
				c.ds.Add(t.Range, "unknown-tag", fmt.Sprintf("no step below has the tag %q", t.Tag), suggest(t.Tag, slices.Compact(known), "tags of steps"))
			}
		}
	}
	var all [][]*Step
	for _, g := range c.plan.Groups {
		all = append(all, g.Steps)
	}
	check(&c.plan.Scope, all...)
	Walk(c.plan, Visitor{
		Group: func(g *Group, _ Place) { check(&g.Scope, g.Steps) },
		Step:  func(s *Step, _ Place) { check(&s.Scope, []*Step{s}) },
	})
}

// sections reports critical sections that could wait for each other for ever:
// one inside itself, or two that are entered in both orders.
func (c *checker) sections() {
	inner := map[string]map[string]*Step{} // by the outer section's name
	Walk(c.plan, Visitor{Step: func(s *Step, at Place) {
		name := s.Critical.Text
		for _, b := range at.Blocks {
			if outer := b.Critical.Text; name != "" && outer != "" {
				if inner[outer] == nil {
					inner[outer] = map[string]*Step{}
				}
				if inner[outer][name] == nil {
					inner[outer][name] = s
				}
			}
		}
	}})
	for outer, below := range inner {
		for name, s := range below {
			if reaches(inner, name, outer, map[string]bool{}) {
				summary := fmt.Sprintf("threads would wait for each other for ever: the critical section %q is entered inside %q, and the other way round", name, outer)
				if name == outer {
					summary = fmt.Sprintf("the thread would wait for itself for ever: the critical section %q is entered inside itself", name)
				}
				c.ds.Add(s.Critical.Range, "deadlock", summary, "leave the outer one first, or enter both in the same order everywhere")
			}
		}
	}
}

// reaches reports whether the section to can be entered inside from.
func reaches(inner map[string]map[string]*Step, from, to string, seen map[string]bool) bool {
	if from == to {
		return true
	}
	seen[from] = true
	for next := range inner[from] {
		if !seen[next] && reaches(inner, next, to, seen) {
			return true
		}
	}
	return false
}
