package assertions

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
	"runner/plan/element/elementtest"
	"runner/plan/query"
)

const page = `{"user": {"id": 7, "name": "Ann", "big": 9007199254740993, "score": 1.0, "none": null, "ok": true, "roles": ["admin", "dev"]},
 "items": [{"price": 5, "state": "PAID"}, {"price": 7.5, "state": "PAID"}], "text1": "1", "limit": "5s", "esc": "a\"b\u00e9", "error": {}}`

func sample() *element.Sample {
	return &element.Sample{
		Status: 201, Message: "Created", URL: "http://shop/welcome?id=7", Body: []byte(page), BodySize: int64(len(page)),
		Dispatched: time.Second, Done: 3 * time.Second,
		Headers: []element.Header{
			{Name: []byte("Content-Type"), Value: []byte("application/json")}, {Name: []byte("etag"), Value: []byte("abc")},
			{Name: []byte("Link"), Value: []byte("</a>")}, {Name: []byte("Link"), Value: []byte("</b>")},
			{Name: []byte("Set-Cookie"), Value: []byte("sid=s3cr3t; Path=/")}, {Name: []byte("Set-Cookie"), Value: []byte("old=; Max-Age=0")},
		},
	}
}

var config = elementtest.Config{
	Sample: sample, Functions: query.Functions(), Plan: "testdata/plan.yaml",
	Vars: map[string]string{"expected_status": "201", "order_id": "7", "user_id": "7", "token": `"0123456789abcdef0123456789abcdef"`,
		"limit": "2s", "name": "Ann", "pattern": `'A\w+'`, "path": "$.user.id", "yes": "true", "number": "7", "five": "5s"},
}

func TestAll(t *testing.T) {
	for _, d := range All() {
		elementtest.Run(t, d, config)
	}
}

// bind returns the assertion of one item of a plan's list.
func bind(t testing.TB, text string) (element.Assertion, *elementtest.Bound) {
	t.Helper()
	name, _, _ := strings.Cut(text, ":")
	found := All()[0] // the bare expression
	for _, d := range All() {
		if d.Name == name {
			found = d
		}
	}
	b := elementtest.Bind(t, found, text, config)
	return b.Element.(element.Assertion), b
}

// judge renders what an assertion says of a sample: "" or message | expected | actual.
func judge(t testing.TB, text string, s *element.Sample) string {
	t.Helper()
	a, b := bind(t, text)
	th := b.Thread(1)
	th.Sample = s
	err := a.Assert(th, s)
	var f *element.Failure
	switch {
	case err == nil:
		return ""
	case errors.As(err, &f):
		return f.Message + " | " + f.Expected + " | " + f.Actual
	}
	return "broken: " + err.Error()
}

