package assertions

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
	"runner/plan/element/elementtest"
)

// cases judges assertions of one sample: "" for one that holds; "head …" for one
// whose message begins so.
func cases(t *testing.T, s func() *element.Sample, table map[string]string) {
	t.Helper()
	for text, want := range table {
		got := judge(t, text, s())
		if head, ok := strings.CutPrefix(want, "head "); ok && strings.HasPrefix(got, head) {
			continue
		}
		if got != want {
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestNegatedAndSeveralOperators(t *testing.T) {
	cases(t, sample, map[string]string{
		"size: {not: 0B}":                                    "",
		"size: {not: 265B}":                                  "the body is exactly 265B | anything but 265B | 265B",
		"body: {not_equals: ''}":                             "",
		"text: {of: message, not_equals: OK}":                "",
		"text: {of: message, not_equals: [OK, Created]}":     `the status text equals "Created" | anything but "Created" | "Created"`,
		"text: {of: message, equals_any: [OK, Created]}":     "",
		"text: {of: message, equals_any: [OK, '${name}']}":   `the status text equals none of "OK", "${name}" | "OK" or "Ann" | "Created"`,
		"text: {of: url, matches_all: [^http, '\\d$']}":      "",
		"text: {of: url, matches_all: [^http, '\\d{3}$']}":   `the URL does not match \d{3}$ | a match of \d{3}$ | "http://shop/welcome?id=7"`,
		"text: {of: url, matches_any: [^ftp, ^http]}":        "",
		"text: {of: url, matches_any: [^ftp, ^file]}":        `the URL matches none of "^ftp", "^file" | a match of "^ftp" or "^file" | "http://shop/welcome?id=7"`,
		"text: {of: url, not_matches: [^ftp, ^file]}":        "",
		"text: {of: url, not_matches: [^ftp, ^http]}":        `the URL matches ^http | no match of ^http | "http://shop/welcome?id=7"`,
		"body: {matches_any: '${pattern}', equals_any: [a]}": `head the body equals none of "a" | "a" | "{`,
		// several headers of one name: one has what is asked for, none has what is ruled out
		"header: {name: link, equals: </a>}":                               "",
		"header: {name: link, matches: '^</[ab]>$'}":                       "",
		"header: {name: link, not_equals: </c>}":                           "",
		"header: {name: link, not_equals: </b>}":                           `the header link equals "</b>" | anything but "</b>" | "</b>"`,
		"header: {name: link, contains: a, contains_none: b}":              `head the header link contains "b" | text without "b"`,
		"header: {name: link, contains_all: [<, a], equals_any: [</a>]}":   "",
		"header: {name: none, not_equals: x}":                              "the header none is missing | to be there | none",
		"cookie: {name: sid, not_matches: '^\\d+$', contains_any: [s, t]}": "",
	})
}

func TestJSONOperators(t *testing.T) {
	cases(t, sample, map[string]string{
		"json: {path: $.user.id, not_equals: 8}":                            "",
		"json: {path: $.user.id, not_equals: 7.0}":                          "$.user.id equals 7.0 | anything but 7 | 7",
		"json: {path: $.user.id, not_equals: \"7\"}":                        "",
		"json: {path: $.user.name, equals_any: [Bob, Ann]}":                 "",
		"json: {path: $.user.id, equals_any: [1, \"${number}\"]}":           "",
		"json: {path: $.user.id, equals_any: [1, \"7\"]}":                   `$.user.id equals none of 1, 7 | 1 or "7" | 7`,
		"json: {path: $.user.none, equals_any: [null, 1]}":                  "",
		"json: {path: $.user.name, not_matches: ^B}":                        "",
		"json: {path: $.user.name, not_matches: ^A}":                        `$.user.name matches ^A | no match of ^A | "Ann"`,
		"json: {path: $.user, not_matches: x}":                              "head $.user is an object, not text | text that does not match x | {",
		"json: {path: $.user.roles, not_contains: ops}":                     "",
		"json: {path: $.user.roles, not_contains: dev}":                     `$.user.roles contains dev | a list without "dev" | ["admin","dev"]`,
		"json: {path: $.user.name, not_contains: nn}":                       `$.user.name contains nn | text without "nn" | "Ann"`,
		"json: {path: $.user, not_contains: id}":                            "head $.user contains id | an object without \"id\" | {",
		"json: {path: $.user.id, not_contains: 7}":                          "",
		"json: {path: '$.items[*].price', equals: 7.5, any: true}":          "",
		"json: {path: '$.items[*].price', equals: 7.5}":                     "$.items[*].price does not equal 7.5 | 7.5 | 5",
		"json: {path: '$.items[*].price', min: 8, any: true}":               "no value of $.items[*].price is as expected | at least 8 | [5,7.5]",
		"json: {path: '$.items[*].price', min: 5, max: 6, any: true}":       "",
		"json: {path: $.user.roles, matches: ^ad, any: true}":               "",
		"json: {path: $.user.roles, matches: ^x, any: true}":                `no value of $.user.roles is as expected | a match of ^x | ["admin","dev"]`,
		"json: {path: '$.none[*]', equals: 1, any: true}":                   "$.none[*] is not there | a value | nothing",
		"json: {path: '$.items[*].price', length: 2, equals: 5, any: true}": "",
		// jmespath
		"jmespath: user.id":                                            "",
		"jmespath: user.mail":                                          "user.mail is not there | a value | nothing",
		"jmespath: {path: user.mail, exists: false}":                   "",
		"jmespath: {path: user.none, equals: null}":                    "",
		"jmespath: {path: user.none, type: \"null\"}":                  "",
		"jmespath: {path: user.mail, equals: x}":                       `user.mail is null, not text | "x" | null`,
		"jmespath: {path: length(items), equals: 2}":                   "",
		"jmespath: {path: length(items), min: 3}":                      "length(items) is below 3 | at least 3 | 2",
		"jmespath: {path: 'items[?price > `6`].price', equals: [7.5]}": "",
		"jmespath: {path: 'items[].price', length: 2}":                 "",
		"jmespath: {path: 'items[].price', equals: 5, any: true}":      "",
		"jmespath: {path: 'items[9:]', equals: 5, any: true}":          "items[9:] is an empty list | a value | []",
		"jmespath: {path: user.big, equals: 9007199254740993}":         "",
		"jmespath: {path: user.name, contains: nn, type: string}":      "",
		"jmespath: {path: abs(user.name)}":                             "head abs(user.name) cannot be evaluated | a value | abs(user.name): ",
	})
	for _, text := range []string{"jmespath: user.id", "jmespath: {path: a, exists: false}"} {
		if got := judge(t, text, &element.Sample{Body: []byte("<a>")}); !strings.HasPrefix(got, "the body is not JSON | JSON with a value at ") {
			t.Errorf("%s: got %s", text, got)
		}
	}
}

const page2 = `<!DOCTYPE html><body><h1 class=title> Big
 shop</h1><input name=csrf value=0123456789abcdef0123456789abcdef><ul><li class=product>One<li class=product>Two</ul></body>`

const order = `<?xml version="1.0"?><order id="17"><state>PAID</state><item price="5">hat</item><item price="7.5">shoe</item></order>`

func document(body, kind string) func() *element.Sample {
	return func() *element.Sample {
		return &element.Sample{Body: []byte(body), Headers: []element.Header{{Name: []byte("Content-Type"), Value: []byte(kind)}}}
	}
}

func TestCSS(t *testing.T) {
	cases(t, document(page2, "text/html"), map[string]string{
		"css: h1.title":                           "",
		"css: h2":                                 "the element h2 is missing | to be there | none",
		"css: {selector: h1, equals: Big shop}":   "",
		"css: {selector: h1, equals: Small shop}": `the element h1 does not equal "Small shop" | "Small shop" | "Big shop"`,
		"css: {selector: \"input[name=csrf]\", attribute: value, matches: '^\\w{32}$'}": "",
		"css: {selector: \"input\", attribute: id}":                                     "the element input is missing | to be there | none",
		"css: {selector: li.product, count: 2}":                                         "",
		"css: {selector: li.product, count: 3}":                                         "the element li.product is not there 3 times | 3 | 2",
		"css: {selector: li.product, equals: Two, not_equals: Three}":                   "",
		"css: {selector: li.product, contains_none: Two}":                               `head the element li.product contains "Two" | `,
		"css: {selector: .error, exists: false}":                                        "",
		"css: {selector: .error, count: 0}":                                             "",
		"css: {selector: li, exists: false}":                                            `the element li is there | none | "One"`,
	})
}

func TestXPath(t *testing.T) {
	cases(t, document(order, "application/xml"), map[string]string{
		"xpath: //order/@id":                                         "",
		"xpath: //none":                                              "the node //none is missing | to be there | none",
		"xpath: {path: //state, equals: PAID}":                       "",
		"xpath: {path: //state, equals: NEW}":                        `the node //state does not equal "NEW" | "NEW" | "PAID"`,
		"xpath: {path: //item, count: 2, contains: shoe}":            "",
		"xpath: {path: //item, count: 1}":                            "the node //item is not there 1 times | 1 | 2",
		"xpath: {path: //item/@price, equals_any: ['7.5']}":          "",
		"xpath: {path: //error, exists: false}":                      "",
		"xpath: count(//item) = 2":                                   "",
		"xpath: count(//item) > 2":                                   "count(//item) > 2 is not true | true | false",
		"xpath: {path: count(//item), equals: '2'}":                  "",
		"xpath: {path: sum(//item/@price), equals: '12.5'}":          "",
		"xpath: {path: \"//order[@id='${number}']\", exists: false}": "",
		"xpath: {path: //item, not_matches: '^h'}":                   `the node //item matches ^h | no match of ^h | "hat"`,
		"xml: well_formed":                                           "",
	})
	cases(t, document(page2, "text/html"), map[string]string{
		"xpath: //h1[@class='title']":           "",
		"xpath: {path: //h1, equals: Big shop}": "",
		"xml: well_formed":                      "head the body is not well-formed XML | well-formed XML | ",
	})
	cases(t, document("<a><b></a>", "text/xml"), map[string]string{
		"xpath: //a":       "the body is not well-formed XML | XML with //a | not well-formed XML: <b> is closed by </a> (line 1, column 11)",
		"xml: well_formed": "the body is not well-formed XML | well-formed XML | <b> is closed by </a> (line 1, column 11)",
	})
}

func TestJSONSchema(t *testing.T) {
	for body, want := range map[string]string{
		`{"user": {"id": 1}, "items": [{"price": 2.5}]}`: "",
		page:                                   "",
		`{"user": {"id": 1}}`:                  "the body does not match order.json | $: missing property 'items' | {\"user\":{\"id\":1}}",
		`{"user": {"id": "x"}, "items": [{}]}`: `the body does not match order.json | $.user.id: got string, want integer | "x"`,
		`{"user": {"id": 1, "name": "a very long name"}, "items": [{}]}`: `the body does not match order.json | $.user.name: maxLength: got 16, want 10 | "a very long name"`,
		`{"user": {"id": 1}, "items": [{"price": 1}, {"price": -2}]}`:    "the body does not match order.json | $.items[1].price: minimum: got -2, want 0 | -2",
		`{"user": {"id": 1}, "items": []}`:                               "the body does not match order.json | $.items: minItems: got 0, want 1 | []",
		`[]`:                                                             "the body does not match order.json | $: got array, want object | []",
		`<html>`:                                                         `the body is not JSON | JSON as order.json has it | "<html>"`,
		`{"user": 1e999}`:                                                "the body does not match order.json | JSON of numbers and levels that can be judged | a number out of range, or more than 256 levels",
		strings.Repeat(`[`, 1000) + strings.Repeat(`]`, 1000):             "the body does not match order.json | JSON of numbers and levels that can be judged | a number out of range, or more than 256 levels",
		`{"user": {"id": 9007199254740993}, "items": [{"price": 1e300}]}`: "",
	} {
		a, b := bind(t, "json_schema: schemas/order.json")
		b.Open(t)
		th := b.Thread(1)
		got := ""
		if err := a.Assert(th, &element.Sample{Body: []byte(body)}); err != nil {
			f := err.(*element.Failure)
			got = f.Message + " | " + f.Expected + " | " + f.Actual
		}
		if got != want {
			t.Errorf("%.60s\ngot  %s\nwant %s", body, got, want)
		}
	}
}

func TestSchemasThatCannotBeRead(t *testing.T) {
	for file, want := range map[string]string{
		"none.json":    "schema schemas/none.json: openat none.json: no such file or directory",
		"broken.json":  "schema schemas/broken.json: broken.json is not JSON: ",
		"remote.json":  "schema schemas/remote.json: it refers to http://127.0.0.1:1/x.json; only files beside the schema are read",
		"outside.json": "schema schemas/outside.json: ",
		"wrong.json":   "schema schemas/wrong.json: ",
	} {
		a, _ := bind(t, "json_schema: schemas/"+file)
		err := a.(element.Opener).Open(t.Context())
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v", file, err)
		}
	}
}

func TestMistakesInDocuments(t *testing.T) {
	for text, want := range map[string][]string{
		"jmespath: $.a":                                {`11: "$.a" is a JSONPath, not a JMESPath`},
		"jmespath: {path: 'a['}":                       {},
		"xpath: //a[":                                  {},
		"css: {selector: 'a['}":                        {},
		"css: {selector: a, exists: false, count: 1}":  {"28: `exists: false` and `count` exclude each other"},
		"css: {selector: a, exists: false, equals: x}": {"28: `exists: false` leaves no value to look at"},
		"header: {name: A, equals_any: []}":            {},
		"xml: valid":                                   {},
		"json: {path: $.a, not_matches: '('}":          {"32: \"(\" is not a regular expression (missing closing ): `(`)"},
		"json_schema: ${name}":                         {"14: a path takes no ${…}: files are opened before the run"},
		"body: {matches_any: [a, '(']}":                {},
	} {
		name, _, _ := strings.Cut(text, ":")
		for _, d := range All() {
			if d.Name != name {
				continue
			}
			got := elementtest.Problems(t, d, text, config)
			if d := cmp.Diff(want, got); len(want) > 0 && d != "" || len(got) != 1 {
				t.Errorf("%s: %v %s", text, got, d)
			}
		}
	}
}

func TestOperatorsDoNotAllocate(t *testing.T) {
	for _, text := range []string{"body: {contains_any: [zz, PAID]}", "body: {not_equals: x, contains_none: [zz]}", "body: {matches_any: [zz, PAID], not_matches: zz}", "size: {not: 1B}"} {
		a, b := bind(t, text)
		th, s := b.Thread(1), sample()
		if n := testing.AllocsPerRun(100, func() {
			if err := a.Assert(th, s); err != nil {
				t.Fatal(err)
			}
		}); n != 0 && !raceEnabled {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

// TestExpectedFailure: a status that is a failure elsewhere is what is asked for.
func TestExpectedFailure(t *testing.T) {
	s := &element.Sample{Status: 404, Message: "Not Found", Done: time.Second}
	for text, want := range map[string]string{"status: 404": "", "status: 4xx": "", "status: 200": "the status is not 200 | 200 | 404 Not Found"} {
		if got := judge(t, text, s); got != want {
			t.Errorf("%s: got %s", text, got)
		}
	}
}
