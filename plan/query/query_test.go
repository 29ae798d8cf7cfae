package query

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

func TestJSONPath(t *testing.T) {
	body := `{"a": {"b": [1, {"c": "x"}, 2.5, null]}, "big": 9007199254740993, "t\u0061b": true, "a.b": "dotted",
		"dup": {"v": 1}, "dup": {"w": 2}, "items": [{"id": 1, "n": "p"}, {"id": 2, "n": "q"}], "0": "zero", "e": "\u00e9\n"}`
	for path, want := range map[string][]any{
		"$.a.b[0]":                {int64(1)},
		"$.a.b[1].c":              {"x"},
		"$.a.b[2]":                {2.5},
		"$.a.b[3]":                {nil},
		"$.a.b[4]":                nil,
		"$.a.b[-1]":               {nil},
		"$.a.b[-2]":               {2.5},
		"$.a.b.c":                 nil,
		"$['a.b']":                {"dotted"},
		"$.big":                   {int64(9007199254740993)},
		"$.tab":                   {true},
		"$.dup.v":                 nil,
		"$.dup.w":                 {int64(2)},
		"$.items[*].id":           {int64(1), int64(2)},
		"$.items[?@.id == 2].n":   {"q"},
		"$.items[?@.id > 1.5].id": {int64(2)},
		"$..c":                    {"x"},
		"$.items[0]":              {map[string]any{"id": int64(1), "n": "p"}},
		"$[0]":                    nil,
		"$['0']":                  {"zero"},
		"$.e":                     {"é\n"},
		"$.items[0,1].n":          {"p", "q"},
		"$.items[:1].n":           {"p"},
	} {
		p, err := ParseJSONPath(path)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		got, err := p.SelectBytes([]byte(body))
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		if d := cmp.Diff(want, got); d != "" && len(want)+len(got) > 0 {
			t.Errorf("%s: %s", path, d)
		}
	}
}