func TestSemantics(t *testing.T) {
	for text, want := range map[string]string{
		// status
		"status: 201":                "",
		"status: [200, 201]":         "",
		"status: 2xx":                "",
		`status: ["3xx", 201]`:       "",
		"status: ${expected_status}": "",
		"status: 200":                "the status is not 200 | 200 | 201 Created",
		"status: [200, 204, 3xx]":    "the status is not 200, 204 or 3xx | 200, 204 or 3xx | 201 Created",
		`status: ["${number}", 5xx]`: "the status is not ${number} or 5xx | 5xx or 7 | 201 Created",
		`status: "${name}"`:          `broken: status: "Ann" is not a status`,
		// duration
		"duration: 2s":       "",
		"duration: ${limit}": "",
		"duration: 1999ms":   "the sample took longer than 1999ms | at most 1.999s | 2s",
		// size
		"size: {min: 265B, max: 265B}":      "",
		"size: {max: 264B}":                 "the body is larger than 264B | at most 264B | 265B",
		"size: {min: 1KB}":                  "the body is smaller than 1KB | at least 1KB | 265B",
		"size: 265B":                        "",
		"size: 1KB":                         "the body is not 1KB | 1KB | 265B",
		"size: {equals: 128B, of: headers}": "",
		"size: {equals: 393B, of: all}":     "",
		"size: {min: 1MB, of: headers}":     "the headers are smaller than 1MB | at least 1MB | 128B",
		// body
		`body: {contains: '"id": ${user_id}'}`:                                 "",
		`body: {contains: 'a.*b'}`:                                             "pattern-free",
		`body: {contains_all: [Ann, PAID], contains_none: [Error, Exception]}`: "",
		`body: {contains_any: [Bob, Ann]}`:                                     "",
		`body: {contains_any: [Bob, Eve]}`:                                     "head the body contains none of \"Bob\", \"Eve\" | text containing \"Bob\" or \"Eve\" | ",
		`body: {contains_none: PAID}`:                                          "head the body contains \"PAID\" | text without \"PAID\" | \"…",
		`body: {matches: '"id": \d+'}`:                                         "",
		`body: {matches: '^\d+$'}`:                                             "head the body does not match ^\\d+$ | a match of ^\\d+$ | \"{",
		`body: {not_matches: '"id": \d+'}`:                                     "head the body matches \"id\": \\d+ | no match of",
		`body: {matches: "${pattern}"}`:                                        "",
		`body: {equals: x}`:                                                    "head the body does not equal \"x\" | \"x\" | \"{",
		// text
		"text: {of: url, contains: /welcome}":                   "",
		"text: {of: message, equals: Created}":                  "",
		"text: {of: headers, contains: 'etag: abc'}":            "",
		"text: {of: {variable: token}, matches: '^[0-9a-f]+$'}": "",
		"text: {of: {variable: token}, equals: x}":              `the variable token does not equal "x" | "x" | "0123456789abcdef0123456789abcdef"`,
		"text: {of: message, equals: OK}":                       `the status text does not equal "OK" | "OK" | "Created"`,
		// header
		"header: ETag": "",
		"header: {name: content-type, contains: json}": "",
		"header: {name: link, equals: </b>}":           "",
		"header: {name: link, equals: </c>}":           `the header link does not equal "</c>" | "</c>" | "</b>"`,
		"header: X-None":                               "the header X-None is missing | to be there | none",
		"header: {name: X-None, exists: false}":        "",
		"header: {name: ETag, exists: false}":          `the header ETag is there | none | "abc"`,
		"header: {name: ETag, exists: true}":           "",
		"header: {name: ETag, matches: '^\\d+$'}":      `the header ETag does not match ^\d+$ | a match of ^\d+$ | "abc"`,
		// cookie
		"cookie: sid":                         "",
		"cookie: {name: sid, equals: s3cr3t}": "",
		"cookie: old":                         "the cookie old is missing | to be there | none",
		"cookie: {name: old, exists: false}":  "",
		"cookie: {name: sid, contains: x}":    `the cookie sid does not contain "x" | text containing "x" | "s3cr3t"`,
		// json
		"json: $.user.id":                                                  "",
		"json: {path: $.user.none}":                                        "",
		"json: $.user.mail":                                                "$.user.mail is not there | a value | nothing",
		"json: {path: $.user.mail, exists: false}":                         "",
		"json: {path: $.user.id, exists: false}":                           "$.user.id is there | nothing | 7",
		"json: {path: $.user.id, equals: 7}":                               "",
		"json: {path: $.user.id, equals: 7.0}":                             "",
		"json: {path: $.user.score, equals: 1}":                            "",
		"json: {path: $.user.id, equals: \"${user_id}\"}":                  "",
		"json: {path: \"${path}\", equals: \"${number}\"}":                 "",
		"json: {path: $.user.id, equals: 8}":                               "$.user.id does not equal 8 | 8 | 7",
		"json: {path: $.user.id, equals: \"7\"}":                           `$.user.id is a number, not text | "7" | 7`,
		"json: {path: $.text1, equals: 1}":                                 `$.text1 is text, not a number | 1 | "1"`,
		"json: {path: $.user.big, equals: 9007199254740993}":               "",
		"json: {path: $.user.big, equals: 9007199254740992}":               "$.user.big does not equal 9007199254740992 | 9007199254740992 | 9007199254740993",
		"json: {path: $.user.none, equals: null}":                          "",
		"json: {path: $.user.ok, equals: true}":                            "",
		"json: {path: $.user.ok, equals: false}":                           "$.user.ok does not equal false | false | true",
		"json: {path: $.limit, equals: 5s}":                                "",
		"json: {path: $.limit, equals: \"${five}\"}":                       "",
		"json: {path: $.esc, equals: 'a\"bé'}":                             "",
		"json: {path: $.user.roles, equals: [admin, dev]}":                 "",
		"json: {path: $.user.roles, equals: [\"${name}\", dev]}":           `$.user.roles does not equal ["${name}", dev] | ["Ann","dev"] | ["admin","dev"]`,
		"json: {path: '$.items[0]', equals: {state: PAID, price: 5.0}}":    "",
		"json: {path: $.user.name, matches: ^A}":                           "",
		"json: {path: $.user.id, matches: '^\\d$'}":                        "",
		"json: {path: $.user, matches: x}":                                 "head $.user is an object, not text | text that matches x | {",
		"json: {path: $.user.name, contains: nn}":                          "",
		"json: {path: $.text1, contains: 1}":                               "",
		"json: {path: $.user.roles, contains: dev}":                        "",
		"json: {path: $.user.roles, contains: ops}":                        `$.user.roles does not contain ops | a list containing "ops" | ["admin","dev"]`,
		"json: {path: $.user, contains: name}":                             "",
		"json: {path: $.user.id, contains: 7}":                             "$.user.id is a number and contains nothing | text, a list or an object | 7",
		"json: {path: $.user.roles, length: 2}":                            "",
		"json: {path: $.user.name, length: 4}":                             "the length of $.user.name is not 4 | 4 characters | 3",
		"json: {path: $.user.id, length: 1}":                               "$.user.id is a number and has no length | text, a list or an object | 7",
		"json: {path: '$.items[*]', length: 2}":                            "",
		"json: {path: '$.items[*]', length: 3}":                            "the length of $.items[*] is not 3 | 3 matches | 2",
		"json: {path: '$.none[*]', length: 0}":                             "",
		"json: {path: '$.items[*].state', equals: PAID}":                   "",
		"json: {path: '$.items[*].price', max: 7}":                         "$.items[*].price is above 7 | at most 7 | 7.5",
		"json: {path: '$.items[*].price', min: 5, max: 7.5, type: number}": "",
		"json: {path: $.user.name, min: 5}":                                `$.user.name is text, not a number | a number | "Ann"`,
		"json: {path: $.user.id, type: integer}":                           "",
		"json: {path: $.user.score, type: integer}":                        "",
		"json: {path: $.user.id, type: string}":                            "$.user.id is not of type string | string | a number, 7",
		"json: {path: $.user.none, type: \"null\"}":                        "",
		"json: {path: $.user.roles, type: array}":                          "",
		"json: {path: $.user, type: object}":                               "",
		"json: {path: $.user.ok, type: boolean}":                           "",
		"json: {path: $.text1, type: string}":                              "",
		// md5
		"md5: 900150983cd24fb0d6963f7d28e17f72": "head the body's MD5 sum is not 900150983cd24fb0d6963f7d28e17f72 | 900150983cd24fb0d6963f7d28e17f72 | ",
		// expression
		"json.user.id == 7":            "",
		"that: status == 201 and ok":   "",
		"json.user.id == 8":            "json.user.id == 8 does not hold | json.user.id == 8 | 7",
		`ok and header("etag") == "x"`: `ok and header("etag") == "x" does not hold | header("etag") == "x" | "abc"`,
		"json.ready and ok":            "json.ready and ok does not hold | json.ready and ok | not known: expected true or false, was nil",
		"not ok":                       "not ok does not hold | not ok | false",
	} {
		got := judge(t, text, sample())
		switch {
		case want == "pattern-free":
			if !strings.HasPrefix(got, `the body does not contain "a.*b" | `) {
				t.Errorf("%s: got %s", text, got)
			}
		case strings.HasPrefix(want, "head "):
			if !strings.HasPrefix(got, strings.TrimPrefix(want, "head ")) {
				t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
			}
		case got != want:
			t.Errorf("%s\ngot  %s\nwant %s", text, got, want)
		}
	}
}

