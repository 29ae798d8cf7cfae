package expr

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/source"
)

func decode[T any](t *testing.T, env *Env, text string, quoted bool) (*Value[T], source.Diagnostics) {
	t.Helper()
	var ds source.Diagnostics
	v := &Value[T]{}
	v.Decode(scalar(text, quoted), &ds)
	v.Bind(env, &ds)
	return v, ds
}

func TestTemplates(t *testing.T) {
	names := sampleNames()
	names["secrets.key"] = NewSecret("hunter22")
	env, s := typesOf(names), newScope(names)
	for text, want := range map[string]string{
		"plain": "plain", "a$b": "a$b", "$": "$", "cost: $5": "cost: $5", "$${n}": "${n}", "a $${n} ${n}": "a ${n} 7", "$$${n}": "$${n}",
		"${n}": "7", "${ n }/x": "7/x", "/p/${json.id}?q=${name}": "/p/7?q=Ada", "${json.big}": "1200000000", "${f}": "2.5", "${ok}": "true",
		"${duration}": "300ms", "${size}": "5KB", "${share}": "25%", "${rate}": "100/s", "${hits[0]}": `{"id":1,"sku":"A"}`, "${none}": "[]",
		"${{a: n}.a}x": "7x", "${name + '}'}": "Ada}", "${gone ?? \"}\"}": "}", "Bearer ${secrets.key}": "Bearer hunter22", "é${n}é": "é7é",
		"${\n  n\n}": "7", "${any(hits, {.id == 1})}": "true",
	} {
		v, ds := decode[string](t, env.With("gone", TextType), text, false)
		if len(ds) > 0 {
			t.Errorf("%q: %v", text, ds)
			continue
		}
		got, err := v.Eval(s)
		if err != nil || got != want {
			t.Errorf("%q: got %q, %v; want %q", text, got, err, want)
		}
		if b, err := AppendText([]byte("> "), v, s); err != nil || string(b) != "> "+want {
			t.Errorf("%q: appended %q, %v", text, b, err)
		}
	}
}

func TestTemplateProblems(t *testing.T) {
	env := typesOf(sampleNames())
	for _, c := range []struct{ text, want string }{
		{"a ${n", "2-5 unclosed-interpolation: `${` is never closed; close it with }; for the two characters themselves write $${"},
		{"a ${} b", "2-5 empty-interpolation: `${}` is empty; write a name or an expression between the braces, as ${name}"},
		{"a ${ ${n} } b", "5-7 interpolation-in-expression: an expression is written without ${ }; drop the `${ }`: `n`"},
		{"${{n}}", "0-6 interpolation-syntax: an interpolation has single braces; write ${n}"},
		{"/x/${nope} ${n == 'a'}", "5-9 undefined-variable: `nope` is not defined; did you mean none?\n13-21 type-mismatch: `n` is an int and `'a'` is text; they can never be equal; write n == int('a')"},
		{"é ${nope2}", "5-10 undefined-variable: `nope2` is not defined; did you mean none?"},
		{"x ${nil}", "4-7 nil-in-text: nil cannot stand in text; write \"\""},
	} {
		_, ds := decode[string](t, env, c.text, false)
		if diff := cmp.Diff(c.want, render(ds)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.text, diff)
		}
	}
}

func TestPlacesInQuotedText(t *testing.T) {
	_, ds := decode[string](t, typesOf(nil), "/x/${nope}", true)
	if got := render(ds); !strings.HasPrefix(got, "6-10 undefined-variable") {
		t.Error(got)
	}
}

