package cmd_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"runner/cmd/internal/witness"
	"runner/reporters"
	"runner/reporters/stats"
)

// The tests of truth run the program as a process of its own against a witness,
// a server in another process that writes down every request, and hold the
// reports against the witness's log. On a real clock they assert counts, medians
// and slopes; docs/accuracy.md tells the figures and how to repeat them.

// witnessMain is what the test binary does when it is started as "witness".
func witnessMain() int {
	if err := witness.Main(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "witness:", err)
		return 1
	}
	return 0
}

// newWitness starts a witness for the time of the test.
func newWitness(t *testing.T) *witness.Process {
	t.Helper()
	w, err := witness.Start(exec.Command("witness"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// logOf returns what the witness wrote into some books.
func logOf(t *testing.T, w *witness.Process, books ...string) []witness.Record {
	t.Helper()
	var all []witness.Record
	for _, book := range books {
		log, err := w.Log(book)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, log...)
	}
	return all
}

// execution is a run of the program as a process of its own.
type execution struct {
	dir     string // its results folder
	cmd     *exec.Cmd
	out     bytes.Buffer
	started time.Time

	code    int
	took    time.Duration
	summary *stats.Summary
}

// startRun starts the program on a plan; prefix is a command that runs it, as
// "sh -c …" or nothing.
func startRun(dir, plan string, prefix []string, args ...string) (*execution, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	file := filepath.Join(dir, "plan.yaml")
	if err := os.WriteFile(file, []byte(plan), 0o644); err != nil {
		return nil, err
	}
	r := &execution{dir: filepath.Join(dir, "out"), started: time.Now()}
	line := append(append(prefix[:len(prefix):len(prefix)], "runner", "exec", file, "--out", r.dir, "--seed", "1"), args...)
	r.cmd = exec.Command(line[0], line[1:]...)
	r.cmd.Env = append(os.Environ(), "CI=true")
	r.cmd.Stdout, r.cmd.Stderr = &r.out, &r.out
	return r, r.cmd.Start()
}

// end waits for the program's end and reads its summary, if it has written one.
func (r *execution) end() error {
	err := r.cmd.Wait()
	r.took = time.Since(r.started)
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return err
	}
	r.code = r.cmd.ProcessState.ExitCode()
	r.summary, err = reporters.Read(filepath.Join(r.dir, "summary.json"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// execute runs a plan to its end.
func execute(t *testing.T, plan string, args ...string) *execution {
	t.Helper()
	r, err := startRun(t.TempDir(), plan, nil, args...)
	if err == nil {
		err = r.end()
	}
	if err != nil {
		t.Fatal(err)
	}
	if r.summary == nil {
		t.Fatalf("exit code %d and no summary:\n%s\n%s", r.code, r.out.String(), plan)
	}
	return r
}

// beside runs the functions at once, each with its number, and reports their errors.
func beside(t *testing.T, n int, do func(i int) error) {
	t.Helper()
	var all sync.WaitGroup
	for i := range n {
		all.Go(func() {
			if err := do(i); err != nil {
				t.Errorf("%d: %v", i, err)
			}
		})
	}
	all.Wait()
}

// onGroup is a plan of one group with these lines under it, whose requests carry
// an id.
func onGroup(load, base, http, lines string) string {
	if http != "" {
		http = ", " + http
	}
	return fmt.Sprintf(`plan: Truth
thread_groups:
  g:
    load: %s
    defaults:
      http: {base_url: "%s", headers: {X-Id: "${thread.id}.${thread.iteration}"}%s}
%s`, load, base, http, lines)
}

// indentedSteps are the lines of a group's steps, one request each.
func indentedSteps(requests ...string) string {
	var b strings.Builder
	b.WriteString("    steps:\n")
	for i, r := range requests {
		fmt.Fprintf(&b, "      - name: s%d\n        http: %s\n", i, r)
	}
	return b.String()
}

// ledgersAddUp checks both ledgers of a summary.
func ledgersAddUp(s *stats.Summary) error {
	i, n := &s.Ledger.Iterations, &s.Ledger.Samples
	if i.Scheduled != i.Started+i.DroppedNoThread+i.DroppedEnd+i.DroppedAbort || i.Started != i.Completed+i.Interrupted+i.InFlight {
		return fmt.Errorf("iterations do not add up: %+v", *i)
	}
	if n.Started != n.Passed+failures(s)+n.InFlight {
		return fmt.Errorf("samples do not add up: %+v", *n)
	}
	return nil
}

func failures(s *stats.Summary) int64 {
	sum := int64(0)
	for _, n := range s.Ledger.Samples.Errors {
		sum += n
	}
	return sum
}
