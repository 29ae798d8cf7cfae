package extract

import (
	"errors"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineXPath() element.Definition {
	return element.DefineExtractor[xpath]("xpath", element.Doc{
		Summary: "takes a text out of an XML or HTML body by an XPath",
		Text: "The path is XPath 1.0. Whether the body is HTML is told by its Content-Type, else by how it begins. " +
			"Of an element it takes the text without white space at its ends; `@name` takes an attribute. " +
			"Prefixes are written as the document has them. An expression that gives a number or a bool, such as `count(//item)`, gives a value of that type.",
		Examples: []element.Example{
			{YAML: "{xpath: //order/@id}"},
			{YAML: `{xpath: "//item[price > 10]/name", match: all}`},
			{YAML: "{xpath: count(//item)}"},
		},
	})
}

type xpath struct {
	Path expr.String `plan:"xpath,required,short,nonempty" doc:"XPath of the value"`

	paths query.Cache[*query.XPath]
}

// Check reports a literal path that cannot be compiled.
func (e *xpath) Check(report func(field, code, summary, detail string)) {
	if text, ok := e.Path.Literal(); ok {
		if _, err := query.ParseXPath(text); err != nil {
			report("xpath", "bad-xpath", err.Error(), "write one like //order/@id")
		}
	}
}

// Extract returns the text, or texts, that the path names, or the number or bool
// that it gives.
func (e *xpath) Extract(t *element.Thread, s *element.Sample, pick element.Pick) (any, error) {
	source, err := e.Path.Eval(t)
	if err != nil {
		return nil, err
	}
	path, err := e.paths.Get(source, query.ParseXPath)
	if err != nil {
		return nil, err
	}
	from, err := text(t, s, pick)
	if err != nil {
		return nil, err
	}
	found, err := path.Select(from, html(s, from, pick), limit(pick))
	if errors.Is(err, query.ErrNotXML) {
		return nil, &nothing{"the text is not well-formed XML"}
	}
	if err != nil {
		return nil, err
	}
	return choose(t, pick, found)
}

// Needs says that the body is looked at, and the header that tells its kind.
func (*xpath) Needs() element.Needs { return element.NeedBody | element.NeedHeaders }

// html reports whether the text is to be read as HTML: the response's media type
// speaks of its body only.
func html(s *element.Sample, from []byte, pick element.Pick) bool {
	if pick.Text != nil || pick.Of != "" && pick.Of != "body" {
		s = &element.Sample{}
	}
	return query.IsHTML(s, from)
}
