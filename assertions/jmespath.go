package assertions

import (
	"errors"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineJMESPath() element.Definition {
	return element.DefineAssertion[jmesPath]("jmespath", element.Doc{
		Summary: "holds when the body is JSON and the value of a JMESPath is as expected",
		Text: "The operators are those of `json`. A JMESPath gives one value; null is a value that is not there, unless `equals: null` asks for it. " +
			"With `any: true` one item of a list is enough.",
		Examples: []element.Example{
			{YAML: "jmespath: user.id", Note: "the value must be there"},
			{YAML: "jmespath: {path: length(items), min: 1}"},
			{YAML: "jmespath: {path: 'items[?stock > `0`].sku', contains: LT-1}"},
		},
	})
}

type jmesPath struct {
	Path           expr.String `plan:"path,required,short,nonempty" doc:"JMESPath of the value, as items[0].id"`
	valueJudgement `plan:",inline"`

	paths query.Cache[*query.JMESPath]
}

// Check reports a wrong path or pattern and operators that exclude each other.
func (a *jmesPath) Check(report func(field, code, summary, detail string)) {
	if text, ok := a.Path.Literal(); ok {
		if code, summary, detail := query.CheckJMESPath(text); code != "" {
			report("path", code, summary, detail)
		}
	}
	a.check(report)
}

// Assert holds when the value satisfies every operator.
func (a *jmesPath) Assert(t *element.Thread, s *element.Sample) error {
	text, err := a.Path.Eval(t)
	if err != nil {
		return err
	}
	path, err := a.paths.Get(text, query.ParseJMESPath)
	if err != nil {
		return err
	}
	v, err := path.Select(s)
	if errors.Is(err, query.ErrNotJSON) {
		return fail(t, "the body is not JSON", "JSON with a value at "+cut(text), quote(t, s.Body))
	}
	if err != nil { // a function that does not fit the response
		return fail(t, cutSource(a.Path.Source())+" cannot be evaluated", "a value", cut(err.Error()))
	}
	found := []any{v}
	if v == nil && !(a.Equals.IsSet() || a.Type == "null") {
		found = nil
	}
	return a.judge(t, cutSource(a.Path.Source()), true, found)
}

// Needs says that the body is looked at.
func (*jmesPath) Needs() element.Needs { return element.NeedBody }