func TestJSONPathErrors(t *testing.T) {
	for path, want := range map[string]string{
		"json.a[0]":   `"json.a[0]" is an expression, not a JSONPath; write $.a[0]`,
		"json[0].id":  `"json[0].id" is an expression, not a JSONPath; write $[0].id`,
		"user.id":     `"user.id" is not a JSONPath; write $.user.id`,
		"[0]":         `"[0]" is not a JSONPath; write $[0]`,
		"":            `"" is not a JSONPath; write one like $.items[0].id`,
		"the user id": `"the user id" is not a JSONPath; write one like $.items[0].id`,
		"$.a[":        `"$.a[" is not a JSONPath (`,
	} {
		_, err := ParseJSONPath(path)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
	if _, err := ParseJSONPath("$" + strings.Repeat(".a", MaxSelector)); err == nil {
		t.Error("a path of any length is compiled")
	}
}

func TestNotJSON(t *testing.T) {
	for body, want := range map[string]string{
		"":             "the body is not JSON: it is empty",
		" \n":          "the body is not JSON: it is empty",
		"<html>":       "the body is not JSON: '<' at byte 0 is out of place",
		`{"a": 1, "b"`: "the body is not JSON: it ends too early",
		`{"a": 1} x`:   "the body is not JSON: 'x' at byte 9 is out of place",
		`{"a": 01}`:    "the body is not JSON: '1' at byte 7 is out of place",
		"{'a': 1}":     `the body is not JSON: '\'' at byte 1 is out of place`,
	} {
		p, _ := ParseJSONPath("$.a")
		if _, err := p.SelectBytes([]byte(body)); err == nil || err.Error() != want {
			t.Errorf("%q: got %v, want %s", body, err, want)
		}
	}
}

// TestScanIsDecode holds the scanner to the decoder's answers on texts that are
// nearly JSON.
func TestScanIsDecode(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	base := `{"a":[1,-0.5e+3,{"b":"x\u00e9\\\"","a":true}],"":null,"b":{"a":{"a":[[],{}]}},"a":[0,1E9,[2]]}`
	for range 5_000 {
		text := []byte(base)
		for range r.IntN(3) {
			const bytes = `{}[]",:\ue0123-+.Eab tn` + "\n\x01\xff"
			at := r.IntN(len(text))
			if r.IntN(2) == 0 {
				text[at] = bytes[r.IntN(len(bytes))]
			} else {
				text = text[:at+copy(text[at:], text[at+1:])]
			}
		}
		checkScan(t, text)
	}
}

func checkScan(t *testing.T, text []byte) {
	t.Helper()
	tree, err := element.DecodeJSON(text)
	for _, path := range []string{"$", "$.a", "$.a[2]", "$.a[2].a", "$.a[2][0]", "$.b.a.a[0]", "$['']"} {
		p, _ := ParseJSONPath(path)
		got, gotErr := p.SelectBytes(text)
		if (err == nil) != (gotErr == nil) || json.Valid(text) != (gotErr == nil) {
			t.Fatalf("%q: decoder says %v, scanner %v", text, err, gotErr)
		}
		if err != nil {
			continue
		}
		want, _ := p.SelectTree(tree)
		if d := cmp.Diff([]any(want), got); d != "" && len(want)+len(got) > 0 {
			t.Fatalf("%q %s: %s", text, path, d)
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte(`{"a":[1,{"b":"\u00e9"}],"a":2}`))
	f.Fuzz(func(t *testing.T, text []byte) { checkScan(t, text) })
}

func TestHostileDepth(t *testing.T) {
	deep := []byte(strings.Repeat("[", 5000) + strings.Repeat("]", 5000))
	fast, _ := ParseJSONPath("$[0][0]")
	if _, err := fast.SelectBytes(deep); err != nil {
		t.Error(err)
	}
	slow, _ := ParseJSONPath("$..[0]..[0]")
	if _, err := slow.SelectBytes(deep); err == nil || !strings.Contains(err.Error(), "deeper than 256") {
		t.Errorf("got %v", err)
	}
	for _, text := range []string{strings.Repeat("[", 1<<20), strings.Repeat(`{"a":`, 1<<20)} {
		if _, err := fast.SelectBytes([]byte(text)); err == nil {
			t.Error("a bottomless document is accepted")
		}
	}
}

func TestRawDoesNotAllocate(t *testing.T) {
	p, _ := ParseJSONPath("$.user.roles[1]")
	body := []byte(`{"x": [1,2,{"y":"z\n"}], "user": {"id": 7, "roles": ["a", "b"]}}`)
	if n := testing.AllocsPerRun(100, func() {
		if raw, found, _, err := p.Raw(body); !found || err != nil || string(raw) != `"b"` {
			t.Fatal(raw, err)
		}
	}); n != 0 && !raceEnabled {
		t.Errorf("%v allocations", n)
	}
}

func TestCSS(t *testing.T) {
	page := []byte(`<html><body><form><input name=csrf value="t&amp;1"><input name="q"></form>
		<ul><li class=a>One  <b>bold</b>
		</li><li>Two</li></ul><a href="/x">x</a><a>none</a></body>`)
	for _, c := range []struct {
		sel, attr string
		limit     int
		want      []string
	}{
		{"input[name=csrf]", "value", 10, []string{"t&1"}},
		{"li", "", 10, []string{"One bold", "Two"}},
		{"li", "", 1, []string{"One bold"}},
		{"li.a, a", "", 10, []string{"One bold", "x", "none"}},
		{"a", "HREF", 10, []string{"/x"}},
		{"table", "", 10, nil},
	} {
		sel, err := ParseCSS(c.sel)
		if err != nil {
			t.Fatal(err)
		}
		got, err := sel.Select(page, c.attr, c.limit)
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", c.sel, err, d)
		}
	}
	if _, err := ParseCSS("a["); err == nil || !strings.HasPrefix(err.Error(), `"a[" is not a CSS selector (`) {
		t.Errorf("got %v", err)
	}
}

func TestHostileHTML(t *testing.T) {
	sel, _ := ParseCSS("a b")
	if _, err := sel.Select([]byte(strings.Repeat("<a>", MaxHTML/3+1)), "", 1); err == nil {
		t.Error("a document of any size is read")
	}
	var bomb strings.Builder
	for i := range 400 {
		fmt.Fprintf(&bomb, "<b a=%d>", i)
	}
	bomb.WriteString(strings.Repeat("<p>x", 100_000))
	if _, err := sel.Select([]byte(bomb.String()), "", 1); err == nil || !strings.Contains(err.Error(), "more than 500000 nodes") {
		t.Errorf("a document that grows while it is read: %v", err)
	}
	list := strings.Repeat("<li><a href=/x>text <b>bold</b></a></li>", 50_000) // 2 MB of an honest page
	if found, err := sel.Select([]byte(list), "", MaxMatches); err != nil || len(found) != MaxMatches {
		t.Errorf("%d matches, %v", len(found), err)
	}
	began := time.Now()
	for _, text := range []string{strings.Repeat("<div>", 100_000), strings.Repeat("<b><p>", 50_000), strings.Repeat("<table><td>", 50_000)} {
		_, _ = sel.Select([]byte(text), "", 1)
	}
	if d := time.Since(began); d > 20*time.Second {
		t.Errorf("hostile documents took %s", d)
	}
}

func TestRegex(t *testing.T) {
	text := []byte(`id=7 name=ann; id=8 name=bob; id=9 `)
	for _, c := range []struct {
		pattern, group string
		limit          int
		want           []string
	}{
		{`id=(\d+)`, "", 10, []string{"7", "8", "9"}},
		{`id=\d+`, "", 2, []string{"id=7", "id=8"}},
		{`id=(\d+)`, "0", 1, []string{"id=7"}},
		{`id=(?P<id>\d+) name=(?P<who>\w+)`, "who", 10, []string{"ann", "bob"}},
		{`id=(\d+) (name=(\w+))?`, "3", 10, []string{"ann", "bob"}},
		{`nothing`, "", 10, nil},
	} {
		re, err := ParseRegex(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		g, err := re.Group(c.group)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.want, re.Groups(text, g, c.limit)); d != "" {
			t.Errorf("%s: %s", c.pattern, d)
		}
	}
	re, _ := ParseRegex(`id=(\d+) name=(?P<who>\w+)`)
	tpl, err := re.ParseTemplate("$who$-$1$!")
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"ann-7!", "bob-8!"}, re.Expand(text, tpl, 10)); d != "" {
		t.Error(d)
	}
}

