package spec

import (
	"fmt"
	"reflect"
	"strings"
	"time"

	"runner/plan/expr"
	"runner/plan/source"
)

// Decoder decodes nodes into tagged structs.
type Decoder struct {
	// Partial leaves out what concerns absent keys: required ones, defaults, rules
	// across fields. It is for `defaults:`, which are completed by the steps.
	Partial bool
	// What names the thing that is decoded, for messages: "http".
	What string
	// Elsewhere says where a key that is unknown here is legal, as a full remedy
	// ("belongs to the step, not under http"), or "".
	Elsewhere func(key string) string
	// Beside are keys that the caller takes out of the outermost map before it is
	// decoded; they are named where a key is unknown.
	Beside []string
	// Diagnostics receives the problems.
	Diagnostics *source.Diagnostics

	outermost *layout
}

// Decode decodes n into the struct that into points at. A nil node is an empty map.
func Decode(n *source.Node, into any, ds *source.Diagnostics) {
	(&Decoder{Diagnostics: ds}).Decode(n, into)
}

// DecodePartial decodes without asking for required keys and without defaults.
func DecodePartial(n *source.Node, into any, ds *source.Diagnostics) {
	(&Decoder{Diagnostics: ds, Partial: true}).Decode(n, into)
}

// Decode decodes n into the struct that into points at.
func (d *Decoder) Decode(n *source.Node, into any) {
	v := reflect.ValueOf(into).Elem()
	if v.Kind() == reflect.Struct {
		d.outermost = layoutOf(v.Type())
	}
	d.value(n, v, &field{key: d.What, typ: v.Type()})
}

// checker is element.Checker, which cannot be imported from here.
type checker interface {
	Check(report func(field, code, summary, detail string))
}

type nodeValue interface {
	Decode(n *source.Node, ds *source.Diagnostics)
}

// value decodes n into v, which is addressable. f says what the tags ask for.
func (d *Decoder) value(n *source.Node, v reflect.Value, f *field) {
	switch p := v.Addr().Interface().(type) {
	case *Node:
		*p = n
		return
	case NodeDecoder:
		p.DecodeNode(n, d.Diagnostics)
		d.bounds(n, v, f)
		return
	case nodeValue:
		before := len(*d.Diagnostics)
		p.Decode(n, d.Diagnostics)
		if len(*d.Diagnostics) == before {
			d.bounds(n, v, f)
		}
		return
	case entrySet:
		d.entries(n, p, f)
		return
	}
	switch v.Kind() {
	case reflect.Pointer:
		p := reflect.New(v.Type().Elem())
		d.value(n, p.Elem(), f)
		v.Set(p)
	case reflect.Struct:
		d.object(n, v, f)
	case reflect.Slice:
		d.list(n, v, f)
	default:
		d.literal(n, v, f)
	}
}

// object decodes a struct from a map, or from the value that its short key takes.
func (d *Decoder) object(n *source.Node, v reflect.Value, f *field) {
	l := layoutOf(v.Type())
	if n == nil {
		n = &source.Node{Kind: source.Map}
	}
	m := n
	if l.short != nil && isShort(n, l) {
		m = &source.Node{Kind: source.Map, Range: n.Range, Fields: []source.Field{{
			Key: &source.Node{Kind: source.Scalar, Text: l.short.key, Range: n.Range}, Value: n}}}
	} else if n.Kind != source.Map && !(n.Null && l.short == nil) {
		d.Diagnostics.Add(n.Range, "wrong-type", d.subject(f)+" must be a map, not "+describe(n), "write its keys: "+sample(l))
		return
	}
	before := len(*d.Diagnostics)
	known := d.fields(m, v, l)
	if d.Partial {
		return
	}
	d.absent(m, v, l, f, known)
	if c, ok := v.Addr().Interface().(checker); ok && len(*d.Diagnostics) == before {
		c.Check(func(key, code, summary, detail string) {
			where := m.Range
			if at := m.Get(key); at != nil {
				where = at.Range
			}
			d.Diagnostics.Add(where, code, summary, detail)
		})
	}
}

// isShort reports whether n stands for the short field.
func isShort(n *source.Node, l *layout) bool {
	if n.Kind != source.Map {
		return true
	}
	t := l.short.typ
	if !(isMap(t) || t == treeType || t == nodeType || decodesItself(t)) || t == reflect.TypeFor[Path]() {
		return false
	}
	for _, f := range n.Fields {
		if l.find(f.Key.Text) != nil {
			return false
		}
	}
	return len(n.Fields) > 0
}

