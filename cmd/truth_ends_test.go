package cmd_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"runner/cmd/internal/witness"
	"runner/reporters"
	"runner/reporters/stats"
)

// endings is how many random moments of each signal are tried.
func endings() int {
	if testing.Short() {
		return 4
	}
	return 20
}

// endless is a run that only a signal ends within the test's time: half of its
// load closed, half open.
func endless(w *witness.Process, book string) string {
	return fmt.Sprintf(`plan: Ended by a signal
defaults: {http: {base_url: "http://%s", headers: {X-Id: "${thread.id}.${thread.iteration}"}}}
thread_groups:
  closed:
    load: {threads: 4, duration: 1m, grace: 5s}
    steps:
      - http: GET /%s/closed?hold=7ms
      - pause: 10ms..30ms
  open:
    load: {rate: 100/s, duration: 1m, max_threads: 50, grace: 5s}
    steps:
      - http: GET /%s/open?hold=20ms
`, w.HTTP, book, book)
}

// interrupted starts a run and sends it a signal so long after its first request.
func interrupted(w *witness.Process, book, dir string, signal os.Signal, after time.Duration) (*execution, error) {
	r, err := startRun(dir, endless(w, book), nil)
	if err != nil {
		return nil, err
	}
	if err := waitFor(func() (int, error) { return w.Seen(book) }, r); err != nil {
		return nil, err
	}
	time.Sleep(after)
	if err := r.cmd.Process.Signal(signal); err != nil {
		return nil, err
	}
	return r, r.end()
}

// groupsOf runs do for the numbers below n, ten at once.
func groupsOf(t *testing.T, n int, do func(i int) error) {
	t.Helper()
	for from := 0; from < n; from += 10 {
		beside(t, min(10, n-from), func(i int) error { return do(from + i) })
	}
}

// TestTruthAfterSignals ends runs at random moments by SIGINT and SIGTERM: after
// the drain the ledger equals the witness's log (M1, F10).
func TestTruthAfterSignals(t *testing.T) {
	t.Parallel()
	w := newWitness(t)
	random := rand.New(rand.NewPCG(1, 2))
	var after []time.Duration
	for range 2 * endings() {
		after = append(after, time.Duration(random.Int64N(int64(1500*time.Millisecond))))
	}
	dir := t.TempDir()
	groupsOf(t, len(after), func(i int) error {
		signal, code := os.Signal(syscall.SIGINT), 130
		if i%2 == 1 {
			signal, code = syscall.SIGTERM, 143
		}
		book := fmt.Sprintf("end%d", i)
		r, err := interrupted(w, book, filepath.Join(dir, book), signal, after[i])
		if err != nil {
			return err
		}
		if r.code != code || r.summary == nil || r.summary.Verdict != stats.Interrupted {
			return fmt.Errorf("%v after %v: exit code %d\n%s", signal, after[i], r.code, r.out.String())
		}
		log, err := w.Log(book)
		if err != nil {
			return err
		}
		if n := r.summary.Ledger.Requests; n != int64(len(log)) || r.summary.Total.Count != n || r.summary.Total.Failed != 0 {
			return fmt.Errorf("%v after %v: the witness saw %d requests, the report says %d, %d samples, %d failed",
				signal, after[i], len(log), n, r.summary.Total.Count, r.summary.Total.Failed)
		}
		return ledgersAddUp(r.summary)
	})
}

// TestTruthAfterKill ends runs by SIGKILL: what the journal says was sent, was
// sent, and at most what the last second sent is missing (M1, F10).
func TestTruthAfterKill(t *testing.T) {
	t.Parallel()
	w := newWitness(t)
	random := rand.New(rand.NewPCG(3, 4))
	var after []time.Duration
	for range endings() {
		after = append(after, time.Duration(random.Int64N(int64(2500*time.Millisecond))))
	}
	dir := t.TempDir()
	groupsOf(t, len(after), func(i int) error {
		book := fmt.Sprintf("kill%d", i)
		r, err := interrupted(w, book, filepath.Join(dir, book), syscall.SIGKILL, after[i])
		if err != nil {
			return err
		}
		log, err := w.Log(book)
		if err != nil {
			return err
		}
		return survives(r, log, after[i])
	})
}

// survives reports from the journal of a killed run.
func survives(r *execution, log []witness.Record, after time.Duration) error {
	if r.code != -1 || r.summary != nil {
		return fmt.Errorf("the run ended by itself, with exit code %d", r.code)
	}
	out, err := exec.Command("runner", "report", r.dir).CombinedOutput()
	if err != nil && !strings.Contains(string(out), "PARTIAL") {
		return fmt.Errorf("report: %w\n%s", err, out)
	}
	s, err := reporters.Read(filepath.Join(r.dir, "summary.json"))
	if err != nil {
		return err
	}
	if !s.Partial || !strings.Contains(string(out), "PARTIAL") || s.Verdict != stats.Invalid {
		return fmt.Errorf("not marked partial: %s", out)
	}
	last := time.Duration(0)
	for _, q := range log {
		last = max(last, q.Arrived)
	}
	// A second, and what a busy machine may be late with writing it down.
	const lost = time.Second + 300*time.Millisecond
	older := int64(0)
	for _, q := range log {
		if q.Arrived+q.Hold < last-lost {
			older++
		}
	}
	if n := s.Ledger.Requests; n > int64(len(log)) || n < older {
		return fmt.Errorf("killed after %v: the journal has %d requests, the witness saw %d, %d of them more than %v before the end",
			after, n, len(log), older, lost)
	}
	if s.Total.Count > s.Ledger.Requests {
		return fmt.Errorf("%d samples of %d requests", s.Total.Count, s.Ledger.Requests)
	}
	return nil
}
