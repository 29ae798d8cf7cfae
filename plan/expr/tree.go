package expr

import (
	"strings"

	"runner/plan/source"
)

// maxTreeDepth bounds how deep a tree of the plan may nest.
const maxTreeDepth = 100

// Tree is a typed tree of the plan (a JSON body, a variable that is a list or a
// map) whose scalars and keys may hold `${…}`. The zero Tree is not set.
type Tree struct {
	root *treeNode
	node *source.Node
}

// treeNode is one value. A static one needs no Scope; its value and its JSON are
// made once.
type treeNode struct {
	static bool
	value  any    // of a static node; shared, not to be changed
	json   []byte // of a static node
	tmpl   *template
	list   []*treeNode
	fields []treeField
	kind   source.Kind
}

type treeField struct {
	key  *template
	text string // of a static key
	node *treeNode
}

// Decode reads the tree under n.
func (t *Tree) Decode(n *source.Node, ds *source.Diagnostics) {
	*t = Tree{node: n}
	if n != nil {
		t.root = decodeTree(n, false, ds, 0)
	}
}

// decodeTree reads a tree; with written, scalars stay text as they are written.
func decodeTree(n *source.Node, written bool, ds *source.Diagnostics, depth int) *treeNode {
	t := &treeNode{kind: n.Kind, static: true}
	switch {
	case depth > maxTreeDepth:
		ds.Add(n.Range, "too-deep", "the value is nested too deeply", "keep it in a file")
	case n.Kind == source.List:
		for _, item := range n.Items {
			child := decodeTree(item, written, ds, depth+1)
			t.static = t.static && child.static
			t.list = append(t.list, child)
		}
	case n.Kind == source.Map:
		for _, f := range n.Fields {
			field := treeField{text: f.Key.Text, node: decodeTree(f.Value, written, ds, depth+1)}
			if strings.Contains(f.Key.Text, "${") {
				field.key = parseTemplate(f.Key.Text, f.Key, ds)
				if text, ok := field.key.static(); ok {
					field.key, field.text = nil, text
				}
			}
			t.static = t.static && field.node.static && field.key == nil
			t.fields = append(t.fields, field)
		}
	default:
		t.scalar(n, written, ds)
		return t
	}
	if t.static {
		t.freeze()
	}
	return t
}

// scalar reads one scalar: templates, else a value by its look and its JSON as it
// is written.
func (t *treeNode) scalar(n *source.Node, written bool, ds *source.Diagnostics) {
	text, quoted := n.Text, n.Quoted || written
	if strings.Contains(text, "${") {
		tmpl := parseTemplate(text, n, ds)
		static, ok := tmpl.static()
		if !ok {
			t.static, t.tmpl = false, tmpl
			return
		}
		text, quoted = static, true
	}
	switch {
	case n.Null:
		t.json = []byte("null")
		return
	case quoted:
		t.value = text
	default:
		t.value = Infer(text)
	}
	if !quoted && (isNumber(text) || text == "true" || text == "false") {
		t.json = []byte(text)
		return
	}
	t.json = appendJSONString(nil, text)
}

// freeze makes the value and the JSON of a static list or map.
func (t *treeNode) freeze() {
	t.json, _ = t.appendJSON(nil, nil)
	if t.kind == source.List {
		list := make([]any, len(t.list))
		for i, item := range t.list {
			list[i] = item.value
		}
		t.value = list
		return
	}
	m := make(map[string]any, len(t.fields))
	for _, f := range t.fields {
		m[f.text] = f.node.value
	}
	t.value = m
}

// Bind compiles the expressions of the tree for env.
func (t *Tree) Bind(env *Env, ds *source.Diagnostics) {
	t.each(func(tmpl *template) {
		if !tmpl.broken {
			tmpl.bind(env, ds)
		}
	})
}

// Uses returns the names that the tree reads, after Bind.
func (t Tree) Uses() (out []Use) {
	t.each(func(tmpl *template) { out = append(out, tmpl.uses()...) })
	return out
}

