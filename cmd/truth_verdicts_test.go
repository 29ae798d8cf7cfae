package cmd_test

import (
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/cmd"
	"runner/reporters"
	"runner/reporters/stats"
)

// refusing is an address that nobody listens on.
func refusing(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// TestNoResultNoPass wants every run without a result to say so by its exit code,
// another one than that of a broken threshold (M12).
func TestNoResultNoPass(t *testing.T) {
	t.Parallel()
	w, closed := newWitness(t), refusing(t)
	const once = "{threads: 2, iterations: 5}"
	for name, c := range map[string]struct {
		plan string
		code int
	}{
		"a threshold on a step that never ran": {onGroup(once, "http://"+w.HTTP, "",
			indentedSteps(`"GET /a/x"`)+"      - name: never\n        if: thread.id > 99\n        http: GET /a/y\n        thresholds: p95 < 1s\n"), 3},
		"no sampler ran": {onGroup(once, "http://"+w.HTTP, "",
			"    steps:\n      - pause: 1ms\n      - if: thread.id > 99\n        http: GET /a/x\n"), 3},
		"all refused, times within their limits": {onGroup(once, "http://"+closed, "", indentedSteps(`"GET /a/x"`)+"    thresholds: p50 < 10s\n"), 1},
		"all refused, errors allowed below all":  {onGroup(once, "http://"+closed, "", indentedSteps(`"GET /a/x"`)+"    thresholds: errors < 100%\n"), 1},
		"too few samples for the p99": {onGroup("{threads: 1, iterations: 100}", "http://"+w.HTTP, "",
			indentedSteps(`"GET /few/x?holds=99x1ms,1x300ms"`)+"    thresholds: p99 < 200ms\n"), 3},
		"few samples, but all of them within": {onGroup("{threads: 1, iterations: 20}", "http://"+w.HTTP, "",
			indentedSteps(`"GET /all/x?hold=1ms"`)+"    thresholds: p99 < 20s\n"), 0},
		"a setup that fails": {"plan: Truth\nsetup:\n  - http: GET http://" + closed + "/\n" +
			strings.TrimPrefix(onGroup(once, "http://"+w.HTTP, "", indentedSteps(`"GET /never/x"`)), "plan: Truth\n"), 3},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := execute(t, c.plan)
			if r.code != c.code || r.summary.ExitCode != c.code {
				t.Errorf("exit code %d, summary %d, want %d:\n%s", r.code, r.summary.ExitCode, c.code, r.out.String())
			}
			if passed := strings.Contains(r.out.String(), "PASSED"); passed != (c.code == 0) {
				t.Errorf("it says:\n%s", r.out.String())
			}
		})
	}
}

// TestTimedOutSamplesCountAtLeastTheirTimeout lets 128 threads time out twice: each
// is counted once, with its timeout or more, and the run's time stays sane (M14).
func TestTimedOutSamplesCountAtLeastTheirTimeout(t *testing.T) {
	t.Parallel()
	w := newWitness(t)
	r := execute(t, onGroup("{threads: 128, iterations: 2}", "http://"+w.HTTP, "timeout: 1s", indentedSteps(`"GET /silent/x?silent=1"`)))
	s := r.summary
	log := logOf(t, w, "silent")
	if len(log) != 256 || s.Ledger.Requests != 256 || s.Total.Count != 256 || s.Total.Failed != 256 || s.Ledger.Samples.Errors["timeout"] != 256 {
		t.Errorf("the witness saw %d requests, the report says %d, %d samples, %d failed: %v",
			len(log), s.Ledger.Requests, s.Total.Count, s.Total.Failed, s.Ledger.Samples.Errors)
	}
	for name, d := range map[string]*stats.Distribution{"response": s.Total.ResponseNS, "failure": s.Total.FailureNS} {
		if d.Min < int64(time.Second) || *d.P50 < int64(time.Second) || d.Max > int64(5*time.Second) {
			t.Errorf("%s time from %v, median %v, to %v", name, time.Duration(d.Min), time.Duration(*d.P50), time.Duration(d.Max))
		}
	}
	if took := time.Duration(s.DurationNS); took < 2*time.Second || took > r.took {
		t.Errorf("it took %v, the report says %v", r.took, took)
	}
	if r.code != 1 || s.Total.SuccessNS != nil {
		t.Errorf("exit code %d, successes %+v", r.code, s.Total.SuccessNS)
	}
}

// TestClosedPortAtAHighRate counts thousands of refused connections without a
// flood on the terminal.
func TestClosedPortAtAHighRate(t *testing.T) {
	t.Parallel()
	r := execute(t, onGroup("{rate: 2000/s, duration: 1s, max_threads: 2000}", "http://"+refusing(t), "", indentedSteps(`"GET /x"`)))
	s := r.summary
	if s.Ledger.Iterations.Scheduled != 2000 || s.Ledger.Samples.Errors["connect_refused"] != s.Total.Count || s.Ledger.Requests != 0 {
		t.Errorf("%+v, %+v, %d requests", s.Ledger.Iterations, s.Ledger.Samples, s.Ledger.Requests)
	}
	if lines := strings.Count(r.out.String(), "\n"); r.code != 1 || lines > 50 || strings.Contains(r.out.String(), "panic") {
		t.Errorf("exit code %d, %d lines:\n%s", r.code, lines, r.out.String())
	}
	if err := ledgersAddUp(s); err != nil {
		t.Error(err)
	}
}