func TestTypedValues(t *testing.T) {
	names := sampleNames()
	env, s := typesOf(names), newScope(names)
	check := func(what string, got any, err error, want any, wantErr string) {
		t.Helper()
		if wantErr != "" {
			if err == nil || err.Error() != wantErr {
				t.Errorf("%s: error %v, want %s", what, err, wantErr)
			}
			return
		}
		if err != nil || got != want {
			t.Errorf("%s: got %v, %v; want %v", what, got, err, want)
		}
	}
	d, _ := decode[time.Duration](t, env, "1m30s", false)
	got, err := d.Eval(nil)
	check("literal", got, err, 90*time.Second, "")
	d, _ = decode[time.Duration](t, env, "${pause}", true)
	got, err = d.Eval(s)
	check("variable", got, err, 2*time.Second, "")
	d, _ = decode[time.Duration](t, env, "${pause * 3}", true)
	got, err = d.Eval(s)
	check("expression", got, err, 6*time.Second, "")
	d, _ = decode[time.Duration](t, env, "${n}s", true)
	got, err = d.Eval(s)
	check("text", got, err, 7*time.Second, "")
	d, _ = decode[time.Duration](t, env, "${name}s", true)
	got, err = d.Eval(s)
	check("bad text", got, err, nil, `${name}s: "Adas" is not a duration; write one like 300ms, 2s or 1m30s`)
	d, _ = decode[time.Duration](t, env, "${any}", true)
	got, err = d.Eval(s)
	check("int at run time", got, err, nil, `${any}: 5 (int) is not a duration`)
	r, _ := decode[Rate](t, env, "${n}/min", true)
	rate, err := r.Eval(s)
	check("rate", rate, err, Rate(7.0/60), "")
	i, _ := decode[int64](t, env, "${anytext}", true)
	n, err := i.Eval(s)
	check("int from text", n, err, int64(5), "")
	f, _ := decode[float64](t, env, "${n}", true)
	x, err := f.Eval(s)
	check("float from int", x, err, 7.0, "")
	b, _ := decode[bool](t, env, "${n > 3}", true)
	ok, err := b.Eval(s)
	check("bool", ok, err, true, "")
	a, _ := decode[any](t, env, "${n}", true)
	v, err := a.Eval(s)
	check("any keeps the type", v, err, int64(7), "")
	a, _ = decode[any](t, env, "${string(n)}", true)
	v, err = a.Eval(s)
	check("any as text", v, err, "7", "")
}

func TestTypedLiteralProblems(t *testing.T) {
	env := typesOf(sampleNames())
	_, ds := decode[time.Duration](t, env, "60", false)
	if got := render(ds); got != "0-2 bad-duration: \"60\" has no unit; write 60s, 60ms or 60m" {
		t.Error(got)
	}
	_, ds = decode[int64](t, env, "1.5", false)
	if got := render(ds); got != "0-3 bad-int: \"1.5\" is not a whole number; write 1" {
		t.Error(got)
	}
	_, ds = decode[time.Duration](t, env, "${n}", false)
	if got := render(ds); got != "2-3 type-mismatch: `n` is an int where a duration is needed; write the unit behind it: ${n}s" {
		t.Error(got)
	}
	_, ds = decode[bool](t, env, "yes", false)
	if got := render(ds); got != "0-3 bad-bool: \"yes\" is not a truth value; write true" {
		t.Error(got)
	}
}

func TestSecretsStaySecret(t *testing.T) {
	names := map[string]any{"secrets.key": NewSecret("hunter22"), "user": "ada", "n": int64(1)}
	env, s := typesOf(names), newScope(names)
	for text, want := range map[string]string{
		"${secrets.key}": "hunter22", "x${secrets.key}": "xhunter22", "${base64(user + ':' + secrets.key)}": "YWRhOmh1bnRlcjIy", "${upper(secrets.key)}": "HUNTER22",
	} {
		v, ds := decode[any](t, env, text, true)
		if len(ds) > 0 {
			t.Fatal(ds)
		}
		got, err := v.Eval(s)
		secret, ok := got.(Secret)
		if err != nil || !ok || secret.Reveal() != want {
			t.Errorf("%s: %#v, %v", text, got, err)
		}
	}
	for _, text := range []string{"${int(secrets.key)}", "${secrets.key == n}", "${secrets.key[99]}", "${fromJSON(secrets.key)}"} {
		v, _ := decode[any](t, env, text, true)
		if _, err := v.Eval(s); err == nil || strings.Contains(err.Error(), "hunter") {
			t.Errorf("%s: %v", text, err)
		}
	}
	d, _ := decode[time.Duration](t, env, "${secrets.key}", true)
	if _, err := d.Eval(s); err == nil || strings.Contains(err.Error(), "hunter") {
		t.Error(err)
	}
}

// tree builds nodes without a file.
func list(items ...*source.Node) *source.Node {
	return &source.Node{Kind: source.List, Items: items}
}

func mapping(pairs ...any) *source.Node {
	n := &source.Node{Kind: source.Map}
	for i := 0; i < len(pairs); i += 2 {
		n.Fields = append(n.Fields, source.Field{Key: scalar(pairs[i].(string), false), Value: pairs[i+1].(*source.Node)})
	}
	return n
}

