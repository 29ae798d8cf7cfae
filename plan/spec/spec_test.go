package spec_test

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/expr"
	"runner/plan/source"
	"runner/plan/spec"
)

type sample struct {
	Request expr.String           `plan:"request,required,short,nonempty" doc:"what to do"`
	Headers spec.Map[expr.String] `plan:"headers,fold" doc:"header fields"`
	Query   spec.Map[expr.String] `plan:"query" doc:"query"`
	JSON    expr.Tree             `plan:"json" group:"body" doc:"a tree"`
	Body    expr.String           `plan:"body" group:"body" doc:"a text"`
	Timeout expr.Duration         `plan:"timeout" default:"30s" min:"1ms" max:"1h" doc:"limit"`
	Mode    string                `plan:"mode" enum:"fast|slow" default:"fast" doc:"how"`
	Tags    []string              `plan:"tags,single" max:"2" doc:"words"`
	Count   int                   `plan:"count" default:"3" doc:"how often"`
	Nested  nested                `plan:"nested" doc:"more"`
	Extra   *nested               `plan:"extra" doc:"more"`
	File    spec.Path             `plan:"file" doc:"a file"`
	Raw     spec.Node             `plan:"raw" doc:"as it stands"`
	common  `plan:",inline"`
	checked string
}

type common struct {
	Note string `plan:"note" doc:"inlined"`
}

type nested struct {
	On  bool          `plan:"on,short" default:"true" doc:"whether"`
	For time.Duration `plan:"for" default:"2s" doc:"how long"`
}

func (s *sample) Check(report func(field, code, summary, detail string)) {
	if s.Count < 0 {
		report("count", "negative", "the count is negative", "")
	}
	s.checked = "yes"
}

func scalar(text string) *source.Node { return place(&source.Node{Kind: source.Scalar, Text: text}) }

func list(items ...*source.Node) *source.Node {
	return place(&source.Node{Kind: source.List, Items: items})
}

// object builds a map from keys and values in turn.
func object(pairs ...any) *source.Node {
	n := &source.Node{Kind: source.Map}
	for i := 0; i < len(pairs); i += 2 {
		value, ok := pairs[i+1].(*source.Node)
		if !ok {
			value = scalar(pairs[i+1].(string))
		}
		n.Fields = append(n.Fields, source.Field{Key: scalar(pairs[i].(string)), Value: value})
	}
	return place(n)
}

var file = source.New("dir/t.yaml", []byte("x"))

func place(n *source.Node) *source.Node {
	n.Range = source.Range{File: file, Start: file.Pos(0), End: file.Pos(1)}
	return n
}

func TestDecode(t *testing.T) {
	var s sample
	var ds source.Diagnostics
	spec.Decode(object("request", "GET /", "headers", object("Accept", "a"), "json", object("a", "1"), "timeout", "5s",
		"tags", "one", "nested", "false", "file", "a.csv"), &s, &ds)
	if len(ds) > 0 {
		t.Fatalf("diagnostics: %v", ds)
	}
	timeout, _ := s.Timeout.Literal()
	got := fmt.Sprint(s.Request.Source(), s.Headers.Entries[0].Name, timeout, s.Mode, s.Tags, s.Count, s.Nested, s.Extra == nil, s.File.Full, s.checked)
	if want := "GET /Accept5s fast [one] 3 {false 2s} true dir/a.csvyes"; strings.ReplaceAll(got, " ", "") != strings.ReplaceAll(want, " ", "") {
		t.Errorf("decoded %s, want %s", got, want)
	}
}

func TestShortFormAndNestedDefaults(t *testing.T) {
	var s sample
	var ds source.Diagnostics
	spec.Decode(scalar("GET /"), &s, &ds)
	if len(ds) > 0 || s.Request.Source() != "GET /" || !s.Nested.On || s.Nested.For != 2*time.Second {
		t.Errorf("decoded %+v with %v", s.Nested, ds)
	}
}

