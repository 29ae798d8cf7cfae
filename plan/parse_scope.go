package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
	"runner/plan/spec"
)

// open begins the scope of a map: its defaults hold for what is read until close.
func (p *parser) open(n *source.Node) { p.defaults = append(p.defaults, n.Get("defaults")) }

func (p *parser) close() { p.defaults = p.defaults[:len(p.defaults)-1] }

// scope returns the keys that every scope has.
func (p *parser) scope(n *source.Node, s *Scope) []key {
	s.Range = n.Range
	return []key{
		on("defaults", func(v *source.Node) { s.Defaults = p.defaultsOf(v) }),
		on("timers", func(v *source.Node) { s.Timers = p.timers(v) }),
		on("extract", func(v *source.Node) { s.Extract = p.extracts(v) }),
		on("assertions", func(v *source.Node) { s.Assertions = p.assertions(v) }),
		on("thresholds", func(v *source.Node) { s.Thresholds = p.thresholds(v) }),
		on("no_inherit", func(v *source.Node) { s.NoInherit = p.noInherit(v) }),
	}
}

// defaultsOf checks `defaults:` where it stands, also if no step uses it.
func (p *parser) defaultsOf(n *source.Node) *source.Node {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "`defaults` must be a map, not "+kindOf(n), "write the sampler's name and under it its keys: {http: {timeout: 10s}}")
		return nil
	}
	for _, f := range n.Fields {
		d := p.reg.Lookup(element.SamplerKind, f.Key.Text)
		switch {
		case d != nil && d.Defaults && f.Value.Null:
			p.add(f.Key.Range, "empty-value", fmt.Sprintf("%q has no value", d.Name), "write the sampler's keys under it, or remove it")
		case d != nil && d.Defaults:
			p.decoder(d, true).Decode(f.Value, d.New())
		case notAvailable["`defaults`"][f.Key.Text]:
			p.add(f.Key.Range, "not-available", fmt.Sprintf("the sampler `%s` is not available in this version", f.Key.Text), "remove it")
		default:
			spec.UnknownKey(f.Key, "`defaults`", p.reg.Names(element.SamplerKind), p.samplerOf, &p.ds)
		}
	}
	return n
}

// samplerOf says under which sampler a key belongs.
func (p *parser) samplerOf(word string) string {
	for _, name := range p.reg.Names(element.SamplerKind) {
		for _, k := range spec.Keys(p.reg.Lookup(element.SamplerKind, name).Type) {
			if k == word {
				return fmt.Sprintf("it belongs under `%s:`", name)
			}
		}
	}
	return ""
}

func (p *parser) decoder(d *element.Definition, partial bool) *spec.Decoder {
	var beside []string
	if d.Kind == element.ExtractorKind {
		if p.extractKeys == nil {
			p.extractKeys = KeysOf("extract") // once: it builds the whole grammar
		}
		beside = p.extractKeys
	}
	return &spec.Decoder{Partial: partial, What: d.Name, Diagnostics: &p.ds, Beside: beside, Elsewhere: func(word string) string {
		switch {
		case d.Kind == element.SamplerKind && (scopeKeys[word] || stepKeys[word]):
			return fmt.Sprintf("it belongs to the step, not under `%s:`", d.Name)
		case d.Kind == element.SamplerKind && (word == "on_error" || word == "tags" || word == "skip"):
			return fmt.Sprintf("it belongs to the step, not under `%s:`", d.Name)
		case d.Kind == element.AssertionKind && itemKeys[word]:
			return fmt.Sprintf("it belongs beside `%s:`, not under it", d.Name)
		}
		return ""
	}}
}

var itemKeys = set("name message on_failure match default of secret")

func (p *parser) isSampler(word string) bool { return p.reg.Lookup(element.SamplerKind, word) != nil }

// pick finds the definition that one of a map's keys names.
func (p *parser) pick(n *source.Node, kind element.Kind, beside map[string]bool, what string) (*element.Definition, *source.Field) {
	var d *element.Definition
	var at *source.Field
	for i := range n.Fields {
		f := &n.Fields[i]
		found := p.reg.Lookup(kind, f.Key.Text)
		if f.Key.Text == "that" {
			found = p.reg.Lookup(kind, "expression")
		}
		switch {
		case found == nil:
		case d != nil && kind != element.ExtractorKind:
			p.clash(at.Key, f.Key, "one item holds one "+kind.String()+": begin each with `- `")
			return nil, nil
		case d == nil:
			d, at = found, f
		}
	}
	if d != nil {
		return d, at
	}
	for _, f := range n.Fields {
		if beside[f.Key.Text] {
			continue
		}
		if notAvailable[what][f.Key.Text] {
			p.add(f.Key.Range, "not-available", fmt.Sprintf("the %s `%s` is not available in this version", kind, f.Key.Text), "remove it")
			return nil, nil
		}
		legal := p.reg.Names(kind)
		if i := slices.Index(legal, "expression"); i >= 0 {
			legal[i] = "that"
		}
		spec.UnknownKey(f.Key, what, legal, nil, &p.ds)
		return nil, nil
	}
	p.add(n.Range, "missing-key", what+" names no "+kind.String(), "write one of "+strings.Join(p.reg.Names(kind), ", "))
	return nil, nil
}