// fields decodes the keys that are given and reports whether all are known.
func (d *Decoder) fields(m *source.Node, v reflect.Value, l *layout) (known bool) {
	known = true
	for _, entry := range m.Fields {
		f := l.find(entry.Key.Text)
		if f == nil {
			d.unknown(entry.Key, l)
			known = false
			continue
		}
		if entry.Value.Null && wordOf(f.typ) != "any" && !entry.Value.Range.IsZero() {
			d.null(entry, f)
			continue
		}
		d.value(entry.Value, v.FieldByIndex(f.index), f)
	}
	return known
}

func (d *Decoder) null(entry source.Field, f *field) {
	if f.typ.Kind() == reflect.Pointer && f.typ.Elem().Kind() == reflect.Struct {
		return
	}
	d.Diagnostics.Add(entry.Key.Range, "empty-value", fmt.Sprintf("%q has no value", f.key), "write a value after the colon, or remove the key")
}

func (d *Decoder) unknown(key *source.Node, l *layout) {
	elsewhere := func(word string) string {
		for i := range l.fields {
			t := l.fields[i].typ
			if t.Kind() == reflect.Pointer {
				t = t.Elem()
			}
			if wordOf(t) == "object" && !decodesItself(t) && layoutOf(t).find(word) != nil {
				return fmt.Sprintf("it belongs under `%s:`", l.fields[i].key)
			}
		}
		if d.Elsewhere != nil {
			return d.Elsewhere(word)
		}
		return ""
	}
	legal := l.keys()
	if l == d.outermost {
		legal = append(legal[:len(legal):len(legal)], d.Beside...)
	}
	UnknownKey(key, d.What, legal, elsewhere, d.Diagnostics)
}

// absent checks required keys and groups, and sets defaults. Where a key is not
// known, it is probably the one that is missing, and is reported already.
func (d *Decoder) absent(m *source.Node, v reflect.Value, l *layout, parent *field, known bool) {
	var given map[string][]*source.Node // by group, like need
	var need map[string][]string
	where := m.Range
	for i := range l.fields {
		f := &l.fields[i]
		entry := m.Field(f.key)
		if f.group != "" {
			if need == nil {
				given, need = map[string][]*source.Node{}, map[string][]string{}
			}
			if entry != nil {
				given[f.group] = append(given[f.group], entry.Key)
			}
			need[f.group] = append(need[f.group], f.key)
			continue
		}
		switch {
		case entry != nil:
		case f.required && !known:
		case f.required:
			d.Diagnostics.Add(where, "missing-key", fmt.Sprintf("%s needs `%s`", d.subject(parent), f.key), "write `"+f.key+":` — "+f.doc)
		case f.given != nil:
			d.value(f.given, v.FieldByIndex(f.index), f)
		default:
			d.defaults(v.FieldByIndex(f.index), f)
		}
	}
	for i := range l.fields {
		f := &l.fields[i]
		if f.group == "" || !f.required && len(given[f.group]) < 2 {
			continue
		}
		keys := given[f.group]
		if len(keys) > 1 {
			*d.Diagnostics = append(*d.Diagnostics, source.Diagnostic{Code: "exclusive-keys",
				Summary: fmt.Sprintf("`%s` and `%s` exclude each other", keys[0].Text, keys[1].Text), Detail: "keep one of them", Range: keys[1].Range,
				Related: []source.Related{{Message: fmt.Sprintf("`%s` is given here", keys[0].Text), Range: keys[0].Range}}})
		} else if len(keys) == 0 && known {
			d.Diagnostics.Add(where, "missing-key", d.subject(parent)+" needs one of "+list(need[f.group]), "write exactly one of them")
		}
		given[f.group] = keys[:min(1, len(keys))]
		need[f.group] = nil
		if len(keys) == 0 {
			given[f.group] = []*source.Node{{}}
		}
	}
}

// defaults sets the defaults inside a nested struct that is absent.
func (d *Decoder) defaults(v reflect.Value, f *field) {
	if v.Kind() != reflect.Struct || wordOf(v.Type()) != "object" || decodesItself(v.Type()) {
		return
	}
	for i, l := 0, layoutOf(v.Type()); i < len(l.fields); i++ {
		if in := &l.fields[i]; in.given != nil {
			d.value(in.given, v.FieldByIndex(in.index), in)
		} else {
			d.defaults(v.FieldByIndex(in.index), in)
		}
	}
}

func (d *Decoder) subject(f *field) string {
	switch {
	case f != nil && f.key != "":
		return "`" + f.key + "`"
	case d.What != "":
		return "`" + d.What + "`"
	}
	return "this"
}

