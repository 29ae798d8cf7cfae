package plan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"runner/plan/source"
)

// includes reads {alias: path}.
func (p *parser) includes(n *source.Node) []*Include {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "`include` must be a map, not "+kindOf(n), "write alias: path.yaml, one a line")
		return nil
	}
	var out []*Include
	for _, f := range n.Fields {
		p.name(f.Key, "a library")
		out = append(out, &Include{Alias: f.Key.Text, Path: p.text(f.Value, "the path"), Range: f.Key.Range})
	}
	return out
}

// fragments reads {name: {params, outputs, steps}}. The steps are read where they
// are called.
func (p *parser) fragments(n *source.Node) []*Fragment {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "`fragments` must be a map, not "+kindOf(n), "write a name for each fragment, and under it steps:")
		return nil
	}
	var out []*Fragment
	for _, f := range n.Fields {
		p.name(f.Key, "a fragment")
		g := &Fragment{Name: f.Key.Text, Range: f.Key.Range}
		ok := p.object(f.Value, "a fragment", []key{
			on("params", func(v *source.Node) { g.Params = p.names(v, "`params`") }),
			on("outputs", func(v *source.Node) { g.Outputs = p.names(v, "`outputs`") }),
			on("steps", func(v *source.Node) { g.Steps = v }),
		}, func(word string) string {
			if p.isSampler(word) || stepKeys[word] || scopeKeys[word] {
				return "it belongs to a step, under `steps:`"
			}
			return ""
		})
		if ok && g.Steps == nil {
			p.lacks(f.Value, f.Key.Range, "missing-key", fmt.Sprintf("the fragment %q has no steps", g.Name), "write steps: with at least one step")
		}
		out = append(out, g)
	}
	return out
}

// names reads a list of different names.
func (p *parser) names(n *source.Node, what string) []Word {
	var out []Word
	for _, item := range p.list(n, what, true) {
		w := Word{p.text(item, what), item.Range}
		if item.Kind != source.Scalar || !p.name(item, "a variable") {
			continue
		}
		if i := slices.IndexFunc(out, func(o Word) bool { return o.Text == w.Text }); i >= 0 {
			p.ds = append(p.ds, source.Diagnostic{Code: "duplicate-name", Range: w.Range, Summary: fmt.Sprintf("%q is listed twice", w.Text), Detail: "remove one",
				Related: []source.Related{{Message: "the first is here", Range: out[i].Range}}})
			continue
		}
		out = append(out, w)
	}
	return out
}

// call begins a call; its steps are read when all fragments are known.
func (p *parser) call(n *source.Node, f source.Field, s *Step) {
	s.Block = true
	s.Call = &Call{Range: f.Value.Range, Name: p.text(f.Value, "`call`"), with: n.Get("with"), step: s,
		defaults: slices.Clone(p.defaults), prefix: p.prefix, file: p.library, within: p.within}
	p.calls = append(p.calls, s.Call)
	if with := s.Call.with; with != nil && with.Kind != source.Map {
		p.add(with.Range, "wrong-type", "`with` must be a map, not "+kindOf(with), "write param: value, one a line")
		s.Call.with = nil
		return
	}
	if s.Call.with == nil {
		return
	}
	for _, field := range s.Call.with.Fields {
		v := &Var{Name: field.Key.Text, Range: field.Key.Range, node: field.Value}
		v.Value.Decode(field.Value, &p.ds)
		s.Call.With = append(s.Call.With, v)
	}
}

// takesOutputs lets `extract` of a call be a list of the outputs that it takes.
func (p *parser) takesOutputs(keys []key, s *Step) {
	extract := find(keys, "extract")
	outer := extract.read
	extract.read = func(f source.Field) {
		if f.Value.Kind == source.Map || s.Call == nil {
			outer(f)
			return
		}
		s.Call.Outputs = p.names(f.Value, "`extract`")
	}
}

