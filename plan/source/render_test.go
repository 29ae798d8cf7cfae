package source_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/plan/source"
)

func span(f *source.File, text string) source.Range {
	i := strings.Index(string(f.Text), text)
	return source.Range{File: f, Start: f.Pos(i), End: f.Pos(i + len(text))}
}

func rendered(t *testing.T, d source.Diagnostic, opts source.RenderOptions) string {
	t.Helper()
	var b strings.Builder
	if err := source.Render(&b, source.Diagnostics{d}, opts); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestRender(t *testing.T) {
	f := source.New("a.yaml", []byte("first: 1\nname: 日本e\u0301 bad end\n"))
	d := source.Diagnostic{Code: "x-y", Summary: "wrong", Detail: "one\ntwo", Range: span(f, "bad"),
		Related: []source.Related{{Message: "see", Range: span(f, "1")}}}
	want := `a.yaml:2:12: error: wrong [x-y]
   2 | name: 日本e` + "\u0301" + ` bad end
     |             ^^^
   = help: one
   =       two
   = note: a.yaml:1:8: see
   1 | first: 1
     |        -
`
	if diff := cmp.Diff(want, rendered(t, d, source.RenderOptions{})); diff != "" {
		t.Errorf("render (-want +got):\n%s", diff)
	}
}

func TestRenderCutsLongLinesAroundThePlace(t *testing.T) {
	f := source.New("a.yaml", []byte(strings.Repeat("a", 300)+"BAD"+strings.Repeat("b", 300)))
	got := rendered(t, source.Diagnostic{Code: "x", Summary: "wrong", Range: span(f, "BAD")}, source.RenderOptions{Width: 60})
	lines := strings.Split(got, "\n")
	if w := source.DisplayWidth(lines[1]); w > 60 {
		t.Errorf("the line is %d columns wide: %s", w, lines[1])
	}
	at := strings.Index(lines[2], "^^^")
	if before, _, ok := strings.Cut(lines[1], "BAD"); !ok || source.DisplayWidth(before) != at {
		t.Errorf("the caret is not under the place:\n%s", got)
	}
}

func TestRenderShowsWhatATerminalWouldObey(t *testing.T) {
	f := source.New("a\x1b[2J.yaml", []byte("a: \x1b[31mred\u202e\tx\xff\n"))
	got := rendered(t, source.Diagnostic{Code: "x", Summary: "bad \x07", Detail: "\x1b]0;t\x07", Range: span(f, "red")}, source.RenderOptions{})
	if strings.ContainsAny(got, "\x1b\x07\u202e\t") || strings.Contains(got, "\xff") {
		t.Errorf("control characters get through: %q", got)
	}
	if !strings.Contains(got, `\x1b[31mred\u202e\tx\xff`) {
		t.Errorf("the line is not shown as it is: %s", got)
	}
}

func TestRenderWithoutAPlace(t *testing.T) {
	got := rendered(t, source.Diagnostic{Severity: source.Warning, Code: "x", Summary: "wrong"}, source.RenderOptions{Color: true})
	if want := "\x1b[33;1mwarning:\x1b[0m wrong [x]\n"; !strings.Contains(got, want) {
		t.Errorf("rendered %q, want %q in it", got, want)
	}
}

func TestJSON(t *testing.T) {
	f := source.New("a.yaml", []byte("k: v\n"))
	text := source.JSON(source.Diagnostics{
		{Code: "c", Summary: "s", Detail: "d", Range: span(f, "v"), Related: []source.Related{{Message: "m", Range: span(f, "k")}}},
		{Severity: source.Notice, Code: "n", Summary: "t"},
	})
	var got []map[string]any
	if err := json.Unmarshal(text, &got); err != nil {
		t.Fatal(err)
	}
	want := []map[string]any{
		{"severity": "error", "code": "c", "summary": "s", "detail": "d", "file": "a.yaml", "line": 1.0, "column": 4.0, "end_line": 1.0, "end_column": 5.0,
			"related": []any{map[string]any{"message": "m", "file": "a.yaml", "line": 1.0, "column": 1.0, "end_line": 1.0, "end_column": 2.0}}},
		{"severity": "notice", "code": "n", "summary": "t"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("JSON (-want +got):\n%s", diff)
	}
}
