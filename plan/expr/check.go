package expr

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// maxPredicates bounds how deep predicates may nest, since each level multiplies
// the work.
const maxPredicates = 3

// walk checks a tree and patches it, and returns its type. lazy means that the
// node may not be evaluated at all.
func (b *binder) walk(np *ast.Node, lazy bool) Type {
	switch n := (*np).(type) {
	case *ast.NilNode:
		return NilType
	case *ast.IntegerNode:
		return IntType
	case *ast.FloatNode:
		return FloatType
	case *ast.BoolNode:
		return BoolType
	case *ast.StringNode, *ast.BytesNode:
		return TextType
	case *ast.IdentifierNode:
		return b.identifier(np, n, lazy)
	case *ast.ChainNode, *ast.MemberNode:
		return b.member(np, lazy)
	case *ast.UnaryNode:
		return b.unary(n, lazy)
	case *ast.BinaryNode:
		return b.binary(np, n, lazy)
	case *ast.ConditionalNode:
		b.boolean(&n.Cond, lazy, "the condition of a choice")
		t1, t2 := b.walk(&n.Exp1, true), b.walk(&n.Exp2, true)
		return join(t1, t2)
	case *ast.BuiltinNode:
		return b.builtin(n, lazy)
	case *ast.CallNode:
		return b.call(np, n, lazy)
	}
	return b.compound(np, lazy)
}

// compound walks the nodes that only hold others.
func (b *binder) compound(np *ast.Node, lazy bool) Type {
	switch n := (*np).(type) {
	case *ast.ArrayNode:
		b.array(np, n, lazy)
		return ListType
	case *ast.MapNode:
		for i := range n.Pairs {
			b.walk(&n.Pairs[i], lazy)
		}
		return MapType
	case *ast.PairNode:
		b.walk(&n.Key, lazy)
		b.walk(&n.Value, lazy)
		return AnyType
	case *ast.SliceNode:
		t := b.walk(&n.Node, lazy)
		for _, end := range []*ast.Node{&n.From, &n.To} {
			if *end != nil {
				b.walk(end, lazy)
			}
		}
		return t
	case *ast.PredicateNode:
		return b.predicate(n)
	case *ast.VariableDeclaratorNode:
		t := b.walk(&n.Value, lazy)
		b.locals = append(b.locals, local{n.Name, t})
		t = b.walk(&n.Expr, lazy)
		b.locals = b.locals[:len(b.locals)-1]
		return t
	case *ast.SequenceNode:
		var t Type
		for i := range n.Nodes {
			t = b.walk(&n.Nodes[i], lazy)
		}
		return t
	}
	return AnyType
}

func (b *binder) predicate(n *ast.PredicateNode) Type {
	b.depth++
	defer func() { b.depth-- }()
	if b.depth > maxPredicates {
		b.failAt(n, "too-deep", fmt.Sprintf("filters nest more than %d deep", maxPredicates), "split the expression with `set:`")
		return AnyType
	}
	t := b.walk(&n.Node, true)
	if b.depth > 1 {
		b.calls = true
		tick := call("@tick", &ast.IdentifierNode{Value: machineKey})
		tick.SetLocation(n.Location())
		n.Node = &ast.SequenceNode{Nodes: []ast.Node{tick, n.Node}}
		n.Node.SetLocation(n.Location())
	}
	return t
}

func join(a, b Type) Type {
	if a == b {
		return a
	}
	return AnyType
}

// identifier handles a bare name: a literal with a unit, a let variable, or a
// name of the Env.
func (b *binder) identifier(np *ast.Node, n *ast.IdentifierNode, lazy bool) Type {
	if lit, ok := b.x.scan.units[n.Location().From]; ok {
		var node ast.Node = &ast.FloatNode{}
		switch v := lit.value.(type) {
		case int:
			node = &ast.IntegerNode{Value: v}
		case float64:
			node = &ast.FloatNode{Value: v}
		}
		ast.Patch(np, node)
		return lit.typ
	}
	if l := b.local(n.Value); l != nil {
		return l.typ
	}
	if n.Value == "$env" {
		b.failAt(n, "undefined-variable", "`$env` is not known here", "write the name alone")
		return AnyType
	}
	return b.resolve(np, n, nil, false, lazy)
}

