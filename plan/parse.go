package plan

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
	"runner/plan/spec"
)

// Parse reads a plan. It reports every problem that it finds and returns as much
// of the plan as can be told; the plan is nil only where the text is not YAML.
// Names are not looked at before Validate.
func Parse(f *source.File, reg *element.Registry) (*Plan, source.Diagnostics) {
	in := readYAML(f)
	if in.root == nil {
		return nil, listed(in.ds)
	}
	p := &parser{file: f, reg: reg}
	out := p.plan(in.root)
	out.poison = in.poison
	return out, listed(append(in.ds, sound(p.ds, in.poison)...))
}

// sound leaves out what is said about a text that was reported already.
func sound(ds source.Diagnostics, poison []source.Range) source.Diagnostics {
	if len(poison) == 0 {
		return ds
	}
	poison = slices.SortedFunc(slices.Values(poison), func(a, b source.Range) int {
		return cmp.Or(cmp.Compare(a.Start.Offset, b.Start.Offset), cmp.Compare(a.End.Offset, b.End.Offset))
	})
	var out source.Diagnostics
	for _, d := range ds {
		i := sort.Search(len(poison), func(i int) bool { return poison[i].Start.Offset > d.Range.Start.Offset }) - 1
		if i < 0 || d.Range.File != poison[i].File || d.Range.End.Offset > poison[i].End.Offset {
			out = append(out, d)
		}
	}
	return out
}

// maxProblems is how many problems are listed at most.
const maxProblems = 500

// listed returns the problems in order, the first of them if there are too many.
func listed(ds source.Diagnostics) source.Diagnostics {
	ds = ds.Sorted()
	if len(ds) <= maxProblems {
		return ds
	}
	more := source.Diagnostic{Severity: source.Notice, Code: "too-many", Summary: fmt.Sprintf("%d more problems are not listed", len(ds)-maxProblems), Range: ds[maxProblems].Range}
	if ds[maxProblems:].HasErrors() {
		more.Severity = source.Error
	}
	return append(ds[:maxProblems:maxProblems], more)
}

// parser builds the tree from nodes. It never stops: what is wrong is reported
// and left out.
type parser struct {
	file     *source.File
	reg      *element.Registry
	ds       source.Diagnostics
	defaults []*source.Node    // of the open scopes, outermost first
	metrics  map[string]string // types by name
	calls    []*Call
	prefix   string                // what names that steps set begin with: those of a fragment are its own
	within   *Call                 // the call whose fragment is read
	misspelt map[*source.Node]bool // maps with a key that is not known: what they lack is not said
	library  *library              // where calls without an alias look for their fragment

	extractKeys []string // the keys beside an extractor; nil before the first
}

func (p *parser) add(r source.Range, code, summary, detail string) {
	p.ds.Add(r, code, summary, detail)
}

// key is one legal key of a map: its name and what reads its value.
type key struct {
	name string
	read func(f source.Field)
}

// on reads a key's value without need of the key itself.
func on(name string, read func(v *source.Node)) key {
	return key{name, func(f source.Field) { read(f.Value) }}
}

// object reads a map whose keys are fixed. what names it in messages; elsewhere
// says where other keys belong. It reports whether n is a map at all.
func (p *parser) object(n *source.Node, what string, keys []key, elsewhere func(string) string) bool {
	if n.Kind != source.Map {
		p.add(n.Range, "wrong-type", what+" must be a map, not "+kindOf(n), "write its keys, one a line: "+names(keys))
		return false
	}
	for _, f := range n.Fields {
		if find(keys, f.Key.Text) == nil {
			p.unknown(n)
		}
	}
	for _, f := range n.Fields {
		k := find(keys, f.Key.Text)
		switch {
		case k != nil && f.Value.Null && f.Value.Text == "":
			p.add(f.Key.Range, "empty-value", fmt.Sprintf("%q has no value", f.Key.Text), "write a value after the colon, or remove the key")
		case k != nil:
			k.read(f)
		case notAvailable[what][f.Key.Text]:
			p.add(f.Key.Range, "not-available", fmt.Sprintf("`%s` is not available in this version", f.Key.Text), "remove it")
		default:
			spec.UnknownKey(f.Key, what, keyNames(keys), elsewhere, &p.ds)
		}
	}
	return true
}

// unknown notes that the map n has a key which is not known.
func (p *parser) unknown(n *source.Node) {
	if p.misspelt == nil {
		p.misspelt = map[*source.Node]bool{}
	}
	p.misspelt[n] = true
}

// lacks reports what is missing in the map n. Where one of its keys is unknown,
// that is probably what is missing, and is reported already.
func (p *parser) lacks(n *source.Node, r source.Range, code, summary, detail string) {
	if !p.misspelt[n] {
		p.add(r, code, summary, detail)
	}
}

// notAvailable are the words of the language that this version does not have, by
// the place where they would stand.
var notAvailable = map[string]map[string]bool{
	"the plan":     set("outputs"),
	"the step":     set(otherSamplers),
	"`defaults`":   set(otherSamplers),
	"`reports`":    set("csv"),
	"`timers`":     set("poisson precise_throughput synchronizing gaussian"),
	"`assertions`": set("text cookie json_schema jmespath xpath css xml md5"),
	"`extract`":    set("jmespath xpath css between"),
}

