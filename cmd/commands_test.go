package cmd_test

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"runner/cmd"
)

// told is a command line in a page: alone on a line of a block, or in backticks.
var told = regexp.MustCompile("(?m)^(?:\\$ |\\./)?runner ([^#\n]*)|`runner ([^`\n]*)`")

// TestCommandsInPagesExist runs every command line that a page tells with --help,
// so that its command and its flags must exist.
func TestCommandsInPagesExist(t *testing.T) {
	found, err := filepath.Glob("../docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, page := range append(found, "../README.md", "../schema/reference.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range told.FindAllStringSubmatch(string(text), -1) {
			line := m[1] + m[2]
			seen++
			words := strings.Fields(line)
			if code, out := run(t, append(words, "--help")...); code != 0 || !strings.Contains(out, "Usage:\n  runner "+words[0]) {
				t.Errorf("%s: `runner %s`: exit code %d\n%s", page, line, code, out)
			}
		}
	}
	if seen < 20 {
		t.Errorf("found %d command lines: the search is broken", seen)
	}
}

// TestStartIsCheap pins what the program does before any command: memory requests
// are exact where time is not.
func TestStartIsCheap(t *testing.T) {
	if n := testing.AllocsPerRun(3, func() { run(t, "version") }); n > 1000 {
		t.Errorf("%.0f allocations to print the version", n)
	}
}

// run runs the program in memory and returns its exit code and all it printed.
func run(t *testing.T, args ...string) (int, string) {
	t.Helper()
	var out bytes.Buffer
	code := cmd.Main(cmd.Env{
		Args: args, Dir: t.TempDir(), Now: time.Now, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &out,
		Getenv: func(string) (string, bool) { return "", false },
		Width:  func() int { return 100 },
		Notify: func() (<-chan os.Signal, func()) { return nil, func() {} },
		Self:   func(context.Context, ...string) (*exec.Cmd, error) { return nil, exec.ErrNotFound },
	})
	return code, out.String()
}
