package expr

import (
	"testing"
	"unicode/utf8"

	"runner/plan/source"
)

// FuzzExpression compiles and evaluates any text: it must end with a value or an
// error, and every problem must lie within the text.
func FuzzExpression(f *testing.F) {
	for _, seed := range []string{
		"status == 200", "duration < 500ms and size < 10KB", "json.items[0].id ?? gone.x ?? 1", "filter(hits, .id > n % 3) | map(#.sku) | join(',')", "${x", "1%(2)", "10% 3", "é == 5µs",
		"let x = n; {a: [x, 1..3]}", "not (name contains 'a') ? -n : uuid()", "a?.b[1:2]", "$.a = 1", "fake.email() matches '^a'", "1m30s * 2", "all(hits, any(hits, #.id == .id))", "((((1))))", "\"\\u00e9\" + `x`", "b'x'", "// c", "m[name].x", "if ok { 1 } else { 2 }", "n; n",
	} {
		f.Add(seed)
	}
	names := sampleNames()
	env := typesOf(names).With("gone", AnyType).WithResponse(nil)
	f.Fuzz(func(t *testing.T, text string) {
		var ds source.Diagnostics
		var c Condition
		c.Decode(scalar(text, false), &ds)
		c.BindValue(env, &ds)
		for _, d := range ds {
			if d.Range.Start.Offset > d.Range.End.Offset || d.Range.End.Offset > len(text) || d.Summary == "" {
				t.Fatalf("%q: %v at %d-%d", text, d, d.Range.Start.Offset, d.Range.End.Offset)
			}
		}
		s := newScope(names)
		v, err := c.Eval(s)
		if len(ds) > 0 && err == nil {
			t.Fatalf("%q: reported %v, yet gave %v", text, ds, v)
		}
		if err == nil {
			_, _ = FormatText(v)
			_ = c.Explain(s)
		}
	})
}

// FuzzTemplate checks that text without an interpolation stays as it is and that
// nothing panics.
func FuzzTemplate(f *testing.F) {
	for _, seed := range []string{"plain", "a ${n} b", "$${n}", "${", "${}", "${n}${name}", "$$${n}", "${{a: 1}}", "${'}'}", "${${n}}", "${n\n}", "${\"${n}\"}"} {
		f.Add(seed)
	}
	names := sampleNames()
	env := typesOf(names)
	f.Fuzz(func(t *testing.T, text string) {
		var ds source.Diagnostics
		var v String
		v.Decode(scalar(text, false), &ds)
		v.Bind(env, &ds)
		got, err := v.Eval(newScope(names))
		if lit, ok := v.Literal(); ok && (err != nil || got != lit) {
			t.Fatalf("%q: %q, %v", text, got, err)
		}
		var tree Tree
		tree.Decode(scalar(text, true), &ds)
		tree.Bind(env, &ds)
		if b, err := tree.AppendJSON(nil, newScope(names)); err == nil && !utf8.Valid(b) {
			t.Fatalf("%q: invalid JSON %q", text, b)
		}
	})
}

// FuzzUnits checks that what a unit prints is read back as the same value.
func FuzzUnits(f *testing.F) {
	for _, seed := range []string{"1s", "1m30s", "500/s", "10KB", "1%", "0.1%", "1.5h", "7/min", "1e3", "-5"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := Infer(text)
		if !TypeOf(v).unit() {
			return
		}
		said, err := FormatText(v)
		if err != nil {
			t.Fatal(err)
		}
		again := Infer(said)
		a, _ := number(v)
		b, ok := number(again)
		if diff := a - b; !ok || diff > 1e-9*a || diff < -1e-9*a {
			t.Fatalf("%q is %v, printed %q, read back %v", text, v, said, again)
		}
	})
}
