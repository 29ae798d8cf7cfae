//go:build unix

package cmd_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

const slowPlan = `plan: Slow
vars: {time: 1ms}
thread_groups:
  g:
    load: {threads: 1, iterations: 1}
    steps: [{dummy: "${time}", name: step}]

`

// TestOneRunToAFolder starts a second run into the folder of a first one, which is
// then killed.
func TestOneRunToAFolder(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "plan.yaml"), []byte(slowPlan), 0o600); err != nil {
		t.Fatal(err)
	}
	start := func(out *bytes.Buffer, args ...string) *exec.Cmd {
		c := exec.Command("runner", append([]string{"exec", "plan.yaml"}, args...)...)
		c.Dir, c.Stdout, c.Stderr = dir, out, out
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		return c
	}
	var first, second, third bytes.Buffer
	one := start(&first, "--var", "time=30s", "--out", "out")
	defer func() { _ = one.Process.Kill(); _ = one.Wait() }()
	journal := filepath.Join(dir, "out", "run.journal")
	for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if info, err := os.Stat(journal); err == nil && info.Size() > 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the first run has no journal")
		}
	}
	two := start(&second, "--out", "out")
	_ = two.Wait()
	want := fmt.Sprintf("runner: --out out is in use by another run (process %d), which would lose its results; name another folder\n", one.Process.Pid)
	if code := two.ProcessState.ExitCode(); code != 2 || second.String() != want {
		t.Errorf("exit code %d, %q, want 2 and %q", code, second.String(), want)
	}
	if info, err := os.Stat(journal); err != nil || info.Size() == 0 {
		t.Errorf("the refused run took the journal: %v", err)
	}
	_ = one.Process.Kill()
	_ = one.Wait()
	three := start(&third, "--out", "out")
	if err := three.Wait(); err != nil || !strings.Contains(third.String(), "replaces the results of an unfinished run of ") {
		t.Errorf("after a kill: %v, %s", err, third.String())
	}
}
