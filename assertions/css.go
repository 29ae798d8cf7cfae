package assertions

import (
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineCSS() element.Definition {
	return element.DefineAssertion[css]("css", element.Doc{
		Summary: "holds when the body is HTML with an element that a CSS selector finds, or with one that has a given text",
		Text: "What is looked at is the element's text as a reader of the page sees it, or an attribute. " +
			"Of several elements, one must satisfy what is asked for, and none may have what is ruled out.",
		Examples: []element.Example{
			{YAML: "css: h1.title", Note: "the element must be there"},
			{YAML: "css: {selector: \"input[name=csrf]\", attribute: value, matches: '^\\w{32}$'}"},
			{YAML: "css: {selector: li.product, count: 20}"},
			{YAML: "css: {selector: .error, exists: false}"},
		},
	})
}

type css struct {
	Selector       expr.String `plan:"selector,required,short,nonempty" doc:"CSS selector of the elements"`
	Attribute      expr.String `plan:"attribute" doc:"attribute to look at; without it, the element's text"`
	Count          expr.Int    `plan:"count" doc:"how many elements there must be" min:"0"`
	valueOperators `plan:",inline"`

	selectors query.Cache[*query.CSS]
}

// Check reports a wrong selector or pattern and operators that exclude each other.
func (a *css) Check(report func(field, code, summary, detail string)) {
	if text, ok := a.Selector.Literal(); ok {
		if _, err := query.ParseCSS(text); err != nil {
			report("selector", "bad-css", err.Error(), "write one like input[name=csrf]")
		}
	}
	a.check(report)
	checkCount(&a.Count, &a.valueOperators, report)
}

// Assert holds when the elements satisfy every operator.
func (a *css) Assert(t *element.Thread, s *element.Sample) error {
	source, err := a.Selector.Eval(t)
	if err != nil {
		return err
	}
	selector, err := a.selectors.Get(source, query.ParseCSS)
	if err != nil {
		return err
	}
	attribute, err := a.Attribute.Eval(t)
	if err != nil {
		return err
	}
	what := "the element " + written(&a.Selector)
	found, err := selector.Select(s.Body, attribute, query.MaxMatches)
	if err != nil {
		return fail(t, what+" cannot be looked for", "HTML", err.Error())
	}
	return count(t, what, found, &a.Count, &a.valueOperators)
}

// checkCount reports a count beside what excludes it.
func checkCount(n *expr.Int, o *valueOperators, report func(field, code, summary, detail string)) {
	if exists, ok := o.Exists.Literal(); ok && !exists && n.IsSet() {
		report("exists", "exclusive-keys", "`exists: false` and `count` exclude each other", "keep one of them")
	}
}

// count judges how many values there are, then the values.
func count(t *element.Thread, what string, found []string, n *expr.Int, o *valueOperators) error {
	if n.IsSet() {
		want, err := n.Eval(t)
		if err != nil {
			return err
		}
		if want != int64(len(found)) {
			return fail(t, what+" is not there "+written(n)+" times", show(t, want), show(t, int64(len(found))))
		}
		if want == 0 && !o.positive() {
			return nil
		}
	}
	return o.judge(t, what, found)
}

// Needs says that the body is looked at.
func (*css) Needs() element.Needs { return element.NeedBody }
