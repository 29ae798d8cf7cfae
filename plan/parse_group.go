package plan

import (
	"fmt"
	"strings"

	"runner/plan/expr"
	"runner/plan/source"
)

func (p *parser) groups(n *source.Node) []*Group {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "`thread_groups` must be a map, not "+kindOf(n), "write a name for each group, and under it load: and steps:")
		return nil
	}
	var out []*Group
	for _, f := range n.Fields {
		out = append(out, p.group(f))
	}
	if len(out) == 0 {
		p.add(n.Range, "empty-value", "there is no thread group", "write a name, and under it load: and steps:")
	}
	return out
}

func (p *parser) group(f source.Field) *Group {
	g := &Group{Range: f.Key.Range, Name: f.Key.Text}
	n := f.Value
	if strings.TrimSpace(g.Name) == "" {
		p.add(f.Key.Range, "bad-name", "the name of a thread group is empty", "write a name")
	}
	p.open(n)
	defer p.close()
	keys := []key{
		on("load", func(v *source.Node) { g.Load = p.load(v) }),
		on("steps", func(v *source.Node) { g.Steps = p.steps(v, "`steps`") }),
		on("on_error", func(v *source.Node) { g.OnError = p.onError(v) }),
		on("pacing", func(v *source.Node) { g.Pacing = p.pacing(v) }),
		on("new_user_each_iteration", func(v *source.Node) { b := p.boolean(v, "`new_user_each_iteration`"); g.NewUser = &b }),
		on("vars", func(v *source.Node) { g.Vars = p.vars(v, "`vars`") }),
		on("if", func(v *source.Node) { g.If = p.condition(v) }),
		on("skip", func(v *source.Node) { g.Skip, g.SkipSet = p.text(v, "`skip`"), true }),
	}
	keys = append(keys, p.scope(n, &g.Scope)...)
	ok := p.object(n, "a thread group", keys, func(word string) string {
		switch {
		case loadKeys[word]:
			return fmt.Sprintf("`%s` belongs inside `load: {…}`", word)
		case p.isSampler(word) || stepKeys[word]:
			return "it belongs to a step, under `steps:`"
		case set("setup teardown data secrets environments reports")[word]:
			return "it belongs to the plan, beside `thread_groups:`"
		}
		return ""
	})
	if !ok {
		return g
	}
	if n.Get("load") == nil {
		p.lacks(n, f.Key.Range, "missing-key", fmt.Sprintf("the thread group %q has no load", g.Name), "write load: {threads: 1, iterations: 1}")
	}
	if n.Get("steps") == nil {
		p.lacks(n, f.Key.Range, "missing-key", fmt.Sprintf("the thread group %q has no steps", g.Name), "write steps: with at least one step")
	}
	if n.Get("pacing") != nil && n.Get("load").Get("rate") != nil {
		p.add(n.Field("pacing").Key.Range, "pacing-with-rate", "`pacing` cannot stand in a group with `rate`: the rate says when iterations start", "remove pacing, or write load: {threads: …}")
	}
	return g
}

func (p *parser) onError(n *source.Node) OnError {
	return OnError(p.word(n, "`on_error`", string(Continue), string(NextIteration), string(StopThread), string(StopGroup), string(StopPlan)))
}

// pacing reads D, D..D or R.
func (p *parser) pacing(n *source.Node) Pacing {
	out := Pacing{Range: n.Range}
	if n.Kind == source.Scalar && strings.Contains(n.Text, "/") && !strings.Contains(n.Text, "${") {
		out.Rate = decode[expr.Rate](p, n)
		return out
	}
	out.From, out.To = p.span(n, "`pacing`")
	return out
}
