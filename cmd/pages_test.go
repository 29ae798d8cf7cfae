package cmd_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"runner/plans/demo"
	"runner/reporters"
)

// pageTimes are the times of plans in pages, all too long for a test.
var pageTimes = regexp.MustCompile(`(?:length|ramp_up|duration|over|hold): (?:\d+[ms])+\b`)

// TestPlansInPagesRun runs the whole plans of the guides against the shop: what a
// reader copies works.
func TestPlansInPagesRun(t *testing.T) {
	ran := 0
	for _, page := range []string{"../README.md", "../docs/getting-started.md", "../docs/from-jmeter.md", "../docs/reports.md"} {
		for _, b := range blocks(t, page) {
			if b.fragment {
				continue
			}
			ran++
			shop := httptest.NewServer(demo.New(demo.Options{}))
			text := strings.ReplaceAll(b.text, "http://localhost:8080", shop.URL)
			text = pageTimes.ReplaceAllStringFunc(text, func(s string) string { return s[:strings.Index(s, ":")] + ": 300ms" })
			text = regexp.MustCompile(`\d+ms\.\.\d+ms`).ReplaceAllString(text, "5ms..10ms")
			dir := t.TempDir()
			file, out := filepath.Join(dir, "page.yaml"), filepath.Join(dir, "out")
			if err := os.WriteFile(file, []byte(timeLimit.ReplaceAllString(text, "$1 30s")), 0o644); err != nil {
				t.Fatal(err)
			}
			code, printed := run(t, "exec", file, "--out", out)
			shop.Close()
			summary, err := reporters.Read(filepath.Join(out, "summary.json"))
			if err != nil {
				t.Errorf("%s:%d: %v\n%s", b.page, b.line, err, printed)
				continue
			}
			if code != 0 || summary.Ledger.Requests == 0 || len(summary.Ledger.Samples.Errors) > 0 {
				t.Errorf("%s:%d: exit code %d\n%s", b.page, b.line, code, printed)
			}
		}
	}
	if ran < 5 {
		t.Errorf("found %d plans: the search is broken", ran)
	}
}
