package assertions

import (
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineCookie() element.Definition {
	return element.DefineAssertion[cookie]("cookie", element.Doc{
		Summary: "holds when the thread has a cookie after the response, or one with a given value",
		Text:    "The cookie is the one that the response set, else the one that the thread had before. One that the response deletes is missing.",
		Examples: []element.Example{
			{YAML: "cookie: sid", Note: "the cookie must be there"},
			{YAML: "cookie: {name: theme, equals: dark}"},
			{YAML: "cookie: {name: sid, exists: false}"},
		},
	})
}

type cookie struct {
	Name           expr.String `plan:"name,required,short,nonempty" doc:"the name of the cookie"`
	valueOperators `plan:",inline"`
}

// Check reports wrong patterns and operators that exclude each other.
func (a *cookie) Check(report func(field, code, summary, detail string)) { a.check(report) }

// Assert holds when the cookie satisfies every operator.
func (a *cookie) Assert(t *element.Thread, s *element.Sample) error {
	name, err := a.Name.Eval(t)
	if err != nil {
		return err
	}
	var values []string
	if v, ok := query.Cookie(s, name); ok {
		values = []string{v}
	}
	return a.judge(t, "the cookie "+written(&a.Name), values)
}

// Needs says that the headers are looked at.
func (*cookie) Needs() element.Needs { return element.NeedHeaders }
