package plan_test

import (
	"bytes"
	"flag"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/assertions"
	"runner/plan"
	"runner/plan/element"
	"runner/plan/query"
	"runner/plan/source"
	"runner/samplers"
	"runner/samplers/extract"
	"runner/timers"
)

var update = flag.Bool("update", false, "write the expected diagnostics anew")

func registry(t testing.TB) *element.Registry {
	t.Helper()
	reg, err := element.NewRegistry(query.Functions(), samplers.All(), timers.All(), assertions.All(), extract.All())
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

func open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, os.ErrNotExist // the same words on every system
	}
	return f, nil
}

// check parses and validates a file under its base name.
func check(t testing.TB, path string) (*plan.Plan, source.Diagnostics) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	p, ds := plan.Parse(source.New(path, text), registry(t))
	if p != nil {
		ds = append(ds, plan.Validate(p, registry(t), plan.Options{Open: open})...)
	}
	return p, ds.Sorted()
}

func render(t testing.TB, ds source.Diagnostics) string {
	t.Helper()
	var b bytes.Buffer
	if err := source.Render(&b, ds, source.RenderOptions{}); err != nil {
		t.Fatal(err)
	}
	return strings.ReplaceAll(b.String(), "testdata/err/", "")
}

func files(t testing.TB, pattern string) []string {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	if err != nil || len(paths) == 0 {
		t.Fatalf("no files match %s: %v", pattern, err)
	}
	return paths
}

func TestRightPlansHaveNoDiagnostics(t *testing.T) {
	for _, path := range files(t, "testdata/ok/*.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			if _, ds := check(t, path); len(ds) > 0 {
				t.Errorf("diagnostics:\n%s", render(t, ds))
			}
		})
	}
}

func TestWrongPlansAreExplained(t *testing.T) {
	for _, path := range files(t, "testdata/err/*.yaml") {
		t.Run(filepath.Base(path), func(t *testing.T) {
			_, ds := check(t, path)
			got := render(t, ds)
			golden := strings.TrimSuffix(path, ".yaml") + ".out"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
			if len(ds) == 0 {
				t.Error("a wrong plan has no diagnostics")
			}
		})
	}
}
