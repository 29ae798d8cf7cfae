package expr

import (
	"cmp"
	"fmt"
	"reflect"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/vm/runtime"
)

// internalFunctions are called by patched trees only; their names cannot be
// written in an expression.
var internalFunctions = []*builtin.Function{
	{Name: "@need", Func: need},
	{Name: "@equal", Func: func(args ...any) (any, error) { return equal(args[0], args[1]) }},
	{Name: "@soft", Func: func(args ...any) (any, error) { return fetchAll(args[0], args[1:]), nil }},
	{Name: "@member", Func: member},
	{Name: "@tick", Func: tick},
	{Name: "@add", Func: add},
}

// The limits of one evaluation: the passes of nested predicates, the bytes of a
// text or of a list made into text, the comparisons within two lists.
const (
	maxTicks    = 1_000_000
	maxText     = 32 << 20
	maxCompared = 10_000_000
)

var errTooLong = &TypeError{"the text grows beyond 32 MiB"}

// tick counts the passes of nested predicates.
func tick(args ...any) (any, error) {
	m := args[0].(*Machine)
	if m.ticks++; m.ticks > maxTicks {
		return nil, &TypeError{"the expression takes too many steps"}
	}
	return nil, nil
}

// add is + where a text could be doubled again and again.
func add(args ...any) (any, error) {
	x, ok1 := args[0].(string)
	y, ok2 := args[1].(string)
	if ok1 && ok2 {
		if len(x)+len(y) > maxText {
			return nil, errTooLong
		}
		return x + y, nil
	}
	_, isNumber1 := number(args[0])
	_, isNumber2 := number(args[1])
	if !isNumber1 || !isNumber2 {
		return nil, &TypeError{fmt.Sprintf("+ cannot stand between %s and %s", show(args[0]), show(args[1]))}
	}
	return runtime.Add(args[0], args[1]), nil
}

// need passes a value on unless its name is unset.
func need(args ...any) (any, error) {
	if e, ok := args[0].(*UnsetError); ok {
		return nil, e
	}
	return args[0], nil
}

// member fetches members; a missing key of a map is nil, as is everything below
// it, but an index out of range and a member of a plain value are errors.
func member(args ...any) (any, error) {
	v := args[0]
	for _, step := range args[1:] {
		next, err := fetch(v, step)
		if err != nil {
			return nil, err
		}
		v = next
	}
	return v, nil
}

// fetchAll fetches members, nil where there are none.
func fetchAll(v any, steps []any) any {
	for _, step := range steps {
		next, err := fetch(v, step)
		if err != nil || next == nil {
			return nil
		}
		v = next
	}
	return v
}

func fetch(v, step any) (any, error) {
	key, isKey := step.(string)
	index, isIndex := toInt(step)
	switch v := v.(type) {
	case nil:
		return nil, &TypeError{fmt.Sprintf("nil has no member %v; guard it with ??", step)}
	case map[string]any:
		if isKey {
			return v[key], nil
		}
	case map[string]string:
		if s, ok := v[key]; ok && isKey {
			return s, nil
		} else if isKey {
			return nil, nil
		}
	case []any:
		if isIndex {
			return item(index, len(v), func(i int) any { return v[i] })
		}
	case []map[string]any:
		if isIndex {
			return item(index, len(v), func(i int) any { return v[i] })
		}
	case string:
		if isIndex {
			return item(index, len(v), func(i int) any { return v[i : i+1] })
		}
	default:
		if r := reflect.ValueOf(v); r.Kind() == reflect.Slice && isIndex {
			return item(index, r.Len(), func(i int) any { return r.Index(i).Interface() })
		}
	}
	what := TypeOf(v).phrase()
	if isKey && (key == "length" || key == "size") {
		return nil, &TypeError{fmt.Sprintf("%s has no member %s; write len(...)", what, key)}
	}
	if isKey {
		return nil, &TypeError{fmt.Sprintf("%s has no member %s", what, key)}
	}
	return nil, &TypeError{fmt.Sprintf("%s has no item [%v]", what, step)}
}

func item(i int64, n int, get func(int) any) (any, error) {
	at := i
	if at < 0 {
		at += int64(n)
	}
	if at < 0 || at >= int64(n) {
		return nil, &TypeError{fmt.Sprintf("the index %d is out of range; there are %s", i, plural(n, "item"))}
	}
	return get(int(at)), nil
}

// equal compares two values. A number and a text are never equal, and comparing
// them is a mistake in the plan, so it is an error.
func equal(a, b any) (bool, error) {
	if x, ok := integer(a); ok {
		if y, ok := integer(b); ok {
			return x == y, nil
		}
	}
	if x, ok := number(a); ok {
		if y, ok := number(b); ok {
			return x == y, nil
		}
	}
	x, xText := textOf(a)
	y, yText := textOf(b)
	if xText && yText {
		return x == y, nil
	}
	ta, tb := TypeOf(a), TypeOf(b)
	if p, ok := a.(bool); ok {
		if q, ok := b.(bool); ok {
			return p == q, nil
		}
	}
	if ta == NilType || tb == NilType {
		return ta == tb, nil
	}
	if (xText || yText) && (ta.number() || tb.number() || ta == BoolType || tb == BoolType) {
		return false, &TypeError{fmt.Sprintf("%s is compared with %s; convert one of them with string(...), int(...) or float(...)", show(a), show(b))}
	}
	budget := maxCompared
	return deepEqual(a, b, &budget), nil
}

// deepEqual compares lists and maps; numbers in them by value. Beyond the budget
// values count as different.
func deepEqual(a, b any, budget *int) bool {
	if *budget--; *budget < 0 {
		return false
	}
	switch x := a.(type) {
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !deepEqual(x[i], y[i], budget) {
				return false
			}
		}
		return true
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for k := range x {
			if other, ok := y[k]; !ok || !deepEqual(x[k], other, budget) {
				return false
			}
		}
		return true
	}
	if x, ok := number(a); ok {
		y, ok := number(b)
		return ok && x == y
	}
	if x, ok := textOf(a); ok {
		y, ok := textOf(b)
		return ok && x == y
	}
	return reflect.DeepEqual(a, b)
}

func textOf(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case []byte:
		return string(v), true
	case Secret:
		return v.text, true
	}
	return "", false
}

// unordered is the order of a number and NaN.
const unordered = 2

func order(a, b any) (int, error) {
	if x, ok := integer(a); ok {
		if y, ok := integer(b); ok {
			return cmp.Compare(x, y), nil
		}
	}
	if x, ok := number(a); ok {
		if y, ok := number(b); ok {
			switch {
			case x < y:
				return -1, nil
			case x > y:
				return 1, nil
			case x == y:
				return 0, nil
			}
			return unordered, nil
		}
	}
	if x, ok := textOf(a); ok {
		if y, ok := textOf(b); ok {
			return cmp.Compare(x, y), nil
		}
	}
	return 0, &TypeError{fmt.Sprintf("%s is compared with %s", show(a), show(b))}
}

// show prints a value for a message: its type and, short, what it is.
func show(v any) string {
	if v == nil {
		return "nil"
	}
	return literal(v) + " (" + TypeOf(v).String() + ")"
}

// literal prints a value as an expression would have it, shortened, secrets
// masked.
func literal(v any) string {
	switch v := v.(type) {
	case nil:
		return "nil"
	case Secret:
		return v.String()
	case string:
		return `"` + oneLine(v) + `"`
	}
	text, err := FormatText(v)
	if err != nil {
		return err.Error()
	}
	return oneLine(text)
}
