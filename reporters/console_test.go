package reporters

import (
	"bytes"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"github.com/mattn/go-runewidth"
)

func progress(at time.Duration) Progress {
	return Progress{Elapsed: at, Groups: []GroupProgress{
		{Name: "shoppers", Active: 117, Planned: 120, Rate: 56.24, P95: pick(int64(148_200_000)), Samples: 4012, Errors: 1, Done: .42, Left: 348 * time.Second},
		{Name: "checkout", Active: 12, Planned: 12, Rate: 1204, Errors: 31, Dropped: 7, Done: 1, Left: 0},
		{Name: "prices", Active: 3, Planned: 3, Done: -1, Left: -1},
	}}
}

func TestProgressWithoutTerminal(t *testing.T) {
	var b bytes.Buffer
	c := NewConsole(ConsoleOptions{Progress: &b})
	for s := range 31 {
		p := progress(time.Duration(s) * time.Second)
		p.Groups = p.Groups[:1]
		c.Progress(p)
	}
	c.Note("draining\x1b[2J")
	want := `0:10  shoppers: 117/120 threads, 56.2/s, p95 148 ms, 1 error, 5:48 left
0:20  shoppers: 117/120 threads, 56.2/s, p95 148 ms, 1 error, 5:48 left
0:30  shoppers: 117/120 threads, 56.2/s, p95 148 ms, 1 error, 5:48 left
draining␛[2J
`
	if diff := cmp.Diff(want, b.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestProgressOnTerminalIsRedrawn(t *testing.T) {
	var b bytes.Buffer
	c := NewConsole(ConsoleOptions{Progress: &b, Terminal: true, Width: func() int { return 100 }})
	c.Progress(progress(time.Second))
	first := b.String()
	want := `shoppers  █████████▋               42%  117/120 threads  56.2/s  p95 148 ms  1 error  5:48 left
checkout  ███████████████████████ 100%  12/12 threads  1,204/s  p95 n/a  31 errors  7 dropped  done
prices    ·······················       3/3 threads  0.00/s  p95 n/a  0 errors
`
	if diff := cmp.Diff(want, first); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	c.Progress(progress(2 * time.Second))
	if second := b.String()[len(first):]; second != "\x1b[3A\r\x1b[J"+want {
		t.Errorf("second: %q", second)
	}
	c.Clear()
	c.Clear()
	if tail := strings.TrimPrefix(b.String(), first+"\x1b[3A\r\x1b[J"+want); tail != "\x1b[3A\r\x1b[J" {
		t.Errorf("clear: %q", tail)
	}
}

func TestProgressFitsTheTerminal(t *testing.T) {
	for _, width := range []int{20, 30, 40, 60, 79, 80, 120, 200} {
		var b bytes.Buffer
		c := NewConsole(ConsoleOptions{Progress: &b, Terminal: true, Width: func() int { return width }})
		p := progress(time.Second)
		p.Groups[0].Name = "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字 🛒🛒🛒"
		c.Progress(p)
		lines := strings.Split(strings.TrimSuffix(b.String(), "\n"), "\n")
		if len(lines) != 3 {
			t.Errorf("width %d: %d lines", width, len(lines))
		}
		for _, l := range lines {
			if w := runewidth.StringWidth(l); w >= width {
				t.Errorf("width %d: %d columns: %q", width, w, l)
			}
		}
	}
}

// TestProgressOfArrivals: an open group shows the rate begun of the rate planned,
// on narrow terminals too, where its threads and samples give way.
func TestProgressOfArrivals(t *testing.T) {
	g := GroupProgress{Name: "checkout", Open: true, Due: 150, Started: 120.4, Active: 50, Planned: 50, Rate: 240.8, P95: pick(int64(412e6)), Dropped: 1234, Done: .42, Left: 62 * time.Second}
	for width, want := range map[int]string{
		80:  "checkout  120 of 150/s planned  p95 412 ms  0 errors  1,234 dropped  1:02 left\n",
		100: "checkout  120 of 150/s planned  50/50 threads busy  p95 412 ms  0 errors  1,234 dropped  1:02 left\n",
		126: "checkout  ██     42%  120 of 150/s planned  50/50 threads busy  241 samples/s  p95 412 ms  0 errors  1,234 dropped  1:02 left\n",
	} {
		var b bytes.Buffer
		NewConsole(ConsoleOptions{Progress: &b, Terminal: true, Width: func() int { return width }}).Progress(Progress{Groups: []GroupProgress{g}})
		if b.String() != want {
			t.Errorf("at %d: %q", width, b.String())
		}
	}
	g.Finishing = true
	if text := joined(groupFigures(&g), ", "); text != "50 threads busy, 240.8/s, p95 412 ms, 0 errors, 1,234 dropped, finishing" {
		t.Errorf("finishing: %s", text)
	}
}

func TestQuietShowsNoProgress(t *testing.T) {
	var b bytes.Buffer
	c := NewConsole(ConsoleOptions{Progress: &b, Quiet: true, Terminal: true})
	c.Progress(progress(time.Minute))
	if b.Len() != 0 {
		t.Errorf("%q", b.String())
	}
}

func TestConsoleIsSafeForConcurrentUse(t *testing.T) {
	c := NewConsole(ConsoleOptions{Terminal: true})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for i := range 20 {
				c.Progress(progress(time.Duration(i) * time.Second))
				c.Note("x")
			}
		})
	}
	if err := c.Finish(fixed(), nil); err != nil {
		t.Error(err)
	}
	wg.Wait()
}