func TestTree(t *testing.T) {
	names := sampleNames()
	names["nothing"] = nil
	n := mapping(
		"sku", scalar("${hits[0].sku}", true), "price", scalar("100.00", false), "qty", scalar("2", false), "zip", scalar("012", false),
		"flag", scalar("true", false), "text", scalar("true", true), "note", scalar("for ${name}", false), "none", &source.Node{Kind: source.Scalar, Null: true},
		"k${n}", list(scalar("1m", false), scalar("${json.items}", true), scalar("${nothing}", true)), "fixed", mapping("a", scalar("1e3", false)),
	)
	var ds source.Diagnostics
	var tree Tree
	tree.Decode(n, &ds)
	tree.Bind(typesOf(names).With("nothing", AnyType), &ds)
	if len(ds) > 0 || tree.IsStatic() {
		t.Fatal(ds, tree.IsStatic())
	}
	got, err := tree.AppendJSON(nil, newScope(names))
	want := `{"sku":"A","price":100.00,"qty":2,"zip":"012","flag":true,"text":"true","note":"for Ada","none":null,"k7":["1m",[10,20],null],"fixed":{"a":1e3}}`
	if err != nil || string(got) != want {
		t.Errorf("%s\n got %s\nwant %s", err, got, want)
	}
	value, err := tree.Eval(newScope(names))
	if err != nil {
		t.Fatal(err)
	}
	wantValue := map[string]any{"sku": "A", "price": 100.0, "qty": int64(2), "zip": "012", "flag": true, "text": "true", "note": "for Ada", "none": nil,
		"k7": []any{time.Minute, []any{int64(10), int64(20)}, nil}, "fixed": map[string]any{"a": 1000.0}}
	if diff := cmp.Diff(wantValue, value); diff != "" {
		t.Error(diff)
	}
}

func TestTextStaysAsWritten(t *testing.T) {
	names := sampleNames()
	for _, c := range []struct {
		node *source.Node
		want any
	}{
		{scalar("1.10", false), "1.10"}, {scalar("007", false), "007"}, {scalar("${n}", false), int64(7)}, {scalar("v${n}", false), "v7"},
		{&source.Node{Kind: source.Scalar, Null: true}, nil}, {list(scalar("1.0", false), scalar("${name}", true)), []any{"1.0", "Ada"}},
	} {
		var ds source.Diagnostics
		var v Text
		v.Decode(c.node, &ds)
		v.Bind(typesOf(names), &ds)
		got, err := v.Eval(newScope(names))
		if diff := cmp.Diff(c.want, got); diff != "" || err != nil || len(ds) > 0 {
			t.Error(diff, err, ds)
		}
	}
}

func TestUses(t *testing.T) {
	c := mustCondition(t, typesOf(sampleNames()).With("gone", AnyType), "json.id == n and (gone ?? n) > 1 and thread.id > 0")
	if diff := cmp.Diff([]string{"json", "n", "gone", "thread.id"}, c.Names()); diff != "" {
		t.Error(diff)
	}
	for _, u := range c.Uses() {
		if u.Guarded != (u.Name == "gone") {
			t.Error(u)
		}
	}
}

// pathScope answers paths itself.
type pathScope struct {
	*scope
	asked []string
}

func (s *pathScope) LookupPath(p *Path) (any, bool) {
	s.asked = append(s.asked, p.Text)
	return int64(len(p.Steps)), p.Root == "json"
}

func TestPathsAreAskedOfTheScope(t *testing.T) {
	s := &pathScope{scope: newScope(sampleNames())}
	c := mustCondition(t, typesOf(sampleNames()), `json.a["b c"][-1] + json.id`)
	got, err := c.Eval(s)
	if err != nil || got != int64(4) {
		t.Error(got, err)
	}
	if diff := cmp.Diff([]string{`json.a["b c"][-1]`, "json.id"}, s.asked); diff != "" {
		t.Error(diff)
	}
}

func TestDottedNamesFallBackToTheirRoot(t *testing.T) {
	env := NewEnv(nil, map[string]Type{"row.id": IntType})
	c := mustCondition(t, env, "row.id == 3")
	if ok, err := c.EvalBool(newScope(map[string]any{"row": map[string]any{"id": int64(3)}})); !ok || err != nil {
		t.Error(ok, err)
	}
	var unset *UnsetError
	if _, err := c.EvalBool(newScope(nil)); !errors.As(err, &unset) || unset.Name != "row.id" {
		t.Error(err)
	}
}

func TestEnvironmentNames(t *testing.T) {
	env := NewEnv(nil, nil).WithEnvironment()
	v, ds := decode[string](t, env, `${env.BASE ?? "http://x"}/a`, true)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	if got, err := v.Eval(newScope(nil)); err != nil || got != "http://x/a" {
		t.Error(got, err)
	}
	if got, err := v.Eval(newScope(map[string]any{"env.BASE": "b"})); err != nil || got != "b/a" {
		t.Error(got, err)
	}
	v, _ = decode[string](t, env, `${env.BASE}`, true)
	if _, err := v.Eval(newScope(nil)); err == nil || err.Error() != "env.BASE: the environment variable BASE is not set" {
		t.Error(err)
	}
}

