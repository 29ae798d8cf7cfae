package assertions

import (
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineHeader() element.Definition {
	return element.DefineAssertion[header]("header", element.Doc{
		Summary: "holds when the response has a header, or one with a given value",
		Text:    "The name is compared without regard to case. Of several headers with the name, one must satisfy all operators.",
		Examples: []element.Example{
			{YAML: "header: ETag", Note: "the header must be there"},
			{YAML: "header: {name: Content-Type, contains: application/json}"},
			{YAML: "header: {name: X-Powered-By, exists: false}"},
		},
	})
}

type header struct {
	Name           expr.String `plan:"name,required,short,nonempty" doc:"the name of the header"`
	valueOperators `plan:",inline"`
}

// Check reports wrong patterns and operators that exclude each other.
func (a *header) Check(report func(field, code, summary, detail string)) { a.check(report) }

// Assert holds when a header of the name satisfies every operator.
func (a *header) Assert(t *element.Thread, s *element.Sample) error {
	name, err := a.Name.Eval(t)
	if err != nil {
		return err
	}
	return a.judge(t, "the header "+written(&a.Name), query.Headers(s, name))
}

// valueOperators are what can be asked of a named value.
type valueOperators struct {
	Exists   expr.Bool   `plan:"exists" doc:"false: it must not be there" default:"true"`
	Equals   expr.String `plan:"equals" doc:"what its value must be, exactly"`
	Contains expr.String `plan:"contains" doc:"text that must occur in its value"`
	Matches  expr.String `plan:"matches" doc:"regular expression that must match somewhere in its value"`

	regexes query.Cache[*query.Regex]
}

func (o *valueOperators) check(report func(field, code, summary, detail string)) {
	exists, ok := o.Exists.Literal()
	if ok && !exists && (o.Equals.IsSet() || o.Contains.IsSet() || o.Matches.IsSet()) {
		report("exists", "exclusive-keys", "`exists: false` leaves no value to look at", "remove it, or the other operators")
	}
	checkRegex("matches", &o.Matches, report)
}

// judge returns nil if one of the values satisfies every operator, else the
// failure of the last one.
func (o *valueOperators) judge(t *element.Thread, what string, values []string) error {
	if o.Exists.IsSet() {
		exists, err := o.Exists.Eval(t)
		if err != nil {
			return err
		}
		if !exists {
			if len(values) == 0 {
				return nil
			}
			return fail(t, what+" is there", "none", quote(t, values[0]))
		}
	}
	err := fail(t, what+" is missing", "to be there", "none")
	for _, v := range values {
		if err = o.one(t, what, []byte(v)); err == nil {
			return nil
		}
	}
	return err
}

func (o *valueOperators) one(t *element.Thread, what string, value []byte) error {
	if err := equals(t, what, value, &o.Equals); err != nil {
		return err
	}
	if o.Contains.IsSet() {
		if err := contains(t, what, value, &o.Contains); err != nil {
			return err
		}
	}
	return matches(t, what, value, &o.Matches, &o.regexes, true)
}

// Needs says that the headers are looked at.
func (*header) Needs() element.Needs { return element.NeedHeaders }