// everyText puts s into every text of a summary.
func everyText(text string) []string {
	var outs []string
	for _, name := range variants() {
		s := tidy(variant(name), func(string) string { return text })
		for _, colour := range []bool{false, true} {
			var b bytes.Buffer
			c := NewConsole(ConsoleOptions{Progress: &b, Result: &b, Colour: colour})
			p := progress(time.Minute)
			p.Notes = []string{text}
			p.Groups[0].Name = text
			c.Progress(p)
			_ = c.Finish(s, []string{text})
			outs = append(outs, b.String())
		}
	}
	return outs
}

func TestNoControlByteReachesTheTerminal(t *testing.T) {
	colours := regexp.MustCompile("\x1b\\[[0-9]*m")
	for _, text := range []string{hostileName, "\x1b]8;;http://x\x07", "\u009b2J", "a\rb", "a\bb", "\u2028\u202e\u2066", "\x00\x7f\xc3("} {
		for _, out := range everyText(text) {
			for _, r := range colours.ReplaceAllString(out, "") {
				if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0x2028) {
					t.Fatalf("%q reaches the terminal from %q", r, text)
				}
			}
		}
	}
}

func TestNoWorkflowCommand(t *testing.T) {
	command := regexp.MustCompile(`(?m)^\s*::|##\[|##vso\[`)
	for _, text := range []string{"::error::x", "\n::set-output name=a::b", "##[group]x", "  ::stop-commands::t", "a ##vso[task.setvariable]", "\r\n::add-mask::x"} {
		for _, out := range everyText(text) {
			if found := command.FindString(out); found != "" {
				t.Fatalf("%q lets %q through", text, found)
			}
		}
		s := tidy(fixed(), func(string) string { return text })
		if found := command.Find(render(t, "markdown", s)); found != nil {
			t.Errorf("markdown: %q lets %q through", text, found)
		}
		var b bytes.Buffer
		if err := WriteAnnotations(&b, s); err != nil {
			t.Fatal(err)
		}
		for l := range strings.Lines(b.String()) {
			if !strings.HasPrefix(l, "::error ") {
				t.Errorf("annotation: %q starts with %q", text, l)
			}
		}
	}
}

func TestFailuresAreNeverTicked(t *testing.T) {
	for _, name := range variants() {
		var b bytes.Buffer
		s := variant(name)
		if err := NewConsole(ConsoleOptions{Result: &b}).Finish(s, nil); err != nil {
			t.Fatal(err)
		}
		if name != "passed" && strings.HasPrefix(b.String(), "✓") {
			t.Errorf("%s begins with a tick", name)
		}
		ticks := 0
		for i := range s.Thresholds {
			if o := outcomeOf(&s.Thresholds[i]); o == held || o == few {
				ticks++
			}
		}
		if name == "passed" {
			ticks++
		}
		if got := strings.Count(b.String(), "✓"); got != ticks {
			t.Errorf("%s: %d ticks for %d that hold", name, got, ticks)
		}
	}
}

func TestErrorsTakeTenLines(t *testing.T) {
	s := fixed()
	for i := range 40 {
		e := s.Series[1].Errors[0]
		e.Count, e.Message = int64(i+1), "kind "+strconv.Itoa(i)
		s.Series[1].Errors = append(s.Series[1].Errors, e)
	}
	var b bytes.Buffer
	if err := NewConsole(ConsoleOptions{Result: &b}).Finish(s, nil); err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(b.String(), "\nErrors\n")
	section, _, _ = strings.Cut(section, "\n\n")
	if n := strings.Count(section, "\n"); n != maxConsoleErrors {
		t.Errorf("%d lines:\n%s", n, section)
	}
	if !strings.Contains(section, "other kinds, in the reports") {
		t.Error("the rest is not told")
	}
}