const otherSamplers = "grpc graphql websocket sse sql redis kafka mqtt amqp nats tcp udp dns smtp ldap ftp exec dummy"

func set(words string) map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

func find(keys []key, name string) *key {
	for i := range keys {
		if keys[i].name == name {
			return &keys[i]
		}
	}
	return nil
}

func keyNames(keys []key) []string {
	out := make([]string, len(keys))
	for i := range keys {
		out[i] = keys[i].name
	}
	return out
}

func names(keys []key) string { return strings.Join(keyNames(keys), ", ") }

func kindOf(n *source.Node) string {
	switch {
	case n.Null:
		return "empty"
	case n.Kind == source.Scalar:
		return fmt.Sprintf("the value %q", short(n.Text))
	}
	return n.Kind.String()
}

// short returns text in one line of at most 60 runes.
func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > 60 {
		return string(r[:59]) + "…"
	}
	return text
}

// text reads a literal text.
func (p *parser) text(n *source.Node, what string) string {
	if n.Kind != source.Scalar {
		p.add(n.Range, "wrong-type", what+" must be text, not "+kindOf(n), "write the text after the colon")
		return ""
	}
	if i := strings.Index(n.Text, "${"); i >= 0 {
		p.add(n.At(i, i+2), "no-template", what+" takes no ${…}", "write the text itself")
	}
	return n.Text
}

// word reads a text that must be one of a list.
func (p *parser) word(n *source.Node, what string, legal ...string) string {
	text := p.text(n, what)
	for _, w := range legal {
		if w == text {
			return text
		}
	}
	if n.Kind == source.Scalar {
		detail := "write one of " + strings.Join(legal, ", ")
		if w := expr.DidYouMean(text, legal); w != "" {
			detail = fmt.Sprintf("did you mean `%s`?", w)
		}
		p.add(n.Range, "bad-value", fmt.Sprintf("%s cannot be %q", what, short(text)), detail)
	}
	return legal[0]
}

func (p *parser) boolean(n *source.Node, what string) bool {
	if n.Kind != source.Scalar {
		p.add(n.Range, "wrong-type", what+" must be true or false, not "+kindOf(n), "")
		return false
	}
	v, err := expr.ParseBool(n.Text)
	p.literal(n, what, "bad-bool", err)
	return v
}

func (p *parser) duration(n *source.Node, what string) time.Duration {
	if n.Kind != source.Scalar {
		p.add(n.Range, "wrong-type", what+" must be a duration, not "+kindOf(n), "write one like 300ms, 2s or 1m30s")
		return 0
	}
	v, err := expr.ParseDuration(n.Text)
	p.literal(n, what, "bad-duration", err)
	return v
}

func (p *parser) integer(n *source.Node, what string) int {
	if n.Kind != source.Scalar {
		p.add(n.Range, "wrong-type", what+" must be a whole number, not "+kindOf(n), "")
		return 0
	}
	v, err := expr.ParseInt(n.Text)
	p.literal(n, what, "bad-int", err)
	return int(v)
}

// literal reports what is wrong with a literal.
func (p *parser) literal(n *source.Node, what, code string, err error) {
	if err == nil {
		return
	}
	summary, detail, _ := strings.Cut(err.Error(), "; ")
	p.add(n.Range, code, what+": "+summary, detail)
}

// list returns the items of a list. A single item may stand alone where alone is set.
func (p *parser) list(n *source.Node, what string, alone bool) []*source.Node {
	if n.Kind == source.List {
		return n.Items
	}
	if alone && !n.Null {
		return []*source.Node{n}
	}
	detail := "begin each item with `- `"
	if n.Kind == source.Scalar && !n.Null && !n.Block {
		detail = "put it in brackets: [" + n.Range.Text() + "]"
	}
	p.add(n.Range, "wrong-type", what+" must be a list, not "+kindOf(n), detail)
	return nil
}

func (p *parser) words(n *source.Node, what string) []string {
	var out []string
	for _, item := range p.list(n, what, true) {
		out = append(out, p.text(item, what))
	}
	return out
}

// exclusive reports keys of a map that cannot stand together.
func (p *parser) exclusive(n *source.Node, detail string, keys ...string) bool {
	var given []*source.Node
	for _, k := range keys {
		if f := n.Field(k); f != nil {
			given = append(given, f.Key)
		}
	}
	if len(given) < 2 {
		return true
	}
	p.clash(given[0], given[1], detail)
	return false
}

func (p *parser) clash(a, b *source.Node, detail string) {
	if b.Range.Start.Offset < a.Range.Start.Offset {
		a, b = b, a
	}
	p.ds = append(p.ds, source.Diagnostic{Code: "exclusive-keys", Range: b.Range, Detail: detail,
		Summary: fmt.Sprintf("`%s` and `%s` exclude each other", a.Text, b.Text),
		Related: []source.Related{{Message: fmt.Sprintf("`%s` is given here", a.Text), Range: a.Range}}})
}

// decode decodes one expression value.
func decode[T any](p *parser, n *source.Node) (v expr.Value[T]) {
	v.Decode(n, &p.ds)
	return v
}

func (p *parser) condition(n *source.Node) (c expr.Condition) {
	c.Decode(n, &p.ds)
	return c
}
