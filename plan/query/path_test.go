package query

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

const catalogue = `<?xml version="1.0" encoding="UTF-8"?>
<!-- shop --><cat:catalogue xmlns:cat="urn:cat" total="3">
  <item id="7" price="12.50"><name> Red <b>shoe</b> </name><tag>a</tag><tag>b</tag></item>
  <item id="8" price="3"><name><![CDATA[<Blue> hat]]></name></item>
  <cat:note>n1</cat:note>
</cat:catalogue>`

const htmlPage = `<!DOCTYPE html><html><body><h1 class=t> Big
 shop </h1><ul><li><a href="/p/1">One</a><li><a href="/p/2">Two</a></ul><input name=csrf value="t0k"></body></html>`

func TestXPath(t *testing.T) {
	for _, c := range []struct {
		document, path string
		want           []any
	}{
		{catalogue, "//item/@id", []any{"7", "8"}},
		{catalogue, "//item[@id='8']/name", []any{"<Blue> hat"}},
		{catalogue, "//item[contains(name, 'Blue')]/@price", []any{"3"}},
		{catalogue, "//item[1]/name", []any{"Red shoe"}},
		{catalogue, "/cat:catalogue/@total", []any{"3"}},
		{catalogue, "//cat:note", []any{"n1"}},
		{catalogue, "//name/text()", []any{"Red", "<Blue> hat"}},
		{catalogue, "//none", nil},
		{catalogue, "count(//item)", []any{int64(2)}},
		{catalogue, "sum(//item/@price)", []any{15.5}},
		{catalogue, "count(//item) = 2", []any{true}},
		{catalogue, "string(//item[2]/@price)", []any{"3"}},
		{catalogue, "//item[@price > 5]/@id", []any{"7"}},
		{catalogue, "//tag | //cat:note", []any{"a", "b", "n1"}},
		{catalogue, "//item[1]/@*", []any{"7", "12.50"}},
		{"<a><a><b>x</b></a><b>x</b></a>", "//a//b", []any{"x", "x"}},
		{htmlPage, "//h1", []any{"Big shop"}},
		{htmlPage, "//li/a/@href", []any{"/p/1", "/p/2"}},
		{htmlPage, "//input[@name='csrf']/@value", []any{"t0k"}},
		{htmlPage, "//a[text()='Two']/@href", []any{"/p/2"}},
		{htmlPage, "count(//li)", []any{int64(2)}},
	} {
		x, err := ParseXPath(c.path)
		if err != nil {
			t.Fatal(err)
		}
		for range 2 { // the compiled expression is used again
			got, err := x.Select([]byte(c.document), IsHTML(sample(c.document), []byte(c.document)), 10)
			if d := cmp.Diff(c.want, got); d != "" || err != nil {
				t.Errorf("%s: %v %s", c.path, err, d)
			}
		}
	}
	x, _ := ParseXPath("//tag")
	if got, _ := x.Select([]byte(catalogue), false, 1); len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

func TestIsHTML(t *testing.T) {
	for _, c := range []struct {
		body, kind string
		want       bool
	}{
		{"<!DOCTYPE HTML><p>", "", true}, {" \n<HTML>", "", true}, {"<a/>", "", false}, {"<a/>", "text/html; charset=utf-8", true},
		{"<html/>", "application/xhtml+xml", false}, {"<html/>", "text/xml", false}, {"", "", false}, {"<html>", "text/plain", true},
	} {
		s := sample(c.body)
		if c.kind != "" {
			s = sample(c.body, "content-type", c.kind)
		}
		if got := IsHTML(s, s.Body); got != c.want {
			t.Errorf("%q %q: %v", c.body, c.kind, got)
		}
	}
}

func TestXPathErrors(t *testing.T) {
	for path, want := range map[string]string{
		"//a[":                     `"//a[" is not an XPath (`,
		"":                         `"" is not an XPath (it is empty)`,
		"foo(//a)":                 "is not an XPath (",
		strings.Repeat("/a", 3000): "at most 4096 are allowed",
		strings.Repeat("(", 2000):  "is not an XPath (",
		"//a[matches(., '(')]":     "", // known when it is evaluated
		"substring('abc', //a)":    "",
		"//a[contains(., 1)]":      "",
	} {
		x, err := ParseXPath(path)
		if want != "" {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%.40s: got %v", path, err)
			}
			continue
		}
		if err != nil {
			continue
		}
		if _, err := x.Select([]byte("<r><a>1</a></r>"), false, 1); err == nil {
			t.Errorf("%s: no error", path)
		}
	}
}