func (p *parser) timers(n *source.Node) []*Timer {
	var out []*Timer
	for _, item := range p.list(n, "`timers`", true) {
		if item.Kind != source.Map {
			p.add(item.Range, "wrong-type", "a timer is a map, not "+kindOf(item), "write one like `uniform: 1s..3s`")
			continue
		}
		d, f := p.pick(item, element.TimerKind, nil, "`timers`")
		if d == nil {
			continue
		}
		for _, other := range item.Fields {
			if other.Key != f.Key {
				spec.UnknownKey(other.Key, "a timer", []string{d.Name}, func(word string) string {
					return fmt.Sprintf("put it under `%s:`", d.Name)
				}, &p.ds)
			}
		}
		t, ok := d.New().(element.Timer)
		if !ok {
			continue
		}
		p.decoder(d, false).Decode(f.Value, t)
		out = append(out, &Timer{Range: item.Range, Text: short(d.Name + ": " + compact(f.Value)), Definition: d, Element: t})
	}
	return out
}

func (p *parser) assertions(n *source.Node) []*Assertion {
	var out []*Assertion
	for _, item := range p.list(n, "`assertions`", true) {
		if a := p.assertion(item); a != nil {
			out = append(out, a)
		}
	}
	return out
}

func (p *parser) assertion(n *source.Node) *Assertion {
	a := &Assertion{Range: n.Range}
	var value *source.Node
	switch n.Kind {
	case source.Scalar:
		a.Definition, value = p.reg.Lookup(element.AssertionKind, "expression"), n
		a.Title = short(n.Text)
		if a.Definition == nil {
			p.add(n.Range, "wrong-type", "an assertion is a map here", "write one like `status: 200`")
			return nil
		}
	case source.Map:
		d, f := p.pick(n, element.AssertionKind, itemKeys, "`assertions`")
		if d == nil {
			return nil
		}
		a.Definition, value = d, f.Value
		a.Title = short(d.Name + ": " + compact(f.Value))
		if f.Key.Text == "that" {
			a.Title = short(compact(f.Value))
		}
		p.beside(n, a, f)
		if path := value.Get("path"); d.Name == "json" && path != nil {
			p.jsonPath(path)
		}
	default:
		p.add(n.Range, "wrong-type", "an assertion is one expression or one map, not a list", "begin each assertion with `- `")
		return nil
	}
	if a.Name != "" {
		a.Title = a.Name
	}
	e, ok := a.Definition.New().(element.Assertion)
	if !ok {
		return nil
	}
	p.decoder(a.Definition, false).Decode(value, e)
	a.Element = e
	return a
}

// beside reads what every assertion may have beside its own key.
func (p *parser) beside(n *source.Node, a *Assertion, element *source.Field) {
	keys := []key{
		on("name", func(v *source.Node) { a.Name = p.text(v, "`name`") }),
		on("message", func(v *source.Node) { a.Message = p.text(v, "`message`") }),
		on("on_failure", func(v *source.Node) { a.OnFailure = p.onError(v) }),
		on(element.Key.Text, func(*source.Node) {}),
	}
	if v := element.Value; v.Null && v.Text == "" {
		keys = keys[:3]
		keys = append(keys, on(element.Key.Text, func(*source.Node) {}))
	}
	p.object(n, "an assertion", keys, func(word string) string {
		for _, k := range spec.Keys(a.Definition.Type) {
			if k == word {
				return fmt.Sprintf("it belongs under `%s:`", a.Definition.Name)
			}
		}
		return ""
	})
}

// jsonPath refuses the expression form where a JSONPath is asked for.
func (p *parser) jsonPath(n *source.Node) {
	if n.Kind == source.Scalar && (strings.HasPrefix(n.Text, "json.") || strings.HasPrefix(n.Text, "json[")) {
		p.add(n.Range, "not-a-jsonpath", fmt.Sprintf("%q is an expression, not a JSONPath", short(n.Text)), "write $"+strings.TrimPrefix(n.Text, "json"))
	}
}

func (p *parser) extracts(n *source.Node) []*Extract {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "`extract` must be a map, not "+kindOf(n), "write name: expression, as in {id: json.id}")
		return nil
	}
	var out []*Extract
	for _, f := range n.Fields {
		p.name(f.Key, "a variable")
		if e := p.extract(f); e != nil {
			out = append(out, e)
		}
	}
	return out
}