func (d *Decoder) list(n *source.Node, v reflect.Value, f *field) {
	items := n.Items
	switch {
	case n.Kind == source.List:
	case n.Kind == source.Scalar && (f.single || n.Range.IsZero()), n.Kind == source.Map && f.single:
		items = []*source.Node{n}
	default:
		d.Diagnostics.Add(n.Range, "wrong-type", d.subject(f)+" must be a list, not "+describe(n), listRemedy(n))
		return
	}
	out := reflect.MakeSlice(v.Type(), len(items), len(items))
	item := *f
	item.min, item.max, item.typ, item.nonempty = "", "", v.Type().Elem(), false
	for i, it := range items {
		d.value(it, out.Index(i), &item)
	}
	v.Set(out)
	d.bounds(n, v, f)
}

func listRemedy(n *source.Node) string {
	if n.Kind == source.Scalar && !n.Block {
		return "put it in brackets: [" + n.Range.Text() + "]"
	}
	return "begin each item with `- `"
}

// entrySet is *Map[T] without its T.
type entrySet interface {
	add(key *source.Node) reflect.Value
}

func (m *Map[T]) add(key *source.Node) reflect.Value {
	m.Entries = append(m.Entries, Entry[T]{Key: key, Name: key.Text})
	return reflect.ValueOf(&m.Entries[len(m.Entries)-1].Value).Elem()
}

func (d *Decoder) entries(n *source.Node, m entrySet, f *field) {
	if n.Kind != source.Map {
		d.Diagnostics.Add(n.Range, "wrong-type", d.subject(f)+" must be a map, not "+describe(n), "write it as {name: value}")
		return
	}
	seen := map[string]*source.Node{}
	for _, entry := range n.Fields {
		name := entry.Key.Text
		if i := strings.Index(name, "${"); i >= 0 {
			d.Diagnostics.Add(entry.Key.At(i, i+2), "no-template", "a name in "+d.subject(f)+" takes no ${…}", "write the name itself; values take ${…}")
			continue
		}
		if f.fold {
			name = strings.ToLower(name)
			if first := seen[name]; first != nil {
				*d.Diagnostics = append(*d.Diagnostics, source.Diagnostic{Code: "duplicate-key", Summary: fmt.Sprintf("%q is given twice; case does not count", entry.Key.Text),
					Detail: "keep one of the two", Range: entry.Key.Range,
					Related: []source.Related{{Message: "it was given here first", Range: first.Range}}})
				continue
			}
			seen[name] = entry.Key
		}
		item := *f
		item.key, item.min, item.max, item.nonempty = entry.Key.Text, "", "", false
		v := m.add(entry.Key)
		item.typ = v.Type()
		d.value(entry.Value, v, &item)
	}
	d.bounds(n, reflect.ValueOf(m).Elem(), f)
}

// literal decodes plain Go values, which take no ${…}.
func (d *Decoder) literal(n *source.Node, v reflect.Value, f *field) {
	if n.Kind != source.Scalar {
		d.Diagnostics.Add(n.Range, "wrong-type", d.subject(f)+" must be "+article(wordOf(v.Type()))+", not "+describe(n), "")
		return
	}
	if i := strings.Index(n.Text, "${"); i >= 0 {
		d.Diagnostics.Add(n.At(i, i+2), "no-template", d.subject(f)+" takes no ${…}", "write the value itself")
		return
	}
	if err := setLiteral(n.Text, v); err != nil {
		summary, detail, _ := strings.Cut(err.Error(), "; ")
		d.Diagnostics.Add(n.Range, "bad-"+wordOf(v.Type()), d.subject(f)+": "+summary, detail)
		return
	}
	d.bounds(n, v, f)
}

func setLiteral(text string, v reflect.Value) error {
	switch v.Interface().(type) {
	case time.Duration:
		x, err := expr.ParseDuration(text)
		v.SetInt(int64(x))
		return err
	case expr.Rate:
		x, err := expr.ParseRate(text)
		v.SetFloat(float64(x))
		return err
	case expr.Size:
		x, err := expr.ParseSize(text)
		v.SetInt(int64(x))
		return err
	case expr.Share:
		x, err := expr.ParseShare(text)
		v.SetFloat(float64(x))
		return err
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Bool:
		x, err := expr.ParseBool(text)
		v.SetBool(x)
		return err
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		x, err := expr.ParseInt(text)
		if err == nil && v.OverflowInt(x) {
			return fmt.Errorf("%q is out of range", text)
		}
		v.SetInt(x)
		return err
	case reflect.Float32, reflect.Float64:
		x, err := expr.ParseFloat(text)
		v.SetFloat(x)
		return err
	default:
		return fmt.Errorf("cannot be given in a plan (%s)", v.Type())
	}
	return nil
}
