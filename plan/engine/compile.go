package engine

import (
	"fmt"
	"math"
	"slices"
	"time"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
	"runner/plan/spec"
)

// Compile turns a validated plan into a Program. values resolves the plan-wide
// names (vars, secrets); the loads are evaluated with it, and what is wrong with
// them is reported at its place. The program is unusable if there are errors.
func Compile(p *plan.Plan, values expr.Scope, registry *element.Registry, options Options) (*Program, source.Diagnostics) {
	if options.Functions == nil {
		options.Functions = p.Functions
	}
	if options.Functions == nil && registry != nil {
		options.Functions = expr.NewFunctions(registry.Functions()...)
	}
	c := &compiler{
		program: &Program{plan: p, values: values, registry: registry, options: options},
		rows:    map[rowKey]int{},
		known:   map[any]bool{},
		metrics: map[string]int{},
		shared:  map[string]int{},
	}
	c.scope = planScope{values, expr.NewMachine(options.Functions, 0)}
	c.compile()
	return c.program, c.ds.Sorted()
}

// compiler holds the state of one Compile.
type compiler struct {
	program *Program
	scope   expr.Scope
	ds      source.Diagnostics
	rows    map[rowKey]int // series by what makes a row
	known   map[any]bool   // elements that are in program.elements
	rules   rules
	metrics map[string]int // indices by name
	shared  map[string]int // slots of the counters that all threads share, by name

	// of the group, setup or teardown at hand
	group    int
	in       string
	phase    element.Phase
	slots    int
	uses     map[string]bool
	results  []string
	controls []int // series of steps that are no samplers
}

// rowKey makes a row: (group, name), samplers and transactions apart.
type rowKey struct {
	group       int
	phase       element.Phase
	name        string
	transaction bool
}

// inherited is what a step gets from the scopes around it, outermost first.
type inherited struct {
	timers     []*plan.Timer
	extracts   []*plan.Extract
	assertions []*plan.Assertion
	onError    plan.OnError
	open       []*rule // thresholds of the scopes around, still collecting series
	covered    bool    // an errors threshold stands on a scope around
	tags       []string
	coveredBy  []string // tags that an errors threshold around is about
	split      *expr.Expression
	needs      element.Needs // of an until around
	hold       bool          // its condition looks at what goes with the response
}

func (c *compiler) compile() {
	p := c.program.plan
	c.program.layout = element.Layout{Plan: p.Name, Masker: c.program.options.Masker}
	top := inherited{}.enter(&p.Scope)
	outside := top // setup and teardown: outside of the plan's thresholds
	for i, m := range p.Metrics {
		c.program.layout.Metrics = append(c.program.layout.Metrics, element.Metric{Name: m.Name, Type: m.Type})
		c.metrics[m.Name] = i
	}
	c.rules.metrics = c.metrics
	c.program.think = c.program.options.TimerFactor
	if c.program.think == 0 {
		c.program.think = 1
	}
	if c.program.think = max(0, c.program.think); c.program.think != 1 {
		c.program.layout.Notes = append(c.program.layout.Notes, fmt.Sprintf("think times were scaled by %g (--timer-factor)", c.program.think))
	}
	top = c.rules.open(top, &p.Scope, "plan", -1)
	threads := 0
	c.program.setup = c.phaseOf("setup", element.Setup, p.Setup, p.SetupTimeout, outside)
	for _, g := range p.Groups {
		if c.left(g.Name) {
			continue
		}
		out := &group{plan: g, index: len(c.program.groups), name: g.Name, idBase: threads, after: -1, varSeries: -1}
		c.program.groups = append(c.program.groups, out)
		threads += c.compileGroup(out, top)
	}
	c.share(p, threads)
	c.afters()
	c.program.teardown = c.phaseOf("teardown", element.Teardown, p.Teardown, p.TeardownTimeout, outside)
	for i, ph := range []*phase{c.program.setup, c.program.teardown} {
		if ph != nil {
			ph.id = threads + 1 + i + 2*c.program.options.Segment.Index
		}
	}
	c.program.layout.Thresholds = c.rules.finish(c.program)
}

// left reports whether a group is left out by Options.Only.
func (c *compiler) left(name string) bool {
	only := c.program.options.Only
	for _, n := range only {
		if n == name {
			return false
		}
	}
	return len(only) > 0
}

// begin starts a group, setup or teardown.
func (c *compiler) begin(group int, in string, phase element.Phase) {
	c.group, c.in, c.phase = group, in, phase
	c.slots, c.uses, c.results, c.controls = 0, map[string]bool{}, nil, nil
}

