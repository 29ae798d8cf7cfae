package plan

import (
	"fmt"
	"slices"

	"runner/plan/expr"
	"runner/plan/source"
	"runner/plan/spec"
)

// definition is one place that gives a variable a value. path holds what must
// come true for it to run, outermost first: *Step, *Choice or otherwise.
type definition struct {
	name, how string
	at        source.Range
	path      []any
}

// otherwise is the else branch of a step.
type otherwise struct{ step *Step }

// use is one occurrence of a name, with what must come true for it to be reached.
type use struct {
	expr.Use
	path []any
}

func (c *checker) definitions(extracts []*Extract) []definition {
	var out []definition
	for _, e := range extracts {
		out = append(out, definition{name: e.Variable, how: "extract", at: e.Range})
	}
	return out
}

// conditional reports whether a step may not run at all.
func conditional(s *Step, newUser bool) bool {
	return s.If.IsSet() || s.Percent != nil || s.While != nil || s.Foreach != nil || s.Once && newUser || s.SkipSet
}

// collect returns the definitions under steps.
func (c *checker) collect(steps []*Step, newUser bool) []definition {
	var out []definition
	eachPath(steps, newUser, nil, func(s *Step, path []any) {
		if a, ok := s.Action.(*Set); ok {
			for _, v := range a.Vars {
				out = append(out, definition{v.Name, "set", v.Range, path})
			}
		}
		for _, e := range s.Scope.Extract {
			out = append(out, definition{e.Variable, "extract", e.Range, path})
		}
		if s.Call != nil {
			out = append(out, c.outputs(s.Call, newUser, path)...)
		}
	})
	return out
}

// eachPath visits steps with the conditions that they are under, their own
// included.
func eachPath(steps []*Step, newUser bool, path []any, visit func(s *Step, path []any)) {
	for _, s := range steps {
		in := path
		if conditional(s, newUser) {
			in = extend(path, s)
		}
		visit(s, in)
		s.arms(in, func(steps []*Step, path []any) { eachPath(steps, newUser, path, visit) })
		eachPath(s.Else, newUser, extend(path, otherwise{s}), visit)
	}
}

// arms calls visit for the lists of steps below a step, with the conditions that
// they are under: in, and that this arm is taken.
func (s *Step) arms(in []any, visit func(steps []*Step, path []any)) {
	if s.Order == Random || s.Order == Interleave {
		for i := range s.Steps {
			visit(s.Steps[i:i+1], extend(in, &s.Steps[i]))
		}
	} else {
		visit(s.Steps, in)
	}
	for _, c := range s.Choose {
		visit(c.Steps, extend(in, c))
	}
	if s.Switch != nil {
		for _, c := range s.Switch.Cases {
			visit(c.Steps, extend(in, c))
		}
		visit(s.Switch.Default, extend(in, s.Switch))
	}
	visit(s.Finally, in)
}

func extend(path []any, x any) []any { return append(path[:len(path):len(path)], x) }

// phase binds the steps of setup, a group or teardown.
type phase struct {
	*checker
	newUser bool
	early   *expr.Env // what is known before the run: plan vars, and params that follow from them
	defs    []definition
	doubts  map[string]*doubt // by name
	uses    []use             // of doubts
}

// run binds steps under env and what they define, and returns that env.
func (p *phase) run(env *expr.Env, steps []*Step) *expr.Env {
	p.doubts = doubts(p.defs)
	names := map[string]expr.Type{}
	for _, d := range p.defs {
		if _, ok := env.Lookup(d.name); !ok {
			names[d.name] = expr.AnyType
		}
	}
	env = env.WithAll(names)
	p.steps(steps, env, nil)
	return env
}

func (p *phase) steps(steps []*Step, env *expr.Env, path []any) {
	if half := len(steps) / 2; len(steps) >= many {
		other := p.fork()
		inHalves(func() { p.steps(steps[:half], env, path) }, func() { other.steps(steps[half:], env, path) })
		p.join(other)
		return
	}
	for _, s := range steps {
		p.step(s, env, path)
	}
}

func (p *phase) step(s *Step, env *expr.Env, path []any) {
	s.NameText.Bind(p.early, &p.ds)
	p.bind(&s.If, env, path)
	in := path
	if conditional(s, p.newUser) {
		in = extend(path, s)
	}
	if s.Percent != nil {
		p.bind(&s.Percent.Value, p.early, path)
	}
	inner := env
	switch {
	case s.Until != nil:
		inner = env.With("attempt", expr.IntType)
		p.bind(&s.Until.Condition, p.response(s, inner), in)
		for _, b := range []expr.Binder{&s.Until.From, &s.Until.To, &s.Until.Max, &s.Until.Within} {
			p.bind(b, env, path)
		}
	case s.Foreach != nil:
		s.Foreach.List.BindValue(env, &p.ds)
		p.note(s.Foreach.List.Uses(), path)
		if as := s.Foreach.As; as != "" {
			p.settable(as, s.Foreach.AsRange, "as")
			inner = env.WithOwn(map[string]expr.Type{Plain(as): expr.AnyType}).With("loop.index", expr.IntType)
		}
	case s.While != nil:
		inner = env.With("loop.index", expr.IntType)
		p.bind(&s.While.Condition, inner, path)
		p.bind(&s.While.Max, env, path)
	case s.Loop != nil:
		p.bind(s.Loop, env, path)
		inner = env.With("loop.index", expr.IntType)
	}
	if s.Runtime != nil {
		p.bind(s.Runtime, inner, in)
	}
	p.action(s, inner, in)
	p.scope(&s.Scope, inner, p.roots([]*Step{s}), in...)
	p.after(s, inner, in)
	for _, c := range s.Choose {
		p.bind(&c.Weight, p.early, in)
	}
	if s.Switch != nil && s.Switch.On.IsSet() {
		s.Switch.On.Bind(inner, &p.ds)
		p.note(s.Switch.On.Uses(), in)
	}
	if s.Call != nil {
		p.call(s, inner, in)
	} else {
		s.arms(in, func(steps []*Step, path []any) { p.steps(steps, inner, path) })
	}
	p.steps(s.Else, env, extend(path, otherwise{s}))
}

