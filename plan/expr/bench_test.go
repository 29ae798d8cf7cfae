package expr

import (
	"testing"
	"time"

	"runner/plan/source"
)

func benchCondition(b *testing.B, text string) {
	names := sampleNames()
	s := newScope(names)
	var ds source.Diagnostics
	var c Condition
	c.Decode(scalar(text, false), &ds)
	c.Bind(typesOf(names), &ds)
	if len(ds) > 0 {
		b.Fatal(ds)
	}
	b.ReportAllocs()
	for b.Loop() {
		if ok, err := c.EvalBool(s); err != nil || !ok {
			b.Fatal(ok, err)
		}
	}
}

func BenchmarkEvalCondition(b *testing.B) {
	for _, text := range []string{
		"status == 200",
		"status >= 200 and status < 300 and n == 7",
		"duration < 500ms",
		"json.id == n",
		"len(hits) > 0",
		"json.ready and len(json.items) > 0",
	} {
		b.Run(text, func(b *testing.B) { benchCondition(b, text) })
	}
}

func BenchmarkTemplateAppend(b *testing.B) {
	names := sampleNames()
	s := newScope(names)
	var ds source.Diagnostics
	var v String
	v.Decode(scalar("/users/${n}/items/${name}?page=${thread.id}", false), &ds)
	v.Bind(typesOf(names), &ds)
	if len(ds) > 0 {
		b.Fatal(ds)
	}
	buf := make([]byte, 0, 128)
	b.ReportAllocs()
	for b.Loop() {
		var err error
		if buf, err = AppendText(buf[:0], &v, s); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBind(b *testing.B) {
	names := sampleNames()
	env := typesOf(names)
	b.ReportAllocs()
	for b.Loop() {
		var ds source.Diagnostics
		var c Condition
		c.Decode(scalar("status >= 200 and status < 300 and json.id == n", false), &ds)
		c.Bind(env, &ds)
	}
}

func TestLiteralsDoNotAllocate(t *testing.T) {
	if raceEnabled {
		return
	}
	names := sampleNames()
	s := newScope(names)
	env := typesOf(names)
	text, dur, n := Lit("GET /"), Lit(time.Second), Lit(int64(1000))
	var tmpl String
	var ds source.Diagnostics
	tmpl.Decode(scalar("/u/${n}/${name}", false), &ds)
	tmpl.Bind(env, &ds)
	cond := mustCondition(t, env, "status == 200")
	buf := make([]byte, 0, 64)
	for what, f := range map[string]func(){
		"text literal":     func() { _, _ = text.Eval(s) },
		"duration literal": func() { _, _ = dur.Eval(s) },
		"int literal":      func() { _, _ = n.Eval(s) },
		"comparison":       func() { _, _ = cond.EvalBool(s) },
		"template":         func() { buf, _ = AppendText(buf[:0], &tmpl, s) },
	} {
		if got := testing.AllocsPerRun(100, f); got != 0 {
			t.Errorf("%s: %v allocations", what, got)
		}
	}
}