func (c *compiler) phaseOf(name string, kind element.Phase, steps []*plan.Step, limit time.Duration, in inherited) *phase {
	if len(steps) == 0 {
		return nil
	}
	c.begin(-1, name, kind)
	if limit <= 0 {
		limit = time.Minute
	}
	ph := &phase{name: name, timeout: limit, body: c.steps(steps, in)}
	ph.feeds, ph.counters = c.feeds(), c.counters()
	ph.slots, ph.results = c.slots, c.results
	return ph
}

// compileGroup returns how many threads the whole group has.
func (c *compiler) compileGroup(out *group, in inherited) int {
	g := out.plan
	info := element.Group{Name: g.Name, Range: g.Range}
	c.begin(out.index, g.Name, element.Load)
	info.Skipped = c.skipReason(out)
	if info.Skipped != "" {
		out.skipped = true
		c.program.layout.Groups = append(c.program.layout.Groups, info)
		return 0
	}
	l := &loads{scope: c.scope, ds: &c.ds, where: g.Load.Range}
	l.load(out, &g.Load)
	out.pacing = l.pacing(&g.Pacing, out.arrivals != nil)
	out.newUser = out.arrivals != nil
	if g.NewUser != nil {
		out.newUser = *g.NewUser
	}
	out.vars = g.Vars
	whole := out.maxThreads
	info.Load = out.sentence(&g.Load)
	out.reduce(c.program.options.Segment)
	info.Open, info.MaxThreads = out.arrivals != nil, out.maxThreads
	info.Duration, info.Delay, info.WarmUp, info.ScheduledRate = out.length(), out.delay, out.warmUp, out.scheduledRate()
	info.Planned = out.planned
	c.program.layout.Groups = append(c.program.layout.Groups, info)

	in = in.enter(&g.Scope)
	if g.OnError != "" {
		in.onError = g.OnError
	}
	in = c.rules.open(in, &g.Scope, "group "+g.Name, out.index)
	for _, v := range g.Vars {
		c.use(v.Value.Uses())
	}
	for _, v := range g.Vars {
		if !v.Value.IsStatic() && out.varSeries < 0 {
			out.varSeries = c.control("vars", "vars", v.Range, in, nil).series
		}
	}
	if out.dynamic {
		out.condition = c.control("if "+g.If.Source(), "if", g.If.Range(), in, nil)
	}
	out.body = c.steps(g.Steps, in)
	out.feeds, out.counters = c.feeds(), c.counters()
	out.slots = c.slots
	c.rules.group(out, in, c.controls)
	return whole
}

// skipReason says why a group is left out, "" if it is not. A condition that
// needs what setup finds is judged at run time.
func (c *compiler) skipReason(out *group) string {
	g := out.plan
	if g.SkipSet {
		c.program.layout.Skipped = append(c.program.layout.Skipped, element.Skipped{Group: g.Name, Name: g.Name, Reason: g.Skip, Range: g.Range})
		if g.Skip == "" {
			return "skipped"
		}
		return g.Skip
	}
	if !g.If.IsSet() {
		return ""
	}
	ok, err := g.If.EvalBool(c.scope)
	if err != nil {
		out.dynamic = true
		return ""
	}
	if ok {
		return ""
	}
	reason := "its condition is false: " + g.If.Source()
	c.program.layout.Notes = append(c.program.layout.Notes, "thread group "+g.Name+" was skipped: "+reason)
	return reason
}

// afters resolves `after` among the groups that are left; a circle is an error.
func (c *compiler) afters() {
	index := map[string]int{}
	for i, g := range c.program.groups {
		index[g.name] = i
	}
	for _, g := range c.program.groups {
		if i, ok := index[g.plan.Load.After]; ok && g.plan.Load.After != "" {
			g.after = i
		}
	}
	for _, g := range c.program.groups {
		at := g
		for range c.program.groups {
			if at.after < 0 {
				break
			}
			at = c.program.groups[at.after]
			if at == g {
				c.ds.Add(g.plan.Load.Range, "after-circle", "thread group "+g.name+" waits for itself", "remove one `after:` of the circle")
				return
			}
		}
	}
}

// feeds returns the data that the steps at hand use.
func (c *compiler) feeds() []*feed {
	var out []*feed
	for _, d := range c.program.plan.Data {
		f := c.program.options.Data[d.Name]
		if !c.uses[d.Name] || f == nil {
			continue
		}
		out = append(out, &feed{name: d.Name, perThread: d.Per == "thread", feeder: f,
			control: c.control("data "+d.Name, "data", d.Range, inherited{}, nil)})
	}
	return out
}

