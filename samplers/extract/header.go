package extract

import (
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineHeader() element.Definition {
	return element.DefineExtractor[header]("header", element.Doc{
		Summary:  "takes the value of a header of the response",
		Text:     "The name is compared without regard to case. Of several headers with the name, `match` says which. `of` plays no part.",
		Examples: []element.Example{{YAML: "{header: Location}"}, {YAML: "{header: Link, match: all}"}},
	})
}

type header struct {
	Header expr.String `plan:"header,required,short,nonempty" doc:"name of the header"`
}

// Extract returns the header's value, or values.
func (e *header) Extract(t *element.Thread, s *element.Sample, pick element.Pick) (any, error) {
	name, err := e.Header.Eval(t)
	if err != nil {
		return nil, err
	}
	return choose(t, pick, query.Headers(s, name))
}

// Needs says that the headers are looked at.
func (*header) Needs() element.Needs { return element.NeedHeaders }
