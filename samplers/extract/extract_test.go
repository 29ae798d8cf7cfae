package extract

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
	"runner/plan/element/elementtest"
	"runner/plan/query"
)

const page = `<html><body><form><input name=csrf value="t0ken"></form><h1 class=title> Big
 shop </h1><a class=product href=/p/1>One</a><a class=product href=/p/2>Two</a><p>order-17 order-18 a=b c=d token="xyz" v1.2</body></html>`

const document = `{"user": {"id": 7, "big": 9007199254740993, "mail": null}, "items": [{"id": 1, "sku": "A", "stock": 0}, {"id": 2, "sku": "B", "stock": 3.5}], "text": "héé"}`

type jar struct{}

func (jar) Cookie(name string) (string, bool) { return "from jar", name == "kept" }

func sample(body string) *element.Sample {
	return &element.Sample{
		Status: 200, Message: "OK 1.2", URL: "http://shop/p?id=42", Body: []byte(body), BodySize: int64(len(body)), Private: jar{},
		Headers: []element.Header{
			{Name: []byte("Location"), Value: []byte("/next")}, {Name: []byte("link"), Value: []byte("</a>")}, {Name: []byte("Link"), Value: []byte("</b>")},
			{Name: []byte("X-Version"), Value: []byte("3.14")}, {Name: []byte("Set-Cookie"), Value: []byte("sid=old")},
			{Name: []byte("Set-Cookie"), Value: []byte(`sid={"a": 1}; Path=/`)},
		},
	}
}

func config(body string) elementtest.Config {
	return elementtest.Config{
		Sample: func() *element.Sample { return sample(body) }, Functions: query.Functions(),
		Vars: map[string]string{"text": "order-99", "path": "$.user.id", "name": "Location", "tree": `'{"a": [5]}'`, "xml": `"<a><b id='Location'> yes </b></a>"`},
	}
}

func TestAll(t *testing.T) {
	for _, body := range []string{page, document} {
		for _, d := range All() {
			elementtest.Run(t, d, config(body))
		}
	}
}

func bind(t testing.TB, text, body string) *elementtest.Bound {
	t.Helper()
	found := All()[0]
	for _, d := range All() {
		if strings.HasPrefix(text, "{"+d.Name+":") {
			found = d
		}
	}
	return elementtest.Bind(t, found, text, config(body))
}

func extract(t testing.TB, text, body string) (any, error) {
	t.Helper()
	b := bind(t, text, body)
	th, s := b.Thread(1), sample(body)
	th.Sample = s
	return b.Element.(element.Extractor).Extract(th, s, b.Pick)
}