// member handles a.b and a[0].
func (b *binder) member(np *ast.Node, lazy bool) Type {
	if root, steps, optional, ok := b.chain(*np); ok {
		return b.resolve(np, root, steps, optional, lazy)
	}
	switch n := (*np).(type) {
	case *ast.ChainNode:
		b.walk(&n.Node, lazy)
	case *ast.MemberNode:
		t := b.walk(&n.Node, lazy)
		b.walk(&n.Property, lazy)
		if s, ok := n.Property.(*ast.StringNode); ok && !t.unknown() && t != MapType {
			b.noMember(t, s)
			return AnyType
		}
		if !n.Optional {
			args := []ast.Node{n.Node, n.Property}
			ast.Patch(np, call("@member", args...))
		}
	}
	return AnyType
}

func (b *binder) unary(n *ast.UnaryNode, lazy bool) Type {
	if n.Operator == "-" || n.Operator == "+" {
		t := b.walk(&n.Node, lazy)
		if !t.number() && !t.unknown() {
			b.failAt(n.Node, "type-mismatch", "a minus needs a number, and this is "+t.phrase(), "")
		}
		return t
	}
	from, _ := span(n.Node)
	text := b.text(n.Node)
	t := b.walk(&n.Node, lazy)
	if t != BoolType && !t.unknown() {
		_, to := span(n.Node)
		b.fail(from, to, "not-a-condition", "not needs a condition, and "+quote(text)+" is "+t.phrase(), "if a comparison follows, write not (...) around the whole of it")
	}
	return BoolType
}

// boolean walks what must be a condition.
func (b *binder) boolean(np *ast.Node, lazy bool, where string) {
	text := b.text(*np)
	n := *np
	t := b.walk(np, lazy)
	if t != BoolType && !t.unknown() {
		b.failAt(n, "not-a-condition", where+" must be true or false, and "+quote(text)+" is "+t.phrase(), conditionHint(text, t))
	}
}

// conditionHint says how to make a condition out of a value.
func conditionHint(text string, t Type) string {
	switch {
	case t == ListType || t == MapType:
		return "write len(" + text + ") > 0"
	case t.text():
		return "write " + text + ` != ""`
	case t.plain():
		return "write " + text + " > 0"
	case t == NilType:
		return "write true or false"
	case t.unit():
		return "compare it, as in " + text + " < " + example(t)
	}
	return "compare it with something"
}

func example(t Type) string {
	return map[Type]string{DurationType: "500ms", RateType: "100/s", SizeType: "10KB", ShareType: "1%"}[t]
}

func (b *binder) binary(np *ast.Node, n *ast.BinaryNode, lazy bool) Type {
	op := n.Operator
	switch op {
	case "??":
		return b.coalesce(n, lazy)
	case "and", "or", "&&", "||":
		b.boolean(&n.Left, lazy, "the left of "+op)
		b.boolean(&n.Right, true, "the right of "+op)
		return BoolType
	case "==", "!=", "<", "<=", ">", ">=":
		return b.comparison(np, n, lazy)
	case "in":
		b.in(n, lazy)
		return BoolType
	case "contains", "matches", "startsWith", "endsWith":
		b.textOperator(n, lazy)
		return BoolType
	case "..":
		b.walk(&n.Left, lazy)
		b.walk(&n.Right, lazy)
		return ListType
	}
	t := b.arithmetic(n, lazy)
	if op == "+" && !t.number() && (b.depth > 0 || len(b.locals) > 0) {
		ast.Patch(np, call("@add", n.Left, n.Right))
	}
	return t
}

// coalesce handles `??`. In a chain of them everything but the last is soft.
func (b *binder) coalesce(n *ast.BinaryNode, lazy bool) Type {
	l := b.softly(&n.Left, lazy)
	return join(l, b.walk(&n.Right, true))
}

// softly walks what may be unset.
func (b *binder) softly(np *ast.Node, lazy bool) Type {
	if root, steps, _, ok := b.chain(*np); ok {
		return b.resolve(np, root, steps, true, lazy)
	}
	if n, ok := (*np).(*ast.BinaryNode); ok && n.Operator == "??" {
		l := b.softly(&n.Left, lazy)
		return join(l, b.softly(&n.Right, true))
	}
	return b.walk(np, lazy)
}

