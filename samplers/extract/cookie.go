package extract

import (
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

func defineCookie() element.Definition {
	return element.DefineExtractor[cookie]("cookie", element.Doc{
		Summary: "takes the value of a cookie",
		Text: "The value is the one that the response set, byte for byte, else the one that the thread has. " +
			"Where the response sets the cookie several times, the newest is the first match. One that it deletes is not found.",
		Examples: []element.Example{{YAML: "{cookie: sid}"}},
	})
}

type cookie struct {
	Cookie expr.String `plan:"cookie,required,short,nonempty" doc:"name of the cookie"`
}

// Extract returns the cookie's value, or values.
func (e *cookie) Extract(t *element.Thread, s *element.Sample, pick element.Pick) (any, error) {
	name, err := e.Cookie.Eval(t)
	if err != nil {
		return nil, err
	}
	return choose(t, pick, query.Cookies(s, name))
}

// Needs says that the headers are looked at.
func (*cookie) Needs() element.Needs { return element.NeedHeaders }
