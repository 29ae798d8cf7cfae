package plan_test

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan"
	"runner/plan/source"
)

// inFiles parses and validates the plan among files by name.
func inFiles(t testing.TB, files map[string]string) (*plan.Plan, source.Diagnostics) {
	t.Helper()
	p, ds := plan.Parse(source.New("plan.yaml", []byte(files["plan.yaml"])), registry(t))
	if p == nil {
		t.Fatal(ds)
	}
	return p, append(ds, plan.Validate(p, registry(t), plan.Options{Open: func(path string) (io.ReadCloser, error) {
		if text, ok := files[path]; ok {
			return io.NopCloser(strings.NewReader(text)), nil
		}
		return open(path)
	}})...)
}

const tail = `
thread_groups:
  g: {load: {threads: 1, iterations: 1}, steps: [{call: f0}]}
`

// TestFragmentsDoNotMultiply bounds plans whose fragments call each other.
func TestFragmentsDoNotMultiply(t *testing.T) {
	doubling, chain := "plan: t\nfragments:\n", "plan: t\nfragments:\n"
	for i := range 60 { // 2^60 calls
		doubling += fmt.Sprintf("  f%d: {steps: [{call: f%d}, {call: f%d}]}\n", i, i+1, i+1)
		chain += fmt.Sprintf("  f%d: {steps: [{call: f%d}]}\n", i, i+1)
	}
	last := "  f60: {steps: [{pause: 1s}]}\n"
	large := "plan: t\nfragments:\n  f0:\n    steps:\n" + strings.Repeat("      - {pause: 1s}\n", 5_000) +
		"thread_groups:\n  g:\n    load: {threads: 1, iterations: 1}\n    steps:\n" + strings.Repeat("      - {call: f0}\n", 1000)
	for code, text := range map[string]string{"too-many-calls": large, "too-deep": chain + last + tail} {
		start := time.Now()
		_, ds := inFiles(t, map[string]string{"plan.yaml": text})
		if !slicesContainCode(ds, code) || time.Since(start) > 20*time.Second {
			t.Errorf("%s: %d diagnostics in %v", code, len(ds), time.Since(start))
		}
	}
	if _, ds := inFiles(t, map[string]string{"plan.yaml": doubling + last + tail}); !slicesContainCode(ds, "too-many-calls") {
		t.Errorf("doubling: %d diagnostics", len(ds))
	}
}

func slicesContainCode(ds source.Diagnostics, code string) bool {
	for _, d := range ds {
		if d.Code == code {
			return true
		}
	}
	return false
}

// TestLibrariesAreReadOnce keeps the files in the plan, each once, and their paths
// relative to the file that names them.
func TestLibrariesAreReadOnce(t *testing.T) {
	files := map[string]string{
		"plan.yaml":         "plan: t\ninclude: {a: lib/a.yaml, b: lib/deep/b.yaml}\nthread_groups:\n  g: {load: {threads: 1, iterations: 1}, steps: [{call: a.f}, {call: b.f}]}\n",
		"lib/a.yaml":        "library: A\ninclude: {b: deep/b.yaml}\nfragments: {f: {steps: [{call: b.f}]}}\n",
		"lib/deep/b.yaml":   "library: B\nfragments: {f: {steps: [{http: {request: POST http://h/, body: {file: body.txt}}}]}}\n",
		"lib/deep/body.txt": "x",
	}
	p, ds := inFiles(t, files)
	if len(ds) > 0 {
		t.Errorf("diagnostics:\n%s", render(t, ds))
	}
	var names []string
	for _, f := range p.Files {
		names = append(names, f.Name)
	}
	if diff := cmp.Diff([]string{"plan.yaml", "lib/a.yaml", "lib/deep/b.yaml"}, names); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if again := plan.Validate(p, registry(t), plan.Options{Open: func(path string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(files[path])), nil
	}}); len(again) > 0 || len(p.Files) != 3 {
		t.Errorf("a second time: %d files, %v", len(p.Files), again)
	}
}

// TestControllersAreExplained prints the plans with everything in them.
func TestControllersAreExplained(t *testing.T) {
	for path, want := range map[string][]string{
		"testdata/ok/controllers.yaml": {"counter order: from 1 to 9999, step 2, per plan, as order-0000", "metric basket: trend", "(once)", "(${share} of the passes)",
			"(10% of the passes, at random)", `(until json.state == "PAID" and attempt > 1, every 100ms..${poll}, at most 20, within 30s, then continue)`, "split by order",
			"record basket: duration", "(for 2s) (critical section till)", "(parallel)", "(interleave)", "(shuffle)", "(switch on kind)", "case b", "default", "(try)", "finally",
			"next_row account", "threshold errors < 1% of tag read"},
		"testdata/ok/fragments.yaml": {"(call auth.token)", "with user: ${client}", "takes token", `transaction "Visit" (call look)`, "(foreach json_list ?? [] as item)", "set token: ${result}"},
	} {
		p, ds := check(t, path)
		if len(ds) > 0 {
			t.Fatal(render(t, ds))
		}
		var b bytes.Buffer
		if err := plan.WriteExplain(&b, plan.Explain(p)); err != nil {
			t.Fatal(err)
		}
		for _, text := range want {
			if !strings.Contains(b.String(), text) {
				t.Errorf("%s: not explained: %s\n%s", path, text, b.String())
			}
		}
	}
}
