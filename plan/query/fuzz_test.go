package query

import "testing"

// FuzzXPath: no document and no path panics, and what passes CheckXML can be
// read.
func FuzzXPath(f *testing.F) {
	for _, path := range []string{"//item/@id", "count(//item) > 1", "//a[contains(., 'x')]", "//x:b | //c"} {
		for _, document := range []string{catalogue, htmlPage, "<a xmlns:x='u'><x:b/><!--c--><?p q?></a>", "<a>", ""} {
			f.Add(path, []byte(document))
		}
	}
	f.Fuzz(func(t *testing.T, path string, document []byte) {
		_ = CheckXML(document)
		x, err := ParseXPath(path)
		if err != nil || len(document) > 4<<10 || len(path) > 100 {
			return
		}
		for _, asHTML := range []bool{false, true} {
			_, _ = x.Select(document, asHTML, 10)
		}
	})
}

// FuzzJMESPath: no body and no path panics.
func FuzzJMESPath(f *testing.F) {
	for _, path := range []string{"a.b", "items[?n > `1`].x | [0]", "sort_by(items, &n)", "{a: a, l: length(items)}", "items[::-1]"} {
		f.Add(path, []byte(`{"a": {"b": 1}, "items": [{"n": 2, "x": "y"}, {"n": 1.5}]}`))
	}
	f.Fuzz(func(t *testing.T, path string, body []byte) {
		p, err := ParseJMESPath(path)
		if err != nil || len(path) > 100 {
			return
		}
		_, _ = p.SelectBytes(body)
	})
}