func TestRegexErrors(t *testing.T) {
	for pattern, want := range map[string]string{
		"(":                      `"(" is not a regular expression (missing closing ): ` + "`(`)",
		"a(?=b)":                 `"a(?=b)" is not a regular expression (invalid or unsupported Perl syntax: ` + "`(?=`; look-around is not supported, use a group instead)",
		"((a{900}){900}){900}":   "is not a regular expression",
		strings.Repeat("a", 5e3): "the pattern is 5000 bytes long; at most 4096 are allowed",
	} {
		if _, err := ParseRegex(pattern); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
	re, _ := ParseRegex("(a)(b)")
	for group, want := range map[string]string{"3": "the pattern has no group 3; it has 2", "x": `the pattern has no group named "x"`} {
		if _, err := re.Group(group); err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
	}
	for template, want := range map[string]string{"$1": "a $ of the template is not closed; write groups as $1$", "$9$": "$9$ in the template names no group of the pattern"} {
		if _, err := re.ParseTemplate(template); err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
	}
}

type jar map[string]string

func (j jar) Cookie(name string) (string, bool) { v, ok := j[name]; return v, ok }

func sample(body string, headers ...string) *element.Sample {
	s := &element.Sample{Body: []byte(body)}
	for i := 0; i+1 < len(headers); i += 2 {
		s.Headers = append(s.Headers, element.Header{Name: []byte(headers[i]), Value: []byte(headers[i+1])})
	}
	return s
}

func TestCookies(t *testing.T) {
	s := sample("", "set-cookie", `sid=old; Path=/`, "Set-Cookie", `sid={"a": "b=c"}; HttpOnly`, "Set-Cookie", "gone=; Max-Age=0",
		"Set-Cookie", "gone2=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "Set-Cookie", "kept=; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT")
	s.Private = jar{"known": "k", "sid": "stale", "gone": "still"}
	for name, want := range map[string][]string{
		"sid": {`{"a": "b=c"}`, "old"}, "gone": nil, "gone2": nil, "kept": {""}, "known": {"k"}, "none": nil, "SID": nil,
	} {
		if d := cmp.Diff(want, Cookies(s, name)); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		v, ok := Cookie(s, name)
		if ok != (want != nil) || ok && v != want[0] {
			t.Errorf("%s: got %q %v", name, v, ok)
		}
	}
}

func TestHeaders(t *testing.T) {
	s := sample("", "X-A", "1", "x-a", "2", "B", "3")
	if d := cmp.Diff([]string{"1", "2"}, Headers(s, "X-a")); d != "" {
		t.Error(d)
	}
	if got := string(HeaderText(s)); got != "X-A: 1\nx-a: 2\nB: 3\n" {
		t.Errorf("got %q", got)
	}
}

func TestBetween(t *testing.T) {
	for _, c := range []struct {
		text, left, right string
		want              []string
	}{
		{"a[1] b[2] c[3", "[", "]", []string{"1", "2"}},
		{"a[]", "[", "]", []string{""}},
		{"start:end", "", ":", []string{"start"}},
		{"start:end", ":", "", []string{"end"}},
		{"x", "", "", []string{"x"}},
		{"aaaa", "a", "a", []string{"", ""}},
		{"none", "[", "]", nil},
	} {
		if d := cmp.Diff(c.want, Between([]byte(c.text), c.left, c.right, 10)); d != "" {
			t.Errorf("%q: %s", c.text, d)
		}
	}
	if n := len(Between([]byte(strings.Repeat("[]", 1e6)), "[", "]", 1e6)); n != MaxMatches {
		t.Errorf("%d matches", n)
	}
}

func TestFunctions(t *testing.T) {
	th := element.NewThread(1, "g", nil, nil)
	th.Sample = sample(`{"items":[{"id":7}],"html":"<b>x</b>"}`, "X-A", "1", "Set-Cookie", "sid=s")
	calls := map[string]func(args ...any) (any, error){}
	for _, f := range Functions() {
		if !f.Response || f.Doc == "" || f.Signature == "" {
			t.Errorf("%s: %+v", f.Name, f)
		}
		calls[f.Name] = func(args ...any) (any, error) { return f.Call(th, args...) }
	}
	for _, c := range []struct {
		name string
		args []any
		want any
	}{
		{"header", []any{"x-a"}, "1"},
		{"header", []any{"none"}, nil},
		{"cookie", []any{"sid"}, "s"},
		{"cookie", []any{"none"}, nil},
		{"regex", []any{`"id":(\d+)`}, "7"},
		{"regex", []any{`"(id)":(\d+)`, 2}, "7"},
		{"regex", []any{`none`}, nil},
		{"css", []any{"b"}, `x`},
		{"css", []any{"b", "id"}, nil},
		{"jsonpath", []any{"$.items[0].id"}, int64(7)},
		{"jsonpath", []any{"$.items[*].id"}, []any{int64(7)}},
		{"jsonpath", []any{"$.none"}, nil},
	} {
		got, err := calls[c.name](c.args...)
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%s%v: %v %s", c.name, c.args, err, d)
		}
	}
	for name, args := range map[string][]any{"regex": {"("}, "css": {"a["}, "jsonpath": {"a"}, "header": {1.5}} {
		if got, err := calls[name](args...); err == nil {
			t.Errorf("%s%v: got %v", name, args, got)
		}
	}
	th.Sample = nil
	if _, err := calls["header"]("a"); err == nil || err.Error() != "header() needs a response, and there is none here" {
		t.Errorf("got %v", err)
	}
}

func TestCacheIsBounded(t *testing.T) {
	var c Cache[*Regex]
	for i := range 10 * maxCached {
		if _, err := c.Get(fmt.Sprint("a", i), ParseRegex); err != nil {
			t.Fatal(err)
		}
	}
	if len(c.all) > maxCached {
		t.Errorf("%d kept", len(c.all))
	}
}

func BenchmarkRaw1KB(b *testing.B) {
	p, _ := ParseJSONPath("$.items[9].id")
	var items []string
	for i := range 10 {
		items = append(items, fmt.Sprintf(`{"id": %d, "name": "product number %d", "price": 12.50, "tags": ["a", "b"], "in_stock": true}`, i, i))
	}
	body := []byte(`{"items": [` + strings.Join(items, ", ") + `]}`)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, found, _, _ := p.Raw(body); !found {
			b.Fatal("not found")
		}
	}
}
