package extract

import (
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineRegex() element.Definition {
	return element.DefineExtractor[regex]("regex", element.Doc{
		Summary: "takes a text out of the response by a regular expression",
		Text: "Without `group` and `template` it takes the first group, or the whole match of a pattern without groups. " +
			"The syntax is RE2, which has no look-around. In single quotes a backslash is one backslash.",
		Examples: []element.Example{
			{YAML: `{regex: 'order-(\d+)'}`},
			{YAML: `{regex: '(?P<key>\w+)=(?P<value>\w+)', group: value, match: 2}`},
			{YAML: `{regex: '(\d+)\.(\d+)', template: $1$-$2$, of: headers}`},
		},
	})
}

type regex struct {
	Regex    expr.String `plan:"regex,required,short,nonempty" doc:"regular expression to look for"`
	Group    expr.String `plan:"group" doc:"number or name of the group to take; 0 is the whole match" group:"part"`
	Template expr.String `plan:"template" doc:"text to make of a match, with $1$ or $name$ for its groups" group:"part"`

	regexes query.Cache[*query.Regex]
}

// Check reports a literal pattern, group or template that cannot be used.
func (e *regex) Check(report func(field, code, summary, detail string)) {
	pattern, ok := e.Regex.Literal()
	if !ok {
		return
	}
	re, err := query.ParseRegex(pattern)
	if err != nil {
		report("regex", "bad-regex", err.Error(), `write it in RE2 syntax; in single quotes a backslash is one: '\d+'`)
		return
	}
	if name, ok := e.Group.Literal(); ok {
		if _, err := re.Group(name); err != nil {
			report("group", "unknown-group", err.Error(), "write the number of one of its groups, or 0 for the whole match")
		}
	}
	if template, ok := e.Template.Literal(); ok {
		if _, err := re.ParseTemplate(template); err != nil {
			report("template", "unknown-group", err.Error(), "write groups of the pattern as $1$ or $name$")
		}
	}
}

// Extract returns the group, or the filled template, of the match.
func (e *regex) Extract(t *element.Thread, s *element.Sample, pick element.Pick) (any, error) {
	pattern, err := e.Regex.Eval(t)
	if err != nil {
		return nil, err
	}
	re, err := e.regexes.Get(pattern, query.ParseRegex)
	if err != nil {
		return nil, err
	}
	from, err := text(t, s, pick)
	if err != nil {
		return nil, err
	}
	if e.Template.IsSet() {
		return e.filled(t, re, from, pick)
	}
	name, err := e.Group.Eval(t)
	if err != nil {
		return nil, err
	}
	group, err := re.Group(name)
	if err != nil {
		return nil, err
	}
	return choose(t, pick, re.Groups(from, group, limit(pick)))
}

func (e *regex) filled(t *element.Thread, re *query.Regex, from []byte, pick element.Pick) (any, error) {
	source, err := e.Template.Eval(t)
	if err != nil {
		return nil, err
	}
	template, err := re.ParseTemplate(source)
	if err != nil {
		return nil, err
	}
	return choose(t, pick, re.Expand(from, template, limit(pick)))
}

// Needs says that the body is looked at, where no other part is asked for.
func (*regex) Needs() element.Needs { return element.NeedBody }
