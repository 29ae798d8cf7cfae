package reporters

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"runner/reporters/stats"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a file, or writes it with -update.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s is not current; if the change is meant, run go test -update (-want +got):\n%s", path, diff)
	}
}

// render writes s in one format.
func render(t testing.TB, name string, s *stats.Summary) []byte {
	t.Helper()
	r, ok := ByName(name)
	if !ok {
		t.Fatalf("no format %s", name)
	}
	var b bytes.Buffer
	if err := r.Write(&b, s); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return b.Bytes()
}

func TestFixedSummary(t *testing.T) {
	golden(t, "testdata/summary.json", render(t, "json", fixed()))
}

// load reads the fixed summary as a user would.
func load(t testing.TB) *stats.Summary {
	t.Helper()
	s, err := Read("testdata/summary.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestGolden(t *testing.T) {
	s := load(t)
	console := func(o ConsoleOptions) []byte {
		var b bytes.Buffer
		o.Result = &b
		if err := NewConsole(o).Finish(s, []string{"results/shop/20260314-190500/report.html"}); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	golden(t, "testdata/golden/junit.xml", render(t, "junit", s))
	golden(t, "testdata/golden/summary.md", render(t, "markdown", s))
	golden(t, "testdata/golden/console.txt", console(ConsoleOptions{}))
	golden(t, "testdata/golden/console-narrow.txt", console(ConsoleOptions{Width: func() int { return 80 }}))
	golden(t, "testdata/golden/console-quiet.txt", console(ConsoleOptions{Quiet: true}))
	golden(t, "testdata/golden/console-colour.txt", console(ConsoleOptions{Colour: true}))
	golden(t, "testdata/golden/report.html.txt", bodyOf(t, render(t, "html", s)))
	golden(t, "testdata/golden/xlsx.txt", cellsOf(t, render(t, "xlsx", s)))
	var notes bytes.Buffer
	if err := WriteAnnotations(&notes, s); err != nil {
		t.Fatal(err)
	}
	golden(t, "testdata/golden/annotations.txt", notes.Bytes())
}

// bodyOf is the page's own content, without styles, scripts and data.
func bodyOf(t *testing.T, page []byte) []byte {
	t.Helper()
	_, body, ok := strings.Cut(string(page), "<body>")
	if !ok {
		t.Fatal("no body")
	}
	body, _, _ = strings.Cut(body, "<script type")
	return []byte(regexp.MustCompile(`\n\s*\n+`).ReplaceAllString(body, "\n"))
}

func TestVerdictGoldens(t *testing.T) {
	for _, name := range variants() {
		var b bytes.Buffer
		if err := NewConsole(ConsoleOptions{Result: &b, Quiet: true}).Finish(variant(name), nil); err != nil {
			t.Fatal(err)
		}
		golden(t, "testdata/golden/console-"+name+".txt", b.Bytes())
	}
}

func TestRenderingLeavesTheSummaryAlone(t *testing.T) {
	s := fixed()
	for _, r := range All() {
		if err := r.Write(io.Discard, s); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(fixed(), s); diff != "" {
		t.Errorf("a report changed the summary (-want +got):\n%s", diff)
	}
}

func TestReadGivesBackWhatWasWritten(t *testing.T) {
	for _, name := range variants() {
		path := filepath.Join(t.TempDir(), "summary.json")
		r, _ := ByName("json")
		s := variant(name)
		if err := WriteFile(path, s, r); err != nil {
			t.Fatal(err)
		}
		got, err := Read(path)
		if err != nil {
			t.Fatal(err)
		}
		want := tidy(s, func(x string) string { return strings.ToValidUTF8(x, "\ufffd") })
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestDecodeRefuses(t *testing.T) {
	good := string(render(t, "json", zero()))
	tests := map[string]struct{ text, want string }{
		"empty":          {"", "it is damaged: it is empty"},
		"not JSON":       {"{", "it is damaged: it is cut off"},
		"another schema": {`{"schema":"runner.summary/2"}`, `schema is "runner.summary/2"`},
		"no schema":      {`{}`, `schema is ""`},
		"something more": {good + "{}", "something follows"},
		"wrong type":     {`{"schema":"runner.summary/1","total":7}`, "it is damaged: the field total is a number, where an object belongs"},
		"wrong count":    {`{"schema":"runner.summary/1","total":{"count":"x"}}`, "the field total.count is a string, where a whole number belongs"},
		"no object":      {`[]`, "a JSON array and not an object"},
		"no verdict":     {`{"schema":"runner.summary/1"}`, "it is damaged: it is incomplete, as it has no verdict"},
		"odd verdict":    {`{"schema":"runner.summary/1","verdict":"great"}`, `its verdict is "great"`},
		"too large":      {strings.Repeat(" ", 5000) + good, "larger than 4096 bytes"},
	}
	for name, tt := range tests {
		_, err := decode(strings.NewReader(tt.text), 4096)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want an error with %q", name, err, tt.want)
		}
	}
	if _, err := Read(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func TestWriteAllIsWholeOrAbsent(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "results", "shop")
	broken := format{"broken", "broken.txt", func(w io.Writer, _ *stats.Summary) error {
		_, _ = io.WriteString(w, strings.Repeat("half ", 100_000))
		return errors.New("disk on fire")
	}, repaired}
	before := []byte("what was there")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "broken.txt"), before, 0o644); err != nil {
		t.Fatal(err)
	}
	paths, err := WriteAll(dir, fixed(), append([]Reporter{broken}, All()...)...)
	if err == nil || !strings.Contains(err.Error(), "write broken report: disk on fire") {
		t.Errorf("error is %v", err)
	}
	if got, _ := os.ReadFile(filepath.Join(dir, "broken.txt")); !bytes.Equal(got, before) {
		t.Errorf("the old file was touched: %d bytes", len(got))
	}
	var names []string
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	want := []string{"broken.txt", "junit.xml", "report.html", "report.xlsx", "summary.json", "summary.md"}
	if diff := cmp.Diff(want, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if len(paths) != len(All()) {
		t.Errorf("paths: %v", paths)
	}
	if _, err := WriteAll(filepath.Join(dir, "junit.xml", "below"), fixed()); err == nil {
		t.Error("a folder below a file was accepted")
	}
}

func TestNilSummary(t *testing.T) {
	for _, r := range All() {
		if err := r.Write(io.Discard, nil); err == nil {
			t.Errorf("%s rendered nothing", r.Name())
		}
	}
}

func TestSchemaIsCurrent(t *testing.T) {
	golden(t, "../schema/summary.schema.json", SummarySchema())
}

func TestSummariesMatchTheSchema(t *testing.T) {
	c := jsonschema.NewCompiler()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(SummarySchema()))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("summary.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("summary.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range variants() {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(render(t, "json", variant(name))))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(v); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		v.(map[string]any)["verdict"] = "splendid"
		if schema.Validate(v) == nil {
			t.Errorf("%s: an unknown verdict is valid", name)
		}
	}
}

func TestNotANumberIsNull(t *testing.T) {
	nan, inf := nan(), -1/zeroFloat()
	s := fixed()
	s.Total.ErrorRate, s.Total.ResponseNS.Mean, s.Timeline.Planned[3] = &nan, inf, &inf
	s.Timeline.Throughput[2], s.Thresholds[0].Value, s.Thresholds[1].Limit = nan, &nan, inf
	for _, r := range All() {
		var b bytes.Buffer
		if err := r.Write(&b, s); err != nil {
			t.Errorf("%s: %v", r.Name(), err)
		}
		if r.Name() != "xlsx" && regexp.MustCompile(`\b(NaN|[+-]?Inf)\b`).Match(b.Bytes()[:min(b.Len(), 20_000)]) {
			t.Errorf("%s shows NaN or Inf", r.Name())
		}
	}
	var out stats.Summary
	if err := json.Unmarshal(render(t, "json", s), &out); err != nil || out.Total.ErrorRate != nil || out.Timeline.Planned[3] != nil {
		t.Errorf("not null: %v %v", out.Total.ErrorRate, err)
	}
}

func zeroFloat() float64 { return float64(min(0, len(os.Args))) }
func nan() float64       { return zeroFloat() / zeroFloat() }

func TestUnevenColumns(t *testing.T) {
	s := fixed()
	s.Timeline.ActiveThreads = s.Timeline.ActiveThreads[:3]
	s.Timeline.Planned, s.Timeline.Dropped = nil, append(s.Timeline.Dropped, 1, 2, 3)
	s.Timeline.Series[0].P95 = s.Timeline.Series[0].P95[:1]
	s.Timeline.ClosedThreads, s.Timeline.Arrivals.Started, s.Timeline.Arrivals.Planned[0] = s.Timeline.ClosedThreads[:2], nil, 1e308
	for _, r := range All() {
		if err := r.Write(io.Discard, s); err != nil {
			t.Errorf("%s: %v", r.Name(), err)
		}
	}
}

// small is the fixed summary cut down to what a fuzzer can work on.
func small() *stats.Summary {
	s := fixed()
	s.Sources[0].Text = "plan: x\n"
	s.Series, s.Transactions, s.Thresholds, s.Groups = s.Series[6:7], s.Transactions[:1], s.Thresholds[3:5], s.Groups[1:2]
	for _, r := range []*stats.Series{&s.Series[0], &s.Transactions[0], &s.Total} {
		r.ResponseNS.Curve, r.ResponseNS.Bars = r.ResponseNS.Curve[:2], r.ResponseNS.Bars[:2]
		r.ServiceNS, r.LatencyNS, r.FailureNS = nil, nil, nil
	}
	s.Timeline.TS, s.Timeline.Series = s.Timeline.TS[:2], s.Timeline.Series[:1]
	return repaired(s)
}

// FuzzReports renders whatever reads as a summary in every format.
func FuzzReports(f *testing.F) {
	f.Add(render(f, "json", small()))
	f.Add(render(f, "json", zero()))
	f.Add([]byte(`{"schema":"runner.summary/1","verdict":"passed","timeline":{"t_s":[0,-1e308],"interval_s":-1,"series":[{"id":-1},{"id":-1}]},"series":[{"response_ns":{"curve":[{"p":1e300,"ns":-9}],"bars":[{}]},"phases_ns":{},"assertions":[{"failed":-1}]}],"thresholds":[{"limit":-1e308,"value":1e308,"unit":"ns"},{"limit":1e-320,"value":1e308,"unit":"share"}],"groups":[{}, {}],"sources":[{}]}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := decode(bytes.NewReader(b), 1<<20)
		if err != nil {
			return
		}
		for _, r := range All() {
			if err := r.Write(io.Discard, s); err != nil {
				t.Errorf("%s: %v", r.Name(), err)
			}
		}
		if err := NewConsole(ConsoleOptions{Width: func() int { return 40 }}).Finish(s, nil); err != nil {
			t.Error(err)
		}
	})
}

// A day's run with a hundred series must be reported within 2 s, the page within
// 3 MiB. The best of a few tries counts, since the machine may have other work.
func TestHugeRunIsReportedQuickly(t *testing.T) {
	if testing.Short() {
		t.Log("left to the full run")
		return
	}
	s := huge()
	var page []byte
	best := time.Hour
	for range 5 {
		start := time.Now()
		page = render(t, "html", s)
		render(t, "junit", s)
		render(t, "xlsx", s)
		if best = min(best, time.Since(start)); best < time.Second {
			break
		}
	}
	if best > 2*time.Second*raceFactor {
		t.Errorf("three reports took %v", best)
	}
	if len(page) > 3<<20 {
		t.Errorf("the page has %d bytes", len(page))
	}
	if strings.Contains(string(page), "for the size of this page") {
		t.Error("a hundred series do not all have their timeline")
	}
	many := huge()
	for i := range 400 {
		r := many.Series[i%100]
		r.ID = 1000 + i
		many.Series = append(many.Series, r)
		c := many.Timeline.Series[1]
		c.ID = r.ID
		many.Timeline.Series = append(many.Timeline.Series, c)
	}
	if page := render(t, "html", many); len(page) > 9<<19 || !strings.Contains(string(page), "for the size of this page") {
		t.Errorf("500 series: %d bytes", len(page))
	}
}

func BenchmarkHugeReports(b *testing.B) {
	s := huge()
	for _, name := range []string{"html", "junit", "xlsx", "json"} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				render(b, name, s)
			}
		})
	}
}