func (p *parser) extract(f source.Field) *Extract {
	e := &Extract{Range: f.Key.Range, Text: short(compact(f.Value)), Variable: p.prefix + f.Key.Text, Pick: element.Pick{Of: "body", Match: 1}}
	n := f.Value
	value := n
	switch {
	case n.Kind == source.Scalar && (!n.Null || n.Text != ""):
		e.Definition = p.reg.Lookup(element.ExtractorKind, "expression")
	case n.Kind == source.Map:
		d, at := p.pick(n, element.ExtractorKind, itemKeys, "`extract`")
		if d == nil {
			return nil
		}
		e.Definition = d
		if d.Name == "json" {
			p.jsonPath(at.Value)
		}
		value = p.extractOptions(n, e)
		if at.Key.Text == "that" && len(value.Fields) == 1 {
			value = at.Value
		}
	default:
		p.add(f.Key.Range, "wrong-type", fmt.Sprintf("%q needs an expression or an extractor, not %s", f.Key.Text, kindOf(n)), "write one like json.id, or {regex: 'id=(\\d+)'}")
		return nil
	}
	if e.Definition == nil {
		p.add(n.Range, "wrong-type", "an extractor is a map here", "write one of "+strings.Join(p.reg.Names(element.ExtractorKind), ", "))
		return nil
	}
	x, ok := e.Definition.New().(element.Extractor)
	if !ok {
		return nil
	}
	p.decoder(e.Definition, false).Decode(value, x)
	e.Element = x
	return e
}

// extractOptions reads what every extractor may have, and returns the rest.
func (p *parser) extractOptions(n *source.Node, e *Extract) *source.Node {
	own := &source.Node{Kind: source.Map, Flow: n.Flow, Range: n.Range}
	mine := set(strings.Join(spec.Keys(e.Definition.Type), " "))
	for _, f := range n.Fields {
		v := f.Value
		switch key := f.Key.Text; {
		case mine[key] || !itemKeys[key] || key == "name" || key == "message" || key == "on_failure":
			own.Fields = append(own.Fields, f)
		case key == "match":
			e.Pick.Match = p.match(v)
		case key == "default":
			e.Default = new(expr.Tree)
			e.Default.Decode(v, &p.ds)
		case key == "secret":
			e.Secret = p.boolean(v, "`secret`")
		case key == "of":
			p.of(v, &e.Pick)
		}
	}
	return own
}

func (p *parser) match(n *source.Node) element.Match {
	switch n.Text {
	case "random":
		return element.MatchRandom
	case "all":
		return element.MatchAll
	}
	v := p.integer(n, "`match`")
	if n.Kind == source.Scalar && v < 1 {
		p.add(n.Range, "out-of-range", "`match` counts from 1", "write 1 for the first, random, or all")
		return 1
	}
	return element.Match(v)
}

// of reads body, headers, url, message or {variable: name}.
func (p *parser) of(n *source.Node, pick *element.Pick) {
	if n.Kind != source.Map {
		pick.Of = p.word(n, "`of`", "body", "headers", "url", "message")
		return
	}
	p.object(n, "`of`", []key{on("variable", func(v *source.Node) {
		if p.name(v, "a variable") {
			pick.Text = new(expr.String)
			pick.Text.Decode(&source.Node{Kind: source.Scalar, Text: "${" + v.Text + "}", Range: v.Range}, &p.ds)
		}
	})}, nil)
}

func (p *parser) thresholds(n *source.Node) []*Threshold {
	var out []*Threshold
	for _, item := range p.list(n, "`thresholds`", true) {
		t := &Threshold{Range: item.Range}
		ok := false
		read := func(v *source.Node) { t.Comparison, ok = expr.ParseComparison(v, p.metrics, &p.ds) }
		if item.Kind != source.Map {
			read(item)
		} else if p.object(item, "a threshold", []key{
			on("that", read),
			on("tag", func(v *source.Node) { t.Tag = p.text(v, "`tag`") }),
			on("after", func(v *source.Node) { t.After = p.duration(v, "`after`") }),
			on("window", func(v *source.Node) { t.Window = p.positive(v, "`window`") }),
			on("for", func(v *source.Node) { t.For = p.duration(v, "`for`") }),
			on("stop", func(v *source.Node) { t.Stop = p.boolean(v, "`stop`") }),
		}, nil) && item.Get("that") == nil {
			p.lacks(item, item.Range, "missing-key", "a threshold needs `that`", "write {that: errors < 1%, after: 30s}")
		}
		if ok {
			out = append(out, t)
		}
	}
	return out
}

func (p *parser) positive(n *source.Node, what string) time.Duration {
	before := len(p.ds)
	v := p.duration(n, what)
	if v <= 0 && len(p.ds) == before {
		p.add(n.Range, "out-of-range", what+" must be more than 0", "write one like 10s")
	}
	return v
}

func (p *parser) noInherit(n *source.Node) NoInherit {
	var out NoInherit
	for _, item := range p.list(n, "`no_inherit`", true) {
		switch p.word(item, "`no_inherit`", "timers", "extract", "assertions") {
		case "timers":
			out.Timers = true
		case "extract":
			out.Extract = true
		case "assertions":
			out.Assertions = true
		}
	}
	return out
}

// compact writes a node in one line, as flow YAML.
func compact(n *source.Node) string {
	switch n.Kind {
	case source.List:
		items := make([]string, len(n.Items))
		for i, item := range n.Items {
			items[i] = compact(item)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case source.Map:
		fields := make([]string, len(n.Fields))
		for i, f := range n.Fields {
			fields[i] = f.Key.Text + ": " + compact(f.Value)
		}
		return "{" + strings.Join(fields, ", ") + "}"
	}
	return n.Text
}
