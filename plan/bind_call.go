package plan

import (
	"fmt"
	"slices"
	"strings"

	"runner/plan/expr"
	"runner/plan/source"
)

// outputs returns the definitions that a call brings in. An output that the
// fragment sets only under a condition may be missing.
func (c *checker) outputs(call *Call, newUser bool, path []any) []definition {
	sure := map[string]bool{}
	eachPath(call.step.Steps, newUser, nil, func(s *Step, path []any) {
		if len(path) > 0 {
			return
		}
		for _, name := range sets(s) {
			sure[name] = true
		}
	})
	var out []definition
	for _, w := range call.Outputs {
		d := definition{call.prefix + w.Text, "extract", w.Range, path}
		if !sure[call.Local(w.Text)] {
			d.path = extend(path, call)
		}
		out = append(out, d)
	}
	return out
}

// sets returns the variables that a step itself sets.
func sets(s *Step) []string {
	var out []string
	if a, ok := s.Action.(*Set); ok {
		for _, v := range a.Vars {
			out = append(out, v.Name)
		}
	}
	for _, e := range s.Scope.Extract {
		out = append(out, e.Variable)
	}
	if s.Call != nil {
		for _, w := range s.Call.Outputs {
			out = append(out, s.Call.prefix+w.Text)
		}
	}
	return out
}

// call binds the params of a call in env, and the fragment's steps in an env of
// their own.
func (p *phase) call(s *Step, env *expr.Env, path []any) {
	c := s.Call
	for _, v := range c.With {
		p.bind(&v.Value, env, path)
	}
	if c.Fragment == nil {
		return
	}
	p.params(c)
	names := map[string]expr.Type{}
	for _, w := range c.Fragment.Params {
		names[w.Text] = expr.AnyType
	}
	for _, v := range c.With {
		names[v.Name] = v.Value.Type()
	}
	c.Locals = nil
	seen := map[string]bool{}
	Visitor{Step: func(s *Step, _ Place) {
		for _, name := range sets(s) {
			if strings.HasPrefix(name, c.own) && !seen[name] {
				seen[name] = true
				c.Locals = append(c.Locals, name)
				names[Plain(name)] = expr.AnyType
			}
		}
	}}.steps(s.Steps, Place{})
	p.checkOutputs(c, seen)
	if c.Fragment.Steps == nil {
		return
	}
	inside, before := c.Fragment.Steps.Range, p.early
	p.early = before.WithFragment(expr.NewEnv(p.fns, map[string]expr.Type{"run.id": expr.TextType}), inside, c.own, p.static(c, before))
	p.steps(s.Steps, env.WithFragment(p.inside, inside, c.own, names), path)
	p.early = before
}

// static notes the params that are known before the run, and returns their types.
func (p *phase) static(c *Call, fixed *expr.Env) map[string]expr.Type {
	out := map[string]expr.Type{}
	c.Static = nil
	for _, v := range c.With {
		var again expr.Tree
		var problems source.Diagnostics
		again.Decode(v.node, &problems)
		again.Bind(fixed, &problems)
		if len(problems) == 0 && !strings.Contains(v.Value.Source(), "(") { // what a function gives may differ from call to call
			out[v.Name] = v.Value.Type()
			c.Static = append(c.Static, v)
		}
	}
	return out
}

// params checks that a call gives every param its value, and no other.
func (p *phase) params(c *Call) {
	if c.trial {
		return
	}
	given := map[string]bool{}
	var known []string
	for _, w := range c.Fragment.Params {
		known = append(known, w.Text)
		p.free(w.Text, w.Range, "a param")
	}
	for _, v := range c.With {
		given[v.Name] = true
		if !slices.Contains(known, v.Name) {
			p.ds = append(p.ds, source.Diagnostic{Code: "unknown-param", Range: v.Range, Summary: fmt.Sprintf("the fragment %q has no param %q", c.Name, v.Name),
				Detail: suggest(v.Name, known, "params"), Related: c.related()})
		}
	}
	for _, name := range known {
		if !given[name] {
			p.ds = append(p.ds, source.Diagnostic{Code: "missing-param", Range: c.Range, Summary: fmt.Sprintf("the fragment %q needs the param %q", c.Name, name),
				Detail: fmt.Sprintf("write with: {%s: value}", name), Related: c.related()})
		}
	}
}

func (c *Call) related() []source.Related {
	return []source.Related{{Message: "the fragment is here", Range: c.Fragment.Range}}
}

// checkOutputs checks what the fragment gives and what the call takes.
func (p *phase) checkOutputs(c *Call, set map[string]bool) {
	var known []string
	for _, w := range c.Fragment.Outputs {
		known = append(known, w.Text)
		if !set[c.Local(w.Text)] {
			p.ds.Add(w.Range, "unset-output", fmt.Sprintf("no step of the fragment sets the output %q", w.Text), "set it with `extract` or `set`, or remove it")
		}
	}
	for _, w := range c.Outputs {
		if !slices.Contains(known, w.Text) {
			p.ds = append(p.ds, source.Diagnostic{Code: "unknown-output", Range: w.Range, Summary: fmt.Sprintf("the fragment %q has no output %q", c.Name, w.Text),
				Detail: suggest(w.Text, known, "outputs"), Related: c.related()})
		}
	}
}

// bindTrials binds the fragments that nobody calls.
func (c *checker) bindTrials() {
	for _, s := range c.trials {
		p := &phase{checker: c, early: c.only}
		c.settableAll(c.collect([]*Step{s}, false))
		p.call(s, c.base, nil)
	}
}
