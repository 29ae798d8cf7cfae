package assertions

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

// valueJudgement is what can be asked of values of a JSON document.
type valueJudgement struct {
	Equals     expr.Tree   `plan:"equals" doc:"what the value must be; lists and maps are compared as a whole"`
	EqualsAny  []expr.Tree `plan:"equals_any,nonempty" doc:"values of which it must be one"`
	NotEquals  expr.Tree   `plan:"not_equals" doc:"what the value must not be"`
	Matches    expr.String `plan:"matches" doc:"regular expression that must match somewhere in the text"`
	NotMatches expr.String `plan:"not_matches" doc:"regular expression that may match nowhere in the text"`
	Contains   expr.Tree   `plan:"contains" doc:"text that must occur in a text, item of a list, or key of an object"`
	NotContain expr.Tree   `plan:"not_contains" doc:"text, item or key that must not occur"`
	Exists     expr.Bool   `plan:"exists" doc:"false: it must not be there" default:"true"`
	Type       string      `plan:"type" doc:"the kind of the value, in JSON's words; \"null\" needs its quotes" enum:"string|number|integer|boolean|array|object|null"`
	Length     expr.Int    `plan:"length" doc:"number of characters, items or keys" min:"0"`
	Min        expr.Float  `plan:"min" doc:"the smallest number that is allowed"`
	Max        expr.Float  `plan:"max" doc:"the largest number that is allowed"`
	Any        bool        `plan:"any" doc:"of several values one that satisfies everything is enough" default:"false"`

	regexes query.Cache[*query.Regex]
	fixed   atomic.Pointer[any] // the value of a literal equals
}

func (a *valueJudgement) check(report func(field, code, summary, detail string)) {
	checkRegex("matches", &a.Matches, report)
	checkRegex("not_matches", &a.NotMatches, report)
	if exists, ok := a.Exists.Literal(); ok && !exists && (a.perValue() || a.Length.IsSet()) {
		report("exists", "exclusive-keys", "`exists: false` leaves no value to look at", "remove it, or the other operators")
	}
}

// perValue reports whether anything but the number of values is judged.
func (a *valueJudgement) perValue() bool {
	return a.Equals.IsSet() || a.EqualsAny != nil || a.NotEquals.IsSet() || a.Contains.IsSet() || a.NotContain.IsSet() ||
		a.Matches.IsSet() || a.NotMatches.IsSet() || a.Type != "" || a.Min.IsSet() || a.Max.IsSet()
}

// beyondEquals reports whether an operator other than equals is given.
func (a *valueJudgement) beyondEquals() bool {
	return a.EqualsAny != nil || a.NotEquals.IsSet() || a.Contains.IsSet() || a.NotContain.IsSet() || a.Matches.IsSet() ||
		a.NotMatches.IsSet() || a.Type != "" || a.Length.IsSet() || a.Min.IsSet() || a.Max.IsSet()
}

// expected returns the value of equals as JSON has it.
func (a *valueJudgement) expected(t *element.Thread) (any, error) {
	if v := a.fixed.Load(); v != nil {
		return *v, nil
	}
	v, err := operand(a.Equals, t)
	if err == nil && a.Equals.IsStatic() {
		a.fixed.Store(&v)
	}
	return v, err
}

// judge applies the operators to what a path found. singular says that the path
// can name one value only; its length is then that of the value.
func (a *valueJudgement) judge(t *element.Thread, name string, singular bool, found []any) error {
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
	case !singular && a.Length.IsSet():
		if err := a.length(t, name, int64(len(found)), "matches"); err != nil || !a.perValue() {
			return err
		}
	}
	if len(found) == 0 {
		return fail(t, name+" is not there", "a value", "nothing")
	}
	if a.Any {
		return a.some(t, name, found, singular)
	}
	for _, v := range found {
		if err := a.one(t, name, v, singular); err != nil {
			return err
		}
	}
	return nil
}

// some holds when one value, or one item of a single list, satisfies every
// operator.
func (a *valueJudgement) some(t *element.Thread, name string, found []any, singular bool) error {
	if list, ok := found[0].([]any); ok && singular {
		found = list
	}
	var first *element.Failure
	for _, v := range found {
		err := a.one(t, name, v, singular)
		var f *element.Failure
		switch {
		case err == nil:
			return nil
		case !errors.As(err, &f):
			return err
		case first == nil:
			first = f
		}
	}
	if first == nil {
		return fail(t, name+" is an empty list", "a value", "[]")
	}
	return fail(t, "no value of "+name+" is as expected", first.Expected, show(t, found))
}