func TestMD5Holds(t *testing.T) {
	for _, text := range []string{"md5: 900150983cd24fb0d6963f7d28e17f72", "md5: 900150983CD24FB0D6963F7D28E17F72"} {
		if got := judge(t, text, &element.Sample{Body: []byte("abc")}); got != "" {
			t.Error(got)
		}
	}
}

func TestBodyThatIsNotJSON(t *testing.T) {
	for _, body := range []string{"<html>oops</html>", `{"user": {"id": 7}`} {
		for _, text := range []string{"json: {path: $.user.id, equals: 7}", "json: {path: '$..id', exists: false}", "json: $.user.id"} {
			got := judge(t, text, &element.Sample{Body: []byte(body)})
			if want := "the body is not JSON | JSON with a value at "; !strings.HasPrefix(got, want) || !strings.HasSuffix(got, " | \""+body+`"`) {
				t.Errorf("%s: got %s", text, got)
			}
		}
	}
	if got := judge(t, "json: $.a", &element.Sample{}); got != `the body is not JSON | JSON with a value at $.a | ""` {
		t.Errorf("got %s", got)
	}
}

func TestDurationJustAboveTheLimit(t *testing.T) {
	for over, want := range map[time.Duration]string{400 * time.Microsecond: "2.0004s", 10: "2.00000001s", 123456789: "2.123457s"} {
		if got := judge(t, "duration: 2s", &element.Sample{Done: 2*time.Second + over}); got != "the sample took longer than 2s | at most 2s | "+want {
			t.Errorf("got %s", got)
		}
	}
}

