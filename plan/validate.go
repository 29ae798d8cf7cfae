package plan

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
	"runner/plan/spec"
)

// Validate checks a parsed plan as a whole and binds its expressions: after it
// without errors the plan can be evaluated and compiled. It reports every problem
// that it finds and sends nothing.
func Validate(p *Plan, reg *element.Registry, opts Options) source.Diagnostics {
	if p == nil {
		return nil
	}
	c := &checker{plan: p, reg: reg, opts: opts, fns: expr.NewFunctions(reg.Functions()...)}
	p.Functions = c.fns
	if opts.Open != nil {
		c.fns.ReadFile = (&reader{open: opts.Open, kept: map[string][]byte{}}).read
	}
	c.expand()
	c.vars()
	c.data()
	c.counters()
	c.bindPlan()
	c.rows()
	c.metrics()
	c.tags()
	c.late()
	c.sections()
	c.after()
	c.files()
	c.mentionsOfStatus()
	c.onlyOverridden()
	return listed(distinct(sound(c.ds, p.poison)))
}

// maxVars is how many variables a plan may have.
const maxVars = 2000

// checker holds what the checks share.
type checker struct {
	plan *Plan
	reg  *element.Registry
	opts Options
	fns  *expr.Functions
	ds   source.Diagnostics

	names    map[string]expr.Type // plan-wide: vars, secrets, data, run.id
	fixed    map[string]source.Range
	reserved map[string]bool
	only     *expr.Env // plan vars only: loads, names
	base     *expr.Env // names
	inside   *expr.Env // what every fragment knows

	calls  []*Call // all, those within fragments included
	trials []*Step // calls of fragments that nobody calls
}

// distinct leaves out what is said twice of one place, as of a fragment that is
// called more than once.
func distinct(ds source.Diagnostics) source.Diagnostics {
	type said struct {
		at            source.Range
		code, summary string
	}
	seen := map[said]bool{}
	return slices.DeleteFunc(ds, func(d source.Diagnostic) bool {
		k := said{d.Range, d.Code, d.Summary}
		dup := seen[k] && !d.Range.IsZero()
		seen[k] = true
		return dup
	})
}

// vars binds the variables, each to those above it, and those of environments.
func (c *checker) vars() {
	c.fixed, c.reserved = map[string]source.Range{}, map[string]bool{}
	for _, word := range expr.Reserved(c.fns) {
		c.reserved[word] = true
	}
	for _, name := range c.reg.Names(element.SamplerKind) {
		for root := range c.reg.Lookup(element.SamplerKind, name).Roots {
			c.reserved[root] = true
		}
	}
	c.names = map[string]expr.Type{"run.id": expr.TextType}
	for _, s := range c.plan.Secrets {
		c.names["secrets."+s.Name] = expr.SecretType
	}
	types := map[string]expr.Type{}
	if len(c.plan.Vars) > maxVars {
		c.ds.Add(c.plan.Vars[maxVars].Range, "too-many-vars", fmt.Sprintf("a plan has at most %d variables", maxVars), "move bulk data into a CSV file under `data:`")
		c.plan.Vars = c.plan.Vars[:maxVars]
	}
	for _, v := range c.plan.Vars {
		c.free(v.Name, v.Range, "a variable")
		if !v.Value.IsStatic() {
			before := len(c.ds)
			v.Value.Bind(expr.NewEnv(c.fns, c.names).WithEnvironment(), &c.ds)
			c.below(c.ds[before:])
		}
		c.names[v.Name], types[v.Name] = v.Value.Type(), v.Value.Type()
		c.fixed[v.Name] = v.Range
	}
	all := expr.NewEnv(c.fns, c.names)
	for _, e := range c.plan.Environments {
		c.overrides(e, types, all)
	}
	c.only = all
}

// below says of names that are defined further down that they are.
func (c *checker) below(ds source.Diagnostics) {
	for i := range ds {
		for _, v := range c.plan.Vars {
			if ds[i].Code == "undefined-variable" && ds[i].Range.Text() == v.Name {
				ds[i].Detail = fmt.Sprintf("a variable may use those above it: move `%s` up", v.Name)
			}
		}
	}
}

// onlyOverridden says of names that only environments set that the plan itself
// must have them.
func (c *checker) onlyOverridden() {
	for i := range c.ds {
		for _, e := range c.plan.Environments {
			for _, v := range e.Vars {
				if c.ds[i].Code == "undefined-variable" && c.ds[i].Range.Text() == v.Name {
					c.ds[i].Detail = fmt.Sprintf("declare `%s` under `vars:` of the plan; an environment can only override it", v.Name)
				}
			}
		}
	}
}

