package plan

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
	"runner/plan/spec"
)

// ExplainLine is one line of the effective plan.
type ExplainLine struct {
	Depth   int
	Text    string
	Range   source.Range // where it was written; zero if nowhere
	Implied bool         // a rule or default that nobody wrote
}

// Explain returns the plan as it takes effect: for every sampler the merged
// values, timers, extractors and assertions in the order in which they apply,
// each with the place that it came from, and the rules that are implied.
func Explain(p *Plan) []ExplainLine { return ExplainFor(p, EvalOptions{}, nil) }

// ExplainFor is Explain with the environment and the variables that the command
// line brings, and with the values that follow from them, if there are any.
func ExplainFor(p *Plan, opts EvalOptions, values *Values) []ExplainLine {
	e := &explainer{plan: p, opts: opts, values: values}
	e.add(0, "plan "+p.Name, p.Range)
	e.variables()
	e.declared()
	e.thresholds(1, p.Scope.Thresholds)
	e.phase("setup", p.Setup, Place{Phase: element.Setup, Scopes: []*Scope{&p.Scope}})
	for _, g := range p.Groups {
		e.group(g)
	}
	e.phase("teardown", p.Teardown, Place{Phase: element.Teardown, Scopes: []*Scope{&p.Scope}})
	return e.lines
}

