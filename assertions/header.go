package assertions

import (
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineHeader() element.Definition {
	return element.DefineAssertion[header]("header", element.Doc{
		Summary: "holds when the response has a header, or one with a given value",
		Text:    "The name is compared without regard to case. Of several headers with the name, one must satisfy what is asked for, and none may have what is ruled out.",
		Examples: []element.Example{
			{YAML: "header: ETag", Note: "the header must be there"},
			{YAML: "header: {name: Content-Type, contains: application/json}"},
			{YAML: "header: {name: X-Powered-By, exists: false}"},
		},
	})
}

type header struct {
	Name           expr.String `plan:"name,required,short,nonempty" doc:"the name of the header"`
	valueOperators `plan:",inline"`
}

// Check reports wrong patterns and operators that exclude each other.
func (a *header) Check(report func(field, code, summary, detail string)) { a.check(report) }

// Assert holds when a header of the name satisfies every operator.
func (a *header) Assert(t *element.Thread, s *element.Sample) error {
	name, err := a.Name.Eval(t)
	if err != nil {
		return err
	}
	return a.judge(t, "the header "+written(&a.Name), query.Headers(s, name))
}

// Needs says that the headers are looked at.
func (*header) Needs() element.Needs { return element.NeedHeaders }