func (c *checker) overrides(e *Environment, types map[string]expr.Type, all *expr.Env) {
	vars, secrets := keysOf(types), []string{}
	for _, s := range c.plan.Secrets {
		secrets = append(secrets, s.Name)
	}
	for _, v := range e.Vars {
		if _, ok := types[v.Name]; !ok {
			c.ds.Add(v.Range, "unknown-var", fmt.Sprintf("the environment %q sets %q, which is no variable of the plan", e.Name, v.Name), suggest(v.Name, vars, "variables")+"; an environment overrides what stands under `vars:`")
		}
		v.Value.Bind(all.WithEnvironment(), &c.ds)
	}
	for _, s := range e.Secrets {
		if _, ok := c.names["secrets."+s.Name]; !ok {
			c.ds.Add(s.Range, "unknown-secret", fmt.Sprintf("the environment %q sets the secret %q, which the plan does not have", e.Name, s.Name), suggest(s.Name, secrets, "secrets"))
		}
	}
}

func keysOf[V any](m map[string]V) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}

// free reports a name that is the language's own.
func (c *checker) free(name string, r source.Range, what string) {
	if c.reserved[name] {
		c.ds.Add(r, "reserved-name", fmt.Sprintf("%q is a word of the language and cannot be the name of %s", name, what), fmt.Sprintf("choose another, like `my_%s`", name))
	}
}

// settable reports a set or extract of a name that is fixed.
func (c *checker) settable(name string, r source.Range, how string) {
	c.free(Plain(name), r, "a variable")
	if first, ok := c.fixed[name]; ok {
		c.ds = append(c.ds, source.Diagnostic{Code: "redefined", Range: r, Summary: fmt.Sprintf("%q is fixed and cannot be changed by `%s`", name, how),
			Detail: "choose another name", Related: []source.Related{{Message: fmt.Sprintf("%q is defined here", name), Range: first}}})
	}
}

// bindPlan binds setup, groups, teardown and the plan's own scope.
func (c *checker) bindPlan() {
	known := map[string]expr.Type{}
	for _, name := range c.reg.Names(element.SamplerKind) {
		maps.Copy(known, c.reg.Lookup(element.SamplerKind, name).Roots)
	}
	everywhere := map[string]expr.Type{"thread.id": expr.IntType, "thread.iteration": expr.IntType, "group.name": expr.TextType}
	c.base = expr.NewEnv(c.fns, c.names).WithAll(everywhere).WithKnownResponse(known)
	c.inside = expr.NewEnv(c.fns, map[string]expr.Type{"run.id": expr.TextType}).WithAll(everywhere).WithKnownResponse(known)
	shared := c.definitions(c.plan.Scope.Extract)

	c.settableAll(shared)
	own := c.collect(c.plan.Setup, false)
	c.settableAll(own)
	setup := &phase{checker: c, early: c.only, defs: append(own, shared...)}
	setup.run(c.base, c.plan.Setup)
	setup.unset()
	results := map[string]expr.Type{}
	for _, d := range own {
		results[d.name] = expr.AnyType
		c.fixed[d.name] = d.at
	}
	after := c.base.WithAll(results)
	union := maps.Clone(results)
	for _, g := range c.plan.Groups {
		c.group(g, after, setup.defs, shared, union)
	}
	last := c.collect(c.plan.Teardown, false)
	c.settableAll(last)
	down := &phase{checker: c, early: c.only, defs: append(append(last, shared...), setup.defs...)}
	down.run(after, c.plan.Teardown)
	c.addNames(union, down.defs)
	c.bindTrials()
	all := &phase{checker: c, early: c.only}
	all.scope(&c.plan.Scope, c.base.WithAll(union), c.roots(c.allSteps()))
}

func (c *checker) settableAll(defs []definition) {
	for _, d := range defs {
		c.settable(d.name, d.at, d.how)
	}
}

func (c *checker) addNames(to map[string]expr.Type, defs []definition) {
	for _, d := range defs {
		to[d.name] = expr.AnyType
	}
}

func (c *checker) allSteps() []*Step {
	out := append([]*Step{}, c.plan.Setup...)
	for _, g := range c.plan.Groups {
		out = append(out, g.Steps...)
	}
	return append(out, c.plan.Teardown...)
}

