package reporters

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

func TestProgressTellsPhases(t *testing.T) {
	var b bytes.Buffer
	c := NewConsole(ConsoleOptions{Progress: &b, Terminal: true, Width: func() int { return 60 }})
	group := GroupProgress{Name: "a", Active: 1, Done: 1, Finishing: true}
	waiting := GroupProgress{Name: "b", Planned: 5, Waiting: "for a"}
	c.Progress(Progress{Elapsed: time.Second, Phase: "setup", Groups: []GroupProgress{group, waiting}})
	c.Clear()
	c.Progress(Progress{Elapsed: 2 * time.Second, Phase: "teardown", Groups: []GroupProgress{group, waiting}})
	out := b.String()
	for _, want := range []string{"setup…  0:01\n", "1 thread ", "finishing\n", "waiting for a\n", "teardown…  0:02\n", "\x1b[1A"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in:\n%s", want, out)
		}
	}
	if strings.Contains(strings.SplitAfter(out, "\x1b[1A")[0], "waiting") {
		t.Errorf("groups are shown during setup:\n%s", out)
	}
	b.Reset()
	c = NewConsole(ConsoleOptions{Progress: &b})
	c.Progress(Progress{Elapsed: 10 * time.Second, Phase: "setup", Groups: []GroupProgress{waiting}})
	if b.String() != "0:10  setup…\n" {
		t.Errorf("without a terminal: %q", b.String())
	}
}
