package assertions

import (
	"bytes"
	"strings"
	"unsafe"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/query"
)

// textOperators are what can be asked of a text. All that are given must hold.
type textOperators struct {
	Contains     expr.String   `plan:"contains" doc:"text that must occur"`
	ContainsAll  []expr.String `plan:"contains_all,single,nonempty" doc:"texts that must all occur"`
	ContainsAny  []expr.String `plan:"contains_any,single,nonempty" doc:"texts of which one at least must occur"`
	ContainsNone []expr.String `plan:"contains_none,single,nonempty" doc:"texts of which none may occur"`
	Equals       expr.String   `plan:"equals" doc:"what it must be, exactly"`
	Matches      expr.String   `plan:"matches" doc:"regular expression that must match somewhere; ^ and $ tie it to the ends"`
	NotMatches   expr.String   `plan:"not_matches" doc:"regular expression that may match nowhere"`

	regexes query.Cache[*query.Regex]
}

func (o *textOperators) given() bool {
	return o.Contains.IsSet() || len(o.ContainsAll) > 0 || len(o.ContainsAny) > 0 || len(o.ContainsNone) > 0 ||
		o.Equals.IsSet() || o.Matches.IsSet() || o.NotMatches.IsSet()
}

// check reports missing operators and patterns that cannot be compiled.
func (o *textOperators) check(what string, report func(field, code, summary, detail string)) {
	if !o.given() {
		report("", "missing-key", "`"+what+"` asks for nothing", "write one of contains, contains_all, contains_any, contains_none, equals, matches, not_matches")
	}
	checkRegex("matches", &o.Matches, report)
	checkRegex("not_matches", &o.NotMatches, report)
}

// checkRegex reports a literal pattern that cannot be compiled.
func checkRegex(field string, v *expr.String, report func(field, code, summary, detail string)) {
	if text, ok := v.Literal(); ok {
		if _, err := query.ParseRegex(text); err != nil {
			report(field, "bad-regex", err.Error(), `write it in RE2 syntax; in single quotes a backslash is one: '\d+'`)
		}
	}
}

// judge returns a failure for the first operator that text does not satisfy.
// what names the text in messages: "the body".
func (o *textOperators) judge(t *element.Thread, what string, text []byte) error {
	if o.Contains.IsSet() {
		if err := contains(t, what, text, &o.Contains); err != nil {
			return err
		}
	}
	for i := range o.ContainsAll {
		if err := contains(t, what, text, &o.ContainsAll[i]); err != nil {
			return err
		}
	}
	if err := o.any(t, what, text); err != nil {
		return err
	}
	if err := o.none(t, what, text); err != nil {
		return err
	}
	if err := equals(t, what, text, &o.Equals); err != nil {
		return err
	}
	if err := matches(t, what, text, &o.Matches, &o.regexes, true); err != nil {
		return err
	}
	return matches(t, what, text, &o.NotMatches, &o.regexes, false)
}

func contains(t *element.Thread, what string, text []byte, v *expr.String) error {
	want, err := v.Eval(t)
	if err != nil || bytes.Contains(text, view(want)) {
		return err
	}
	return fail(t, what+" does not contain "+quoted(v), "text containing "+quote(t, want), quote(t, text))
}

func (o *textOperators) any(t *element.Thread, what string, text []byte) error {
	if len(o.ContainsAny) == 0 {
		return nil
	}
	var sources, wants []string
	for i := range o.ContainsAny {
		want, err := o.ContainsAny[i].Eval(t)
		if err != nil || bytes.Contains(text, view(want)) {
			return err
		}
	}
	for i := range o.ContainsAny {
		want, err := o.ContainsAny[i].Eval(t)
		if err != nil {
			return err
		}
		sources, wants = append(sources, quoted(&o.ContainsAny[i])), append(wants, quote(t, want))
	}
	return fail(t, what+" contains none of "+strings.Join(sources, ", "), "text containing "+or(wants), quote(t, text))
}

func (o *textOperators) none(t *element.Thread, what string, text []byte) error {
	for i := range o.ContainsNone {
		v := &o.ContainsNone[i]
		unwanted, err := v.Eval(t)
		if err != nil {
			return err
		}
		if at := bytes.Index(text, view(unwanted)); at >= 0 {
			return fail(t, what+" contains "+quoted(v), "text without "+quote(t, unwanted), around(t, text, at))
		}
	}
	return nil
}

func equals(t *element.Thread, what string, text []byte, v *expr.String) error {
	if !v.IsSet() {
		return nil
	}
	want, err := v.Eval(t)
	if err != nil || string(text) == want {
		return err
	}
	return fail(t, what+" does not equal "+quoted(v), quote(t, want), quote(t, text))
}

// matches judges a pattern; wanted is whether it must match.
func matches(t *element.Thread, what string, text []byte, v *expr.String, cache *query.Cache[*query.Regex], wanted bool) error {
	if !v.IsSet() {
		return nil
	}
	pattern, err := v.Eval(t)
	if err != nil {
		return err
	}
	re, err := cache.Get(pattern, query.ParseRegex)
	if err != nil || re.Match(text) == wanted {
		return err
	}
	if !wanted {
		return fail(t, what+" matches "+written(v), "no match of "+cut(pattern), quote(t, text))
	}
	return fail(t, what+" does not match "+written(v), "a match of "+cut(pattern), quote(t, text))
}

// view returns the bytes of a text without copying it, to search for and never to
// change.
func view(text string) []byte { return unsafe.Slice(unsafe.StringData(text), len(text)) }

// around shows the text near a place.
func around(t *element.Thread, text []byte, at int) string {
	from := max(0, at-maxShown/4)
	shown := quote(t, text[from:min(len(text), from+maxShown*3/4)])
	if from > 0 {
		shown = `"…` + shown[1:]
	}
	return shown
}

// quoted returns a text of the plan in quotes.
func quoted(v *expr.String) string { return `"` + written(v) + `"` }
