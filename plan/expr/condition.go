package expr

import (
	"fmt"
	"strings"

	"runner/plan/source"
)

// Condition is a bare expression that must be true or false: the X of `if`,
// `until`, `that`. The zero Condition is not set.
type Condition struct {
	x       *expression
	node    *source.Node
	explain *explainer
}

// Expression is a bare expression of any type: the X of `foreach`, `extract`,
// `record`, `split_by`.
type Expression struct{ Condition }

// Bind compiles the expression for env, whatever its type.
func (e *Expression) Bind(env *Env, ds *source.Diagnostics) { e.BindValue(env, ds) }

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

// Bind compiles the expression for env and reports one that is known to be
// neither true nor false.
func (c *Condition) Bind(env *Env, ds *source.Diagnostics) {
	if !c.BindValue(env, ds) {
		return
	}
	if t := c.x.code.result; t != BoolType && !t.unknown() {
		ds.Add(c.x.at(0, len(c.x.text)), "not-a-condition", quote(c.x.text)+" is "+t.phrase()+", not a condition", conditionHint(strings.TrimSpace(c.x.text), t))
	}
}

// BindValue compiles the expression for env, whatever its type; it reports
// problems and returns whether there were none.
func (c *Condition) BindValue(env *Env, ds *source.Diagnostics) bool {
	ok := c.x.bind(env, ds)
	if ok {
		if c.node != nil {
			env = env.at(c.node.Range)
		}
		c.explain = &explainer{text: c.x.text, env: env}
	}
	return ok
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
	if c.x != nil {
		if v, ok, err := c.x.code.truth(s); ok {
			return v, err
		}
	}
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