func (p *phase) action(s *Step, env *expr.Env, path []any) {
	switch a := s.Action.(type) {
	case *SamplerAction:
		p.element(a.Element, env, path)
	case *Pause:
		p.bind(&a.From, env, path)
		p.bind(&a.To, env, path)
	case *Log:
		p.bind(&a.Text, env, path)
	case *Set:
		for _, v := range a.Vars {
			p.bind(&v.Value, env, path)
		}
	case *NextRow:
		p.row(a)
	}
}

// response returns env with the response of the samplers in a step, if it has any.
func (p *phase) response(s *Step, env *expr.Env) *expr.Env {
	if _, sampler := s.Action.(*SamplerAction); !sampler && !s.Block {
		return env
	}
	return env.WithResponse(p.roots([]*Step{s}))
}

// after binds what is evaluated around or after a step.
func (p *phase) after(s *Step, env *expr.Env, path []any) {
	if len(s.Record) == 0 && s.SplitBy == nil {
		return
	}
	after := env
	if _, sampler := s.Action.(*SamplerAction); sampler {
		after = p.response(s, env)
	}
	for _, r := range s.Record {
		if r.Value.IsSet() {
			p.bind(&r.Value, after, path)
		}
	}
	if s.SplitBy != nil && s.SplitBy.IsSet() {
		p.bind(s.SplitBy, env, path)
	}
}

// row checks that next_row names a data set.
func (p *phase) row(a *NextRow) {
	var known []string
	for _, d := range p.plan.Data {
		if known = append(known, d.Name); d.Name == a.Data.Text {
			return
		}
	}
	p.ds.Add(a.Data.Range, "unknown-data", fmt.Sprintf("there is no data set %q", a.Data.Text), suggest(a.Data.Text, known, "data sets"))
}

// scope binds what stands on a scope. Its extractors and assertions see the
// response.
func (p *phase) scope(s *Scope, env *expr.Env, roots map[string]expr.Type, path ...any) {
	for _, t := range s.Timers {
		p.element(t.Element, env, path)
	}
	if len(s.Extract)+len(s.Assertions) == 0 {
		return
	}
	response := env.WithResponse(roots)
	for _, e := range s.Extract {
		p.element(e.Element, response, path)
		if e.Default != nil {
			p.bind(e.Default, env, path)
		}
		if e.Pick.Text != nil {
			p.bind(e.Pick.Text, env, path)
		}
	}
	for _, a := range s.Assertions {
		p.element(a.Element, response, path)
	}
}

func (p *phase) bind(b expr.Binder, env *expr.Env, path []any) {
	if c, ok := b.(*expr.Condition); ok && !c.IsSet() {
		return
	}
	b.Bind(env, &p.ds)
	if len(p.doubts) > 0 {
		p.note(b.Uses(), path)
	}
}

func (p *phase) element(x any, env *expr.Env, path []any) {
	spec.Bind(x, env, &p.ds)
	if len(p.doubts) > 0 {
		p.note(spec.Uses(x), path)
	}
}

// note keeps the uses of variables that may be unset.
func (p *phase) note(uses []expr.Use, path []any) {
	for _, u := range uses {
		if !u.Guarded && p.doubts[u.Name] != nil {
			p.uses = append(p.uses, use{u, path})
		}
	}
}

// doubt is a variable that is set under conditions only.
type doubt struct {
	first definition
	under map[any]bool // the innermost conditions of its definitions, which tell all others
}

func doubts(defs []definition) map[string]*doubt {
	sure := map[string]bool{}
	for _, d := range defs {
		if len(d.path) == 0 {
			sure[d.name] = true
		}
	}
	out := map[string]*doubt{}
	for _, d := range defs {
		if sure[d.name] {
			continue
		}
		if out[d.name] == nil {
			out[d.name] = &doubt{first: d, under: map[any]bool{}}
		}
		out[d.name].under[d.path[len(d.path)-1]] = true
	}
	return out
}

// unset warns of variables that are set under conditions only, and used where
// none of these need have come true.
func (p *phase) unset() {
	for _, u := range p.uses {
		d := p.doubts[u.Name]
		if slices.ContainsFunc(u.path, func(condition any) bool { return d.under[condition] }) {
			continue
		}
		p.ds = append(p.ds, source.Diagnostic{Severity: source.Warning, Code: "may-be-unset", Range: u.Range,
			Summary: fmt.Sprintf("%q may be unset here: it is set only under a condition", Plain(u.Name)),
			Detail:  fmt.Sprintf("give a value for that case: %s ?? \"…\"", Plain(u.Name)),
			Related: []source.Related{{Message: fmt.Sprintf("%q is set here", Plain(u.Name)), Range: d.first.at}}})
	}
}
