package cmd_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/reporters"
	"runner/reporters/stats"
)

// runOn runs a plan with these steps and returns its summary and what was printed.
func runOn(t *testing.T, steps string) (*stats.Summary, string) {
	t.Helper()
	plan := fmt.Sprintf("plan: Floor\nthread_groups:\n  g:\n    load: {threads: 1, iterations: 30}\n    steps: [%s]\n", steps)
	dir := t.TempDir()
	file := filepath.Join(dir, "plan.yaml")
	if err := os.WriteFile(file, []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	code, out := run(t, "exec", file, "--out", filepath.Join(dir, "out"))
	if code != 0 {
		t.Fatalf("exit code %d\n%s", code, out)
	}
	s, err := reporters.Read(filepath.Join(dir, "out", "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	journal, err := os.Open(filepath.Join(dir, "out", "run.journal"))
	if err != nil {
		t.Fatal(err)
	}
	defer journal.Close()
	again, err := stats.ReadJournal(journal)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.Generator, again.Generator); diff != "" {
		t.Errorf("from the journal (-want +got):\n%s", diff)
	}
	return s, out
}

// target answers each request after a time; it reads and writes as little as it can.
func target(t *testing.T, hold time.Duration) string {
	w := newWire(t, "127.0.0.1:0", func(string) string {
		time.Sleep(hold)
		return "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"
	})
	return "http://" + w.addr
}

// TestFloorIsMeasured: a run with http samplers has a floor, others have none; a
// target that answers at once is near it, one that takes 5 ms is not.
func TestFloorIsMeasured(t *testing.T) {
	if s, out := runOn(t, "dummy: 1ms"); s.Generator.Floor != nil || s.Generator.NearFloor != "" || strings.Contains(out, "floor") {
		t.Errorf("a plan without http: %+v\n%s", s.Generator, out)
	}
	if s, _ := runOn(t, "{http: 'GET http://127.0.0.1:1/', skip: out}, {dummy: 1ms}"); s.Generator.Floor != nil {
		t.Errorf("a plan whose http is skipped: %+v", s.Generator.Floor)
	}
	for _, hold := range []time.Duration{0, 5 * time.Millisecond} {
		base := target(t, hold)
		marked := false
		for range 3 { // a time on a busy machine says little
			s, out := runOn(t, "http: GET "+base+"/x")
			f, took := s.Generator.Floor, s.Total.ServiceNS
			if f == nil || f.N < 20 || f.N > 300 || f.P50 <= 0 || f.P99 < f.P50 {
				t.Fatalf("the floor is %+v\n%s", f, out)
			}
			marked = s.Generator.NearFloor != ""
			if marked != (*took.P50 < 5*f.P50) || marked != strings.Contains(out, "near the floor of this machine") || !strings.Contains(out, "floor of this machine: ") {
				t.Fatalf("p50 of %v with a floor of %+v: marked %v\n%s", took.P50, *f, marked, out)
			}
			if marked == (hold == 0) {
				break
			}
		}
		if marked != (hold == 0) {
			t.Errorf("a target that takes %v: near the floor %v", hold, marked)
		}
	}
}
