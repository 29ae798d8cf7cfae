package assertions

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

// judge applies the operators to what the path found.
func (a *jsonValue) judge(t *element.Thread, path *query.JSONPath, found []any) error {
	name := cutSource(a.Path.Source())
	exists := true
	if a.Exists.IsSet() {
		var err error
		if exists, err = a.Exists.Eval(t); err != nil {
			return err
		}
	}
	switch {
	case !exists && len(found) == 0:
		return nil
	case !exists:
		return fail(t, name+" is there", "nothing", show(t, found[0]))
	case !path.Singular() && a.Length.IsSet():
		if err := a.length(t, name, int64(len(found)), "matches"); err != nil || !a.perValue() {
			return err
		}
	}
	if len(found) == 0 {
		return fail(t, name+" is not there", "a value", "nothing")
	}
	for _, v := range found {
		if err := a.one(t, name, v, path.Singular()); err != nil {
			return err
		}
	}
	return nil
}

func (a *jsonValue) perValue() bool {
	return a.Equals.IsSet() || a.Contains.IsSet() || a.Matches.IsSet() || a.Type != "" || a.Min.IsSet() || a.Max.IsSet()
}

// one applies the operators to one value.
func (a *jsonValue) one(t *element.Thread, name string, v any, singular bool) error {
	if a.Type != "" && !hasType(v, a.Type) {
		return fail(t, name+" is not of type "+a.Type, a.Type, kindOf(v)+", "+show(t, v))
	}
	if a.Equals.IsSet() {
		if err := a.equals(t, name, v); err != nil {
			return err
		}
	}
	if a.Contains.IsSet() {
		if err := a.contains(t, name, v); err != nil {
			return err
		}
	}
	if a.Matches.IsSet() {
		text, err := expr.FormatText(v)
		if s, ok := v.(string); ok {
			text, err = s, nil
		}
		if err != nil || kindOf(v) == "a list" || kindOf(v) == "an object" {
			return fail(t, name+" is "+kindOf(v)+", not text", "text that matches "+written(&a.Matches), show(t, v))
		}
		if err := matches(t, name, []byte(text), &a.Matches, &a.regexes, true); err != nil {
			return err
		}
	}
	if a.Length.IsSet() && singular {
		n, unit := lengthOf(v)
		if unit == "" {
			return fail(t, name+" is "+kindOf(v)+" and has no length", "text, a list or an object", show(t, v))
		}
		if err := a.length(t, name, n, unit); err != nil {
			return err
		}
	}
	return a.bounds(t, name, v)
}

func (a *jsonValue) equals(t *element.Thread, name string, v any) error {
	want, err := a.expected(t)
	if err != nil || equal(v, want) {
		return err
	}
	message := name + " does not equal " + cutSource(a.Equals.Source())
	if have, need := kindOf(v), kindOf(want); have != need {
		message = name + " is " + have + ", not " + need
	}
	return fail(t, message, show(t, want), show(t, v))
}

func (a *jsonValue) contains(t *element.Thread, name string, v any) error {
	want, err := operand(a.Contains, t)
	if err != nil {
		return err
	}
	switch v := v.(type) {
	case string:
		if text, err := expr.FormatText(want); err == nil && strings.Contains(v, text) {
			return nil
		}
	case []any:
		for _, item := range v {
			if equal(item, want) {
				return nil
			}
		}
	case map[string]any:
		if key, ok := want.(string); ok {
			if _, ok := v[key]; ok {
				return nil
			}
		}
	default:
		return fail(t, name+" is "+kindOf(v)+" and contains nothing", "text, a list or an object", show(t, v))
	}
	return fail(t, name+" does not contain "+cutSource(a.Contains.Source()), kindOf(v)+" containing "+show(t, want), show(t, v))
}

func (a *jsonValue) length(t *element.Thread, name string, have int64, unit string) error {
	want, err := a.Length.Eval(t)
	if err != nil || want == have {
		return err
	}
	return fail(t, fmt.Sprintf("the length of %s is not %s", name, written(&a.Length)), fmt.Sprintf("%d %s", want, unit), strconv.FormatInt(have, 10))
}

func lengthOf(v any) (int64, string) {
	switch v := v.(type) {
	case string:
		return int64(utf8.RuneCountInString(v)), "characters"
	case []any:
		return int64(len(v)), "items"
	case map[string]any:
		return int64(len(v)), "keys"
	}
	return 0, ""
}

func (a *jsonValue) bounds(t *element.Thread, name string, v any) error {
	for i, bound := range [...]*expr.Float{&a.Min, &a.Max} {
		if !bound.IsSet() {
			continue
		}
		limit, err := bound.Eval(t)
		if err != nil {
			return err
		}
		n, ok := toFloat(v)
		if !ok {
			return fail(t, name+" is "+kindOf(v)+", not a number", "a number", show(t, v))
		}
		if i == 0 && !(n >= limit) || i == 1 && !(n <= limit) {
			return fail(t, name+[...]string{" is below ", " is above "}[i]+written(bound), [...]string{"at least ", "at most "}[i]+show(t, limit), show(t, v))
		}
	}
	return nil
}

func hasType(v any, name string) bool {
	switch name {
	case "string":
		return kindOf(v) == "text"
	case "number":
		return kindOf(v) == "a number"
	case "integer":
		f, ok := toFloat(v)
		return ok && f == float64(int64(f))
	case "boolean":
		return kindOf(v) == "a boolean"
	case "array":
		return kindOf(v) == "a list"
	case "object":
		return kindOf(v) == "an object"
	}
	return v == nil
}
