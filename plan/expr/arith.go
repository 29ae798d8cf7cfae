package expr

import (
	"fmt"
	"strings"

	"github.com/expr-lang/expr/ast"
)

func trimPrefix(s, p string) string { return strings.TrimPrefix(s, p) }

// arithmetic checks + - * / % ** and returns the type of the result.
func (b *binder) arithmetic(n *ast.BinaryNode, lazy bool) Type {
	from, to := span(n)
	l, r := operand{n: n.Left, text: b.text(n.Left)}, operand{n: n.Right, text: b.text(n.Right)}
	l.typ, r.typ = b.walk(&n.Left, lazy), b.walk(&n.Right, lazy)
	lt, rt := l.typ, r.typ
	if lt.unknown() || rt.unknown() {
		return unknownResult(n.Operator, lt, rt)
	}
	if n.Operator == "+" && lt.text() && rt.text() {
		return TextType
	}
	if !lt.number() || !rt.number() {
		b.fail(from, to, "type-mismatch", fmt.Sprintf("%s cannot stand between %s and %s", quote(n.Operator), lt.phrase(), rt.phrase()), arithmeticHint(n.Operator, l, r))
		return AnyType
	}
	switch n.Operator {
	case "+", "-":
		if !b.units(from, to, "added", l, r) {
			return AnyType
		}
		return wider(lt, rt)
	case "*":
		if lt.unit() && rt.unit() && lt != ShareType && rt != ShareType {
			b.fail(from, to, "unit-mismatch", lt.phrase()+" times "+rt.phrase()+" has no meaning", "multiply by a plain number")
			return AnyType
		}
		return product(lt, rt)
	case "/":
		return b.quotient(from, to, lt, rt)
	case "%":
		if lt == rt && (lt == IntType || lt == DurationType || lt == SizeType) {
			return lt
		}
		b.fail(from, to, "type-mismatch", "a remainder needs two whole numbers, not "+lt.phrase()+" and "+rt.phrase(), "write int(...) around them; a share is written without a space, as 1%")
		return AnyType
	}
	return FloatType
}

// unknownResult is the type of an operation of which one side is known at run
// time only: adding to text gives text, whatever else is only known then.
func unknownResult(op string, l, r Type) Type {
	if op == "+" && (l.text() || r.text()) {
		return TextType
	}
	return AnyType
}

func wider(l, r Type) Type {
	if l == FloatType || r == FloatType {
		return FloatType
	}
	return l
}

func product(l, r Type) Type {
	switch {
	case l == ShareType:
		return productShare(r)
	case r == ShareType:
		return productShare(l)
	case l.unit():
		return l
	case r.unit():
		return r
	}
	return wider(l, r)
}

func productShare(other Type) Type {
	if other == IntType {
		return FloatType
	}
	return other
}

func (b *binder) quotient(from, to int, l, r Type) Type {
	switch {
	case l == r:
		return FloatType
	case r.plain() && l.unit():
		return l
	case l.plain() && r.plain():
		return FloatType
	}
	b.fail(from, to, "unit-mismatch", l.phrase()+" divided by "+r.phrase()+" has no meaning", "divide by a plain number or by "+l.phrase())
	return AnyType
}

func arithmeticHint(op string, l, r operand) string {
	if op != "+" {
		return "use numbers on both sides"
	}
	switch {
	case l.typ.text():
		return "write " + l.text + " + string(" + r.text + ")"
	case r.typ.text():
		return "write string(" + l.text + ") + " + r.text
	}
	return "use two numbers or two texts"
}

// array walks the items of a list; one of constants alone is made once.
func (b *binder) array(np *ast.Node, n *ast.ArrayNode, lazy bool) {
	for i := range n.Nodes {
		b.walk(&n.Nodes[i], lazy)
	}
	b.constant(np, n)
}

// constant replaces a list of constants by its value.
func (b *binder) constant(np *ast.Node, n *ast.ArrayNode) {
	list := make([]any, len(n.Nodes))
	for i, item := range n.Nodes {
		switch v := item.(type) {
		case *ast.IntegerNode:
			list[i] = int64(v.Value)
		case *ast.FloatNode:
			list[i] = v.Value
		case *ast.StringNode:
			list[i] = v.Value
		case *ast.BoolNode:
			list[i] = v.Value
		default:
			return
		}
	}
	ast.Patch(np, &ast.ConstantNode{Value: list})
}

// builtinResult gives the types of expr's own functions; absent = AnyType. Those
// in sameResult return the type of their arguments.
var builtinResult = map[string]Type{
	"all": BoolType, "none": BoolType, "any": BoolType, "one": BoolType, "filter": ListType, "map": ListType, "count": IntType,
	"findIndex": IntType, "findLastIndex": IntType, "groupBy": MapType, "sortBy": ListType, "len": IntType, "type": TextType,
	"trim": TextType, "trimPrefix": TextType, "trimSuffix": TextType, "upper": TextType, "lower": TextType, "split": ListType,
	"splitAfter": ListType, "replace": TextType, "repeat": TextType, "join": TextType, "indexOf": IntType, "lastIndexOf": IntType,
	"hasPrefix": BoolType, "hasSuffix": BoolType, "toBase64": TextType, "fromBase64": TextType, "take": ListType, "keys": ListType,
	"values": ListType, "toPairs": ListType, "fromPairs": MapType, "reverse": ListType, "uniq": ListType, "concat": ListType,
	"flatten": ListType, "sort": ListType,
}