// TestApdexCountsWhatTheWitnessHeld computes the apdex of known times (M13): up to
// 500 ms is satisfied, up to 2 s tolerating, above and failed frustrated.
func TestApdexCountsWhatTheWitnessHeld(t *testing.T) {
	t.Parallel()
	w := newWitness(t)
	r := execute(t, onGroup("{threads: 5, iterations: 2}", "http://"+w.HTTP, "",
		indentedSteps(`"GET /a0/x?hold=5ms"`, `"GET /a1/x?hold=550ms"`, `"GET /a2/x?hold=2050ms"`, `"GET /a3/x?status=500"`)+"    thresholds: errors <= 100%\n"))
	want := []float64{1, 0.5, 0, 0}
	for i, v := range want {
		if got := r.summary.Series[i].Apdex; got == nil || *got != v {
			t.Errorf("step %d: apdex %v, want %v", i, got, v)
		}
	}
	if got := r.summary.Total.Apdex; got == nil || *got != 15./40 {
		t.Errorf("apdex of all %v, want %v", got, 15./40)
	}
}

// TestWallClockJumps turns the wall clock an hour to and fro at each look: times,
// rates and order do not notice (M11).
func TestWallClockJumps(t *testing.T) {
	t.Parallel()
	w := newWitness(t)
	dir := t.TempDir()
	file := filepath.Join(dir, "plan.yaml")
	plan := onGroup("{rate: 100/s, duration: 1s, max_threads: 50}", "http://"+w.HTTP, "", indentedSteps(`"GET /clock/x?hold=5ms"`))
	if err := os.WriteFile(file, []byte(plan), 0o644); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	looks := 0
	code := cmd.Main(cmd.Env{
		Args: []string{"exec", file, "--out", filepath.Join(dir, "out")}, Dir: dir, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
		Now: func() time.Time {
			looks++
			return time.Now().Round(0).Add(time.Duration(looks%3-1) * time.Hour)
		},
		Getenv: func(string) (string, bool) { return "", false }, Width: func() int { return 100 },
		Notify: func() (<-chan os.Signal, func()) { return nil, func() {} },
		Self:   func(context.Context, ...string) (*exec.Cmd, error) { return nil, exec.ErrNotFound },
	})
	s, err := reporters.Read(filepath.Join(dir, "out", "summary.json"))
	if err != nil {
		t.Fatal(err, out.String())
	}
	took := time.Duration(s.DurationNS)
	if code != 0 || s.Total.Count != 100 || *s.Total.ThroughputPS != 100 || took < 990*time.Millisecond || took > 30*time.Second || s.Total.ResponseNS.Min < int64(5*time.Millisecond) {
		t.Errorf("exit code %d, %d samples, %v/s, %v\n%s", code, s.Total.Count, *s.Total.ThroughputPS, took, out.String())
	}
	for _, at := range s.Timeline.TS {
		if at < 0 || at > took.Seconds() {
			t.Errorf("a point at %v s", at)
		}
	}
}

// TestJournalHoldsTheWholeRun makes the summary of a whole run again from its
// journal: nothing differs.
func TestJournalHoldsTheWholeRun(t *testing.T) {
	t.Parallel()
	w := newWitness(t)
	r := execute(t, onGroup("{rate: 300/s, duration: 2500ms, max_threads: 100}", "http://"+w.HTTP, "timeout: 300ms",
		indentedSteps(`"GET /j0/x?hold=3ms"`, `"GET /j1/x?silent=1&one=50"`, `"GET /j2/x?reset=body&one=9"`)+"    thresholds: [errors < 20%, dropped < 1000]\n"))
	if err := os.Remove(filepath.Join(r.dir, "summary.json")); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command("runner", "report", r.dir).CombinedOutput(); err != nil && r.code == 0 {
		t.Fatalf("%v\n%s", err, out)
	}
	again, err := reporters.Read(filepath.Join(r.dir, "summary.json"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r.summary, again); diff != "" {
		t.Errorf("from the run (-) and from its journal (+):\n%s", diff)
	}
}

// startedAfter is how long a run may take to send its first request.
const startedAfter = 20 * time.Second

// waitFor waits until a book has seen a request.
func waitFor(seen func() (int, error), r *execution) error {
	for started := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		n, err := seen()
		if err == nil && n > 0 {
			return nil
		}
		if err != nil || time.Since(started) > startedAfter {
			_ = r.cmd.Process.Kill()
			_ = r.cmd.Wait()
			return fmt.Errorf("nothing was sent: %w\n%s", err, r.out.String())
		}
	}
}