func (b *binder) comparison(np *ast.Node, n *ast.BinaryNode, lazy bool) Type {
	if b.negated(n, lazy) {
		return BoolType
	}
	whole, left, right := ast.Node(n), operand{n: n.Left, text: b.text(n.Left)}, operand{n: n.Right, text: b.text(n.Right)}
	from, to := span(whole)
	left.typ, right.typ = b.walk(&n.Left, lazy), b.walk(&n.Right, lazy)
	if b.comparable(from, to, n.Operator, left, right) && (left.typ.unknown() || right.typ.unknown()) {
		switch n.Operator {
		case "==":
			ast.Patch(np, call("@equal", n.Left, n.Right))
		case "!=":
			not := &ast.UnaryNode{Operator: "not", Node: call("@equal", n.Left, n.Right)}
			ast.Patch(np, not)
		default:
			return BoolType
		}
		(*np).SetLocation(n.Location())
	}
	return BoolType
}

// negated reports `not a == b`, which is read as (not a) == b.
func (b *binder) negated(n *ast.BinaryNode, lazy bool) bool {
	not, ok := n.Left.(*ast.UnaryNode)
	if !ok || not.Operator != "not" && not.Operator != "!" {
		return false
	}
	from, to := span(n)
	text, inner := b.text(n), b.text(not.Node)
	if b.walk(&not.Node, lazy) == BoolType {
		return false
	}
	b.fail(from, to, "not-precedence", quote(text)+" is read as (not "+inner+") "+n.Operator+" ...",
		"write not ("+strings.TrimSpace(strings.TrimPrefix(text, not.Operator))+")")
	return true
}

// operand is one side of an operator before it was patched.
type operand struct {
	n    ast.Node
	text string
	typ  Type
}

// comparable checks the types of a comparison.
func (b *binder) comparable(from, to int, op string, l, r operand) bool {
	lt, rt := l.typ, r.typ
	equality := op == "==" || op == "!=" || op == "in"
	switch {
	case lt.unknown() || rt.unknown():
		return true
	case lt == NilType || rt == NilType:
		if !equality {
			b.fail(from, to, "type-mismatch", "nil has no order", "compare with == nil or != nil")
		}
	case lt.number() && rt.number():
		return b.units(from, to, "compared", l, r)
	case lt.text() && rt.text():
	case lt == BoolType && rt == BoolType:
		if !equality {
			b.fail(from, to, "type-mismatch", "true and false have no order", "compare them with == or !=")
		}
	case lt == rt && equality:
	case lt == rt:
		b.fail(from, to, "type-mismatch", "two "+lt.String()+"s have no order", "compare their lengths: len("+l.text+") "+op+" len("+r.text+")")
	default:
		b.fail(from, to, "type-mismatch", fmt.Sprintf("%s is %s and %s is %s; they can never be equal", quote(l.text), lt.phrase(), quote(r.text), rt.phrase()), mismatchHint(op, l, r))
	}
	return !b.failed
}

// mismatchHint says how to compare a number with a text and the like.
func mismatchHint(op string, l, r operand) string {
	for _, p := range [2][2]operand{{l, r}, {r, l}} {
		num, txt := p[0], p[1]
		if !num.typ.plain() && num.typ != BoolType || !txt.typ.text() {
			continue
		}
		if lit, ok := txt.n.(*ast.StringNode); ok && (isNumber(lit.Value) || num.typ == BoolType) {
			if op == "in" {
				return "write " + lit.Value + " without quotes in the list"
			}
			if txt.text == l.text {
				return "write " + lit.Value + " " + op + " " + num.text
			}
			return "write " + num.text + " " + op + " " + lit.Value
		}
		conv := "int"
		if num.typ == FloatType {
			conv = "float"
		}
		if num.typ == BoolType {
			return "write " + txt.text + " " + op + ` "` + num.text + `"`
		}
		if op == "in" {
			return "use one type on the left and in the list"
		}
		if txt.text == l.text {
			return "write " + conv + "(" + txt.text + ") " + op + " " + num.text
		}
		return "write " + num.text + " " + op + " " + conv + "(" + txt.text + ")"
	}
	if l.typ == ListType || r.typ == ListType {
		return "write `value in list`, or compare len(list)"
	}
	return "compare values of one type"
}

