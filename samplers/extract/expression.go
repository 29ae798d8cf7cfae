package extract

import (
	"errors"
	"strings"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineExpression() element.Definition {
	return element.DefineExtractor[expression]("expression", element.Doc{
		Summary: "takes the value of an expression over the response",
		Text: "The expression may stand alone as the value. It gives one value of its own type; if that is a list, " +
			"`match: 2` takes its second item and `match: random` one of them. A value of nil is nothing found.",
		Examples: []element.Example{{YAML: "json.user.id"}, {YAML: `header("Location")`}, {YAML: "{expression: json.items, match: random}"}},
	})
}

type expression struct {
	Expression expr.Expression `plan:"expression,required,short" doc:"the expression whose value is taken"`
}

// Extract returns the expression's value, or the picked item of its list.
func (e *expression) Extract(t *element.Thread, _ *element.Sample, pick element.Pick) (any, error) {
	v, err := e.Expression.Eval(t)
	var unset *expr.UnsetError
	if errors.As(err, &unset) && response(unset.Name) {
		return nil, &nothing{unset.Error()}
	}
	if err != nil {
		return nil, err
	}
	list, ok := v.([]any)
	if ok && pick.Match != 1 && pick.Match != element.MatchAll {
		return choose(t, pick, list)
	}
	return something(v)
}

// response reports whether a name that has no value is one of the response's:
// then nothing was found. A variable without a value is an error of the plan.
func response(name string) bool {
	if i := strings.IndexAny(name, ".["); i >= 0 {
		name = name[:i]
	}
	_, ok := expr.ResponseRoots()[name]
	return ok
}

// Needs says what the expression reads.
func (e *expression) Needs() element.Needs { return query.Needs(&e.Expression.Condition) }
