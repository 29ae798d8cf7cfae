package expr

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/plan/source"
)

// render prints diagnostics as "from-to code: summary; detail", offsets in bytes
// of the file.
func render(ds source.Diagnostics) string {
	var lines []string
	for _, d := range ds {
		lines = append(lines, fmt.Sprintf("%d-%d %s: %s; %s", d.Range.Start.Offset, d.Range.End.Offset, d.Code, d.Summary, d.Detail))
	}
	return strings.Join(lines, "\n")
}

func TestProblems(t *testing.T) {
	names := sampleNames()
	delete(names, "status")
	env := typesOf(names).WithAll(map[string]Type{"account.name": TextType, "row": MapType, "thread.iteration": IntType, "secrets.key": SecretType, "count2": IntType})
	for _, c := range []struct{ text, want string }{
		{`a == "${n}"`, "6-8 interpolation-in-expression: nothing is replaced in a text inside an expression; write n in place of \"${n}\""},
		{`a == "id-${n}!"`, "9-11 interpolation-in-expression: nothing is replaced in a text inside an expression; write \"id-\" + string(n) + \"!\" in place of \"id-${n}!\""},
		{"${n} > 3", "0-2 interpolation-in-expression: an expression is written without ${ }; drop the `${ }`: `n > 3`"},
		{"n = 3", "2-3 assignment-in-expression: a single = does not compare; write =="},
		{"$.a == 1", "0-3 jsonpath-in-expression: a path with $ cannot stand in an expression; write json.a"},
		{"$[0].b == 1", "0-6 jsonpath-in-expression: a path with $ cannot stand in an expression; write json[0].b"},
		{"n === 3", "2-5 unknown-operator: `===` is not an operator here; write =="},
		{"n <> 3", "2-4 unknown-operator: `<>` is not an operator here; write !="},
		{"n => 3", "2-4 unknown-operator: `=>` is not an operator here; write >="},
		{"ok & ok", "3-4 unknown-operator: a single & is not an operator here; write and"},
		{"name == “a”", "8-11 typographic-quote: a typographic quote does not delimit a text; write \" or '\n12-15 typographic-quote: a typographic quote does not delimit a text; write \" or '"},
		{"name == 'a", "8-9 unclosed-string: the quote is never closed; close the text with '"},
		{"", "0-0 empty-expression: the expression is empty; write an expression, as in `json.id == 7`"},
		{"n +", "2-3 syntax: the expression ends too early; complete it; check that every ( [ and { is closed"},
		{"(n + 1", "5-6 syntax: the expression ends too early; complete it; check that every ( [ and { is closed"},
		{"n + 1)", "5-6 syntax: `)` is not expected here; it closes nothing; remove it or open it before"},
		{"ok ok", "3-5 syntax: `ok` is not expected here; is an operator missing before it (==, and, or, +)?"},
		{"nn > 1", "0-2 undefined-variable: `nn` is not defined; define it under vars, or by extract, set or data before this step"},
		{"acount.email == ''", "0-6 undefined-variable: `acount` is not defined; did you mean account?"},
		{"account.emial == ''", "8-13 undefined-variable: `account` has no member `emial`; did you mean account.email?"},
		{"thread.foo == 1", "7-10 undefined-variable: `thread` has no member `foo`; `thread` has id, iteration"},
		{"thread == 1", "0-6 undefined-variable: `thread` stands for several values; write one of them: thread.id, thread.iteration"},
		{"status == 200", "0-6 undefined-variable: `status` belongs to a response and is not known here; take it on the sampler, as in `extract: {last_status: status}`, and use last_status here"},
		{"header('X') == ''", "0-6 unknown-function: `header` is not a function; the reference lists all functions"},
		{"env.HOME == ''", "0-8 env-outside-vars: env.HOME can be read only in vars; set a variable under vars, as in `base: ${env.HOME}`, and use that variable here"},
		{"secrts.key == ''", "0-6 undefined-variable: `secrts` is not defined; did you mean secrets?"},
		{"loop.index == 1", "0-4 undefined-variable: `loop` is not defined; loop.index is known inside loop, while and foreach only"},
		{"p95 < 1s", "0-3 undefined-variable: `p95` is not defined; it is a figure of a run and may be used in thresholds only"},
		{"é + name", "0-2 undefined-variable: `é` is not defined; define it under vars, or by extract, set or data before this step"},
		{"'é' + nam", "7-10 undefined-variable: `nam` is not defined; did you mean name?"},
		{"duration < 5µs and nam == ''", "20-23 undefined-variable: `nam` is not defined; did you mean name?"},
		{"null == n", "0-4 undefined-variable: `null` is not defined; write nil"},
		{"ok == True", "6-10 undefined-variable: `True` is not defined; write true"},
		{"n == 'x'", "0-8 type-mismatch: `n` is an int and `'x'` is text; they can never be equal; write n == int('x')"},
		{"n == \"7\"", "0-8 type-mismatch: `n` is an int and `\"7\"` is text; they can never be equal; write n == 7"},
		{"\"7\" == n", "0-8 type-mismatch: `\"7\"` is text and `n` is an int; they can never be equal; write 7 == n"},
		{"name == 5", "0-9 type-mismatch: `name` is text and `5` is an int; they can never be equal; write int(name) == 5"},
		{"ok == 'true'", "0-12 type-mismatch: `ok` is a bool and `'true'` is text; they can never be equal; write ok == true"},
		{"duration < 500", "11-14 unit-missing: `500` has no unit, and `duration` is a duration; write 500ms"},
		{"500 > duration", "0-3 unit-missing: `500` has no unit, and `duration` is a duration; write 500ms"},
		{"duration < 10KB", "0-15 unit-mismatch: `duration` is a duration and `10KB` is a size; they cannot be compared; write 10KB as a duration, like 500ms"},
		{"ok and duration < n", "18-19 unit-missing: `n` has no unit, and `duration` is a duration; make n a duration, or multiply it: n * 1ms"},
		{"duration + 5 < 1s", "11-12 unit-missing: `5` has no unit, and `duration` is a duration; write 5ms"},
		{"duration * pause", "0-16 unit-mismatch: a duration times a duration has no meaning; multiply by a plain number"},
		{"n < 5sec", "4-8 unknown-unit: `5sec` is not a number with a unit; write 5s"},
		{"n < 5kb", "4-7 unknown-unit: `5kb` is not a number with a unit; write 5KB"},
		{"n == 2xx", "5-8 unknown-unit: `2xx` is not a number with a unit; write status >= 200 and status < 300, or the assertion `status: 2xx`"},
		{"lenn(hits) > 0", "0-4 unknown-function: `lenn` is not a function; did you mean len(...)?"},
		{"length(hits) > 0", "0-6 unknown-function: `length` is not a function; write len(...)"},
		{"hits.length > 0", "5-11 no-member: a list has no member length; write len(...) around the name"},
		{"name.upper() == 'X'", "0-10 unknown-function: `name.upper` is not a function; values have no methods; write upper(name)"},
		{"fake.nme() == ''", "0-8 unknown-function: `fake.nme` is not a function; did you mean fake.name()?"},
		{"random_int(5) == 1", "0-12 wrong-arguments: `random_int` is called with 1 argument; write random_int(1, 100)"},
		{"uuid == ''", "0-4 undefined-variable: `uuid` is not defined; it is a function; write uuid()"},
		{"len(n) > 0", "0-3 type-mismatch: len counts text, lists and maps, and `n` is an int; write n alone, or len(string(n))"},
		{"not n == 7", "0-10 not-precedence: `not n == 7` is read as (not n) == ...; write not (n == 7)"},
		{"hits and ok", "0-4 not-a-condition: the left of and must be true or false, and `hits` is a list; write len(hits) > 0"},
		{"'a' in name", "0-11 type-mismatch: in looks into a list or a map, and `name` is text; write name contains 'a'"},
		{"hits contains 'a'", "0-17 type-mismatch: contains looks into text, and `hits` is a list; write 'a' in hits"},
		{"n in ['7', '8']", "0-14 type-mismatch: `n` is an int and `'7'` is text; they can never be equal; write 7 without quotes in the list"},
		{"name matches '('", "13-16 bad-regex: the regular expression is wrong: missing closing ): `(`; correct it; backslashes are doubled in \"...\", not in '...' of YAML"},
		{"name + 1", "0-8 type-mismatch: `+` cannot stand between text and an int; write name + string(1)"},
		{"filter(hits, .id) == []", "13-16 not-a-condition: "},
	} {
		_, ds := condition(t, env, c.text)
		if got := render(ds); got != c.want && !(strings.HasPrefix(c.text, "filter") && got == "") {
			t.Errorf("%s\n got %s\nwant %s", c.text, got, c.want)
		}
	}
}