// group binds one thread group and adds its names to union.
func (c *checker) group(g *Group, env *expr.Env, setup, shared []definition, union map[string]expr.Type) {
	c.load(g)
	if g.If.IsSet() {
		g.If.Bind(env, &c.ds)
	}
	newUser := g.Load.Rate.IsSet() || len(g.Load.RateStages) > 0
	if g.NewUser != nil {
		newUser = *g.NewUser
	}
	for _, v := range g.Vars {
		c.settable(v.Name, v.Range, "vars")
		v.Value.Bind(env, &c.ds)
		env = env.With(v.Name, v.Value.Type())
		union[v.Name] = v.Value.Type()
	}
	p := &phase{checker: c, early: c.only, newUser: newUser}
	own := append(c.definitions(g.Scope.Extract), c.collect(g.Steps, newUser)...)
	c.settableAll(own)
	p.defs = append(append(own, shared...), setup...)
	for _, v := range g.Vars {
		p.defs = append(p.defs, definition{name: v.Name, how: "vars", at: v.Range})
	}
	inside := p.run(env, g.Steps)
	p.scope(&g.Scope, inside, c.roots(g.Steps))
	p.unset()
	c.addNames(union, own)
}

// load binds the load's values, which may use plan vars only.
func (c *checker) load(g *Group) {
	l := &g.Load
	for _, b := range []expr.Binder{&l.Threads, &l.Rate, &l.RampUp, &l.Duration, &l.Iterations, &l.Shared, &l.MaxThreads, &l.Delay, &l.WarmUp, &l.Grace, &l.RampDownGrace,
		&g.Pacing.From, &g.Pacing.To, &g.Pacing.Rate} {
		b.Bind(c.only, &c.ds)
	}
	for _, stages := range [][]Stage{l.ThreadStages, l.RateStages} {
		for i := range stages {
			s := &stages[i]
			s.Threads.Bind(c.only, &c.ds)
			s.Rate.Bind(c.only, &c.ds)
			s.Time.Bind(c.only, &c.ds)
		}
	}
}

// roots returns the response names of the samplers under steps.
func (c *checker) roots(steps []*Step) map[string]expr.Type {
	out := map[string]expr.Type{}
	Visitor{Step: func(s *Step, _ Place) {
		a, ok := s.Action.(*SamplerAction)
		if !ok {
			return
		}
		for name, t := range a.Definition.Roots {
			if have, ok := out[name]; ok && have != t {
				t = expr.AnyType
			}
			out[name] = t
		}
	}}.steps(steps, Place{})
	return out
}

// files checks that the files which elements name can be opened.
func (c *checker) files() {
	if c.opts.Open == nil {
		return
	}
	check := func(x any) {
		for _, path := range spec.Paths(x) {
			c.canOpen(path)
		}
	}
	c.elements(check)
}

func (c *checker) canOpen(path spec.Path) {
	f, err := c.opts.Open(path.Full)
	if err != nil {
		c.unreadable(path.Range, path.Written, err)
		return
	}
	_ = f.Close() // nothing was written
}

// unreadable reports a file that cannot be read, by its name in the plan.
func (c *checker) unreadable(r source.Range, path string, err error) {
	c.ds.Add(r, "missing-file", whyNot(path, err), relative)
}

const relative = "correct the path; it is relative to the file that names it"

// whyNot says in one plain sentence why a file cannot be read.
func whyNot(path string, err error) string {
	var system *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "there is no file " + path
	case errors.Is(err, fs.ErrPermission):
		return "no permission to read " + path
	case errors.As(err, &system):
		err = system.Err // the path is said once
	}
	return fmt.Sprintf("%s cannot be read: %v", path, err)
}

// elements calls visit for every sampler, timer, extractor and assertion.
func (c *checker) elements(visit func(x any)) {
	scope := func(s *Scope) {
		for _, t := range s.Timers {
			visit(t.Element)
		}
		for _, e := range s.Extract {
			visit(e.Element)
		}
		for _, a := range s.Assertions {
			visit(a.Element)
		}
	}
	scope(&c.plan.Scope)
	Walk(c.plan, Visitor{
		Group: func(g *Group, _ Place) { scope(&g.Scope) },
		Step: func(s *Step, _ Place) {
			if a, ok := s.Action.(*SamplerAction); ok {
				visit(a.Element)
			}
			scope(&s.Scope)
		},
	})
}