// counters reads {name: {from, to, step, per, format}}.
func (p *parser) counters(n *source.Node) []*Counter {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "`counters` must be a map, not "+kindOf(n), "write name: {from: 1}, one a line")
		return nil
	}
	var out []*Counter
	for _, f := range n.Fields {
		p.name(f.Key, "a counter")
		c := &Counter{Name: f.Key.Text, Range: f.Key.Range}
		ok := p.object(f.Value, "a counter", []key{
			on("from", func(v *source.Node) { c.From = decode[int64](p, v) }),
			on("to", func(v *source.Node) { c.To = decode[int64](p, v) }),
			on("step", func(v *source.Node) { c.Step = decode[int64](p, v) }),
			on("per", func(v *source.Node) { c.PerThread = p.word(v, "`per`", "plan", "thread") == "thread" }),
			on("format", func(v *source.Node) { c.Format = p.format(v) }),
		}, nil)
		if ok && f.Value.Get("from") == nil {
			p.lacks(f.Value, f.Key.Range, "missing-key", "a counter needs `from`", "write from: 1")
		}
		out = append(out, c)
	}
	return out
}

// format reads a text with one run of zeros in it.
func (p *parser) format(n *source.Node) string {
	text := p.text(n, "`format`")
	if zeros := strings.FieldsFunc(text, func(r rune) bool { return r != '0' }); len(zeros) != 1 && n.Kind == source.Scalar {
		p.add(n.Range, "bad-format", "`format` has one run of zeros, which stands for the number", "write one like 0000 or order-00000")
		return ""
	}
	return text
}

// metricsOf reads {name: counter|gauge|rate|trend}.
func (p *parser) metricsOf(n *source.Node) []*Metric {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "`metrics` must be a map, not "+kindOf(n), "write name: counter, gauge, rate or trend, one a line")
		return nil
	}
	var out []*Metric
	for _, f := range n.Fields {
		p.name(f.Key, "a metric")
		out = append(out, &Metric{Name: f.Key.Text, Type: p.word(f.Value, "a metric's type", metricTypeNames...), Range: f.Key.Range})
	}
	return out
}

var metricTypeNames = []string{"counter", "gauge", "rate", "trend"}

// metricTypes reads the types of the metrics ahead, since thresholds may stand
// above them. What is wrong with them is reported in its turn.
func metricTypes(n *source.Node) map[string]string {
	out := map[string]string{}
	if n == nil {
		return out
	}
	for _, f := range n.Fields {
		if f.Value.Kind == source.Scalar {
			out[f.Key.Text] = f.Value.Text
		}
	}
	return out
}

// libraryFile reads a library file: a title and fragments.
func (p *parser) libraryFile(n *source.Node, l *library) {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", "a library must be a map, not "+kindOf(n), "begin with `library:` and a title")
		return
	}
	p.object(n, "a library", []key{
		on("library", func(v *source.Node) { p.text(v, "`library`") }),
		on("include", func(v *source.Node) { l.includes = p.includes(v) }),
		on("fragments", func(v *source.Node) { l.fragments = p.fragments(v) }),
	}, func(word string) string {
		if word == "plan" {
			return "a plan cannot be included, a library can: write `library: A title` and `fragments:`"
		}
		return "a library holds fragments, nothing else"
	})
	for _, k := range []string{"library", "fragments"} {
		if n.Get(k) == nil && (k != "library" || n.Get("plan") == nil) {
			p.lacks(n, first(n), "missing-key", fmt.Sprintf("the library has no `%s`", k), "write `library: A title` and `fragments:` with at least one")
		}
	}
}

func (l *library) fragment(name string) *Fragment {
	for _, f := range l.fragments {
		if f.Name == name {
			return f
		}
	}
	return nil
}

func (l *library) fragmentNames() []string {
	var out []string
	for _, f := range l.fragments {
		out = append(out, f.Name)
	}
	for _, alias := range slices.Sorted(maps.Keys(l.libraries)) {
		if l.libraries[alias] == nil {
			continue
		}
		for _, f := range l.libraries[alias].fragments {
			out = append(out, alias+"."+f.Name)
		}
	}
	return out
}