func TestNoStatus(t *testing.T) {
	if got := judge(t, "status: 200", &element.Sample{}); got != "the status is not 200 | 200 | none" {
		t.Errorf("got %s", got)
	}
}

func TestLongTextsAreCut(t *testing.T) {
	s := &element.Sample{Body: []byte(strings.Repeat("é", 1<<20) + "\x00\xff")}
	got := judge(t, "body: {contains: x}", s)
	if want := `"` + strings.Repeat("é", 200) + `…" (2097154 bytes in all)`; !strings.HasSuffix(got, " | "+want) {
		t.Errorf("got %.300s", got)
	}
	got = judge(t, "body: {equals: x}", &element.Sample{Body: []byte("a\n\x00\xff")})
	if want := ` | "a\n\u0000` + "\uFFFD" + `"`; !strings.HasSuffix(got, want) {
		t.Errorf("got %s", got)
	}
}

func TestSecretsAreHidden(t *testing.T) {
	a, b := bind(t, "body: {contains: hunter22}")
	th := b.Thread(1)
	th.Masker = &element.Masker{}
	th.Masker.Add("hunter22")
	th.Masker.Add("topsecret")
	s := &element.Sample{Body: []byte(strings.Repeat("x", 195) + "topsecret")}
	err := a.Assert(th, s)
	if text := err.Error(); strings.Contains(text, "hunter") || strings.Contains(text, "tops") {
		t.Errorf("got %s", text)
	}
}

