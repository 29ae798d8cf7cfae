package expr

import (
	"fmt"

	"runner/plan/source"
)

// Condition is a bare expression: the X of the grammar. Despite its name it may
// stand for any value (`split_by`, `record`, `foreach`); EvalBool wants true or
// false. The zero Condition is not set.
type Condition struct {
	x       *expression
	node    *source.Node
	explain *explainer
}

// Decode reads the expression of the scalar n and checks its syntax.
func (c *Condition) Decode(n *source.Node, ds *source.Diagnostics) {
	*c = Condition{node: n}
	if n == nil {
		return
	}
	if n.Kind != source.Scalar {
		ds.Add(n.Range, "wrong-type", n.Kind.String()+" stands where an expression is needed", "write one expression, in quotes if it has brackets or braces")
		return
	}
	if n.Null {
		ds.Add(n.Range, "empty-expression", "the expression is missing", "write an expression, as in `json.id == 7`")
		return
	}
	c.x = parseExpression(n.Text, n, 0, ds)
}

// Bind compiles the expression for env. It may be of any type; see BindBool.
func (c *Condition) Bind(env *Env, ds *source.Diagnostics) {
	if c.x.bind(env, ds) {
		c.explain = &explainer{text: c.x.text, env: env}
	}
}

// BindBool is Bind for an expression that must be true or false.
func (c *Condition) BindBool(env *Env, ds *source.Diagnostics) {
	before := len(*ds)
	c.Bind(env, ds)
	if c.x == nil || c.x.code == nil || len(*ds) > before {
		return
	}
	if t := c.x.code.result; t != BoolType && !t.unknown() {
		ds.Add(c.x.at(0, len(c.x.text)), "not-a-condition", quote(c.x.text)+" is "+t.phrase()+", not a condition", conditionHint(c.x.text, t))
	}
}

// Eval returns the value of the expression.
func (c *Condition) Eval(s Scope) (any, error) {
	if c.x == nil {
		return nil, errUnbound
	}
	return c.x.code.runIn(c.x, s)
}

// EvalBool returns the value of an expression that must be true or false.
func (c *Condition) EvalBool(s Scope) (bool, error) {
	v, err := c.Eval(s)
	if err != nil {
		return false, err
	}
	b, ok := v.(bool)
	if !ok {
		err := fmt.Errorf("%s is not true or false; %s", show(v), conditionHint(oneLine(c.x.text), TypeOf(v)))
		return false, &EvalError{Source: c.x.text, Range: c.Range(), Err: err}
	}
	return b, nil
}

// Explain says, for a condition that was false, what was expected and what was
// found: "expected json.id == 7, was 8". Secrets are masked.
func (c *Condition) Explain(s Scope) string {
	if c.x == nil || c.explain == nil {
		return "expected " + oneLine(c.Source())
	}
	return c.explain.say(s)
}

// Type returns the static type, after Bind.
func (c *Condition) Type() Type {
	if c.x == nil || c.x.code == nil {
		return AnyType
	}
	return c.x.code.result
}

// Uses returns the names that the expression reads, after Bind.
func (c *Condition) Uses() []Use {
	if c.x == nil || c.x.code == nil {
		return nil
	}
	return c.x.code.uses
}

// Names returns the declared names that the expression reads, each once, in the
// order of their first use.
func (c *Condition) Names() []string {
	var out []string
	seen := map[string]bool{}
	for _, u := range c.Uses() {
		if !seen[u.Name] {
			seen[u.Name] = true
			out = append(out, u.Name)
		}
	}
	return out
}

// Range returns the place of the expression.
func (c *Condition) Range() source.Range {
	if c.node == nil {
		return source.Range{}
	}
	return c.node.Range
}

// Source returns the expression as written.
func (c *Condition) Source() string {
	if c.node == nil {
		return ""
	}
	return c.node.Text
}

// IsSet reports whether an expression was given.
func (c *Condition) IsSet() bool { return c.x != nil }
