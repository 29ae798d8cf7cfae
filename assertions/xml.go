package assertions

import (
	"errors"
	"strings"

	"runner/plan/element"
	"runner/plan/query"
)

func defineXML() element.Definition {
	return element.DefineAssertion[xmlBody]("xml", element.Doc{
		Summary:  "holds when the body is well-formed XML",
		Text:     "Nothing is fetched: a DTD is read over, and entities that it would define are an error.",
		Examples: []element.Example{{YAML: "xml: well_formed"}},
	})
}

type xmlBody struct {
	Is string `plan:"is,required,short" doc:"what it must be" enum:"well_formed"`
}

// Assert holds when the body is well-formed.
func (*xmlBody) Assert(t *element.Thread, s *element.Sample) error {
	err := query.CheckXML(s.Body)
	if err == nil {
		return nil
	}
	actual := err.Error()
	if errors.Is(err, query.ErrNotXML) {
		actual = strings.TrimPrefix(actual, query.ErrNotXML.Error()+": ")
	}
	return fail(t, "the body is not well-formed XML", "well-formed XML", cut(actual))
}

// Needs says that the body is looked at.
func (*xmlBody) Needs() element.Needs { return element.NeedBody }