func TestDecodeReports(t *testing.T) {
	for _, tt := range []struct {
		name string
		node *source.Node
		want []string
	}{
		{"missing", object("mode", "fast"), []string{"missing-key"}},
		{"unknown", object("request", "r", "timeot", "5s"), []string{"unknown-key: did you mean `timeout`?"}},
		{"below", object("request", "r", "for", "5s"), []string{"unknown-key: it belongs under `nested:`"}},
		{"foreign", object("url", "r"), []string{"unknown-key: `url` is called `request:` here"}},
		{"enum", object("request", "r", "mode", "fsat"), []string{"bad-value: did you mean `fast`?"}},
		{"too small", object("request", "r", "timeout", "0s"), []string{"out-of-range: write 1ms or more"}},
		{"too large", object("request", "r", "timeout", "2h"), []string{"out-of-range: write 1h or less"}},
		{"too many", object("request", "r", "tags", list(scalar("a"), scalar("b"), scalar("c"))), []string{"out-of-range"}},
		{"group", object("request", "r", "json", object(), "body", "b"), []string{"exclusive-keys: keep one of them"}},
		{"no unit", object("request", "r", "nested", object("for", "5")), []string{"bad-duration: write 5s, 5ms or 5m"}},
		{"template", object("request", "r", "mode", "${x}"), []string{"no-template: write the value itself"}},
		{"list for map", object("request", "r", "headers", list()), []string{"wrong-type: write it as {name: value}"}},
		{"map for list", object("request", "r", "count", object()), []string{"wrong-type"}},
		{"case", object("request", "r", "headers", object("A", "1", "a", "2")), []string{"duplicate-key: keep one of the two"}},
		{"check", object("request", "r", "count", "-1"), []string{"negative"}},
		{"empty", object("request", " "), []string{"empty-value"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var s sample
			var ds source.Diagnostics
			spec.Decode(tt.node, &s, &ds)
			var got []string
			for _, d := range ds {
				text := d.Code
				if d.Detail != "" && d.Code != "missing-key" {
					text += ": " + d.Detail
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s\n%v", diff, ds)
			}
		})
	}
}

func TestDecodePartialAsksForNothing(t *testing.T) {
	var s sample
	var ds source.Diagnostics
	spec.DecodePartial(object("headers", object("A", "1")), &s, &ds)
	if len(ds) > 0 || s.Mode != "" || s.checked != "" {
		t.Errorf("decoded %+v with %v", s, ds)
	}
}

func flat(n *source.Node) string {
	if n.Kind != source.Map {
		return n.Text
	}
	var parts []string
	for _, f := range n.Fields {
		parts = append(parts, f.Key.Text+"="+flat(f.Value))
	}
	return "{" + strings.Join(parts, " ") + "}"
}

func TestMerge(t *testing.T) {
	null := place(&source.Node{Kind: source.Scalar, Null: true})
	for _, tt := range []struct {
		name         string
		outer, inner *source.Node
		want         string
	}{
		{"nearest wins", object("timeout", "1s", "mode", "slow"), object("timeout", "2s"), "{timeout=2s mode=slow}"},
		{"short form", object("timeout", "1s"), scalar("GET /"), "{timeout=1s request=GET /}"},
		{"headers by folded name", object("headers", object("Accept", "a", "X", "x")), object("headers", object("accept", "b", "Y", "y")), "{headers={accept=b X=x Y=y}}"},
		{"query by exact name", object("query", object("q", "a")), object("query", object("Q", "b")), "{query={q=a Q=b}}"},
		{"nested by key", object("nested", object("on", "false")), object("nested", object("for", "1s")), "{nested={on=false for=1s}}"},
		{"a body displaces the other", object("json", object("a", "1"), "mode", "slow"), object("body", "b"), "{mode=slow body=b}"},
		{"a tree is one value", object("json", object("a", "1")), object("json", object("b", "2")), "{json={b=2}}"},
		{"null takes away", object("headers", object("A", "1", "B", "2")), object("headers", object("a", null)), "{headers={B=2}}"},
		{"nothing inside", object("mode", "slow"), nil, "{mode=slow}"},
		{"nothing outside", nil, scalar("GET /"), "{request=GET /}"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := flat(spec.Merge(tt.outer, tt.inner, reflect.TypeFor[sample]())); got != tt.want {
				t.Errorf("merged %s, want %s", got, tt.want)
			}
		})
	}
}

func TestDescribe(t *testing.T) {
	var got []string
	for _, f := range spec.Describe(reflect.TypeFor[*sample]()) {
		got = append(got, fmt.Sprintf("%s %s %t %q %d", f.Key, f.Go, f.Template, f.Default, len(f.Children)))
	}
	want := []string{
		`request text true "" 0`, `headers map false "" 0`, `query map false "" 0`, `json any true "" 0`, `body text true "" 0`,
		`timeout duration true "30s" 0`, `mode text false "fast" 0`, `tags list false "" 0`, `count int false "3" 0`,
		`nested object false "" 2`, `extra object false "" 2`, `file any false "" 0`, `raw any false "" 0`, `note text false "" 0`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("fields (-want +got):\n%s", diff)
	}
}

func TestBindAndUses(t *testing.T) {
	var s sample
	var ds source.Diagnostics
	spec.Decode(object("request", "${a}", "headers", object("X", "${b}"), "json", object("k", "${c}")), &s, &ds)
	env := expr.NewEnv(nil, map[string]expr.Type{"a": expr.TextType, "b": expr.IntType})
	spec.Bind(&s, env, &ds)
	if len(ds) != 1 || ds[0].Code != "undefined-variable" {
		t.Errorf("diagnostics %v, want c undefined", ds)
	}
	var names []string
	for _, u := range spec.Uses(&s) {
		names = append(names, u.Name)
	}
	if diff := cmp.Diff([]string{"a", "b"}, names); diff != "" {
		t.Errorf("uses (-want +got):\n%s", diff)
	}
}

func TestSecretsAtAnyDepth(t *testing.T) {
	type inner struct {
		Password expr.String `plan:"password" secret:"true"`
	}
	type outer struct {
		Token string  `plan:"token" secret:"true"`
		Name  string  `plan:"name"`
		Login *inner  `plan:"login"`
		List  []inner `plan:"list"`
	}
	if diff := cmp.Diff([]string{"token", "password", "password"}, spec.Secrets(reflect.TypeFor[outer]())); diff != "" {
		t.Errorf("secret keys (-want +got):\n%s", diff)
	}
}