func (t Tree) each(visit func(*template)) {
	if t.root != nil {
		t.root.each(visit)
	}
}

func (t *treeNode) each(visit func(*template)) {
	if t.tmpl != nil {
		visit(t.tmpl)
	}
	for _, item := range t.list {
		item.each(visit)
	}
	for _, f := range t.fields {
		if f.key != nil {
			visit(f.key)
		}
		f.node.each(visit)
	}
}

// Eval returns the value: int64, float64, bool, string, values with units, []any,
// map[string]any, nil. What is static is shared and must not be changed.
func (t Tree) Eval(s Scope) (any, error) {
	if t.root == nil {
		return nil, nil
	}
	return t.root.eval(s)
}

func (t *treeNode) eval(s Scope) (any, error) {
	switch {
	case t.static:
		return t.value, nil
	case t.tmpl != nil:
		return t.tmpl.eval(s)
	case t.kind == source.List:
		list := make([]any, len(t.list))
		for i, item := range t.list {
			v, err := item.eval(s)
			if err != nil {
				return nil, err
			}
			list[i] = v
		}
		return list, nil
	}
	m := make(map[string]any, len(t.fields))
	for _, f := range t.fields {
		key, err := f.name(s)
		if err != nil {
			return nil, err
		}
		if m[key], err = f.node.eval(s); err != nil {
			return nil, err
		}
	}
	return m, nil
}

func (f *treeField) name(s Scope) (string, error) {
	if f.key == nil {
		return f.text, nil
	}
	key, _, err := f.key.text(s)
	return key, err
}

// AppendJSON appends the tree as compact JSON, keys in the order of the plan,
// numbers as they are written.
func (t Tree) AppendJSON(dst []byte, s Scope) ([]byte, error) {
	if t.root == nil {
		return append(dst, "null"...), nil
	}
	return t.root.appendJSON(dst, s)
}

func (t *treeNode) appendJSON(dst []byte, s Scope) (_ []byte, err error) {
	switch {
	case t.json != nil:
		return append(dst, t.json...), nil
	case t.tmpl != nil && !t.tmpl.single:
		return t.tmpl.appendJSON(dst, s)
	case t.tmpl != nil:
		v, err := t.tmpl.eval(s)
		if err != nil {
			return dst, err
		}
		return AppendJSONValue(dst, v)
	case t.kind == source.List:
		dst = append(dst, '[')
		for i, item := range t.list {
			if i > 0 {
				dst = append(dst, ',')
			}
			if dst, err = item.appendJSON(dst, s); err != nil {
				return dst, err
			}
		}
		return append(dst, ']'), nil
	}
	dst = append(dst, '{')
	for i := range t.fields {
		f := &t.fields[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		key, err := f.name(s)
		if err != nil {
			return dst, err
		}
		dst = append(appendJSONString(dst, key), ':')
		if dst, err = f.node.appendJSON(dst, s); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

// IsStatic reports whether the tree needs no Scope.
func (t Tree) IsStatic() bool { return t.root == nil || t.root.static }

// IsSet reports whether a tree was given.
func (t Tree) IsSet() bool { return t.root != nil }

// Type returns the static type of the value, after Bind.
func (t Tree) Type() Type {
	switch {
	case t.root == nil:
		return NilType
	case t.root.tmpl != nil:
		return t.root.tmpl.result()
	case t.root.kind == source.List:
		return ListType
	case t.root.kind == source.Map:
		return MapType
	}
	return TypeOf(t.root.value)
}

// Range returns the place of the tree.
func (t Tree) Range() source.Range {
	if t.node == nil {
		return source.Range{}
	}
	return t.node.Range
}

// Node returns the tree as it stands in the plan, or nil.
func (t Tree) Node() *source.Node { return t.node }

// Source returns the tree as written.
func (t Tree) Source() string {
	if t.node == nil {
		return ""
	}
	if t.node.Kind == source.Scalar {
		return t.node.Text
	}
	return t.node.Range.Text()
}
