package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
)

// Values are the values of a plan's variables and secrets in one run. They are
// read-only and may be shared by all threads as the outer scope of their names.
type Values struct {
	values  map[string]any
	Masker  *element.Masker // hides every secret
	Vars    map[string]any  // by name, as evaluated
	machine *expr.Machine
}

// Lookup returns a plan variable, "secrets" (a map), "secrets.NAME", "run" (a
// map) or "run.id".
func (v *Values) Lookup(name string) (any, bool) {
	x, ok := v.values[name]
	return x, ok
}

// Machine returns the machine that the variables were evaluated with. It is not
// for the threads, which have their own.
func (v *Values) Machine() *expr.Machine { return v.machine }

// Evaluate gives the plan's variables and secrets their values. Validate has been
// called. What is missing is all listed. The plan's step names are filled in.
func (p *Plan) Evaluate(opts EvalOptions) (*Values, source.Diagnostics) {
	e := evaluator{plan: p, opts: opts}
	if e.opts.Getenv == nil {
		e.opts.Getenv = func(string) (string, bool) { return "", false }
	}
	e.out = &Values{values: map[string]any{}, Vars: map[string]any{}, Masker: &element.Masker{}, machine: expr.NewMachine(p.Functions, opts.Seed)}
	e.environment()
	e.unknown()
	run := map[string]any{"id": opts.RunID}
	e.out.values["run"], e.out.values["run.id"] = run, opts.RunID
	e.secrets()
	e.vars()
	e.names()
	return e.out, e.ds.Sorted()
}

type evaluator struct {
	plan   *Plan
	opts   EvalOptions
	chosen *Environment
	out    *Values
	ds     source.Diagnostics
}

// Lookup adds env.NAME to what the values know.
func (e *evaluator) Lookup(name string) (any, bool) {
	if rest, ok := strings.CutPrefix(name, "env."); ok {
		if v, ok := e.opts.Getenv(rest); ok {
			return v, true
		}
		return nil, false
	}
	return e.out.Lookup(name)
}

// Machine returns the machine of the variables.
func (e *evaluator) Machine() *expr.Machine { return e.out.machine }

func (e *evaluator) environment() {
	if e.opts.Environment == "" {
		return
	}
	var known []string
	for _, env := range e.plan.Environments {
		if env.Name == e.opts.Environment {
			e.chosen = env
			return
		}
		known = append(known, env.Name)
	}
	e.ds.Add(source.Range{}, "unknown-environment", fmt.Sprintf("--env %s: the plan has no such environment", e.opts.Environment), suggest(e.opts.Environment, known, "environments"))
}

func suggest(word string, known []string, what string) string {
	if w := expr.DidYouMean(word, known); w != "" {
		return fmt.Sprintf("did you mean `%s`?", w)
	}
	if len(known) == 0 {
		return "the plan has no " + what
	}
	return "the " + what + " are " + strings.Join(known, ", ")
}

