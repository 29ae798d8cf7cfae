package assertions

import (
	"errors"
	"strings"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineExpression() element.Definition {
	return element.DefineAssertion[expression]("expression", element.Doc{
		Summary: "holds when an expression over the response is true",
		Text: "Where only the expression is needed, it may stand alone as the item of the list. " +
			"The response is read by the names `status`, `duration`, `size`, `body`, `json`, `headers`, `cookies` and so on, " +
			"and by functions such as `header()`, `css()` and `jsonpath()`.",
		Examples: []element.Example{
			{YAML: "json.user.id == 7"},
			{YAML: "that: json.user.id == 7", Note: "the long form takes a name and a message"},
			{YAML: "json.ready and len(json.services) > 0", Note: "the first part that does not hold is named in the failure"},
		},
	})
}

type expression struct {
	That expr.Condition `plan:"that,required,short" doc:"the expression that must be true"`
}

// Assert holds when the expression is true.
func (a *expression) Assert(t *element.Thread, _ *element.Sample) error {
	ok, err := a.That.EvalBool(t)
	switch {
	case ok && err == nil:
		return nil
	case unset(err):
		return err
	case err != nil:
		return fail(t, cutSource(a.That.Source())+" does not hold", cutSource(a.That.Source()), cut(reason(err)))
	}
	expected, actual := explained(a.That.Explain(t))
	return fail(t, cutSource(a.That.Source())+" does not hold", cut(expected), cut(actual))
}

// unset reports an error that is the plan's fault: a variable without a value.
// All others come from a response that is not as the expression has it.
func unset(err error) bool {
	var u *expr.UnsetError
	if !errors.As(err, &u) {
		return false
	}
	root := u.Name
	if i := strings.IndexAny(root, ".["); i >= 0 {
		root = root[:i]
	}
	_, response := expr.ResponseRoots()[root]
	return !response
}

// reason returns the cause of an error without the expression, which stands
// beside it.
func reason(err error) string {
	var e *expr.EvalError
	if errors.As(err, &e) {
		err = e.Err
	}
	return "not known: " + err.Error()
}

// explained splits "expected X, was Y".
func explained(text string) (expected, actual string) {
	text = strings.TrimPrefix(text, "expected ")
	if i := strings.LastIndex(text, ", was "); i >= 0 {
		return text[:i], text[i+len(", was "):]
	}
	return text, "false"
}

// cut shortens a text that is already on one line.
func cut(text string) string {
	if r := []rune(text); len(r) > maxShown {
		return string(r[:maxShown]) + "…"
	}
	return text
}

// Needs says what the expression reads.
func (a *expression) Needs() element.Needs { return query.Needs(&a.That) }
