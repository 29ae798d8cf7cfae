package engine

import (
	"slices"
	"strings"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
)

// rules collects the thresholds of a plan, those that are implied too
// (language.md: b and c).
type rules struct {
	written []*rule
	implied []*rule
	bySer   map[int]*rule // implied errors == 0% by series
	metrics map[string]int
}

// rule is a threshold that collects the series below its scope.
type rule struct {
	element.Threshold
	fixed bool // it judges one series, whatever is below
	seen  map[int]bool
}

func (r *rule) add(id int) {
	if r.fixed || r.seen[id] {
		return
	}
	if r.seen == nil {
		r.seen = map[int]bool{}
	}
	r.seen[id] = true
	r.Series = append(r.Series, id)
}

// open starts the thresholds of a scope. Those of a step or a named block judge
// its own rows; the others, and those about a tag, the samples below.
func (r *rules) open(in inherited, s *plan.Scope, scope string, group int, rows ...int) inherited {
	in.open = in.open[:len(in.open):len(in.open)]
	for _, t := range s.Thresholds {
		out := &rule{Threshold: element.Threshold{Scope: scope, Group: group, Single: -1, Comparison: t.Comparison, Tag: t.Tag,
			After: t.After, Window: t.Window, For: t.For, Stop: t.Stop, Range: t.Range}}
		if name, _, _ := strings.Cut(t.Comparison.Figure, "."); r.isMetric(name) {
			out.Metric, out.fixed = name, true
		} else if len(rows) > 0 && t.Tag == "" {
			if len(rows) == 1 {
				out.Single = rows[0]
			}
			out.Series, out.fixed = rows, true
		}
		if out.Tag != "" {
			out.Scope += ", tag " + t.Tag
		}
		r.written = append(r.written, out)
		in.open = append(in.open, out)
		switch {
		case !covers(t, "errors", "error_count"):
		case t.Tag != "":
			in.coveredBy = append(in.coveredBy[:len(in.coveredBy):len(in.coveredBy)], t.Tag)
		default:
			in.covered = true
		}
	}
	return in
}

func (r *rules) isMetric(name string) bool { _, ok := r.metrics[name]; return ok }

// isCovered reports whether a threshold on errors judges a step.
func (in inherited) isCovered() bool {
	return in.covered || slices.ContainsFunc(in.tags, func(tag string) bool { return slices.Contains(in.coveredBy, tag) })
}

// covers reports whether a threshold lifts an implied rule on one of the figures.
func covers(t *plan.Threshold, figures ...string) bool {
	for _, f := range figures {
		if t.Comparison.Figure == f && !t.Stop {
			return true
		}
	}
	return false
}

// collect adds rows to the thresholds of the scopes around them.
func (r *rules) collect(in inherited, ids ...int) {
	for _, t := range in.open {
		if t.Tag != "" && !slices.Contains(in.tags, t.Tag) {
			continue
		}
		for _, id := range ids {
			t.add(id)
		}
	}
}

// errors puts the rows of a step that no threshold on errors covers under errors
// == 0%. Rows of setup are not: their failure ends the run.
func (r *rules) errors(in inherited, ids []int, scope string, group int, where source.Range) {
	id := ids[0]
	if in.isCovered() || r.bySer[id] != nil {
		return
	}
	if r.bySer == nil {
		r.bySer = map[int]*rule{}
	}
	out := &rule{Threshold: element.Threshold{Scope: scope, Group: group, Series: ids, Single: id,
		Comparison: noErrors(where), Implied: true, Range: where}, fixed: true}
	if len(ids) > 1 {
		out.Single = -1
	}
	r.bySer[id] = out
	r.implied = append(r.implied, out)
}

// group adds the rules of a group: (c), and errors == 0% over its steps that are
// no samplers and that no threshold on errors covers.
func (r *rules) group(g *group, in inherited, controls []int) {
	if len(controls) > 0 {
		out := &rule{Threshold: element.Threshold{Scope: "group " + g.name, Group: g.index, Single: -1,
			Comparison: noErrors(g.plan.Range), Implied: true, Range: g.plan.Range}}
		for _, id := range controls {
			out.add(id)
		}
		r.implied = append(r.implied, out)
	}
	if g.arrivals == nil && g.shared == 0 {
		return
	}
	for _, t := range in.open {
		if f := t.Comparison.Figure; (f == "dropped" || f == "throughput") && !t.Stop {
			return
		}
	}
	where := g.plan.Load.Range
	r.implied = append(r.implied, &rule{Threshold: element.Threshold{Scope: "group " + g.name, Group: g.index, Single: -1,
		Comparison: expr.Comparison{Figure: "dropped", Op: "==", Unit: expr.IntType, Range: where, Source: "dropped == 0"},
		Implied:    true, Range: where}})
}

func noErrors(where source.Range) expr.Comparison {
	return expr.Comparison{Figure: "errors", Op: "==", Unit: expr.ShareType, Range: where, Source: "errors == 0%"}
}

// finish returns all thresholds: the written ones in the plan's order, then the
// implied ones. Rule (c) judges over the group's rows.
func (r *rules) finish(p *Program) []element.Threshold {
	var out []element.Threshold
	for _, t := range append(r.written, r.implied...) {
		if t.Comparison.Figure == "dropped" && t.Implied {
			for _, s := range p.layout.Series {
				if s.Group == t.Group && !s.Transaction {
					t.add(s.ID)
				}
			}
		}
		out = append(out, t.Threshold)
	}
	return out
}