func TestSemantics(t *testing.T) {
	none := element.ErrNotFound
	for _, c := range []struct {
		body, text string
		want       any
	}{
		// expression
		{document, "json.user.id", int64(7)},
		{document, "json.user.big", int64(9007199254740993)},
		{document, "json.user.mail", none},
		{document, "json.user.none", none},
		{document, "json.items[1].stock", 3.5},
		{document, `header("location")`, "/next"},
		{document, "status", int64(200)},
		{document, "{expression: json.items, match: 2}", map[string]any{"id": int64(2), "sku": "B", "stock": 3.5}},
		{document, "{expression: json.items, match: 3}", none},
		{document, "{expression: 'map(json.items, .id)'}", []any{int64(1), int64(2)}},
		{page, "json.user.id", none},
		// json
		{document, "{json: $.user.id}", int64(7)},
		{document, `{json: "${path}"}`, int64(7)},
		{document, "{json: $.user}", map[string]any{"id": int64(7), "big": int64(9007199254740993), "mail": nil}},
		{document, "{json: $.user.mail}", none},
		{document, "{json: $.none}", none},
		{document, "{json: $.text}", "héé"},
		{document, `{json: "$.items[*].id"}`, int64(1)},
		{document, `{json: "$.items[*].id", match: 2}`, int64(2)},
		{document, `{json: "$.items[*].id", match: 3}`, none},
		{document, `{json: "$.items[*].id", match: all}`, []any{int64(1), int64(2)}},
		{document, `{json: "$.items[?@.stock > 0].sku"}`, "B"},
		{document, "{json: $.a, of: {variable: tree}}", []any{int64(5)}},
		{page, "{json: $.a}", none},
		// jmespath
		{document, "{jmespath: user.id}", int64(7)},
		{document, "{jmespath: user.big}", int64(9007199254740993)},
		{document, "{jmespath: user.mail}", none},
		{document, "{jmespath: none}", none},
		{document, "{jmespath: 'items[?stock > `0`].sku'}", []any{"B"}},
		{document, "{jmespath: 'items[].id', match: 2}", int64(2)},
		{document, "{jmespath: 'items[].id', match: 3}", none},
		{document, "{jmespath: 'items[].id', match: all}", []any{int64(1), int64(2)}},
		{document, "{jmespath: 'max_by(items, &stock).stock'}", 3.5},
		{document, "{jmespath: 'a[0]', of: {variable: tree}}", int64(5)},
		{page, "{jmespath: a}", none},
		// xpath
		{page, `{xpath: "//input[@name='csrf']/@value"}`, "t0ken"},
		{page, `{xpath: //h1}`, "Big shop"},
		{page, `{xpath: //a/@href, match: 2}`, "/p/2"},
		{page, `{xpath: //a, match: all}`, []any{"One", "Two"}},
		{page, `{xpath: count(//a)}`, int64(2)},
		{page, `{xpath: //table}`, none},
		{page, `{xpath: "//b[@id='${name}']", of: {variable: xml}}`, "yes"},
		{document, `{xpath: //a}`, none},
		// regex
		{page, `{regex: 'order-(\d+)'}`, "17"},
		{page, `{regex: 'order-\d+'}`, "order-17"},
		{page, `{regex: 'order-(\d+)', match: 2}`, "18"},
		{page, `{regex: 'order-(\d+)', match: all}`, []any{"17", "18"}},
		{page, `{regex: 'order-(\d+)', group: 0}`, "order-17"},
		{page, `{regex: '(?P<key>\w+)=(?P<v>\w) ', group: v, match: 2}`, "d"},
		{page, `{regex: 'v(\d)\.(\d)', template: $2$/$1$}`, "2/1"},
		{page, `{regex: 'nothing'}`, none},
		{page, `{regex: '(\d+)\.(\d+)', of: headers}`, "3"},
		{page, `{regex: '\d+', of: url}`, "42"},
		{page, `{regex: '\d.\d', of: message}`, "1.2"},
		{page, `{regex: 'order-(\d+)', of: {variable: text}}`, "99"},
		// css
		{page, `{css: "input[name=csrf]", attribute: value}`, "t0ken"},
		{page, `{css: h1.title}`, "Big shop"},
		{page, `{css: a.product, attribute: href, match: 2}`, "/p/2"},
		{page, `{css: a.product, match: all}`, []any{"One", "Two"}},
		{page, `{css: a.product, attribute: id}`, none},
		{page, `{css: table}`, none},
		// header
		{page, `{header: location}`, "/next"},
		{page, `{header: "${name}"}`, "/next"},
		{page, `{header: Link, match: all}`, []any{"</a>", "</b>"}},
		{page, `{header: Link, match: 2}`, "</b>"},
		{page, `{header: X-None}`, none},
		// cookie
		{page, `{cookie: sid}`, `{"a": 1}`},
		{page, `{cookie: sid, match: all}`, []any{`{"a": 1}`, "old"}},
		{page, `{cookie: kept}`, "from jar"},
		{page, `{cookie: none}`, none},
		// between
		{page, `{between: ['token="', '"']}`, "xyz"},
		{page, `{between: ["order-", " "], match: all}`, []any{"17", "18"}},
		{page, `{between: ["id=", ""], of: url}`, "42"},
		{page, `{between: ["{{", "}}"]}`, none},
	} {
		got, err := extract(t, c.text, c.body)
		if c.want == any(none) {
			if !errors.Is(err, none) || got != nil {
				t.Errorf("%s: got %v, %v", c.text, got, err)
			}
			continue
		}
		if d := cmp.Diff(c.want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", c.text, err, d)
		}
	}
}

