package plan

import (
	"fmt"
	"hash/fnv"
	"regexp"
	"strings"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
	"runner/plan/spec"
)

// steps reads steps that run one after another.
func (p *parser) steps(n *source.Node, what string) []*Step {
	out := p.children(n, what)
	var stopped *Step
	for _, s := range out {
		if stopped != nil {
			p.ds = append(p.ds, source.Diagnostic{Code: "unreachable-step", Summary: "this step is never reached", Range: s.Range,
				Detail:  "remove it, move it above the stop, or put an `if:` on the stop",
				Related: []source.Related{{Message: "the thread always stops here", Range: stopped.Range}}})
			stopped = nil
		}
		if _, stop := s.Action.(*Stop); stop && !s.If.IsSet() && !s.Once && !s.SkipSet && s.Percent == nil && s.While == nil && s.Foreach == nil {
			stopped = s
		}
	}
	return out
}

// children reads a list of steps.
func (p *parser) children(n *source.Node, what string) []*Step {
	items := p.list(n, what, n.Kind == source.Map) // one step may stand alone
	if n.Kind == source.List && len(items) == 0 {
		p.add(n.Range, "empty-value", what+" is empty", "write at least one step")
	}
	return p.each(items)
}

var requestLine = regexp.MustCompile(`^[A-Z]+ \S`)

// step reads one action or block with its modifiers.
func (p *parser) step(n *source.Node) *Step {
	if n.Kind != source.Map {
		detail := "write an action, as in `http: GET /path`"
		if n.Kind == source.Scalar && requestLine.MatchString(n.Text) {
			detail = "write `http: " + n.Text + "`"
		} else if k, v, ok := strings.Cut(n.Text, ":"); ok && n.Kind == source.Scalar && (p.isSampler(k) || stepKeys[k]) {
			detail = fmt.Sprintf("write a space after the colon: `%s: %s`", k, short(v))
		}
		p.add(n.Range, "wrong-type", "a step is a map, not "+kindOf(n), detail)
		return nil
	}
	s := &Step{Range: n.Range}
	p.open(n)
	defer p.close()
	actions := p.actions(n, s)
	keys := append(actions, p.controls(n, s)...) // there is room behind them
	keys = append(keys, p.repeats(n, s)...)
	keys = append(keys, p.scope(n, &s.Scope)...)
	if n.Get("call") != nil {
		p.takesOutputs(keys, s)
	}
	p.object(n, "the step", keys, func(word string) string {
		switch {
		case groupKeys[word], word == "vars":
			return "it belongs to the thread group, beside `steps:`"
		case loadKeys[word] && word != "duration":
			return "it belongs inside `load: {…}` of the thread group"
		case p.reg.Lookup(element.TimerKind, word) != nil:
			return "it is a timer: write it under `timers:`"
		}
		if hint := p.samplerOf(word); hint != "" {
			return hint
		}
		if p.reg.Lookup(element.AssertionKind, word) != nil {
			return "it is an assertion: write it under `assertions:`"
		}
		return ""
	})
	p.oneAction(n, actions)
	p.stepRules(n, s)
	return s
}

// actions returns the keys of which a step has one.
func (p *parser) actions(n *source.Node, s *Step) []key {
	keys := append(make([]key, 0, 64), []key{ // with room for the other keys of a step
		{"steps", func(f source.Field) {
			read := p.steps
			if at := n.Get("parallel"); at != nil && at.Text == "true" {
				read = p.children
			}
			s.Block, s.Steps = true, read(f.Value, "`steps`")
		}},
		{"choose", func(f source.Field) { s.Block, s.Choose = true, p.choose(f.Value) }},
		{"pause", func(f source.Field) {
			from, to := p.span(f.Value, "`pause`")
			s.Action = &Pause{From: from, To: to}
		}},
		{"set", func(f source.Field) { s.Action = &Set{Vars: p.vars(f.Value, "`set`")} }},
		{"log", func(f source.Field) { s.Action = &Log{Text: decode[string](p, f.Value)} }},
		{"stop", func(f source.Field) {
			s.Action = &Stop{What: p.word(f.Value, "`stop`", "iteration", "thread", "group", "plan")}
		}},
		{"next_row", func(f source.Field) {
			s.Action = &NextRow{Data: Word{p.text(f.Value, "`next_row`"), f.Value.Range}}
		}},
		{"call", func(f source.Field) { p.call(n, f, s) }},
		{"switch", func(f source.Field) { s.Block, s.Switch = true, p.switches(f.Value) }},
		{"try", func(f source.Field) { s.Block, s.Try, s.Steps = true, true, p.steps(f.Value, "`try`") }},
	}...)
	for _, order := range []Order{Random, Interleave, Shuffle} {
		keys = append(keys, key{string(order), func(f source.Field) {
			s.Block, s.Order, s.Steps = true, order, p.children(f.Value, "`"+string(order)+"`")
		}})
	}
	for _, name := range p.reg.Names(element.SamplerKind) {
		keys = append(keys, key{name, func(f source.Field) {
			if a := p.sampler(f); a != nil {
				s.Action = a
			}
		}})
	}
	return keys
}

