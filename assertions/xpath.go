package assertions

import (
	"errors"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineXPath() element.Definition {
	return element.DefineAssertion[xpath]("xpath", element.Doc{
		Summary: "holds when the body is XML or HTML and an XPath finds something in it, or something with a given text",
		Text: "The path is XPath 1.0. Whether the body is HTML is told by its Content-Type, else by how it begins. " +
			"Of several nodes, one must satisfy what is asked for, and none may have what is ruled out. " +
			"A path that is a comparison, such as `count(//item) > 2`, must be true; `count:` is the surer way to count, because `count(//a//b)` counts a node once for each `a` around it. Prefixes are written as the document has them.",
		Examples: []element.Example{
			{YAML: "xpath: //order/@id", Note: "the node must be there"},
			{YAML: "xpath: {path: //order/state, equals: PAID}"},
			{YAML: "xpath: count(//item) > 2", Note: "it must be true"},
			{YAML: "xpath: {path: //error, exists: false}"},
		},
	})
}

type xpath struct {
	Path           expr.String `plan:"path,required,short,nonempty" doc:"XPath of the nodes"`
	Count          expr.Int    `plan:"count" doc:"how many nodes there must be" min:"0"`
	valueOperators `plan:",inline"`

	paths query.Cache[*query.XPath]
}

// Check reports a wrong path or pattern and operators that exclude each other.
func (a *xpath) Check(report func(field, code, summary, detail string)) {
	if text, ok := a.Path.Literal(); ok {
		if _, err := query.ParseXPath(text); err != nil {
			report("path", "bad-xpath", err.Error(), "write one like //order/@id")
		}
	}
	a.check(report)
	checkCount(&a.Count, &a.valueOperators, report)
}

// Assert holds when the nodes satisfy every operator.
func (a *xpath) Assert(t *element.Thread, s *element.Sample) error {
	source, err := a.Path.Eval(t)
	if err != nil {
		return err
	}
	path, err := a.paths.Get(source, query.ParseXPath)
	if err != nil {
		return err
	}
	name := written(&a.Path)
	found, err := path.Select(s.Body, query.IsHTML(s, s.Body), query.MaxMatches)
	switch {
	case errors.Is(err, query.ErrNotXML):
		return fail(t, "the body is not well-formed XML", "XML with "+cut(source), cut(err.Error()))
	case err != nil:
		return fail(t, name+" cannot be evaluated", "a value", cut(err.Error()))
	case len(found) == 1 && found[0] == false && !a.given() && !a.Count.IsSet():
		if exists, err := a.Exists.Eval(t); err != nil || !exists {
			return err
		}
		return fail(t, name+" is not true", "true", "false")
	}
	texts := make([]string, len(found))
	for i, v := range found {
		if texts[i], err = expr.FormatText(v); err != nil {
			return err
		}
	}
	return count(t, "the node "+name, texts, &a.Count, &a.valueOperators)
}

// Needs says that the body is looked at, and the header that tells its kind.
func (*xpath) Needs() element.Needs { return element.NeedBody | element.NeedHeaders }