func TestHeaderNamesAreLowerCase(t *testing.T) {
	env := NewEnv(nil, nil).WithResponse(nil)
	_, ds := condition(t, env, `headers["X-Id"] == "1"`)
	if got := render(ds); got != "8-14 header-case: the names in headers are in lower case; write header(\"X-Id\")" {
		t.Error(got)
	}
	mustCondition(t, env, `headers["x-id"] == "1" and headers.etag != nil`)
}

func TestConditionMustBeBool(t *testing.T) {
	names := sampleNames()
	for text, want := range map[string]string{
		"len(hits)": "0-9 not-a-condition: `len(hits)` is an int, not a condition; write len(hits) > 0",
		"hits":      "0-4 not-a-condition: `hits` is a list, not a condition; write len(hits) > 0",
		"name":      "0-4 not-a-condition: `name` is text, not a condition; write name != \"\"",
		"duration":  "0-8 not-a-condition: `duration` is a duration, not a condition; compare it, as in duration < 500ms",
		"ok":        "", "json.ready": "", "n > 1": "",
	} {
		var ds source.Diagnostics
		var c Condition
		c.Decode(scalar(text, false), &ds)
		c.Bind(typesOf(names), &ds)
		if diff := cmp.Diff(want, render(ds)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
	c := mustCondition(t, typesOf(names), "json.id")
	if _, err := c.EvalBool(newScope(names)); err == nil || err.Error() != "json.id: 7 (int) is not true or false; write json.id > 0" {
		t.Error(err)
	}
}

func TestRuntimeErrors(t *testing.T) {
	names := sampleNames()
	env := typesOf(names).With("gone", AnyType).With("anynil", AnyType)
	names["anynil"] = nil
	for text, want := range map[string]string{
		"gone":                                   "gone: the variable gone is not set",
		"gone == 1":                              "gone == 1: the variable gone is not set",
		"gone + 1":                               "gone + 1: the variable gone is not set",
		"ok and gone":                            "ok and gone: the variable gone is not set",
		"ok ? gone : 1":                          "ok ? gone : 1: the variable gone is not set",
		"json.id == \"7\"":                       `json.id == "7": 7 (int) is compared with "7" (text); convert one of them with string(...), int(...) or float(...)`,
		"anytext == any":                         "",
		"json.id == anytext":                     `json.id == anytext: 7 (int) is compared with "5" (text); convert one of them with string(...), int(...) or float(...)`,
		"hits[5].id":                             "hits[5].id: the index 5 is out of range; there are 2 items",
		"m.q.r":                                  "m.q.r: nil has no member r; guard it with ??",
		"anynil.x":                               "anynil.x: nil has no member x; guard it with ??",
		"json.id < 'a'":                          `json.id < 'a': 7 (int) is compared with "a" (text)`,
		"json.id and ok":                         "json.id and ok: expected true or false, was 7 (int)",
		"len(json.id)":                           "len(json.id): len counts text, lists and maps, and this is 7 (int)",
		"int('x')":                               `int('x'): "x" is not a whole number; write one like 10`,
		"pick([])":                               "pick([]): nothing can be picked from an empty list",
		"1..100000000":                           "1..100000000: memory budget exceeded",
		"let r = 1..9999; all(r, all(r, # > 0))": "let r = 1..9999; all(r, all(r, # > 0)): the expression takes too many steps",
		"reduce(1..60, #acc + #acc, 'xxxxxxxx')": "reduce(1..60, #acc + #acc, 'xxxxxxxx'): the text grows beyond 32 MiB",
		"repeat(name, 100000000)":                "repeat(name, 100000000): the text grows beyond 32 MiB",
		"toJSON(reduce(1..60, [#acc, #acc], 1))": "toJSON(reduce(1..60, [#acc, #acc], 1)): the text grows beyond 32 MiB",
		"file('x')":                              "file('x'): files cannot be read here",
	} {
		if want == "" {
			continue
		}
		c := mustCondition(t, env, text)
		if _, err := c.Eval(newScope(names)); err == nil || err.Error() != want {
			t.Errorf("%s\n got %v\nwant %s", text, err, want)
		}
	}
}

func TestExplain(t *testing.T) {
	names := sampleNames()
	names["secrets.key"] = NewSecret("hunter22")
	env := typesOf(names)
	for text, want := range map[string]string{
		"json.id == 8":                           "expected json.id == 8, was 7",
		"json.id == n + 1":                       "expected json.id == n + 1 (8), was 7",
		"ok and (json.id > 3 and name == 'Bob')": `expected name == 'Bob', was "Ada"`,
		"duration < 100ms":                       "expected duration < 100ms, was 300ms",
		"json.state in ['NEW', 'OPEN']":          `expected json.state in ['NEW', 'OPEN'], was "PAID"`,
		"not ok":                                 "expected not ok",
		"name contains 'zz'":                     `expected name contains 'zz', was "Ada"`,
		"secrets.key == 'x'":                     "expected secrets.key == 'x', was ***",
		"name == secrets.key":                    `expected name == secrets.key (***), was "Ada"`,
		"'pre' + secrets.key == name":            `expected 'pre' + secrets.key == name ("Ada"), was ***`,
		"size < 1KB or n > 100":                  "expected size < 1KB or n > 100",
	} {
		if got := mustCondition(t, env, text).Explain(newScope(names)); got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
}
