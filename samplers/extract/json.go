package extract

import (
	"errors"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineJSON() element.Definition {
	return element.DefineExtractor[jsonValue]("json", element.Doc{
		Summary: "takes a value out of a JSON body by a JSONPath",
		Text: "The path is a JSONPath as RFC 9535 has it. Values keep their types: numbers without a fraction are ints. " +
			"A value of null is nothing found.",
		Examples: []element.Example{
			{YAML: "{json: $.user.id}"},
			{YAML: `{json: "$.items[?@.stock > 0].sku", match: random}`},
			{YAML: `{json: "$.items[*].id", match: all}`, Note: "a list, for `foreach`"},
			{YAML: "{json: $.next, default: \"\"}"},
		},
	})
}

type jsonValue struct {
	Path expr.String `plan:"json,required,short" doc:"JSONPath of the value, as $.items[0].id"`

	paths query.Cache[*query.JSONPath]
}

// Check reports a literal path that cannot be compiled.
func (e *jsonValue) Check(report func(field, code, summary, detail string)) {
	if text, ok := e.Path.Literal(); ok {
		if code, summary, detail := query.CheckJSONPath(text); code != "" {
			report("json", code, summary, detail)
		}
	}
}

// Extract returns the value, or values, that the path names.
func (e *jsonValue) Extract(t *element.Thread, s *element.Sample, pick element.Pick) (any, error) {
	source, err := e.Path.Eval(t)
	if err != nil {
		return nil, err
	}
	path, err := e.paths.Get(source, query.ParseJSONPath)
	if err != nil {
		return nil, err
	}
	var found []any
	if pick.Text == nil && (pick.Of == "" || pick.Of == "body") {
		found, err = path.Select(s)
	} else {
		var other []byte
		if other, err = text(t, s, pick); err == nil {
			found, err = path.SelectBytes(other)
		}
	}
	if errors.Is(err, query.ErrNotJSON) {
		return nil, &nothing{"the text is not JSON"}
	}
	if err != nil {
		return nil, err
	}
	return choose(t, pick, found)
}

// Needs says that the body is looked at, where no other part is asked for.
func (*jsonValue) Needs() element.Needs { return element.NeedBody }
