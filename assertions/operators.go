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
	EqualsAny    []expr.String `plan:"equals_any,single" doc:"texts of which it must be one, exactly"`
	NotEquals    []expr.String `plan:"not_equals,single" doc:"what it must not be; several are allowed"`
	Matches      expr.String   `plan:"matches" doc:"regular expression that must match somewhere; ^ and $ tie it to the ends"`
	MatchesAll   []expr.String `plan:"matches_all,single,nonempty" doc:"regular expressions that must all match"`
	MatchesAny   []expr.String `plan:"matches_any,single,nonempty" doc:"regular expressions of which one at least must match"`
	NotMatches   []expr.String `plan:"not_matches,single,nonempty" doc:"regular expression that may match nowhere; several are allowed"`

	regexes query.Cache[*query.Regex]
}

const textWords = "contains, contains_all, contains_any, contains_none, equals, equals_any, not_equals, matches, matches_all, matches_any, not_matches"

func (o *textOperators) given() bool { return o.positive() || o.negative() }

// positive reports whether something must be there, negative whether something
// must not.
func (o *textOperators) positive() bool {
	return o.Contains.IsSet() || len(o.ContainsAll) > 0 || len(o.ContainsAny) > 0 || o.Equals.IsSet() || len(o.EqualsAny) > 0 ||
		o.Matches.IsSet() || len(o.MatchesAll) > 0 || len(o.MatchesAny) > 0
}

func (o *textOperators) negative() bool {
	return len(o.ContainsNone) > 0 || len(o.NotEquals) > 0 || len(o.NotMatches) > 0
}

// check reports missing operators and patterns that cannot be compiled.
func (o *textOperators) check(what string, report func(field, code, summary, detail string)) {
	if !o.given() {
		report("", "missing-key", "`"+what+"` asks for nothing", "write one of "+textWords)
	}
	o.checkPatterns(report)
}

func (o *textOperators) checkPatterns(report func(field, code, summary, detail string)) {
	checkRegex("matches", &o.Matches, report)
	for field, list := range map[string][]expr.String{"equals_any": o.EqualsAny, "not_equals": o.NotEquals} {
		if list != nil && len(list) == 0 {
			report(field, "empty-list", "the list has no text", "write at least one, as [OK, Created]")
		}
	}
	for field, list := range map[string][]expr.String{"matches_all": o.MatchesAll, "matches_any": o.MatchesAny, "not_matches": o.NotMatches} {
		for i := range list {
			checkRegex(field, &list[i], report)
		}
	}
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
	if err := o.require(t, what, text); err != nil {
		return err
	}
	return o.forbid(t, what, text)
}

// require judges the operators that ask for something.
func (o *textOperators) require(t *element.Thread, what string, text []byte) error {
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
	if err := o.containsAny(t, what, text); err != nil {
		return err
	}
	if err := equals(t, what, text, &o.Equals); err != nil {
		return err
	}
	if err := o.equalsAny(t, what, text); err != nil {
		return err
	}
	if err := matches(t, what, text, &o.Matches, &o.regexes, true); err != nil {
		return err
	}
	for i := range o.MatchesAll {
		if err := matches(t, what, text, &o.MatchesAll[i], &o.regexes, true); err != nil {
			return err
		}
	}
	return o.matchesAny(t, what, text)
}

// forbid judges the operators that rule something out.
func (o *textOperators) forbid(t *element.Thread, what string, text []byte) error {
	if err := o.none(t, what, text); err != nil {
		return err
	}
	for i := range o.NotEquals {
		v := &o.NotEquals[i]
		unwanted, err := v.Eval(t)
		if err != nil {
			return err
		}
		if string(text) == unwanted {
			return fail(t, what+" equals "+quoted(v), "anything but "+quote(t, unwanted), quote(t, text))
		}
	}
	for i := range o.NotMatches {
		if err := matches(t, what, text, &o.NotMatches[i], &o.regexes, false); err != nil {
			return err
		}
	}
	return nil
}

func contains(t *element.Thread, what string, text []byte, v *expr.String) error {
	want, err := v.Eval(t)
	if err != nil || bytes.Contains(text, view(want)) {
		return err
	}
	return fail(t, what+" does not contain "+quoted(v), "text containing "+quote(t, want), quote(t, text))
}

func (o *textOperators) containsAny(t *element.Thread, what string, text []byte) error {
	return anyOf(t, o.ContainsAny, func(want string) (bool, error) { return bytes.Contains(text, view(want)), nil },
		func(sources, wants string) error {
			return fail(t, what+" contains none of "+sources, "text containing "+wants, quote(t, text))
		})
}

func (o *textOperators) equalsAny(t *element.Thread, what string, text []byte) error {
	return anyOf(t, o.EqualsAny, func(want string) (bool, error) { return string(text) == want, nil },
		func(sources, wants string) error {
			return fail(t, what+" equals none of "+sources, wants, quote(t, text))
		})
}

func (o *textOperators) matchesAny(t *element.Thread, what string, text []byte) error {
	return anyOf(t, o.MatchesAny, func(pattern string) (bool, error) {
		re, err := o.regexes.Get(pattern, query.ParseRegex)
		return err == nil && re.Match(text), err
	}, func(sources, wants string) error {
		return fail(t, what+" matches none of "+sources, "a match of "+wants, quote(t, text))
	})
}

// anyOf returns nil if one of the values holds, else what failed makes of the
// texts as written and as evaluated.
func anyOf(t *element.Thread, values []expr.String, holds func(string) (bool, error), failed func(sources, wants string) error) error {
	if len(values) == 0 {
		return nil
	}
	var sources, wants []string
	for i := range values {
		want, err := values[i].Eval(t)
		if err != nil {
			return err
		}
		if ok, err := holds(want); ok || err != nil {
			return err
		}
	}
	for i := range values {
		want, err := values[i].Eval(t)
		if err != nil {
			return err
		}
		sources, wants = append(sources, quoted(&values[i])), append(wants, quote(t, want))
	}
	return failed(strings.Join(sources, ", "), or(wants))
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