// oneAction reports a step with two actions, naming both.
func (p *parser) oneAction(n *source.Node, actions []key) {
	var first *source.Node
	for _, f := range n.Fields {
		if find(actions, f.Key.Text) == nil {
			continue
		}
		if first == nil {
			first = f.Key
			continue
		}
		p.ds = append(p.ds, source.Diagnostic{Code: "two-actions", Range: f.Key.Range,
			Summary: fmt.Sprintf("a step does one thing: `%s` (line %d) and `%s` (line %d) are two", first.Text, first.Range.Start.Line, f.Key.Text, f.Key.Range.Start.Line),
			Detail:  fmt.Sprintf("begin a new step: - %s: …", f.Key.Text),
			Related: []source.Related{{Message: fmt.Sprintf("`%s` is given here", first.Text), Range: first.Range}}})
	}
	if first == nil {
		p.lacks(n, n.Range, "missing-key", "the step does nothing", "write an action, as in `http: GET /path`, or a block with `steps:`")
	}
}

// controls returns the keys that say when and how often a step runs.
func (p *parser) controls(n *source.Node, s *Step) []key {
	return []key{
		on("name", func(v *source.Node) { p.stepName(v, s) }),
		on("tags", func(v *source.Node) { s.Tags = p.words(v, "`tags`") }),
		on("if", func(v *source.Node) { s.If = p.condition(v) }),
		on("else", func(v *source.Node) { s.Else = p.steps(v, "`else`") }),
		on("skip", func(v *source.Node) { s.Skip, s.SkipSet = p.text(v, "`skip`"), true }),
		on("once", func(v *source.Node) { s.Once = p.boolean(v, "`once`") }),
		on("with", func(v *source.Node) {
			if n.Get("call") == nil {
				p.add(n.Field("with").Key.Range, "bad-control", "`with` gives a fragment its params, and there is no `call:`", "add call: name")
			}
		}),
		on("percent", func(v *source.Node) { s.Percent = p.percent(v) }),
		on("finally", func(v *source.Node) {
			s.Finally = p.steps(v, "`finally`")
			if n.Get("try") == nil {
				p.add(n.Field("finally").Key.Range, "bad-control", "`finally` follows a `try:`, and there is none", "put the steps before it under `try:`")
			}
		}),
		on("critical_section", func(v *source.Node) {
			s.Critical = Word{p.text(v, "`critical_section`"), v.Range}
			if strings.TrimSpace(s.Critical.Text) == "" && v.Kind == source.Scalar {
				p.add(v.Range, "bad-name", "the name of the critical section is empty", "write a name")
			}
		}),
		on("parallel", func(v *source.Node) {
			if p.boolean(v, "`parallel`") {
				s.Order = Parallel
			}
		}),
		on("record", func(v *source.Node) { s.Record = p.record(v) }),
		on("split_by", func(v *source.Node) {
			s.SplitBy = new(expr.Expression)
			s.SplitBy.Decode(v, &p.ds)
		}),
		on("on_error", func(v *source.Node) { s.OnError = p.onError(v) }),
		on("include_timers", func(v *source.Node) { s.IncludeTimers = p.boolean(v, "`include_timers`") }),
	}
}

func (p *parser) stepName(n *source.Node, s *Step) {
	if n.Kind != source.Scalar {
		p.add(n.Range, "wrong-type", "`name` must be text, not "+kindOf(n), "write the text after the colon")
		return
	}
	if strings.TrimSpace(n.Text) == "" {
		p.add(n.Range, "empty-value", "the name is empty", "write a name, or remove the key: an unnamed step is named by its request")
	}
	s.Name, s.NameRange = n.Text, n.Range
	s.NameText.Decode(n, &p.ds)
	if text, ok := s.NameText.Literal(); ok {
		s.Name = text
	}
}

// stepRules checks what only makes sense together.
func (p *parser) stepRules(n *source.Node, s *Step) {
	for i, a := range loopKeys {
		for _, b := range loopKeys[i+1:] {
			p.exclusive(n, "keep one; put the other on a block around the step", a, b)
		}
	}
	p.blockRules(n, s)
	if e := n.Field("else"); e != nil && n.Field("if") == nil {
		p.add(e.Key.Range, "bad-control", "`else` belongs to an `if:`, and there is none", "add if: condition")
	}
	if t := n.Field("include_timers"); t != nil && (!s.Block || s.Name == "") {
		p.add(t.Key.Range, "bad-control", "`include_timers` belongs to a named block: only that is a transaction", "put the steps under `steps:` and give the block a `name:`")
	}
	_, sampler := s.Action.(*SamplerAction)
	if f := n.Field("split_by"); f != nil && !sampler && s.Action != nil {
		p.add(f.Key.Range, "no-sampler", "`split_by` makes rows of a sampler, and this step is none", "move it to a step with a sampler")
	}
	if sampler || s.Block || s.Action == nil {
		return
	}
	for _, k := range []string{"timers", "extract", "assertions", "thresholds", "defaults", "no_inherit"} {
		if f := n.Field(k); f != nil {
			p.add(f.Key.Range, "no-sampler", fmt.Sprintf("`%s` applies to samplers, and this step sends nothing", k), "move it to a step with a sampler, or to a block")
		}
	}
}