func TestResponseFunctions(t *testing.T) {
	header := Function{Name: "header", Signature: `header("Name")`, Min: 1, Max: 1, Response: true, Result: TextType,
		Call: func(s Scope, args ...any) (any, error) { v, _ := s.Lookup("h." + args[0].(string)); return v, nil }}
	fns := NewFunctions(header)
	env := NewEnv(fns, nil)
	_, ds := condition(t, env, "header('X') == 'y'")
	if got := render(ds); !strings.HasPrefix(got, "0-6 response-function: `header` reads a response") {
		t.Error(got)
	}
	c := mustCondition(t, env.WithResponse(map[string]Type{"code": IntType}), "header('X') == 'y' and code == 3")
	s := &scope{map[string]any{"h.X": "y", "code": int64(3)}, NewMachine(fns, 1)}
	if ok, err := c.EvalBool(s); !ok || err != nil {
		t.Error(ok, err)
	}
}

func TestNestedEvaluation(t *testing.T) {
	var inner Condition
	twice := Function{Name: "twice", Signature: "twice()", Result: AnyType, Call: func(s Scope, _ ...any) (any, error) { return inner.Eval(s) }}
	fns := NewFunctions(twice)
	env := NewEnv(fns, map[string]Type{"n": IntType})
	inner = *mustCondition(t, env, "n * 2 + len(filter([1, 2], # > 1))")
	outer := mustCondition(t, env, "[n, twice(), n]")
	got, err := outer.Eval(&scope{map[string]any{"n": int64(4)}, NewMachine(fns, 1)})
	if diff := cmp.Diff([]any{int64(4), int64(9), int64(4)}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
}

func TestRandomFollowsTheSeed(t *testing.T) {
	env := NewEnv(nil, nil)
	v, ds := decode[string](t, env, `${uuid()} ${random_int(1, 6)} ${random_string(8)} ${pick(["a", "b", "c"])} ${fake.email()} ${fake.sentence()} ${fake.ip()} ${fake.product()}`, true)
	if len(ds) > 0 {
		t.Fatal(ds)
	}
	draw := func(seed uint64) string {
		got, err := v.Eval(&scope{nil, NewMachine(nil, seed)})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if a, b := draw(1), draw(1); a != b {
		t.Errorf("%s\n%s", a, b)
	}
	if draw(1) == draw(2) {
		t.Error("two seeds draw the same")
	}
	c := mustCondition(t, env, "random_int(3, 5)")
	s, seen := &scope{nil, NewMachine(nil, 7)}, map[any]bool{}
	for range 200 {
		n, _ := c.Eval(s)
		seen[n] = true
	}
	if diff := cmp.Diff(map[any]bool{int64(3): true, int64(4): true, int64(5): true}, seen); diff != "" {
		t.Error(diff)
	}
}

func TestClockAndFiles(t *testing.T) {
	fns := NewFunctions()
	fns.Now = func() time.Time { return time.Date(2024, 2, 3, 4, 5, 6, 7e6, time.UTC) }
	fns.ReadFile = func(from, path string) ([]byte, error) {
		if path != "a.txt" {
			return nil, errors.New("open " + path + ": no such file")
		}
		return []byte(from), nil
	}
	env := NewEnv(fns, nil)
	s := &scope{nil, NewMachine(fns, 1)}
	for text, want := range map[string]any{
		"now()": "2024-02-03T04:05:06Z", "now('2006-01')": "2024-02", "timestamp()": int64(1706933106), "timestamp_ms()": int64(1706933106007), "file('a.txt')": "plan.yaml",
	} {
		got, err := mustCondition(t, env, text).Eval(s)
		if got != want || err != nil {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	_, ds := condition(t, env, "file('b.txt')")
	if got := render(ds); got != "5-12 file: open b.txt: no such file; paths are relative to the file in which they stand" {
		t.Error(got)
	}
}

func TestThreadsShareOneProgram(t *testing.T) {
	names := sampleNames()
	env := typesOf(names)
	c := mustCondition(t, env, "len(filter(hits, .id > 1)) == 1 and json.id == 7 and name + 'x' == 'Adax'")
	failed := mustCondition(t, env, "json.id == 8")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			s := newScope(names)
			for range 200 {
				if ok, err := c.EvalBool(s); !ok || err != nil {
					t.Error(ok, err)
					return
				}
				if failed.Explain(s) != "expected json.id == 8, was 7" {
					t.Error(failed.Explain(s))
				}
			}
		})
	}
	wg.Wait()
}