func TestReasons(t *testing.T) {
	for text, want := range map[string]string{
		"{json: $.a}":               "nothing found: the text is not JSON",
		"json.a":                    "nothing found: json has no value: the body is not JSON",
		"{header: X-N}":             "nothing found",
		"{jmespath: a}":             "nothing found: the text is not JSON",
		"{xpath: //a, of: message}": "nothing found: the text is not well-formed XML",
	} {
		if _, err := extract(t, text, page); err == nil || err.Error() != want {
			t.Errorf("%s: got %v", text, err)
		}
	}
}

func TestRandomFollowsTheThread(t *testing.T) {
	b := bind(t, `{regex: '\w', match: random}`, page)
	draw := func(id int) string {
		th, s, all := b.Thread(id), sample(page), ""
		for range 30 {
			v, err := b.Element.(element.Extractor).Extract(th, s, b.Pick)
			if err != nil {
				t.Fatal(err)
			}
			all += fmt.Sprint(v)
		}
		return all
	}
	first, again, other := draw(1), draw(1), draw(2)
	if first != again || first == other {
		t.Error("the draw does not follow the thread's random source")
	}
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string][]string{
		"{json: json.a}":                           {`8: "json.a" is an expression, not a JSONPath`},
		"{json: 'items[0'}":                        {`8: "items[0" is not a JSONPath`},
		"{jmespath: $.a}":                          {`12: "$.a" is a JSONPath, not a JMESPath`},
		"{regex: '('}":                             {"9: \"(\" is not a regular expression (missing closing ): `(`)"},
		"{regex: 'a(b)', group: 2}":                {"24: the pattern has no group 2; it has 1"},
		"{regex: 'a(b)', template: $2$}":           {"27: $2$ in the template names no group of the pattern"},
		"{regex: 'a(b)', group: 1, template: $1$}": {"27: `group` and `template` exclude each other"},
		"{css: 'a['}":                              nil,
		"{between: [a]}":                           nil,
		"{json: $.a, match: 0}":                    {"20: `match` counts from 1"},
		"{header: Location, of: nowhere}":          nil,
		"{regex: '(?<=a)b'}":                       nil,
	} {
		for _, d := range All() {
			if !strings.HasPrefix(text, "{"+d.Name+":") {
				continue
			}
			got := elementtest.Problems(t, d, text, config(page))
			if want == nil && len(got) == 1 {
				continue
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("%s: %s", text, d)
			}
		}
	}
}

func TestAllocations(t *testing.T) {
	for text, most := range map[string]float64{"{json: $.user.id}": 8, "{regex: 'id'}": 8, "{header: Location}": 4} {
		b := bind(t, text, document)
		th, s := b.Thread(1), sample(document)
		if n := testing.AllocsPerRun(100, func() {
			if _, err := b.Element.(element.Extractor).Extract(th, s, b.Pick); err != nil {
				t.Fatal(err)
			}
		}); n > most && !raceEnabled {
			t.Errorf("%s: %v allocations, at most %v", text, n, most)
		}
	}
}

func BenchmarkExtract(b *testing.B) {
	for _, text := range []string{"{json: $.user.id}", "json.user.id", "{regex: '\"sku\": \"(\\w)\"'}", "{header: Location}"} {
		b.Run(text, func(b *testing.B) {
			bound := bind(b, text, document)
			th, s := bound.Thread(1), sample(document)
			th.Sample = s
			b.ReportAllocs()
			for b.Loop() {
				if _, err := bound.Element.(element.Extractor).Extract(th, s, bound.Pick); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func TestNeeds(t *testing.T) {
	const body, headers = element.NeedBody, element.NeedHeaders
	for text, want := range map[string]element.Needs{
		"{json: $.a}": body, "{regex: a}": body, "{css: a}": body, "{between: [a, b]}": body, "{header: A}": headers, "{cookie: a}": headers,
		"status": 0, "json.a": body, `headers["a"]`: headers, `header("a")`: body | headers,
	} {
		if got := bind(t, text, page).Element.(element.Needer).Needs(); got != want {
			t.Errorf("%s: got %b, want %b", text, got, want)
		}
	}
}
