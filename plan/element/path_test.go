package element

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/plan/expr"
)

const document = ` {"a": {"b": [1, 2.5, "x\n", {"c": true}], "n": null}, "big": 9007199254740993, "a.b": "dotted", "1": "one", "s": "text"} `

// Reading one path must give what decoding the whole body and walking gives.
func TestLookupPathEqualsDecoding(t *testing.T) {
	whole, err := DecodeJSON([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	for _, steps := range [][]any{
		{"a"}, {"a", "b"}, {"a", "b", 0}, {"a", "b", 1}, {"a", "b", 2}, {"a", "b", 3, "c"}, {"a", "b", -1}, {"a", "b", 9}, {"a", "n"},
		{"a", "n", "x"}, {"big"}, {"a.b"}, {"1"}, {"s"}, {"s", "x"}, {"s", 0}, {"gone", "x"}, {"a", 0}, {"a", "b", "c"},
	} {
		th := NewThread(1, "g", nil, nil)
		th.Sample = &Sample{Body: []byte(document)}
		got, ok := th.LookupPath(&expr.Path{Root: "json", Steps: steps})
		if diff := cmp.Diff(descend(whole, steps), got); diff != "" || !ok {
			t.Errorf("%v: ok %v (-want +got):\n%s", steps, ok, diff)
		}
	}
}

func TestLookupPathKeepsNothingOfTheBody(t *testing.T) {
	body := []byte(`{"s": "text"}`)
	th := NewThread(1, "g", nil, nil)
	th.Sample = &Sample{Body: body}
	got, _ := th.LookupPath(&expr.Path{Root: "json", Steps: []any{"s"}})
	for i := range body {
		body[i] = '!'
	}
	if got != "text" {
		t.Errorf("the value changed with the body: %q", got)
	}
}

func TestLookupPathOfBadJSON(t *testing.T) {
	for _, body := range []string{"", "<html>", `{"a": 1`, `{"a": 1} x`} {
		th := NewThread(1, "g", nil, nil)
		th.Sample = &Sample{Body: []byte(body)}
		if _, ok := th.LookupPath(&expr.Path{Root: "json", Steps: []any{"a"}}); ok {
			t.Errorf("%q passes as JSON", body)
		}
	}
}

func TestMaskerHidesEveryForm(t *testing.T) {
	m := &Masker{}
	m.Add(`p&ss"wörd`)
	m.Add("abc")
	for text, want := range map[string]string{
		`x p&ss"wörd y`: "x *** y", "q=p%26ss%22w%C3%B6rd": "q=***", `{"a":"p\u0026ss\"wörd"}`: `{"a":"***"}`,
		"cCZzcyJ3w7ZyZA==": "***", "abc": "***", "abcd": "abcd",
	} {
		if got := m.Mask(text); got != want {
			t.Errorf("Mask(%q) = %q, want %q", text, got, want)
		}
	}
}
