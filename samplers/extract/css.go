package extract

import (
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineCSS() element.Definition {
	return element.DefineExtractor[css]("css", element.Doc{
		Summary: "takes the text or an attribute of an HTML element by a CSS selector",
		Text:    "White space in texts is collapsed, as a browser shows it. Elements without the attribute do not count.",
		Examples: []element.Example{
			{YAML: `{css: "input[name=csrf]", attribute: value}`},
			{YAML: "{css: h1.title}"},
			{YAML: `{css: "a.product", attribute: href, match: random}`},
		},
	})
}

type css struct {
	CSS       expr.String `plan:"css,required,short,nonempty" doc:"CSS selector of the element"`
	Attribute expr.String `plan:"attribute" doc:"attribute to take; without it, the element's text"`

	selectors query.Cache[*query.CSS]
}

// Check reports a literal selector that cannot be compiled.
func (e *css) Check(report func(field, code, summary, detail string)) {
	if text, ok := e.CSS.Literal(); ok {
		if _, err := query.ParseCSS(text); err != nil {
			report("css", "bad-css", err.Error(), "write one like input[name=csrf]")
		}
	}
}

// Extract returns the text or attribute of the element, or elements.
func (e *css) Extract(t *element.Thread, s *element.Sample, pick element.Pick) (any, error) {
	source, err := e.CSS.Eval(t)
	if err != nil {
		return nil, err
	}
	selector, err := e.selectors.Get(source, query.ParseCSS)
	if err != nil {
		return nil, err
	}
	attribute, err := e.Attribute.Eval(t)
	if err != nil {
		return nil, err
	}
	from, err := text(t, s, pick)
	if err != nil {
		return nil, err
	}
	found, err := selector.Select(from, attribute, limit(pick))
	if err != nil {
		return nil, err
	}
	return choose(t, pick, found)
}

// Needs says that the body is looked at, where no other part is asked for.
func (*css) Needs() element.Needs { return element.NeedBody }