func TestCheckXML(t *testing.T) {
	deepXML := strings.Repeat("<a>", 5000) + strings.Repeat("</a>", 5000)
	for document, want := range map[string]string{
		catalogue:                             "",
		"<a/>":                                "",
		"\ufeff<a>b</a>\n<!-- end -->":        "",
		"<!DOCTYPE a [<!ELEMENT a ANY>]><a/>": "",
		`<?xml version="1.0" encoding="ISO-8859-1"?><a>` + "\xe9</a>": "",
		"":                  "not well-formed XML: it is empty",
		" \n":               "not well-formed XML: it is empty",
		"hello":             "not well-formed XML: there is text outside of the root element (line 1, column 6)",
		"{\"a\": 1}":        "not well-formed XML: there is text outside of the root element",
		"<a>":               "not well-formed XML: <a> is not closed",
		"<a></b>":           "not well-formed XML: <a> is closed by </b> (line 1, column 8)",
		"<a/><b/>":          "not well-formed XML: there is a second root element, <b>",
		"<a x='1' x='2'/>":  "not well-formed XML: <a> has the attribute x twice",
		"<a>&nbsp;</a>":     "not well-formed XML: invalid character entity &nbsp; (line 1)",
		"<a>\n<b x=1/></a>": "not well-formed XML: ",
		"<a>\x00</a>":       "not well-formed XML: ",
		"<a>\xff\xfe</a>":   "not well-formed XML: invalid UTF-8",
		"</a>":              "not well-formed XML: </a> closes nothing",
		"<!-- only -->":     "not well-formed XML: it has no root element",
		deepXML:             "the document is nested deeper than 256 levels",
		"<a>" + strings.Repeat("<b/>", 150_000) + "</a>":                           "the document has more than 200000 nodes, too many to be read as XML",
		"<a>" + strings.Repeat(" ", MaxXML) + "</a>":                               "the document is larger than 4 MiB, too large to be read as XML",
		`<!DOCTYPE a [<!ENTITY x "yyyyyyyyyy"><!ENTITY z "&x;&x;&x;">]><a>&z;</a>`: "not well-formed XML: invalid character entity &z;",
	} {
		err := CheckXML([]byte(document))
		if want == "" && err != nil || want != "" && (err == nil || !strings.HasPrefix(err.Error(), want)) {
			t.Errorf("%.40q: got %v, want %s", document, err, want)
		}
		if err != nil && errors.Is(err, ErrNotXML) != strings.HasPrefix(want, "not well-formed") {
			t.Errorf("%.40q: %v is an ErrNotXML: %v", document, err, errors.Is(err, ErrNotXML))
		}
	}
}

func TestXPathOfHostileDocuments(t *testing.T) {
	x, _ := ParseXPath("//a")
	for _, document := range []string{
		"", "<", "<a", "<!--", "<!--x--><?a?><a/>", "<?xml?><a/><!--x-->", "<?a b=c?><r/>", "<r/><?a?>", "<a:b/>", "<a xmlns:x='u'><x:b/></a>",
		"<!DOCTYPE a><!--1--><a/><!--2-->", "<a xmlns='u' xmlns:b='u'><b:a/></a>", strings.Repeat("<a>", 10_000), strings.Repeat("<div>", 10_000),
		"<a>" + strings.Repeat("<a>", 250) + strings.Repeat("</a>", 251),
	} {
		for _, asHTML := range []bool{false, true} {
			_, _ = x.Select([]byte(document), asHTML, 10) // it must not panic or hang
		}
	}
}

