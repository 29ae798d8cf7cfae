package expr

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/checker"
	"github.com/expr-lang/expr/compiler"
	"github.com/expr-lang/expr/parser"

	"runner/plan/source"
)

// binder resolves the names of one tree, checks its types and units, and patches
// it into what the VM runs.
type binder struct {
	x      *expression
	env    *Env
	ds     *source.Diagnostics
	failed bool

	names  map[string]*name // by key
	order  []*name
	uses   []Use
	locals []local // let variables, innermost last
	calls  bool    // a function needs the machine
	depth  int     // of predicates
}

type local struct {
	name string
	typ  Type
}

// name is one name that a program loads before it runs.
type name struct {
	key  string // in the VM's map
	name string // in the Scope
	typ  Type
	path *Path // a path below a JSON root
	root string
	tail []any // members below root where name is dotted
	must bool  // evaluated whatever happens: unset is an error at once
	soft bool  // unset is nil
}

// bind compiles x for env. It reports problems and returns whether there were
// none.
func (x *expression) bind(env *Env, ds *source.Diagnostics) bool {
	if x == nil || x.bad {
		return false
	}
	if x.node != nil {
		env = env.at(x.node.Range)
	}
	tree, err := x.fresh(env.fns)
	if err != nil {
		x.syntax(err, ds)
		return false
	}
	b := &binder{x: x, env: env, ds: ds, names: map[string]*name{}}
	result := b.walk(&tree.Node, false)
	c := &code{x: x, names: b.order, uses: b.uses, result: result, calls: b.calls}
	x.code = c
	if b.failed {
		return false
	}
	if c.direct = b.direct(tree.Node); c.direct != nil {
		return true
	}
	if err := b.compile(tree, c); err != nil {
		x.syntax(err, ds)
		x.code.broken = true
		return false
	}
	return true
}

func (b *binder) compile(tree *parser.Tree, c *code) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the expression cannot be compiled: %v", r)
		}
	}()
	config := b.env.fns.compiler()
	if _, err = checker.Check(tree, config); err != nil {
		return err
	}
	c.program, err = compiler.Compile(tree, config)
	return err
}

// fail reports a problem over the rune offsets [from, to).
func (b *binder) fail(from, to int, code, summary, detail string) {
	b.failed = true
	b.ds.Add(b.x.runes(from, to), code, summary, detail)
}

// failAt reports a problem over a whole subtree.
func (b *binder) failAt(n ast.Node, code, summary, detail string) {
	from, to := span(n)
	b.fail(from, to, code, summary, detail)
}

// source returns the text of a subtree as written, nearly: closing brackets are
// not known to the tree.
func (b *binder) text(n ast.Node) string {
	from, to := span(n)
	text := b.x.text[byteOffset(b.x.text, from):byteOffset(b.x.text, to)]
	for _, pair := range []string{"()", "[]", "{}"} {
		if d := strings.Count(text, pair[:1]) - strings.Count(text, pair[1:]); d > 0 {
			text += strings.Repeat(pair[1:], d)
		}
	}
	return text
}

// chain returns the identifier that a chain of constant members begins with, and
// the members. ok is false where n is not such a chain.
func (b *binder) chain(n ast.Node) (root *ast.IdentifierNode, steps []ast.Node, optional, ok bool) {
	for {
		switch v := n.(type) {
		case *ast.ChainNode:
			n, optional = v.Node, true
		case *ast.MemberNode:
			if !constantStep(v.Property) || v.Method {
				return nil, nil, false, false
			}
			steps = append([]ast.Node{v.Property}, steps...)
			n = v.Node
		case *ast.IdentifierNode:
			if _, unit := b.x.scan.units[v.Location().From]; unit || b.local(v.Value) != nil {
				return nil, nil, false, false
			}
			return v, steps, optional, true
		default:
			return nil, nil, false, false
		}
	}
}

func constantStep(n ast.Node) bool { _, ok := stepOf(n); return ok }

func stepOf(n ast.Node) (any, bool) {
	switch v := n.(type) {
	case *ast.StringNode:
		return v.Value, true
	case *ast.IntegerNode:
		return v.Value, true
	case *ast.UnaryNode:
		if i, ok := v.Node.(*ast.IntegerNode); ok && v.Operator == "-" {
			return -i.Value, true
		}
	}
	return nil, false
}

