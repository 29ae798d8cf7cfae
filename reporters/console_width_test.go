package reporters

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/mattn/go-runewidth"

	"runner/reporters/stats"
)

// printed is the result as a console of that width shows it.
func printed(t *testing.T, s *stats.Summary, o ConsoleOptions, width int) string {
	t.Helper()
	var b bytes.Buffer
	o.Result, o.Width = &b, func() int { return width }
	if err := NewConsole(o).Finish(s, nil); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// section is what stands under a head.
func section(out, head string) string {
	_, rest, _ := strings.Cut(out, "\n"+head+"\n")
	rest, _, _ = strings.Cut(rest, "\n\n")
	return rest
}

func TestResultFitsTheConsole(t *testing.T) {
	for _, name := range variants() {
		for _, width := range []int{40, 50, 60, 72, 80, 100, 120, 160, 200} {
			for line := range strings.Lines(printed(t, variant(name), ConsoleOptions{}, width)) {
				if w := runewidth.StringWidth(strings.TrimSuffix(line, "\n")); w > width && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("%s at %d: %d columns: %q", name, width, w, line)
				}
			}
		}
	}
}

// longNames is a run whose names differ at their end only.
func longNames(n int) *stats.Summary {
	s := fixed()
	s.Series = slices.Repeat(s.Series[2:3], n)
	for i := range s.Series {
		s.Series[i].Group, s.Series[i].Name = "shoppers", fmt.Sprintf("GET /api/v2/catalogue/items/details %d", 100+i)
		s.Series[i].DroppedShare = nil
	}
	s.Total.DroppedShare = nil
	return s
}

func TestColumnsGoBeforeNamesAreCut(t *testing.T) {
	s := longNames(3)
	tests := []struct {
		width int
		heads string
		name  string
	}{
		{200, "count errors error rate rate /s min ms mean ms p50 ms p90 ms p95 ms p99 ms max ms", "shoppers / GET /api/v2/catalogue/items/details 102"},
		{137, "count errors error rate rate /s mean ms p50 ms p95 ms p99 ms max ms", "shoppers / GET /api/v2/catalogue/items/details 102"},
		{120, "count errors error rate p50 ms p95 ms p99 ms max ms", "shoppers / GET /api/v2/catalogue/items/details 102"},
		{100, "count errors error rate p50 ms p95 ms p99 ms max ms", "etails 102"},
		{60, "count errors p95 ms p99 ms max ms", "tails 102"},
	}
	for _, tt := range tests {
		out := section(printed(t, s, ConsoleOptions{}, tt.width), "Samples")
		head, _, _ := strings.Cut(out, "\n")
		if got := strings.Join(strings.Fields(head), " "); got != tt.heads {
			t.Errorf("at %d: %q, want %q\n%s", tt.width, got, tt.heads, out)
		}
		if !strings.Contains(out, tt.name) {
			t.Errorf("at %d no %q\n%s", tt.width, tt.name, out)
		}
	}
}

func TestMiddle(t *testing.T) {
	tests := []struct {
		text    string
		columns int
		want    string
	}{
		{"GET /a", 6, "GET /a"},
		{"GET /api/orders/17", 12, "GET …ders/17"},
		{"漢字漢字漢字漢字", 9, "漢…字漢字"},
		{"abcdefgh", 4, "abc…"},
		{"", 0, ""},
	}
	for _, tt := range tests {
		if got := middle(tt.text, tt.columns); got != tt.want || runewidth.StringWidth(got) > tt.columns {
			t.Errorf("middle(%q, %d) = %q, want %q", tt.text, tt.columns, got, tt.want)
		}
	}
}

func TestQuietTellsErrorsOfAFailedRun(t *testing.T) {
	out := printed(t, fixed(), ConsoleOptions{Quiet: true}, 0)
	if errors := section(out, "Errors"); !strings.Contains(errors, "status 503") || strings.Count(errors, "\n") > maxConsoleErrors {
		t.Errorf("%s", out)
	}
	if out := printed(t, variant("passed"), ConsoleOptions{Quiet: true}, 0); strings.Contains(out, "Errors") {
		t.Errorf("passed: %s", out)
	}
}

func TestErrorsShowExpectedAndActual(t *testing.T) {
	s := longNames(2)
	for i := range s.Series {
		r := &s.Series[i]
		r.Errors = []stats.ErrorCount{{Class: "assertion", Message: "json.id is wrong", Count: 3, Examples: []string{"GET /x"}},
			{Class: "status", Message: "status is wrong", Count: 2, Examples: []string{"GET /expected: expected 200, was 500"}}, {Class: "reset", Message: "reset", Count: 1}}
		r.Assertions = []stats.AssertionCount{{Failed: 3, Examples: []stats.Example{{Message: "json.id is wrong", Expected: "17", Actual: "18"}}}}
	}
	for name, out := range map[string]string{"console": printed(t, s, ConsoleOptions{Quiet: true}, 0), "markdown": string(render(t, "markdown", s))} {
		for _, want := range []string{"json.id is wrong: expected 17, was 18", "status is wrong: expected 200, was 500"} {
			if !strings.Contains(out, want) {
				t.Errorf("%s lacks %q:\n%s", name, want, out)
			}
		}
	}
}

// TestManyBrokenSteps: with the same fault in every step the verdict stays short,
// and the errors are one line for all of them.
func TestManyBrokenSteps(t *testing.T) {
	s := longNames(23)
	s.Reasons, s.Generator.Verdict, s.Generator.NearFloor = nil, "ok", ""
	for i := range s.Series {
		s.Reasons = append(s.Reasons, fmt.Sprintf("step %d: errors is 100%%, limit == 0%%", i))
		s.Series[i].Errors = []stats.ErrorCount{{Class: "status", Message: "status 500", Count: 2, Examples: []string{}}}
	}
	out := printed(t, s, ConsoleOptions{}, 0)
	verdict, _, _ := strings.Cut(out, "\n\n")
	if n := strings.Count(verdict, "\n"); n != maxReasons+1 || !strings.Contains(verdict, "and 18 more (see Thresholds)") {
		t.Errorf("%d lines:\n%s", n, verdict)
	}
	if errors := section(out, "Errors"); strings.Count(errors, "\n") != 1 || !strings.Contains(errors, "100 and 22 more") {
		t.Errorf("%s", errors)
	}
	if junit := string(render(t, "junit", s)); !strings.Contains(junit, "and 18 more") {
		t.Error("junit repeats all reasons")
	}
	s.Thresholds = nil
	if got := summaryReasons(s)[maxReasons]; got != "and 18 more (see summary.json)" {
		t.Errorf("%q", got)
	}
}

func TestNoDataTellsWhy(t *testing.T) {
	s := fixed()
	for i := range s.Thresholds {
		if th := &s.Thresholds[i]; outcomeOf(th) == noData {
			th.Message = "p95 has no data: no sample was sent"
		}
	}
	for name, out := range map[string]string{"console": section(printed(t, s, ConsoleOptions{}, 0), "Thresholds"), "junit": string(render(t, "junit", s)), "html": string(render(t, "html", s))} {
		if !strings.Contains(out, "no sample was sent") {
			t.Errorf("%s does not tell why", name)
		}
	}
}
