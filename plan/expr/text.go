package expr

import "runner/plan/source"

// Text is a value that ends as text: a header, a parameter. A scalar stays
// letter for letter as it is written (1.10, 007); null is nil; a list gives a
// list of such; a lone `${…}` keeps its type. The zero Text is not set.
type Text struct{ tree Tree }

// Decode reads the value n.
func (t *Text) Decode(n *source.Node, ds *source.Diagnostics) {
	*t = Text{Tree{node: n}}
	if n != nil {
		t.tree.root = decodeTree(n, true, ds, 0)
	}
}

// TextOf returns the literal text.
func TextOf(text string) Text {
	return Text{Tree{root: &treeNode{static: true, value: text, kind: source.Scalar, json: appendJSONString(nil, text)}}}
}

// Bind compiles the expressions for env.
func (t *Text) Bind(env *Env, ds *source.Diagnostics) { t.tree.Bind(env, ds) }

// Eval returns the value; FormatText makes text of it. A literal is returned
// without allocation.
func (t Text) Eval(s Scope) (any, error) { return t.tree.Eval(s) }

// AppendTo appends the value as text; nil is an error.
func (t Text) AppendTo(dst []byte, s Scope) ([]byte, error) {
	if r := t.tree.root; r != nil && r.tmpl != nil {
		dst, _, err := r.tmpl.append(dst, s)
		return dst, err
	}
	v, err := t.tree.Eval(s)
	if err != nil {
		return dst, err
	}
	return appendText(dst, v)
}

// IsLiteral reports whether the value needs no Scope.
func (t Text) IsLiteral() bool { return t.tree.IsStatic() }

// Literal returns the text, if the value is one literal text.
func (t Text) Literal() (string, bool) {
	if !t.tree.IsSet() || !t.tree.IsStatic() {
		return "", false
	}
	text, ok := t.tree.root.value.(string)
	return text, ok
}

// IsSet reports whether a value was given.
func (t Text) IsSet() bool { return t.tree.IsSet() }

// Uses returns the names that the value reads, after Bind.
func (t Text) Uses() []Use { return t.tree.Uses() }

// Type returns the static type of the value, after Bind.
func (t Text) Type() Type { return t.tree.Type() }

// Range returns the place of the value.
func (t Text) Range() source.Range { return t.tree.Range() }

// Source returns the value as written.
func (t Text) Source() string { return t.tree.Source() }
