package expr

import (
	"strings"
	"sync"

	"github.com/expr-lang/expr/ast"

	"runner/plan/source"
)

// explainer tells why a condition was false. What it needs is compiled when it is
// first asked, since most conditions hold.
type explainer struct {
	text string
	env  *Env
	once sync.Once
	all  []clause
}

// clause is one part of a conjunction.
type clause struct {
	text        string
	whole       *code
	op          string
	left, right *code // nil where the clause is no comparison
	constant    bool  // the right side is a literal
}

func (e *explainer) say(s Scope) string {
	e.once.Do(func() { e.all = e.clauses(e.text, 0) })
	for _, c := range e.all {
		v, err := c.whole.value(s)
		if b, ok := v.(bool); err == nil && ok && b {
			continue
		}
		return c.say(s)
	}
	return "expected " + oneLine(e.text)
}

func (c clause) say(s Scope) string {
	out := "expected " + oneLine(c.text)
	if c.left == nil {
		v, err := c.whole.value(s)
		if b, ok := v.(bool); err == nil && ok && !b {
			return out
		}
		return out + ", was " + shown(v, err)
	}
	left, err := c.left.value(s)
	if !c.constant {
		right, err := c.right.value(s)
		out += " (" + shown(right, err) + ")"
	}
	return out + ", was " + shown(left, err)
}

func shown(v any, err error) string {
	if err != nil {
		return "not known (" + err.Error() + ")"
	}
	return literal(v)
}

// clauses splits a conjunction into its parts.
func (e *explainer) clauses(text string, depth int) []clause {
	text = unparen(text)
	x := &expression{text: text, scan: scan(text)}
	tree, err := x.parse(e.env.fns)
	if err != nil || depth > 8 {
		return e.single(text)
	}
	n, ok := tree.Node.(*ast.BinaryNode)
	if !ok {
		return e.single(text)
	}
	from, to := byteOffset(text, n.Location().From), byteOffset(text, n.Location().To)
	left, right := text[:from], text[to:]
	switch n.Operator {
	case "and", "&&":
		return append(e.clauses(left, depth+1), e.clauses(right, depth+1)...)
	case "==", "!=", "<", "<=", ">", ">=", "contains", "matches", "startsWith", "endsWith", "in":
		c := clause{text: text, op: n.Operator, whole: e.compile(text), left: e.compile(left), right: e.compile(right)}
		_, c.constant = constantOf(n.Right)
		if _, list := n.Right.(*ast.ArrayNode); list {
			c.constant = true
		}
		if id, ok := n.Right.(*ast.IdentifierNode); ok {
			_, unit := x.scan.units[id.Location().From]
			c.constant = c.constant || unit
		}
		if c.whole != nil && c.left != nil && c.right != nil {
			return []clause{c}
		}
	}
	return e.single(text)
}

func (e *explainer) single(text string) []clause {
	if c := e.compile(text); c != nil {
		return []clause{{text: text, whole: c}}
	}
	return nil
}

// compile returns the code of a part of the expression, or nil.
func (e *explainer) compile(text string) *code {
	var ds source.Diagnostics
	x := parseExpression(strings.TrimSpace(text), nil, 0, &ds)
	if !x.bind(e.env, &ds) {
		return nil
	}
	return x.code
}

// unparen drops parentheses around the whole of text.
func unparen(text string) string {
	for {
		text = strings.TrimSpace(text)
		if len(text) < 2 || text[0] != '(' || matching(text) != len(text)-1 {
			return text
		}
		text = text[1 : len(text)-1]
	}
}

// matching returns the offset of the parenthesis that closes the first byte.
func matching(text string) int {
	depth := 0
	for i := 0; i < len(text); i++ {
		switch c := text[i]; c {
		case '(':
			depth++
		case ')':
			if depth--; depth == 0 {
				return i
			}
		case '"', '\'', '`':
			j := i + 1
			for j < len(text) && text[j] != c {
				if text[j] == '\\' && c != '`' {
					j++
				}
				j++
			}
			i = j
		}
	}
	return -1
}