func (b *binder) local(name string) *local {
	for i := len(b.locals) - 1; i >= 0; i-- {
		if b.locals[i].name == name {
			return &b.locals[i]
		}
	}
	return nil
}

// resolve replaces a chain of members by what is loaded for it. soft is the left
// of `??`: nothing there can fail.
func (b *binder) resolve(np *ast.Node, root *ast.IdentifierNode, steps []ast.Node, soft, lazy bool) Type {
	full, typ, used, ok := b.declared(root, steps)
	if !ok {
		return AnyType
	}
	b.headerCase(full, steps[used:])
	from, to := span(*np)
	prefix := b.env.runtime(full)
	full = prefix + full
	n := &name{name: full, typ: typ, soft: soft, must: !soft && !lazy, root: prefix + root.Value}
	for _, s := range steps[:used] {
		step, _ := stepOf(s)
		n.tail = append(n.tail, step)
	}
	rest := steps[used:]
	if typ == JSONType && len(rest) > 0 {
		n.path = &Path{Root: full, Text: full}
		for _, s := range rest {
			step, _ := stepOf(s)
			n.path.Steps = append(n.path.Steps, step)
			n.path.Text += stepText(step)
		}
		n.name, n.typ, typ, rest = n.path.Text, AnyType, AnyType, nil
	}
	b.uses = append(b.uses, Use{Name: full, Range: b.x.runes(from, to), Guarded: soft})
	n = b.load(n)
	var node ast.Node = &ast.IdentifierNode{Value: n.key}
	node.SetLocation((*np).Location())
	if lazy && !soft {
		node = call("@need", node)
	}
	typ = b.members(&node, typ, rest, soft)
	ast.Patch(np, node)
	return typ
}

// members applies the members that are not part of the loaded name.
func (b *binder) members(node *ast.Node, typ Type, rest []ast.Node, soft bool) Type {
	if len(rest) == 0 {
		return typ
	}
	if !typ.unknown() && typ != MapType && typ != ListType && !(typ == TextType && isIndex(rest[0])) {
		b.noMember(typ, rest[0])
		return AnyType
	}
	if typ == ListType && !isIndex(rest[0]) {
		b.noMember(typ, rest[0])
		return AnyType
	}
	fn := "@member"
	if soft {
		fn = "@soft"
	}
	args := append([]ast.Node{*node}, rest...)
	*node = call(fn, args...)
	return AnyType
}

func isIndex(n ast.Node) bool { s, _ := stepOf(n); _, ok := s.(int); return ok }

func (b *binder) noMember(typ Type, step ast.Node) {
	s, _ := stepOf(step)
	detail := "remove ." + fmt.Sprint(s)
	switch s {
	case "length", "size", "count", "len":
		if typ == ListType || typ == TextType {
			detail = "write len(...) around the name"
		}
	}
	l := step.Location()
	b.fail(l.From, l.To, "no-member", fmt.Sprintf("%s has no member %v", typ.phrase(), s), detail)
}

func stepText(step any) string {
	if s, ok := step.(string); ok {
		if s != "" && wordLength(s) == len(s) && (s[0] < '0' || s[0] > '9') {
			return "." + s
		}
		return "[" + strconv.Quote(s) + "]"
	}
	return fmt.Sprintf("[%v]", step)
}

// load merges n into the names that are loaded. A name that is loaded softly has
// a key of its own, since an unset one is nil there only.
func (b *binder) load(n *name) *name {
	n.key = "." + n.name // so that no function has the name
	if n.soft {
		n.key += "?"
	}
	if old := b.names[n.key]; old != nil {
		old.must = old.must || n.must
		return old
	}
	b.names[n.key] = n
	b.order = append(b.order, n)
	return n
}

// call returns a call of an internal function at the place of its first argument.
func call(fn string, args ...ast.Node) ast.Node {
	callee := &ast.IdentifierNode{Value: fn}
	n := &ast.CallNode{Callee: callee, Arguments: args}
	if len(args) > 0 {
		callee.SetLocation(args[0].Location())
		n.SetLocation(args[0].Location())
	}
	return n
}