var sameResult = map[string]bool{"abs": true, "ceil": true, "floor": true, "round": true, "max": true, "min": true}

// textArgument are functions whose first argument is text; listArgument, a list.
var (
	textArgument = map[string]bool{"trim": true, "trimPrefix": true, "trimSuffix": true, "upper": true, "lower": true, "split": true,
		"splitAfter": true, "replace": true, "repeat": true, "indexOf": true, "lastIndexOf": true, "hasPrefix": true, "hasSuffix": true}
	listArgument = map[string]bool{"all": true, "none": true, "any": true, "one": true, "filter": true, "map": true, "find": true,
		"findIndex": true, "findLast": true, "findLastIndex": true, "groupBy": true, "sortBy": true, "reduce": true, "take": true,
		"first": true, "last": true, "join": true, "reverse": true, "uniq": true, "flatten": true, "sort": true, "sum": true}
	needsCondition = map[string]bool{"all": true, "none": true, "any": true, "one": true, "filter": true, "find": true,
		"findIndex": true, "findLast": true, "findLastIndex": true, "count": true}
)

// builtin checks a call of one of expr's own functions.
func (b *binder) builtin(n *ast.BuiltinNode, lazy bool) Type {
	var types []Type
	for i := range n.Arguments {
		text := b.text(n.Arguments[i])
		if p, ok := n.Arguments[i].(*ast.PredicateNode); ok && needsCondition[n.Name] {
			if t := b.predicate(p); t != BoolType && !t.unknown() {
				b.failAt(p, "not-a-condition", "the condition of "+n.Name+" must be true or false, and "+quote(text)+" is "+t.phrase(), conditionHint(text, t))
			}
			types = append(types, BoolType)
			continue
		}
		types = append(types, b.walk(&n.Arguments[i], lazy))
		if i == 0 {
			b.argument(n, text, types[0])
		}
	}
	if sameResult[n.Name] && len(types) > 0 {
		t := types[0]
		for _, other := range types {
			t = join(t, other)
		}
		if t == ListType {
			return AnyType
		}
		return t
	}
	return builtinResult[n.Name]
}

func (b *binder) argument(n *ast.BuiltinNode, text string, t Type) {
	if t.unknown() {
		return
	}
	l := n.Location()
	switch {
	case n.Name == "len" && t != ListType && t != MapType && !t.text():
		b.fail(l.From, l.To, "type-mismatch", "len counts text, lists and maps, and "+quote(text)+" is "+t.phrase(), "write "+text+" alone, or len(string("+text+"))")
	case textArgument[n.Name] && !t.text():
		b.fail(l.From, l.To, "type-mismatch", n.Name+" needs text, and "+quote(text)+" is "+t.phrase(), "write "+n.Name+"(string("+text+"), ...)")
	case listArgument[n.Name] && t != ListType:
		b.fail(l.From, l.To, "type-mismatch", n.Name+" needs a list, and "+quote(text)+" is "+t.phrase(), "give it a list")
	}
}

// call checks a call of one of the language's own functions and passes it the
// machine.
func (b *binder) call(np *ast.Node, n *ast.CallNode, lazy bool) Type {
	fn, ok := b.function(n)
	for i := range n.Arguments {
		b.walk(&n.Arguments[i], lazy)
	}
	if !ok {
		return AnyType
	}
	b.calls = true
	args := append([]ast.Node{&ast.IdentifierNode{Value: machineKey}}, n.Arguments...)
	if fn.Name == "file" {
		args = append(args, &ast.StringNode{Value: b.fileName()})
		b.checkFile(n)
	}
	patched := &ast.CallNode{Callee: &ast.IdentifierNode{Value: fn.Name}, Arguments: args}
	patched.Callee.SetLocation(n.Location())
	args[0].SetLocation(n.Location())
	ast.Patch(np, patched)
	return fn.Result
}

// fileName returns the name of the plan file that the expression stands in.
func (b *binder) fileName() string {
	if b.x.node == nil || b.x.node.Range.File == nil {
		return ""
	}
	return b.x.node.Range.File.Name
}

// checkFile opens the file of file("constant") now, so that a missing one is
// found before the run.
func (b *binder) checkFile(n *ast.CallNode) {
	path, ok := n.Arguments[0].(*ast.StringNode)
	if !ok || b.env.fns.ReadFile == nil {
		return
	}
	if _, err := b.env.fns.ReadFile(b.fileName(), path.Value); err != nil {
		b.failAt(path, "file", err.Error(), "paths are relative to the file in which they stand")
	}
}
