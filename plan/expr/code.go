package expr

import (
	"errors"
	"math"
	"strings"
	"time"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// machineKey is the name under which a program finds its machine.
const machineKey = "@machine"

var errUnbound = errors.New("the expression was not bound to its names")

// code is a compiled expression. It is immutable and shared by all threads.
type code struct {
	x       *expression
	names   []*name
	uses    []Use
	result  Type
	calls   bool
	broken  bool
	direct  *direct     // set where the VM is not needed
	program *vm.Program // else
}

func constantOf(n ast.Node) (any, bool) {
	switch v := n.(type) {
	case *ast.IntegerNode:
		return int64(v.Value), true
	case *ast.FloatNode:
		return v.Value, true
	case *ast.StringNode:
		return v.Value, true
	case *ast.BoolNode:
		return v.Value, true
	case *ast.ConstantNode:
		return v.Value, true
	case *ast.NilNode:
		return nil, true
	case *ast.UnaryNode:
		if v.Operator != "-" {
			return nil, false
		}
		switch v := v.Node.(type) {
		case *ast.IntegerNode:
			return int64(-v.Value), true
		case *ast.FloatNode:
			return -v.Value, true
		}
	}
	return nil, false
}

// constantNil reports whether c is the literal nil.
func (c *code) constantNil() bool {
	return c.result == NilType && c.direct != nil && c.direct.kind == directConstant
}

// truth evaluates c where it must be true or false, without boxing; ok is false
// where it is not that kind of code.
func (c *code) truth(s Scope) (value, ok bool, err error) {
	if c == nil || c.broken || c.direct == nil || c.result != BoolType {
		return false, false, nil
	}
	value, err = c.direct.truth(s)
	if err != nil {
		err = &EvalError{Source: c.x.text, Range: c.x.at(0, len(c.x.text)), Err: err}
	}
	return value, true, err
}

// run evaluates c. A text that was made from a secret is a secret.
func (c *code) run(s Scope) (any, error) {
	v, err := c.value(s)
	if err != nil {
		return nil, &EvalError{Source: c.x.text, Range: c.x.at(0, len(c.x.text)), Err: err}
	}
	return v, nil
}

func (c *code) value(s Scope) (any, error) {
	switch {
	case c == nil || c.broken:
		return nil, errUnbound
	case c.direct != nil:
		v, err := c.direct.eval(s)
		if err != nil || !c.result.unit() {
			return v, err
		}
		return withUnit(v, c.result), nil
	case c.program == nil:
		return nil, errUnbound
	}
	m := s.Machine()
	if m == nil {
		return nil, errUnbound
	}
	m = m.enter(s)
	defer m.leave()
	secret, err := c.fill(m, s)
	if err != nil {
		return nil, err
	}
	out, err := m.vm.Run(c.program, m.names)
	if err != nil && secret {
		return nil, c.masked(cause(err), s)
	}
	if err != nil {
		return nil, cause(err)
	}
	if text, ok := out.(string); ok && secret {
		return Secret{text}, nil
	}
	return withUnit(out, c.result), nil
}

// masked hides the secrets that c read in the message of err.
func (c *code) masked(err error, s Scope) error {
	var unset *UnsetError
	if errors.As(err, &unset) {
		return err
	}
	text := err.Error()
	for _, n := range c.names {
		if v, _ := n.lookup(s); v != nil {
			if secret, ok := v.(Secret); ok && secret.text != "" {
				text = strings.ReplaceAll(text, secret.text, "***")
			}
		}
	}
	return errors.New(text)
}

// fill puts the values of all names of the program into the machine's map.
func (c *code) fill(m *Machine, s Scope) (secret bool, err error) {
	for _, n := range c.names {
		v, ok := n.lookup(s)
		switch {
		case ok:
			if t, is := v.(Secret); is {
				v, secret = t.text, true
			}
			v = plain(v)
		case n.must:
			return false, &UnsetError{n.name}
		case !n.soft:
			v = &UnsetError{n.name}
		}
		m.names[n.key] = v
	}
	if c.calls {
		m.names[machineKey] = m
	}
	return secret, nil
}

// value returns what a lone name stands for.
func (n *name) value(s Scope) (any, error) {
	v, ok := n.lookup(s)
	if !ok && !n.soft {
		return nil, &UnsetError{n.name}
	}
	return v, nil
}

// lookup asks the scope for the name, or for its root and then the members.
func (n *name) lookup(s Scope) (any, bool) {
	if n.path != nil {
		if ps, ok := s.(PathScope); ok {
			return ps.LookupPath(n.path)
		}
		v, ok := s.Lookup(n.path.Root)
		if !ok {
			return nil, false
		}
		return fetchAll(v, n.path.Steps), true
	}
	v, ok := s.Lookup(n.name)
	if ok || len(n.tail) == 0 {
		return v, ok
	}
	if v, ok = s.Lookup(n.root); !ok {
		return nil, false
	}
	v = fetchAll(v, n.tail)
	return v, v != nil
}

// plain turns a value with a unit into the plain number that programs use.
func plain(v any) any {
	switch v := v.(type) {
	case time.Duration:
		return int(v)
	case Size:
		return int(v)
	case Rate:
		return float64(v)
	case Share:
		return float64(v)
	}
	return v
}

// withUnit gives the result of a program the unit that the check found, and its
// integers the language's type.
func withUnit(v any, t Type) any {
	if !t.unit() {
		if n, ok := v.(int); ok {
			return int64(n)
		}
		return v
	}
	if TypeOf(v) == t {
		return v
	}
	f, ok := number(v)
	if !ok {
		return v
	}
	switch t {
	case DurationType:
		if n, ok := toInt(v); ok {
			return time.Duration(n)
		}
		return time.Duration(clampInt(f))
	case SizeType:
		if n, ok := toInt(v); ok {
			return Size(n)
		}
		return Size(clampInt(f))
	case RateType:
		return Rate(f)
	}
	return Share(f)
}

func clampInt(f float64) int64 {
	switch {
	case math.IsNaN(f):
		return 0
	case f >= math.MaxInt64:
		return math.MaxInt64
	case f <= math.MinInt64:
		return math.MinInt64
	}
	return int64(math.Round(f))
}

// number returns any number, with or without a unit, as a float.
func number(v any) (float64, bool) {
	switch v := v.(type) {
	case time.Duration:
		return float64(v), true
	case Size:
		return float64(v), true
	case Rate:
		return float64(v), true
	case Share:
		return float64(v), true
	}
	if n, ok := toInt(v); ok {
		return float64(n), true
	}
	return toFloat(v)
}

// integer returns any whole number, with or without a unit.
func integer(v any) (int64, bool) {
	switch v := v.(type) {
	case time.Duration:
		return int64(v), true
	case Size:
		return int64(v), true
	}
	return toInt(v)
}