func (c *compiler) use(uses []expr.Use) {
	for _, u := range uses {
		name := u.Name
		for i := range name {
			if name[i] == '.' {
				name = name[:i]
				break
			}
		}
		c.uses[name] = true
	}
}

// element notes an element that wants to be opened or closed, once, and the
// names that it uses.
func (c *compiler) element(kind string, v any, where source.Range) {
	c.use(spec.Uses(v))
	c.notes(v)
	if c.known[v] {
		return
	}
	_, opens := v.(element.Opener)
	_, closes := v.(element.Closer)
	if opens || closes {
		c.known[v] = true
		c.program.elements = append(c.program.elements, opened{kind, v, where})
	}
}

// notes takes over what an element wants every report to say.
func (c *compiler) notes(v any) {
	n, ok := v.(element.Noter)
	if !ok {
		return
	}
	for _, text := range n.Notes() {
		if !slices.Contains(c.program.layout.Notes, text) {
			c.program.layout.Notes = append(c.program.layout.Notes, text)
		}
	}
}

func (c *compiler) slot() int {
	c.slots++
	return c.slots - 1
}

// row returns the series of (group, name), made at its first use.
func (c *compiler) row(name, kind string, where source.Range, transaction bool) int {
	key := rowKey{c.group, c.phase, name, transaction}
	if id, ok := c.rows[key]; ok {
		return id
	}
	id := len(c.program.layout.Series)
	c.rows[key] = id
	c.program.layout.Series = append(c.program.layout.Series, element.Series{
		ID: id, Group: c.group, Name: name, Kind: kind, Phase: c.phase, Transaction: transaction, Range: where})
	return id
}

// enter returns what the steps inside a scope inherit.
func (in inherited) enter(s *plan.Scope) inherited {
	if s.NoInherit.Timers {
		in.timers = nil
	}
	if s.NoInherit.Extract {
		in.extracts = nil
	}
	if s.NoInherit.Assertions {
		in.assertions = nil
	}
	in.timers = append(in.timers[:len(in.timers):len(in.timers)], s.Timers...)
	in.extracts = append(in.extracts[:len(in.extracts):len(in.extracts)], s.Extract...)
	in.assertions = append(in.assertions[:len(in.assertions):len(in.assertions)], s.Assertions...)
	return in
}

func (in inherited) signal() signal { return signalOf(in.onError) }

func signalOf(e plan.OnError) signal {
	switch e {
	case plan.NextIteration:
		return nextIteration
	case plan.StopThread:
		return stopThread
	case plan.StopGroup:
		return stopGroup
	case plan.StopPlan:
		return stopPlan
	}
	return proceed
}

// cycle returns the order in which arms are chosen: each as often as its weight
// says, spread evenly (smooth weighted round robin). Weights that do not fit
// into 10,000 entries are rounded to them.
func cycle(weights []float64) []uint16 {
	counts, total := whole(weights)
	current := make([]int, len(counts))
	out := make([]uint16, 0, total)
	for range total {
		best := -1
		for i, n := range counts {
			current[i] += n
			if n > 0 && (best < 0 || current[i] > current[best]) {
				best = i
			}
		}
		current[best] -= total
		out = append(out, uint16(best))
	}
	return out
}

// whole returns weights as integers with their sum, divided by what they share.
func whole(weights []float64) (counts []int, total int) {
	const most = 10_000
	sum, scale := 0.0, 1.0
	for _, w := range weights {
		sum += w
	}
	for scale < 1000 && !integers(weights, scale) {
		scale *= 10
	}
	if sum*scale > 1e6 || !integers(weights, scale) {
		scale = most / sum
	}
	divisor := 0
	for _, w := range weights {
		n := int(math.Round(w * scale))
		if n == 0 && w > 0 {
			n = 1
		}
		counts = append(counts, n)
		divisor = gcd(divisor, n)
	}
	for i := range counts {
		counts[i] /= max(1, divisor)
		total += counts[i]
	}
	if total > most && scale != most/sum {
		scaled := make([]float64, len(weights))
		for i, w := range weights {
			scaled[i] = math.Max(math.Round(w*most/sum), 1)
			if w == 0 {
				scaled[i] = 0
			}
		}
		return whole(scaled)
	}
	return counts, total
}

func integers(weights []float64, scale float64) bool {
	for _, w := range weights {
		if n := w * scale; math.Abs(n-math.Round(n)) > 1e-6 {
			return false
		}
	}
	return true
}

func gcd(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
