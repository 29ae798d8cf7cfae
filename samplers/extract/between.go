package extract

import (
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineBetween() element.Definition {
	return element.DefineExtractor[between]("between", element.Doc{
		Summary:  "takes the text between two given texts",
		Text:     "Both are compared letter for letter. An empty left side is the start of the text, an empty right side its end.",
		Examples: []element.Example{{YAML: `{between: ["token=\"", "\""]}`}, {YAML: `{between: ["id=", ""], of: url}`}},
	})
}

type between struct {
	Between []expr.String `plan:"between,required,short" doc:"the text on the left and the text on the right" min:"2" max:"2"`
}

// Extract returns the text, or texts, between the two.
func (e *between) Extract(t *element.Thread, s *element.Sample, pick element.Pick) (any, error) {
	if len(e.Between) != 2 {
		return nil, &nothing{"there are not two texts to look between"}
	}
	left, err := e.Between[0].Eval(t)
	if err != nil {
		return nil, err
	}
	right, err := e.Between[1].Eval(t)
	if err != nil {
		return nil, err
	}
	from, err := text(t, s, pick)
	if err != nil {
		return nil, err
	}
	return choose(t, pick, query.Between(from, left, right, limit(pick)))
}

// Needs says that the body is looked at, where no other part is asked for.
func (*between) Needs() element.Needs { return element.NeedBody }