// units checks that two numbers may meet: "compared", "added".
func (b *binder) units(from, to int, verb string, l, r operand) bool {
	lt, rt := l.typ, r.typ
	switch {
	case lt == rt, lt.plain() && rt.plain():
		return true
	case lt.unit() && rt.unit():
		detail := "write " + r.text + " as " + lt.phrase() + ", like " + example(lt)
		if _, lit := b.x.scan.units[byteLoc(l.n)]; lit {
			detail = "write " + l.text + " as " + rt.phrase() + ", like " + example(rt)
		}
		b.fail(from, to, "unit-mismatch", fmt.Sprintf("%s is %s and %s is %s; they cannot be %s", quote(l.text), lt.phrase(), quote(r.text), rt.phrase(), verb), detail)
	default:
		bare, unit := l, r
		if lt.unit() {
			bare, unit = r, l
		}
		f, t := span(bare.n)
		b.fail(f, t, "unit-missing", fmt.Sprintf("%s has no unit, and %s is %s", quote(bare.text), quote(unit.text), unit.typ.phrase()), unitHint(bare, unit.typ))
	}
	return false
}

func byteLoc(n ast.Node) int { return n.Location().From }

// unitHint says how a bare number gets a unit.
func unitHint(bare operand, t Type) string {
	if !isNumber(bare.text) {
		return "make " + bare.text + " " + t.phrase() + ", or multiply it: " + bare.text + " * " + map[Type]string{DurationType: "1ms", RateType: "1/s", SizeType: "1KB", ShareType: "1%"}[t]
	}
	suffix := map[Type]string{DurationType: "ms", RateType: "/s", SizeType: "B", ShareType: "%"}[t]
	return "write " + bare.text + suffix
}

func (b *binder) in(n *ast.BinaryNode, lazy bool) {
	from, to := span(n)
	left := operand{n: n.Left, text: b.text(n.Left)}
	list, isList := n.Right.(*ast.ArrayNode)
	left.typ = b.walk(&n.Left, lazy)
	if isList {
		for i, item := range list.Nodes {
			_, isRange := item.(*ast.BinaryNode)
			o := operand{n: item, text: b.text(item), typ: b.walk(&list.Nodes[i], lazy)}
			if isRange && o.typ == ListType && len(list.Nodes) == 1 {
				b.fail(from, to, "type-mismatch", quote(o.text)+" is a list already; brackets make a list of lists", "write "+left.text+" in "+o.text)
				return
			}
			if o.typ != NilType && !b.comparable(from, to, "in", left, o) {
				return
			}
		}
		b.constant(&n.Right, list)
		return
	}
	text := b.text(n.Right)
	switch t := b.walk(&n.Right, lazy); {
	case t.text():
		b.fail(from, to, "type-mismatch", "in looks into a list or a map, and "+quote(text)+" is text", "write "+text+" contains "+left.text)
	case t != ListType && t != MapType && !t.unknown():
		b.fail(from, to, "type-mismatch", "in looks into a list or a map, and "+quote(text)+" is "+t.phrase(), "write "+left.text+" == "+text)
	}
}

func (b *binder) textOperator(n *ast.BinaryNode, lazy bool) {
	from, to := span(n)
	l, r := operand{n: n.Left, text: b.text(n.Left)}, operand{n: n.Right, text: b.text(n.Right)}
	l.typ, r.typ = b.walk(&n.Left, lazy), b.walk(&n.Right, lazy)
	if l.typ == ListType && n.Operator == "contains" {
		b.fail(from, to, "type-mismatch", "contains looks into text, and "+quote(l.text)+" is a list", "write "+r.text+" in "+l.text)
		return
	}
	for _, o := range []operand{l, r} {
		if !o.typ.text() && !o.typ.unknown() && o.typ != NilType {
			b.fail(from, to, "type-mismatch", n.Operator+" needs text on both sides, and "+quote(o.text)+" is "+o.typ.phrase(), "write string("+o.text+")")
			return
		}
	}
	if pattern, ok := r.n.(*ast.StringNode); ok && n.Operator == "matches" {
		if _, err := regexp.Compile(pattern.Value); err != nil {
			b.failAt(pattern, "bad-regex", "the regular expression is wrong: "+regexpWords(err), "correct it; backslashes are doubled in \"...\", not in '...' of YAML")
		}
	}
}

func regexpWords(err error) string {
	if e, ok := err.(interface{ Unwrap() error }); ok && e.Unwrap() != nil {
		err = e.Unwrap()
	}
	return trimPrefix(err.Error(), "error parsing regexp: ")
}
