package plan

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/plan/source"
)

// dump writes every scalar and collection with its place and the text it covers.
func dump(n *source.Node, path string, out *[]string) {
	r := n.Range
	text := r.Text()
	if n.Kind != source.Scalar {
		text = n.Kind.String()
	}
	*out = append(*out, fmt.Sprintf("%s %d:%d-%d:%d %s", path, r.Start.Line, r.Start.Column, r.End.Line, r.End.Column, text))
	for i, item := range n.Items {
		dump(item, fmt.Sprintf("%s[%d]", path, i), out)
	}
	for _, f := range n.Fields {
		if f.Key.Range.Text() != f.Key.Text && !f.Key.Quoted {
			*out = append(*out, "key "+f.Key.Text+" covers "+f.Key.Range.Text())
		}
		dump(f.Value, path+"."+f.Key.Text, out)
	}
}

func TestRangesCoverWhatWasWritten(t *testing.T) {
	text := strings.Join([]string{
		`a: one # note`,
		`日本: "é \"x\" 世界"  `,
		`b: 'it''s'`,
		`c: [1, {x: y, z: }, "q"]`,
		`d:`,
		`  - p`,
		`  - q: r`,
		`    s: two words`,
		`      more`,
		`e: |`,
		`  first`,
		``,
		`  second`,
		`f: >-`,
		`  folded`,
		`g:`,
		`h: ~`,
		`i: {`,
		`  k: v,`,
		`}`,
		``,
	}, "\n")
	in := readYAML(source.New("t.yaml", []byte(text)))
	if len(in.ds) > 0 {
		t.Fatalf("diagnostics: %v", in.ds)
	}
	var got []string
	dump(in.root, "", &got)
	want := []string{
		" 1:1-20:2 a map",
		".a 1:4-1:7 one",
		`.日本 2:5-2:17 "é \"x\" 世界"`,
		".b 3:4-3:11 'it''s'",
		".c 4:4-4:25 a list",
		".c[0] 4:5-4:6 1",
		".c[1] 4:8-4:19 a map",
		".c[1].x 4:12-4:13 y",
		".c[1].z 4:17-4:17 ",
		`.c[2] 4:21-4:24 "q"`,
		".d 6:3-9:11 a list",
		".d[0] 6:5-6:6 p",
		".d[1] 7:5-9:11 a map",
		".d[1].q 7:8-7:9 r",
		".d[1].s 8:8-9:11 two words\n      more",
		".e 10:4-13:9 |\n  first\n\n  second",
		".f 14:4-15:9 >-\n  folded",
		".g 16:3-16:3 ",
		".h 17:4-17:5 ~",
		".i 18:4-20:2 a map",
		".i.k 19:6-19:7 v",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ranges (-want +got):\n%s", diff)
	}
}

func TestByteOrderMarkAndCRLFKeepPlaces(t *testing.T) {
	in := readYAML(source.New("t.yaml", []byte("\ufeffa: x\r\nb: \"y\"\r\nc: |\r\n  z\r\nd: w\r\n")))
	var got []string
	dump(in.root, "", &got)
	want := []string{" 1:2-5:5 a map", ".a 1:5-1:6 x", `.b 2:4-2:7 "y"`, ".c 3:4-4:4 |\r\n  z", ".d 5:4-5:5 w"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("ranges (-want +got):\n%s", diff)
	}
}

func TestScalarsKeepTheirText(t *testing.T) {
	in := readYAML(source.New("t.yaml", []byte("[NO, 012, 1_000, 1.10, 2024-01-02, null, \"null\", 0x1F, 1e3]\n")))
	var got []string
	for _, n := range in.root.Items {
		got = append(got, fmt.Sprintf("%s %t %t", n.Text, n.Quoted, n.Null))
	}
	want := []string{"NO false false", "012 false false", "1_000 false false", "1.10 false false", "2024-01-02 false false",
		"null false true", "null true false", "0x1F false false", "1e3 false false"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scalars (-want +got):\n%s", diff)
	}
}

func TestLimits(t *testing.T) {
	for _, tt := range []struct{ name, text, code string }{
		{"size", "plan: " + strings.Repeat("x", 1<<20), "too-large"},
		{"flow depth", strings.Repeat("[", 100_000), "too-deep"},
		{"map depth", strings.Repeat("{a: ", 100_000), "too-deep"},
		{"dashes", strings.Repeat("- ", 100_000) + "a", "too-deep"},
		{"indentation", indented(100), "too-deep"},
		{"utf-16", "\xff\xfep\x00", "bad-character"},
		{"nul", "plan: \x00", "bad-character"},
		{"lone cr", "plan: a\rb: c", "bad-character"},
		{"bomb", "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n", "anchor"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			in := readYAML(source.New("t.yaml", []byte(tt.text)))
			if len(in.ds) == 0 || in.ds[0].Code != tt.code {
				t.Errorf("diagnostics %v, want code %s first", in.ds, tt.code)
			}
		})
	}
}

func indented(levels int) string {
	var b strings.Builder
	for i := range levels {
		b.WriteString(strings.Repeat(" ", i) + "a:\n")
	}
	return b.String()
}