// unknown reports names given on the command line that the plan does not have.
func (e *evaluator) unknown() {
	var vars, secrets []string
	for _, v := range e.plan.Vars {
		vars = append(vars, v.Name)
	}
	for _, s := range e.plan.Secrets {
		secrets = append(secrets, s.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(e.opts.Vars)) {
		if !slices.Contains(vars, name) {
			e.ds.Add(source.Range{}, "unknown-var", fmt.Sprintf("--var %s: the plan has no such variable", name), suggest(name, vars, "variables"))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.opts.Secrets)) {
		if !slices.Contains(secrets, name) {
			e.ds.Add(source.Range{}, "unknown-secret", fmt.Sprintf("the plan has no secret %s", name), suggest(name, secrets, "secrets"))
		}
	}
}

// secrets reads every secret from its source.
func (e *evaluator) secrets() {
	all := map[string]any{}
	for _, s := range e.plan.Secrets {
		src := s
		if e.chosen != nil {
			for _, o := range e.chosen.Secrets {
				if o.Name == s.Name {
					src = o
				}
			}
		}
		text, ok := e.secret(src)
		if !ok {
			continue
		}
		e.out.Masker.Add(text)
		all[s.Name] = expr.NewSecret(text)
		e.out.values["secrets."+s.Name] = all[s.Name]
	}
	e.out.values["secrets"] = all
}

func (e *evaluator) secret(s *Secret) (string, bool) {
	if text, ok := e.opts.Secrets[s.Name]; ok {
		return text, true
	}
	switch {
	case s.Env != "":
		text, ok := e.opts.Getenv(s.Env)
		if !ok || text == "" {
			e.ds.Add(s.Range, "missing-secret", fmt.Sprintf("the secret %q is missing: the environment variable %s is not set", s.Name, s.Env), fmt.Sprintf("set it before the run: export %s=…", s.Env))
		}
		return text, ok && text != ""
	case s.Path != "" && e.opts.ReadFile != nil:
		text, err := e.opts.ReadFile(join(s.Range.File, s.Path))
		if err != nil {
			e.ds.Add(s.Range, "missing-secret", fmt.Sprintf("the secret %q is missing: %s", s.Name, whyNot(s.Path, err)), "write the file, or correct its path")
			return "", false
		}
		return strings.TrimRight(string(text), "\r\n"), true
	}
	e.ds.Add(s.Range, "missing-secret", fmt.Sprintf("the secret %q has no source that can be read here", s.Name), "")
	return "", false
}

// vars evaluates in file order; each may use those above it.
func (e *evaluator) vars() {
	for _, v := range e.plan.Vars {
		value, ok := e.variable(v)
		if ok {
			e.out.values[v.Name], e.out.Vars[v.Name] = value, value
		}
	}
}

func (e *evaluator) variable(v *Var) (any, bool) {
	own := v
	if e.chosen != nil {
		for _, o := range e.chosen.Vars {
			if o.Name == v.Name {
				own = o
			}
		}
	}
	text, given := e.opts.Vars[v.Name]
	if t := own.Value.Type(); given && t != expr.AnyType && t != expr.JSONType && t != expr.NilType {
		return e.read(v.Name, text, own)
	}
	missing := false
	for _, u := range own.Value.Uses() {
		name, isEnv := strings.CutPrefix(u.Name, "env.")
		if _, set := e.opts.Getenv(name); isEnv && !set && !u.Guarded && !given {
			e.ds.Add(u.Range, "missing-env", fmt.Sprintf("the environment variable %s is not set", name), fmt.Sprintf("set it before the run, or give a default: ${env.%s ?? \"…\"}", name))
			missing = true
		}
	}
	if missing {
		return nil, false
	}
	if given {
		return expr.Infer(text), true
	}
	value, err := own.Value.Eval(e)
	if err != nil {
		if !e.ds.HasErrors() {
			e.ds.Add(own.Value.Range(), "bad-var", fmt.Sprintf("the variable %q cannot be evaluated: %v", v.Name, err), "")
		}
		return nil, false
	}
	return value, true
}

// read reads the text of --var as the type that the variable has in the plan.
func (e *evaluator) read(name, text string, own *Var) (any, bool) {
	var value any
	var err error
	switch own.Value.Type() {
	case expr.IntType:
		value, err = expr.ParseInt(text)
	case expr.FloatType:
		value, err = expr.ParseFloat(text)
	case expr.BoolType:
		value, err = expr.ParseBool(text)
	case expr.DurationType:
		value, err = expr.ParseDuration(text)
	case expr.RateType:
		value, err = expr.ParseRate(text)
	case expr.SizeType:
		value, err = expr.ParseSize(text)
	case expr.ShareType:
		value, err = expr.ParseShare(text)
	case expr.TextType:
		value = text
	default:
		e.ds.Add(own.Range, "bad-var", fmt.Sprintf("--var %s: a list or a map cannot be given on the command line", name), "use an environment of the plan: --env")
		return nil, false
	}
	if err != nil {
		e.ds.Add(own.Range, "bad-var", fmt.Sprintf("--var %s: %v", name, err), fmt.Sprintf("the variable is of type %s, by its value in the plan", own.Value.Type()))
		return nil, false
	}
	return value, true
}

// names gives steps the names that depend on variables.
func (e *evaluator) names() {
	if e.ds.HasErrors() {
		return
	}
	Walk(e.plan, Visitor{Step: func(s *Step, _ Place) {
		if s.Call != nil {
			e.params(s.Call)
		}
		if s.NameText.IsLiteral() {
			return
		}
		name, err := s.NameText.Eval(e)
		if err != nil {
			e.ds.Add(s.NameRange, "bad-name", fmt.Sprintf("the name cannot be evaluated: %v", err), "")
			return
		}
		s.Name = name
	}})
}

// params keeps the params of a call that are known before the run, for names and
// weights within the fragment.
func (e *evaluator) params(c *Call) {
	for _, v := range c.Static {
		value, err := v.Value.Eval(e)
		if err != nil {
			e.ds.Add(v.Range, "bad-value", fmt.Sprintf("the param %q cannot be evaluated: %v", v.Name, err), "")
			continue
		}
		e.out.values[c.Local(v.Name)] = value
	}
}
