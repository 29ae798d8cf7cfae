package extract

import (
	"errors"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineJMESPath() element.Definition {
	return element.DefineExtractor[jmesPath]("jmespath", element.Doc{
		Summary: "takes a value out of a JSON body by a JMESPath",
		Text: "The expression gives one value, of its own type. If that is a list, `match: 2` takes its second item and `match: random` one of them. " +
			"A value of null is nothing found.",
		Examples: []element.Example{
			{YAML: "{jmespath: user.id}"},
			{YAML: "{jmespath: 'items[?stock > `0`].sku', match: random}"},
			{YAML: "{jmespath: 'max_by(items, &stock).sku'}"},
		},
	})
}

type jmesPath struct {
	Path expr.String `plan:"jmespath,required,short,nonempty" doc:"JMESPath of the value, as items[0].id"`

	paths query.Cache[*query.JMESPath]
}

// Check reports a literal path that cannot be compiled.
func (e *jmesPath) Check(report func(field, code, summary, detail string)) {
	if text, ok := e.Path.Literal(); ok {
		if code, summary, detail := query.CheckJMESPath(text); code != "" {
			report("jmespath", code, summary, detail)
		}
	}
}

// Extract returns the value, or the picked item of its list.
func (e *jmesPath) Extract(t *element.Thread, s *element.Sample, pick element.Pick) (any, error) {
	source, err := e.Path.Eval(t)
	if err != nil {
		return nil, err
	}
	path, err := e.paths.Get(source, query.ParseJMESPath)
	if err != nil {
		return nil, err
	}
	var v any
	if pick.Text == nil && (pick.Of == "" || pick.Of == "body") {
		v, err = path.Select(s)
	} else {
		var other []byte
		if other, err = text(t, s, pick); err == nil {
			v, err = path.SelectBytes(other)
		}
	}
	if errors.Is(err, query.ErrNotJSON) {
		return nil, &nothing{"the text is not JSON"}
	}
	if err != nil {
		return nil, err
	}
	if list, ok := v.([]any); ok && pick.Match != 1 && pick.Match != element.MatchAll {
		return choose(t, pick, list)
	}
	return something(v)
}

// Needs says that the body is looked at, where no other part is asked for.
func (*jmesPath) Needs() element.Needs { return element.NeedBody }