func (p *parser) choose(n *source.Node) []*Choice {
	var out []*Choice
	for _, item := range p.list(n, "`choose`", false) {
		c := &Choice{Range: item.Range}
		ok := p.object(item, "a choice", []key{
			on("weight", func(v *source.Node) {
				c.Weight = decode[float64](p, v)
				if x, ok := c.Weight.Literal(); ok && x < 0 {
					p.add(v.Range, "out-of-range", "`weight` cannot be negative", "write 0 or more")
				}
			}),
			on("name", func(v *source.Node) { c.Name = p.text(v, "`name`") }),
			on("steps", func(v *source.Node) { c.Steps = p.steps(v, "`steps`") }),
		}, func(word string) string {
			if p.isSampler(word) || stepKeys[word] || scopeKeys[word] {
				return "put it into `steps:` of the choice"
			}
			return ""
		})
		if !ok {
			continue
		}
		for _, k := range []string{"weight", "steps"} {
			if item.Get(k) == nil {
				p.lacks(item, item.Range, "missing-key", fmt.Sprintf("a choice needs `%s`", k), "write {weight: 3, steps: […]}")
			}
		}
		out = append(out, c)
	}
	if n.Kind == source.List && len(n.Items) == 0 {
		p.add(n.Range, "empty-value", "`choose` has no choice", "write one like {weight: 3, steps: […]}")
	}
	return out
}

// span reads D or D..D.
func (p *parser) span(n *source.Node, what string) (from, to expr.Duration) {
	cut := -1
	if n.Kind == source.Scalar {
		cut = dots(n.Text)
	}
	if remedy := expr.RangeRemedy(n.Text); n.Kind == source.Scalar && cut < 0 && remedy != "" {
		p.add(n.Range, "bad-range", fmt.Sprintf("%q is not a range of times", n.Text), "write "+remedy)
		return from, to
	}
	if cut < 0 {
		from = decode[time.Duration](p, n)
		return from, from
	}
	from = decode[time.Duration](p, part(n, 0, cut))
	to = decode[time.Duration](p, part(n, cut+2, len(n.Text)))
	a, ok := from.Literal()
	if b, both := to.Literal(); ok && both && a > b {
		p.add(n.Range, "bad-range", what+" runs backwards", "write the shorter time first")
	}
	return from, to
}

// dots returns the offset of `..` outside ${…}, or -1.
func dots(text string) int {
	depth := 0
	for i := 0; i+1 < len(text); i++ {
		switch {
		case text[i] == '{':
			depth++
		case text[i] == '}':
			depth--
		case depth == 0 && text[i] == '.' && text[i+1] == '.':
			return i
		}
	}
	return -1
}

// part returns the scalar that stands in the bytes [from, to) of n.
func part(n *source.Node, from, to int) *source.Node {
	text := n.Text[from:to]
	trimmed := strings.TrimSpace(text)
	if trimmed != "" {
		from += strings.Index(text, trimmed)
	}
	return &source.Node{Kind: source.Scalar, Text: trimmed, Null: trimmed == "", Range: n.At(from, from+len(trimmed))}
}

// sampler merges the defaults in scope under the step's own keys and decodes the
// whole once.
func (p *parser) sampler(f source.Field) *SamplerAction {
	d := p.reg.Lookup(element.SamplerKind, f.Key.Text)
	a := &SamplerAction{Range: f.Key.Range, Definition: d, Config: spec.Merge(nil, f.Value, d.Type)}
	var outer *source.Node
	for _, defaults := range p.defaults {
		if n := defaults.Get(d.Name); n != nil {
			outer = spec.Merge(outer, n, d.Type)
		}
	}
	a.Config = spec.Merge(outer, f.Value, d.Type)
	e, ok := d.New().(element.Sampler)
	if !ok {
		return nil
	}
	p.decoder(d, false).Decode(a.Config, e)
	a.Element = e
	a.Title = title(d, a.Config)
	return a
}

// maxTitle bounds the name of an unnamed sampler, in runes.
const maxTitle = 400

// whole returns text in one line. What is longer than a name may be keeps its
// begin, and a sum of the rest by which it differs from others.
func whole(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	r := []rune(text)
	if len(r) <= maxTitle {
		return text
	}
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(text)) // never fails, by its documentation
	return fmt.Sprintf("%s… (%08x)", string(r[:maxTitle]), sum.Sum32())
}

// title names an unnamed sampler: its request as written.
func title(d *element.Definition, config *source.Node) string {
	text := ""
	if k := spec.ShortKey(d.Type); k != "" {
		if v := config.Get(k); v != nil {
			text = whole(compact(v))
		}
	}
	switch {
	case text == "":
		return d.Name
	case d.Name == "http":
		return text
	}
	return d.Name + " " + text
}