func TestSelectorsUnderEightThreads(t *testing.T) {
	x, _ := ParseXPath("count(//item[contains(name, 'e')]/tag)")
	j, _ := ParseJMESPath("sort_by([{a: `3`}, {a: `1`}, {a: `2`}], &a)[0].a")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 30 {
				if got, err := x.Select([]byte(catalogue), false, 1); err != nil || got[0] != int64(2) {
					t.Errorf("got %v, %v", got, err)
				}
				if _, err := j.SelectBytes([]byte("{}")); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}

func TestJMESPath(t *testing.T) {
	const document = `{"items": [{"id": 7, "price": 12.5, "name": "shoe", "tags": ["a"]}, {"id": 8, "price": 3, "name": "hat", "tags": []}], "big": 9007199254740993, "none": null, "on": true}`
	s := sample(document)
	for path, want := range map[string]any{
		"items[0].id":                          int64(7),
		"items[*].name":                        []any{"shoe", "hat"},
		"items[?price > `10`].name":            []any{"shoe"},
		"items[?id == `8`] | [0].name":         "hat",
		"length(items)":                        int64(2),
		"sum(items[*].price)":                  15.5,
		"sort_by(items, &price)[0].name":       "hat",
		"max_by(items, &price).name":           "shoe",
		"items[].tags[]":                       []any{"a"},
		"big":                                  int64(9007199254740993),
		"none":                                 nil,
		"missing":                              nil,
		"on":                                   true,
		"{n: items[0].name, c: length(items)}": map[string]any{"n": "shoe", "c": int64(2)},
		"join(',', items[*].name)":             "shoe,hat",
		"items[5].id":                          nil,
		"keys(items[0]) | sort(@)":             []any{"id", "name", "price", "tags"},
	} {
		p, err := ParseJMESPath(path)
		if err != nil {
			t.Fatal(err)
		}
		got, err := p.Select(s)
		if d := cmp.Diff(want, got); d != "" || err != nil {
			t.Errorf("%s: %v %s", path, err, d)
		}
	}
	tree, _ := s.JSON()
	if first := tree.(map[string]any)["items"].([]any)[0].(map[string]any)["name"]; first != "shoe" {
		t.Error("sort_by has sorted the sample's own tree")
	}
}

func TestJMESPathErrors(t *testing.T) {
	for path, want := range map[string]string{
		"items[":                  `"items[" is not a JMESPath (`,
		"foo(@)":                  "foo(@): ", // known when it is evaluated
		"abs(on)":                 "abs(on): ",
		strings.Repeat("a", 5000): "at most 4096 are allowed",
		strings.TrimSuffix(strings.Repeat("[@,@]|", 60), "|"): "gives more than 500000 values",
	} {
		p, err := ParseJMESPath(path)
		if err == nil {
			_, err = p.SelectBytes([]byte(`{"on": true}`))
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: got %v", path, err)
		}
	}
	for path, want := range map[string]string{"$.a": "not-a-jmespath", "a[": "bad-jmespath", "a.b": ""} {
		if code, _, _ := CheckJMESPath(path); code != want {
			t.Errorf("%s: got %q", path, code)
		}
	}
	p, _ := ParseJMESPath("a")
	if _, err := p.Select(sample("<html>")); !errors.Is(err, ErrNotJSON) {
		t.Errorf("got %v", err)
	}
	if _, err := p.SelectTree(nested(1000)); err == nil {
		t.Error("no limit of depth")
	}
}

func nested(n int) (v any) {
	for range n {
		v = []any{v}
	}
	return v
}

func TestXPathAndJMESPathFunctions(t *testing.T) {
	th := element.NewThread(1, "g", nil, nil)
	for _, f := range Functions() {
		for _, c := range []struct {
			name, body, arg string
			want            any
		}{
			{"xpath", catalogue, "//item/@id", "7"}, {"xpath", catalogue, "count(//item)", int64(2)}, {"xpath", catalogue, "//none", nil},
			{"xpath", htmlPage, "//h1", "Big shop"}, {"jmespath", `{"a": [1, 2]}`, "a[1]", int64(2)}, {"jmespath", `{}`, "a", nil},
		} {
			if c.name != f.Name {
				continue
			}
			th.Sample = sample(c.body)
			if got, err := f.Call(th, c.arg); got != c.want || err != nil {
				t.Errorf("%s(%s): %v %v", c.name, c.arg, got, err)
			}
		}
	}
}
