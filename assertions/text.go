package assertions

import (
	"fmt"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
	"runner/plan/source"
	"runner/plan/spec"
)

func defineText() element.Definition {
	return element.DefineAssertion[text]("text", element.Doc{
		Summary: "holds when the headers, the status text, the URL or a variable has a given text",
		Text:    "The operators are those of `body`. Headers are read as lines `Name: value`; the URL is the final one, after redirects.",
		Examples: []element.Example{
			{YAML: "text: {of: url, contains: /welcome}"},
			{YAML: "text: {of: message, equals: OK}"},
			{YAML: "text: {of: {variable: token}, matches: '^[0-9a-f]{32}$'}"},
		},
	})
}

type text struct {
	Of            subject `plan:"of,required" doc:"what is looked at: headers, message, url, body, or {variable: name}"`
	textOperators `plan:",inline"`
}

// Check reports missing operators and wrong patterns.
func (a *text) Check(report func(field, code, summary, detail string)) { a.check("text", report) }

// Assert holds when the text satisfies every operator.
func (a *text) Assert(t *element.Thread, s *element.Sample) error {
	switch a.Of.Part {
	case "headers":
		return a.judge(t, "the headers' text", query.HeaderText(s))
	case "message":
		return a.judge(t, "the status text", []byte(s.Message))
	case "url":
		return a.judge(t, "the URL", []byte(s.FinalURL()))
	case "body":
		return a.judge(t, "the body", s.Body)
	}
	value, err := a.Of.Variable.Eval(t)
	if err != nil {
		return err
	}
	return a.judge(t, "the variable "+a.Of.name, []byte(value))
}

// subject is a part of the response or a variable.
type subject struct {
	Part     string
	Variable expr.String
	name     string
}

// DecodeNode reads a word or {variable: name}.
func (s *subject) DecodeNode(n *source.Node, ds *source.Diagnostics) {
	const remedy = "write headers, message, url, body or {variable: name}"
	if n.Kind == source.Scalar {
		switch n.Text {
		case "headers", "message", "url", "body":
			s.Part = n.Text
		default:
			ds.Add(n.Range, "bad-value", fmt.Sprintf("%q is nothing that can be looked at", n.Text), remedy)
		}
		return
	}
	name := n.Get("variable")
	if name == nil || len(n.Fields) != 1 || name.Kind != source.Scalar || name.Text == "" {
		ds.Add(n.Range, "wrong-type", "`of` is no part of a response", remedy)
		return
	}
	s.name = name.Text
	s.Variable.Decode(&source.Node{Kind: source.Scalar, Text: "${" + name.Text + "}", Range: name.Range}, ds)
}

// BindNode binds the variable.
func (s *subject) BindNode(env *expr.Env, ds *source.Diagnostics) { s.Variable.Bind(env, ds) }

// Uses returns the variable.
func (s *subject) Uses() []expr.Use { return s.Variable.Uses() }

// DescribeNode says that there are two forms.
func (*subject) DescribeNode() []spec.Field {
	return []spec.Field{
		{Go: "text", Enum: []string{"headers", "message", "url", "body"}},
		{Go: "object", Children: []spec.Field{{Key: "variable", Go: "text", Required: true, Doc: "the name of a variable"}}},
	}
}

// Needs says which part is looked at.
func (a *text) Needs() element.Needs {
	switch a.Of.Part {
	case "headers", "message":
		return element.NeedHeaders
	case "body":
		return element.NeedBody
	}
	return 0
}
