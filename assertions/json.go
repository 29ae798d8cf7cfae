package assertions

import (
	"errors"
	"strconv"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineJSON() element.Definition {
	return element.DefineAssertion[jsonValue]("json", element.Doc{
		Summary: "holds when the body is JSON and a value in it is as expected",
		Text: "`path` is a JSONPath (RFC 9535). Values are compared by value: `1` equals `1.0`, but not the text `\"1\"`. " +
			"A path that can name several values (`$.items[*].state`) must name at least one, and each must satisfy every operator; " +
			"its `length` is how many there are; with `any: true` one value that satisfies all is enough. Without an operator the value must be there.",
		Examples: []element.Example{
			{YAML: "json: $.user.id", Note: "the value must be there"},
			{YAML: "json: {path: $.user.id, equals: \"${user_id}\"}"},
			{YAML: "json: {path: \"$.items[*].price\", type: number, min: 0}"},
			{YAML: "json: {path: $.items, length: 3}"},
			{YAML: "json: {path: $.roles, contains: admin}"},
			{YAML: "json: {path: $.state, equals_any: [PAID, SHIPPED]}"},
			{YAML: "json: {path: \"$.items[*].sku\", equals: LT-1, any: true}", Note: "one of the items is enough"},
			{YAML: "json: {path: $.error, exists: false}"},
		},
	})
}

type jsonValue struct {
	Path           expr.String `plan:"path,required,short" doc:"JSONPath of the value, as $.items[0].id"`
	valueJudgement `plan:",inline"`

	paths query.Cache[*query.JSONPath]
}

// Check reports a wrong path or pattern and operators that exclude each other.
func (a *jsonValue) Check(report func(field, code, summary, detail string)) {
	if text, ok := a.Path.Literal(); ok {
		if code, summary, detail := query.CheckJSONPath(text); code != "" {
			report("path", code, summary, detail)
		}
	}
	a.check(report)
}

// Assert holds when the value satisfies every operator.
func (a *jsonValue) Assert(t *element.Thread, s *element.Sample) error {
	text, err := a.Path.Eval(t)
	if err != nil {
		return err
	}
	path, err := a.paths.Get(text, query.ParseJSONPath)
	if err != nil {
		return err
	}
	if ok, err := a.quick(t, path, s.Body); ok || err != nil {
		return err
	}
	found, err := path.Select(s)
	if errors.Is(err, query.ErrNotJSON) {
		return fail(t, "the body is not JSON", "JSON with a value at "+cut(text), quote(t, s.Body))
	}
	if err != nil {
		return err
	}
	return a.judge(t, cutSource(a.Path.Source()), path.Singular(), found)
}

// quick reports whether the value equals a literal or simple value, read from the
// body's bytes. When not, the long way says why.
func (a *jsonValue) quick(t *element.Thread, path *query.JSONPath, body []byte) (bool, error) {
	if !a.Equals.IsSet() || a.beyondEquals() {
		return false, nil
	}
	if exists, ok := a.Exists.Literal(); a.Exists.IsSet() && !(ok && exists) {
		return false, nil
	}
	raw, found, _, err := path.Raw(body)
	if err != nil || !found {
		return false, nil
	}
	want, err := a.expected(t)
	return err == nil && sameRaw(raw, want), err
}

// sameRaw compares the text of a JSON value with a simple value; false means
// that it is not known.
func sameRaw(raw []byte, want any) bool {
	switch want := want.(type) {
	case string:
		inner, ok := query.PlainString(raw)
		return ok && string(inner) == want
	case int64:
		n, err := strconv.ParseInt(string(raw), 10, 64)
		return err == nil && n == want
	case bool:
		return string(raw) == "true" && want || string(raw) == "false" && !want
	case nil:
		return string(raw) == "null"
	}
	return false
}

// operand evaluates a value of the plan to what it is in JSON: an unquoted 5s is
// the text "5s" there.
func operand(tree expr.Tree, t *element.Thread) (any, error) {
	v, err := tree.Eval(t)
	if err != nil {
		return nil, err
	}
	switch v.(type) {
	case nil, bool, int64, string, expr.Secret:
		return plain(v), nil
	}
	if tree.IsStatic() || kindOf(v) == "a list" || kindOf(v) == "an object" {
		text, err := tree.AppendJSON(nil, t)
		if err != nil {
			return nil, err
		}
		return element.DecodeJSON(text)
	}
	return plain(v), nil
}

// Needs says that the body is looked at.
func (*jsonValue) Needs() element.Needs { return element.NeedBody }