// one applies the operators to one value.
func (a *valueJudgement) one(t *element.Thread, name string, v any, singular bool) error {
	if a.Type != "" && !hasType(v, a.Type) {
		return fail(t, name+" is not of type "+a.Type, a.Type, kindOf(v)+", "+show(t, v))
	}
	if err := a.compare(t, name, v); err != nil {
		return err
	}
	if err := a.match(t, name, v); err != nil {
		return err
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

// compare applies the operators that take values.
func (a *valueJudgement) compare(t *element.Thread, name string, v any) error {
	if a.Equals.IsSet() {
		if err := a.equals(t, name, v); err != nil {
			return err
		}
	}
	if err := a.equalsAny(t, name, v); err != nil {
		return err
	}
	if a.NotEquals.IsSet() {
		unwanted, err := operand(a.NotEquals, t)
		if err != nil {
			return err
		}
		if equal(v, unwanted) {
			return fail(t, name+" equals "+cutSource(a.NotEquals.Source()), "anything but "+show(t, unwanted), show(t, v))
		}
	}
	if a.Contains.IsSet() {
		if err := a.contains(t, name, v); err != nil {
			return err
		}
	}
	if a.NotContain.IsSet() {
		return a.without(t, name, v)
	}
	return nil
}

// match applies the patterns to a value that has a text.
func (a *valueJudgement) match(t *element.Thread, name string, v any) error {
	for i, pattern := range [...]*expr.String{&a.Matches, &a.NotMatches} {
		if !pattern.IsSet() {
			continue
		}
		text, err := expr.FormatText(v)
		if s, ok := v.(string); ok {
			text, err = s, nil
		}
		if err != nil || kindOf(v) == "a list" || kindOf(v) == "an object" {
			return fail(t, name+" is "+kindOf(v)+", not text", [...]string{"text that matches ", "text that does not match "}[i]+written(pattern), show(t, v))
		}
		if err := matches(t, name, []byte(text), pattern, &a.regexes, i == 0); err != nil {
			return err
		}
	}
	return nil
}

func (a *valueJudgement) equals(t *element.Thread, name string, v any) error {
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

func (a *valueJudgement) equalsAny(t *element.Thread, name string, v any) error {
	if a.EqualsAny == nil {
		return nil
	}
	var sources, wants []string
	for _, tree := range a.EqualsAny {
		want, err := operand(tree, t)
		if err != nil || equal(v, want) {
			return err
		}
		sources, wants = append(sources, cutSource(tree.Source())), append(wants, show(t, want))
	}
	return fail(t, name+" equals none of "+cut(strings.Join(sources, ", ")), cut(or(wants)), show(t, v))
}

func (a *valueJudgement) contains(t *element.Thread, name string, v any) error {
	want, err := operand(a.Contains, t)
	if err != nil {
		return err
	}
	has, can := holds(v, want)
	switch {
	case has:
		return nil
	case !can:
		return fail(t, name+" is "+kindOf(v)+" and contains nothing", "text, a list or an object", show(t, v))
	}
	return fail(t, name+" does not contain "+cutSource(a.Contains.Source()), kindOf(v)+" containing "+show(t, want), show(t, v))
}

func (a *valueJudgement) without(t *element.Thread, name string, v any) error {
	unwanted, err := operand(a.NotContain, t)
	if err != nil {
		return err
	}
	if has, _ := holds(v, unwanted); has {
		return fail(t, name+" contains "+cutSource(a.NotContain.Source()), kindOf(v)+" without "+show(t, unwanted), show(t, v))
	}
	return nil
}

// holds reports whether a text has a part, a list an item or an object a key, and
// whether v is one of these.
func holds(v, want any) (has, can bool) {
	switch v := v.(type) {
	case string:
		text, err := expr.FormatText(want)
		return err == nil && strings.Contains(v, text), true
	case []any:
		return slices.ContainsFunc(v, func(item any) bool { return equal(item, want) }), true
	case map[string]any:
		key, ok := want.(string)
		if ok {
			_, ok = v[key]
		}
		return ok, true
	}
	return false, false
}

func (a *valueJudgement) length(t *element.Thread, name string, have int64, unit string) error {
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

func (a *valueJudgement) bounds(t *element.Thread, name string, v any) error {
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
