package plans_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// jobs makes a few seconds of each plan under jobs. N stands for a number of threads.
var jobs = map[string]string{
	"all-reviews":         "threads=N rounds=3 think=5ms",
	"export":              "threads=N length=2s every=50ms",
	"soap":                "threads=N length=2s think=20ms",
	"token-renewal":       "threads=N length=3s think=20ms lifetime=2",
	"rate-limit":          "threads=N length=2s think=100ms allowed=30",
	"staff-room":          "threads=N length=2s think=20ms",
	"bulk-lookup":         "threads=N ramp=300ms length=2s",
	"calendar":            "threads=N ramp=300ms length=2s think=5ms",
	"calls-from-a-file":   "threads=N ramp=300ms length=2s pace=600/min",
	"cart":                "threads=N ramp=300ms length=2s think=20ms",
	"check-or-load":       "threads=N ramp=300ms length=2s think=10ms",
	"cookies":             "threads=N length=2s think=20ms",
	"database":            "threads=N ramp=300ms length=2s think=20ms",
	"eight-groups":        "threads=4 ramp=300ms length=2s think=20ms",
	"gateway":             "threads=N ramp=300ms length=2s think=10ms",
	"help-desk-soak":      "threads=N ramp=500ms hold=1s think=5ms",
	"http-settings":       "threads=N ramp=300ms rounds=5 think=20ms",
	"list-of-ids":         "threads=N rounds=5",
	"many-hosts":          "threads=N ramp=1s length=2s think=10ms",
	"nested-loops":        "threads=N ramp=300ms length=2s think=10ms",
	"one-post":            "threads=N length=2s",
	"remote-calls":        "threads=N ramp=300ms length=2s think=20ms",
	"search-rush":         "peak=40/s ramp=700ms hold=1s threads=200",
	"setup-gives-the-id":  "threads=N ramp=300ms length=2s think=20ms",
	"shelf-walk":          "threads=N ramp=300ms rounds=5 think=20ms",
	"steps-to-the-limit":  "step=N hold=500ms think=20ms",
	"table-of-checks":     "",
	"three-lists":         "threads=N length=700ms think=20ms",
	"ticket-lifecycle":    "low=4 high=N ramp=300ms hold=500ms think=10ms spread=5ms",
	"until-the-data-ends": "threads=N",
	"upload":              "threads=N ramp=300ms length=2s think=20ms",
	"web-pages":           "threads=N ramp=300ms pages=80/s rise=500ms hold=1500ms",
	"working-day":         "quiet=4 busy=N phase=500ms think=20ms",
}

func jobNames(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("jobs/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for i := range files {
		files[i] = strings.TrimSuffix(filepath.Base(files[i]), ".yaml")
	}
	for name := range jobs {
		if !slices.Contains(files, name) {
			t.Errorf("there is no plan jobs/%s.yaml", name)
		}
	}
	return files
}

func TestJobsPassAgainstTheShop(t *testing.T) {
	threads := "24"
	if testing.Short() {
		threads = "8"
	}
	number := regexp.MustCompile(`\bN\b`)
	vars := map[string]string{}
	for _, name := range jobNames(t) {
		line, known := jobs[name]
		if !known {
			t.Errorf("jobs/%s.yaml is not in the table of this test", name)
		}
		vars["jobs/"+name] = number.ReplaceAllString(line, threads)
	}
	runAll(t, patientCopy(t, os.DirFS("."), 40), vars)
}

func TestJobsSayWhatTheyAre(t *testing.T) {
	for _, name := range jobNames(t) {
		text, err := os.ReadFile("jobs/" + name + ".yaml")
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		if lines[0] != "# yaml-language-server: $schema=../../schema/plan.schema.json" || !strings.HasPrefix(lines[1], "# Job: ") {
			t.Errorf("jobs/%s.yaml begins with %q and %q", name, lines[0], lines[1])
		}
		checkLines(t, "jobs/"+name+".yaml", lines)
	}
	libraries, err := fs.Glob(os.DirFS("."), "shared/*.yaml")
	if err != nil || len(libraries) < 2 {
		t.Fatalf("libraries: %v, %v", libraries, err)
	}
	for _, name := range libraries {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		checkLines(t, name, strings.Split(string(text), "\n"))
	}
}
