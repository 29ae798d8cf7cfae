package assertions

import "runner/plan/element"

func defineBody() element.Definition {
	return element.DefineAssertion[body]("body", element.Doc{
		Summary: "holds when the body has, or has not, a given text",
		Text:    "All operators that are given must hold. Texts are compared letter for letter; nothing in `contains` is a pattern.",
		Examples: []element.Example{
			{YAML: "body: {contains: Welcome}"},
			{YAML: "body: {contains_all: [\"Order ${order_id}\", Paid], contains_none: [Error, Exception]}"},
			{YAML: `body: {matches: '^\{"id":\d+'}`},
		},
	})
}

type body struct {
	textOperators `plan:",inline"`
}

// Check reports missing operators and wrong patterns.
func (a *body) Check(report func(field, code, summary, detail string)) { a.check("body", report) }

// Assert holds when the body satisfies every operator.
func (a *body) Assert(t *element.Thread, s *element.Sample) error {
	return a.judge(t, "the body", s.Body)
}

// Needs says that the body is looked at.
func (*body) Needs() element.Needs { return element.NeedBody }
