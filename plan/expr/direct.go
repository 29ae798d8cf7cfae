package expr

import (
	"fmt"
	"reflect"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// direct is an expression that is evaluated without the VM: most conditions of
// plans are comparisons of names and constants. It evaluates operands when they
// are needed, so an unset name in a branch that is not taken does no harm.
type direct struct {
	kind     directKind
	op       string
	a, b, c  *direct
	name     *name
	constant any
}

type directKind uint8

const (
	directConstant directKind = iota
	directName
	directEqual    // a == b
	directOrder    // a op b
	directAnd      // a and b
	directOr       // a or b
	directNot      // not a
	directCoalesce // a ?? b
	directChoice   // a ? b : c
	directLen      // len(a)
	directContains // a contains b, and the other two operators on text
)

// direct returns n as a direct expression, or nil where it needs the VM.
func (b *binder) direct(n ast.Node) *direct {
	if v, ok := constantOf(n); ok {
		return &direct{kind: directConstant, constant: v}
	}
	switch v := n.(type) {
	case *ast.IdentifierNode:
		if name := b.names[v.Value]; name != nil {
			return &direct{kind: directName, name: name}
		}
	case *ast.CallNode:
		return b.directCall(v)
	case *ast.UnaryNode:
		if v.Operator == "not" || v.Operator == "!" {
			return complete(&direct{kind: directNot, a: b.direct(v.Node)}, 1)
		}
	case *ast.BinaryNode:
		kind, ok := directOperators[v.Operator]
		if ok {
			return complete(&direct{kind: kind, op: v.Operator, a: b.direct(v.Left), b: b.direct(v.Right)}, 2)
		}
	case *ast.ConditionalNode:
		return complete(&direct{kind: directChoice, a: b.direct(v.Cond), b: b.direct(v.Exp1), c: b.direct(v.Exp2)}, 3)
	case *ast.BuiltinNode:
		if v.Name == "len" && len(v.Arguments) == 1 {
			return complete(&direct{kind: directLen, a: b.direct(v.Arguments[0])}, 1)
		}
	}
	return nil
}

var directOperators = map[string]directKind{
	"==": directEqual, "!=": directEqual, "<": directOrder, "<=": directOrder, ">": directOrder, ">=": directOrder,
	"and": directAnd, "&&": directAnd, "or": directOr, "||": directOr, "??": directCoalesce,
	"contains": directContains, "startsWith": directContains, "endsWith": directContains,
}

// complete returns d unless one of its n operands needs the VM.
func complete(d *direct, n int) *direct {
	if d.a == nil || n > 1 && d.b == nil || n > 2 && d.c == nil {
		return nil
	}
	return d
}

func (b *binder) directCall(n *ast.CallNode) *direct {
	id, ok := n.Callee.(*ast.IdentifierNode)
	if !ok {
		return nil
	}
	switch id.Value {
	case "@need":
		return b.direct(n.Arguments[0])
	case "@equal":
		return complete(&direct{kind: directEqual, op: "==", a: b.direct(n.Arguments[0]), b: b.direct(n.Arguments[1])}, 2)
	}
	return nil
}

// eval returns the value. Numbers with units stay what the Scope gave.
func (d *direct) eval(s Scope) (any, error) {
	switch d.kind {
	case directConstant:
		return d.constant, nil
	case directName:
		return d.name.value(s)
	case directCoalesce:
		v, err := d.a.eval(s)
		if err != nil || v != nil {
			return v, err
		}
		return d.b.eval(s)
	case directChoice:
		yes, err := d.a.truth(s)
		switch {
		case err != nil:
			return nil, err
		case yes:
			return d.b.eval(s)
		}
		return d.c.eval(s)
	case directLen:
		v, err := d.a.eval(s)
		if err != nil {
			return nil, err
		}
		return lengthOf(v)
	}
	b, err := d.truth(s)
	if err != nil {
		return nil, err
	}
	return b, nil
}

// truth returns the value of what must be true or false.
func (d *direct) truth(s Scope) (bool, error) {
	switch d.kind {
	case directAnd, directOr:
		left, err := d.a.truth(s)
		if err != nil || left == (d.kind == directOr) {
			return left, err
		}
		return d.b.truth(s)
	case directNot:
		v, err := d.a.truth(s)
		return !v, err
	case directEqual, directOrder, directContains:
		a, err := d.a.eval(s)
		if err != nil {
			return false, err
		}
		b, err := d.b.eval(s)
		if err != nil {
			return false, err
		}
		return d.relation(a, b)
	}
	v, err := d.eval(s)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		return false, &TypeError{"expected true or false, was " + show(v)}
	}
	return b, nil
}

func (d *direct) relation(a, b any) (bool, error) {
	switch d.kind {
	case directEqual:
		eq, err := equal(a, b)
		return eq == (d.op == "=="), err
	case directContains:
		return textRelation(d.op, a, b)
	}
	o, err := order(a, b)
	if err != nil || o == unordered {
		return false, err
	}
	switch d.op {
	case "<":
		return o < 0, nil
	case "<=":
		return o <= 0, nil
	case ">":
		return o > 0, nil
	}
	return o >= 0, nil
}

// textRelation applies an operator on text; nil contains nothing.
func textRelation(op string, a, b any) (bool, error) {
	if a == nil || b == nil {
		return false, nil
	}
	x, ok := textOf(a)
	y, ok2 := textOf(b)
	switch {
	case !ok:
		return false, &TypeError{op + " needs text on its left, was " + show(a)}
	case !ok2:
		return false, &TypeError{op + " needs text on its right, was " + show(b)}
	}
	switch op {
	case "startsWith":
		return strings.HasPrefix(x, y), nil
	case "endsWith":
		return strings.HasSuffix(x, y), nil
	}
	return strings.Contains(x, y), nil
}

// lengthOf returns the length of text in bytes, or of a list or map.
func lengthOf(v any) (int64, error) {
	switch v := v.(type) {
	case []any:
		return int64(len(v)), nil
	case map[string]any:
		return int64(len(v)), nil
	}
	if text, ok := textOf(v); ok {
		return int64(len(text)), nil
	}
	if r := reflect.ValueOf(v); r.IsValid() && (r.Kind() == reflect.Slice || r.Kind() == reflect.Map) {
		return int64(r.Len()), nil
	}
	return 0, &TypeError{fmt.Sprintf("len counts text, lists and maps, and this is %s", show(v))}
}