// WriteExplain writes lines as text, the places in a column of their own.
func WriteExplain(w io.Writer, lines []ExplainLine) error {
	width := 0
	for _, l := range lines {
		width = max(width, min(72, 2*l.Depth+source.DisplayWidth(l.Text)))
	}
	var b strings.Builder
	for _, l := range lines {
		text := strings.Repeat("  ", l.Depth) + l.Text
		where := "implied"
		if !l.Range.IsZero() && !l.Implied {
			where = fmt.Sprintf("%s:%d", l.Range.File.Name, l.Range.Start.Line)
		}
		fmt.Fprintf(&b, "%s%s  %s\n", text, strings.Repeat(" ", max(0, width-source.DisplayWidth(text))), where)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

type explainer struct {
	plan  *Plan
	opts  EvalOptions
	lines []ExplainLine

	values    *Values
	known     *expr.Env // of values
	fragments int       // around what is explained: names are others there
}

func (e *explainer) add(depth int, text string, r source.Range) {
	e.line(depth, e.effective(text), r)
}

func (e *explainer) line(depth int, text string, r source.Range) {
	e.lines = append(e.lines, ExplainLine{Depth: depth, Text: text, Range: r})
}

func (e *explainer) imply(depth int, text string) {
	e.lines = append(e.lines, ExplainLine{Depth: depth, Text: text, Implied: true})
}

func (e *explainer) variables() {
	for _, v := range e.plan.Vars {
		if text, given := e.opts.Vars[v.Name]; given {
			e.add(1, fmt.Sprintf("var %s: %s (--var)", v.Name, short(text)), v.Range)
			continue
		}
		for _, o := range e.chosen().Vars {
			if o.Name == v.Name {
				v = o
			}
		}
		e.line(1, fmt.Sprintf("var %s: %s", v.Name, e.valueOf(v)), v.Range)
	}
	for _, s := range e.plan.Secrets {
		for _, o := range e.chosen().Secrets {
			if o.Name == s.Name {
				s = o
			}
		}
		from := "env " + s.Env
		if s.Env == "" {
			from = "file " + s.Path
		}
		e.add(1, fmt.Sprintf("secret %s: from %s", s.Name, from), s.Range)
	}
	for _, d := range e.plan.Data {
		e.add(1, fmt.Sprintf("data %s: %s, pick %s, per %s, share %s, on_end %s", d.Name, d.Path, d.Pick, d.Per, d.Share, d.OnEnd), d.Range)
	}
}

// valueOf returns the value of a variable, and how it was written if that is not
// the same.
func (e *explainer) valueOf(v *Var) string {
	written := short(v.Value.Source())
	if e.values == nil || !strings.Contains(written, "${") {
		return written
	}
	value, ok := e.values.Vars[v.Name]
	if !ok {
		return written
	}
	return short(fmt.Sprint(value)) + " (" + written + ")"
}

// chosen returns the environment that is chosen; an empty one if none is.
func (e *explainer) chosen() *Environment {
	for _, env := range e.plan.Environments {
		if env.Name == e.opts.Environment {
			return env
		}
	}
	return &Environment{}
}

func (e *explainer) declared() {
	for _, c := range e.plan.Counters {
		text := "counter " + c.Name + ": from " + c.From.Source()
		if c.To.IsSet() {
			text += " to " + c.To.Source()
		}
		if c.Step.IsSet() {
			text += ", step " + c.Step.Source()
		}
		text += map[bool]string{true: ", per thread", false: ", per plan"}[c.PerThread]
		if c.Format != "" {
			text += ", as " + c.Format
		}
		e.add(1, text, c.Range)
	}
	for _, m := range e.plan.Metrics {
		e.add(1, "metric "+m.Name+": "+m.Type, m.Range)
	}
	for _, i := range e.plan.Includes {
		e.add(1, "include "+i.Alias+": "+i.Path, i.Range)
	}
}

func (e *explainer) phase(name string, steps []*Step, at Place) {
	if len(steps) == 0 {
		return
	}
	e.add(1, name, steps[0].Range)
	e.steps(2, steps, at)
}

func (e *explainer) group(g *Group) {
	e.add(1, "thread group "+g.Name, g.Range)
	if g.SkipSet {
		e.add(2, "skip: "+g.Skip, g.Range)
	}
	if !g.Load.Range.IsZero() {
		e.load(&g.Load)
	}
	if !g.Pacing.Range.IsZero() {
		e.add(2, "pacing: "+g.Pacing.Range.Text(), g.Pacing.Range)
	}
	e.thresholds(2, g.Scope.Thresholds)
	open := g.Load.Rate.IsSet() || len(g.Load.RateStages) > 0
	if (open || g.Load.Shared.IsSet()) && !covers(g.Scope.Thresholds, nil, "dropped", "throughput") && !covers(e.plan.Scope.Thresholds, nil, "dropped", "throughput") {
		e.imply(2, "threshold dropped == 0")
	}
	e.steps(2, g.Steps, Place{Phase: element.Load, Group: g, Scopes: []*Scope{&e.plan.Scope, &g.Scope}})
}

// covers reports whether a threshold is on one of the figures. One that only
// stops the run does not count.
func covers(thresholds []*Threshold, tags []string, figures ...string) bool {
	return slices.ContainsFunc(thresholds, func(t *Threshold) bool {
		return !t.Stop && (t.Tag == "" || slices.Contains(tags, t.Tag)) && slices.Contains(figures, t.Comparison.Figure)
	})
}

func (e *explainer) thresholds(depth int, thresholds []*Threshold) {
	for _, t := range thresholds {
		text := "threshold " + t.Comparison.Source
		if t.Tag != "" {
			text += " of tag " + t.Tag
		}
		for _, when := range []struct {
			word string
			time time.Duration
		}{{"over", t.Window}, {"for", t.For}, {"after", t.After}} {
			if when.time > 0 {
				text += ", " + when.word + " " + expr.FormatDuration(when.time)
			}
		}
		if t.Stop {
			text += ", ends the run when broken"
		}
		e.add(depth, text, t.Range)
	}
}

func (e *explainer) steps(depth int, steps []*Step, at Place) {
	for _, s := range steps {
		in := at
		in.Scopes = append(at.Scopes[:len(at.Scopes):len(at.Scopes)], &s.Scope)
		in.Blocks = append(at.Blocks[:len(at.Blocks):len(at.Blocks)], s)
		e.line(depth, e.describeStep(s), s.place())
		if a, ok := s.Action.(*SamplerAction); ok {
			e.sampler(depth+1, a, in)
		}
		e.around(depth+1, s)
		e.thresholds(depth+1, s.Scope.Thresholds)
		if s.Call != nil {
			e.fragments++
		}
		e.steps(depth+1, s.Steps, in)
		if s.Call != nil {
			e.fragments--
		}
		for _, c := range s.Choose {
			e.add(depth+1, strings.TrimSpace(fmt.Sprintf("weight %s %s", c.Weight.Source(), c.Name)), c.Range)
			e.steps(depth+2, c.Steps, in)
		}
		if s.Switch != nil {
			for _, c := range s.Switch.Cases {
				e.add(depth+1, "case "+c.Value, c.Range)
				e.steps(depth+2, c.Steps, in)
			}
			e.list(depth+1, "default", s.Switch.Default, in)
		}
		e.list(depth+1, "finally", s.Finally, in)
		if len(s.Else) > 0 {
			e.add(depth, "else", s.Else[0].Range)
			e.steps(depth+1, s.Else, at)
		}
	}
}

// list explains steps under a word of their own.
func (e *explainer) list(depth int, word string, steps []*Step, at Place) {
	if len(steps) > 0 {
		e.add(depth, word, steps[0].Range)
		e.steps(depth+1, steps, at)
	}
}

// around explains the params and outputs of a call, and what a step records.
func (e *explainer) around(depth int, s *Step) {
	if c := s.Call; c != nil {
		for _, v := range c.With {
			e.add(depth, fmt.Sprintf("with %s: %s", v.Name, short(v.Value.Source())), v.Range)
		}
		for _, w := range c.Outputs {
			e.add(depth, "takes "+w.Text, w.Range)
		}
	}
	for _, r := range s.Record {
		e.add(depth, fmt.Sprintf("record %s: %s", r.Metric, short(r.Value.Source())), r.Range)
	}
	if s.SplitBy != nil {
		e.add(depth, "split by "+short(s.SplitBy.Source()), s.SplitBy.Range())
	}
}

// describeStep says in one line what a step does and when.
func (e *explainer) describeStep(s *Step) string {
	var words []string
	switch a := s.Action.(type) {
	case *SamplerAction:
		words = append(words, a.Definition.Name+" "+short(strings.TrimPrefix(a.Title, a.Definition.Name+" ")))
	case *Pause:
		text := "pause " + e.effective(a.From.Source())
		if a.To.Source() != a.From.Source() {
			text += ".." + e.effective(a.To.Source())
		}
		words = append(words, text)
	case *Set:
		var names []string
		for _, v := range a.Vars {
			names = append(names, Plain(v.Name)+": "+short(v.Value.Source()))
		}
		words = append(words, "set "+strings.Join(names, ", "))
	case *Log:
		words = append(words, "log "+short(a.Text.Source()))
	case *Stop:
		words = append(words, "stop "+a.What)
	case *NextRow:
		words = append(words, "next_row "+a.Data.Text)
	default:
		words = append(words, map[bool]string{true: "transaction", false: "block"}[s.Name != ""])
	}
	if s.Name != "" {
		words = append(words, fmt.Sprintf("%q", s.Name))
	}
	return strings.Join(append(words, e.controlsOf(s)...), " ")
}

func (e *explainer) controlsOf(s *Step) []string {
	var out []string
	add := func(ok bool, format string, args ...any) {
		if ok {
			out = append(out, "("+fmt.Sprintf(format, args...)+")")
		}
	}
	add(s.SkipSet, "skipped: %s", s.Skip)
	add(s.If.IsSet(), "if %s", short(s.If.Source()))
	add(s.Once, "once")
	if p := s.Percent; p != nil {
		add(true, "%s of the passes%s", e.effective(p.Value.Source()), map[bool]string{true: ", at random"}[p.Random])
	}
	add(len(s.Choose) > 0, "choose")
	if s.Call != nil {
		add(true, "call %s", s.Call.Name)
	}
	add(s.Order != InOrder, "%s", s.Order)
	if s.Switch != nil {
		add(true, "switch on %s", short(s.Switch.On.Source()))
	}
	add(s.Try, "try")
	switch {
	case s.Until != nil:
		add(true, "until %s", e.untilOf(s.Until))
	case s.Loop != nil:
		add(true, "loop %s", e.effective(s.Loop.Source()))
	case s.While != nil && s.While.Max.IsSet():
		add(true, "while %s, at most %s", short(s.While.Condition.Source()), e.effective(s.While.Max.Source()))
	case s.While != nil:
		add(true, "while %s", short(s.While.Condition.Source()))
	case s.Foreach != nil:
		add(true, "foreach %s as %s", short(s.Foreach.List.Source()), Plain(s.Foreach.As))
	}
	if s.Runtime != nil {
		add(true, "for %s", e.effective(s.Runtime.Source()))
	}
	add(s.Critical.Text != "", "critical section %s", s.Critical.Text)
	add(len(s.Tags) > 0, "tags %s", strings.Join(s.Tags, ", "))
	add(s.OnError != "", "on_error %s", s.OnError)
	return out
}

func (e *explainer) untilOf(u *Until) string {
	text := short(u.Condition.Source()) + ", every " + e.effective(u.From.Source())
	if u.To.Source() != u.From.Source() {
		text += ".." + e.effective(u.To.Source())
	}
	if u.Max.IsSet() {
		text += ", at most " + e.effective(u.Max.Source())
	}
	if u.Within.IsSet() {
		text += ", within " + e.effective(u.Within.Source())
	}
	if u.ContinueAtTheEnd {
		text += ", then continue"
	}
	return text
}

func (e *explainer) sampler(depth int, a *SamplerAction, at Place) {
	e.config(depth, "", a.Config, spec.Secrets(a.Definition.Type))
	for _, f := range spec.Describe(a.Definition.Type) {
		if f.Default != "" && a.Config.Get(f.Key) == nil {
			e.imply(depth, f.Key+": "+f.Default)
		}
	}
	for _, t := range at.Timers() {
		e.add(depth, "timer "+t.Text, t.Range)
	}
	for _, x := range at.Extracts() {
		e.add(depth, fmt.Sprintf("extract %s: %s", Plain(x.Variable), x.Text), x.Range)
		if x.Default == nil {
			e.imply(depth+1, "fails the sample if it finds nothing")
		}
	}
	assertions := at.Assertions()
	for _, x := range assertions {
		e.add(depth, "assertion "+x.Title, x.Range)
	}
	if a.Definition.Name == "http" && !slices.ContainsFunc(assertions, func(x *Assertion) bool { return x.Definition.Name == "status" }) {
		e.imply(depth, "assertion status < 400")
	}
	var tags []string
	for _, s := range at.Blocks {
		tags = append(tags, s.Tags...)
	}
	if at.Phase != element.Setup && !slices.ContainsFunc(at.Scopes, func(s *Scope) bool { return covers(s.Thresholds, tags, "errors", "error_count") }) {
		e.imply(depth, "threshold errors == 0%")
	}
}

// config lists the merged values, each with its place. Values that must not be
// shown are masked.
func (e *explainer) config(depth int, path string, n *source.Node, secret []string) {
	for _, f := range n.Fields {
		name := path + f.Key.Text
		switch hide := slices.Contains(secret, f.Key.Text) || slices.Contains(credentials, strings.ToLower(f.Key.Text)); {
		case hide:
			e.add(depth, name+": ***", f.Value.Range)
		case f.Value.Kind == source.Map && f.Key.Text != "json":
			e.config(depth, name+".", f.Value, secret)
		default:
			e.add(depth, name+": "+short(withoutLogin(compact(f.Value))), f.Value.Range)
		}
	}
}

// withoutLogin hides user and password of URLs.
func withoutLogin(text string) string {
	at := strings.Index(text, "://")
	if at < 0 {
		return text
	}
	host := text[at+3:]
	if end := strings.IndexAny(host, "/?# \"',"); end >= 0 {
		host = host[:end]
	}
	if login := strings.LastIndexByte(host, '@'); login >= 0 {
		return text[:at+3] + "***" + text[at+3+login:]
	}
	return text
}

// credentials are the names of headers and fields whose values are never shown.
var credentials = []string{"authorization", "cookie", "proxy-authorization", "password", "bearer"}