func TestMessagesAreTheSameForEverySample(t *testing.T) {
	for _, text := range []string{"duration: 1ms", "json: {path: $.a, equals: 1}", "body: {contains: zz}", "status: 404", "size: {max: 1B}"} {
		a, b := bind(t, text)
		messages := map[string]bool{}
		for i := range 3 {
			th := b.Thread(1)
			s := &element.Sample{Status: 500 + i, Done: time.Duration(i+1) * time.Second, BodySize: int64(100 + i), Body: []byte(`{"a": ` + string(rune('5'+i)) + `}`)}
			var f *element.Failure
			if !errors.As(a.Assert(th, s), &f) {
				t.Fatalf("%s holds", text)
			}
			messages[f.Message] = true
		}
		if len(messages) != 1 {
			t.Errorf("%s: %v", text, messages)
		}
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string][]string{
		"status: 200-299":                             {`9: "200-299" is not a status`},
		"status: [200, ok]":                           {`15: "ok" is not a status`},
		"status: []":                                  {"9: the list has no status"},
		"size: {of: body}":                            {"7: `size` needs one of `min`, `max`, `equals` and `not`"},
		"size: {min: 2KB, max: 1KB}":                  {"23: max is below min"},
		"size: {equals: 2KB, max: 1KB}":               {"16: `equals` excludes `min` and `max`"},
		"body: {}":                                    {"7: `body` asks for nothing"},
		"body: {matches: '('}":                        {"17: \"(\" is not a regular expression (missing closing ): `(`)"},
		"text: {of: cookies, contains: x}":            {`12: "cookies" is nothing that can be looked at`},
		"text: {of: {variable: none}, contains: x}":   {"23: `none` is not defined"},
		"header: {name: A, exists: false, equals: x}": {"27: `exists: false` leaves no value to look at"},
		"json: {path: json.user.id}":                  {`14: "json.user.id" is an expression, not a JSONPath`},
		"json: {path: user.id, equals: 1}":            {`14: "user.id" is not a JSONPath`},
		"json: {path: $.a, type: text}":               nil,
		"json: {path: $.a, exists: false, min: 1}":    {"27: `exists: false` leaves no value to look at"},
		"md5: abc": {`6: "abc" is not an MD5 sum`},
	} {
		name, _, _ := strings.Cut(text, ":")
		for _, d := range All() {
			if d.Name != name {
				continue
			}
			got := elementtest.Problems(t, d, text, config)
			if want == nil && len(got) == 1 {
				continue
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s", text, d)
			}
		}
	}
}

func TestPassedSamplesDoNotAllocate(t *testing.T) {
	for _, text := range []string{"status: 201", "status: [200, 2xx]", "duration: 5s", "json: {path: $.user.id, equals: 7}", "json: {path: $.user.name, equals: Ann}",
		"json: {path: $.user.none, equals: null}", "body: {contains: PAID}", `body: {contains: '"items": [{"price": 5, "state": "PAID"}, {"price"'}`, "body: {matches: PAID}", "size: {max: 1MB}"} {
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

func BenchmarkAssert(b *testing.B) {
	for _, text := range []string{"status: 201", "duration: 5s", "json: {path: $.user.id, equals: 7}", "body: {contains: PAID}", "json.user.id == 7"} {
		b.Run(text, func(b *testing.B) {
			a, bound := bind(b, text)
			th, s := bound.Thread(1), sample()
			th.Sample = s
			b.ReportAllocs()
			for b.Loop() {
				if err := a.Assert(th, s); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestNeeds(t *testing.T) {
	const body, headers = element.NeedBody, element.NeedHeaders
	for text, want := range map[string]element.Needs{
		"status: 200": 0, "duration: 1s": 0, "size: {max: 1KB}": body, "size: {max: 1KB, of: headers}": headers, "size: {max: 1KB, of: all}": body | headers,
		"body: {contains: x}": body, "json: $.a": body, "md5: 900150983cd24fb0d6963f7d28e17f72": body, "header: A": headers, "cookie: a": headers,
		"text: {of: url, contains: x}": 0, "text: {of: message, contains: x}": headers, "text: {of: body, contains: x}": body,
		"text: {of: {variable: token}, contains: x}": 0,
		"status == 200 and duration < 1s":            0, "json.a == 1": body, `headers["a"] == "x" and size > 1KB`: body | headers, `header("a") == "x"`: body | headers,
		"status == number": body | headers,
	} {
		a, _ := bind(t, text)
		if got := a.(element.Needer).Needs(); got != want {
			t.Errorf("%s: got %b, want %b", text, got, want)
		}
	}
}
