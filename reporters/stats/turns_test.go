package stats

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

// steadyRun is a run of 50 samples per second for 4 s after 2 s of silence, in two
// series of one group, which began so long after the first moment of all.
func steadyRun(t *testing.T, after time.Duration, change func(*element.Layout, *Info)) Part {
	t.Helper()
	l := metricLayout(
		element.Threshold{Scope: "plan", Group: -1, Series: []int{0, 4}, Single: -1, Comparison: comparison("throughput >= 120/s", 120)},
		element.Threshold{Scope: "plan", Group: -1, Series: []int{0}, Single: -1, After: 10 * time.Second, Comparison: comparison("errors < 1%", .01)})
	l.Series = append(l.Series, element.Series{ID: 4, Group: 0, Name: "GET /2", Kind: "http", Phase: element.Load})
	l.Groups[0].Load = "50/s for 4s"
	info := Info{RunID: fmt.Sprint("run at ", after), Seed: 7, Sources: []Source{{File: "p", Text: "x"}}}
	if change != nil {
		change(&l, &info)
	}
	r := &rig{clock: &fakeClock{}}
	r.Recorder = New(l, Options{Now: r.clock.now, Process: noProcess, Journal: &r.journal, Shards: 1, Info: info,
		Started: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).Add(after)})
	r.second()
	r.second()
	for range 4 {
		for k := range 50 {
			r.run(0, sample(4*(k%2), r.clock.at+time.Duration(k)*20*time.Millisecond, time.Millisecond))
		}
		r.Shard(0, 0).(element.MetricShard).Metric(0, 10)
		r.Shard(0, 0).Count(element.ThreadsStarted, 2)
		r.second()
		r.Shard(0, 0).Count(element.ThreadsEnded, 2)
	}
	r.Summary(EndInfo{})
	return partOf(t, info.RunID, r)
}

// TestRunsInTurn: the rate of runs one after the other is that of one of them, of
// runs side by side their sum.
func TestRunsInTurn(t *testing.T) {
	at := func(seconds ...float64) (parts []Part) {
		for _, s := range seconds {
			parts = append(parts, steadyRun(t, time.Duration(s*float64(time.Second)), nil))
		}
		return parts
	}
	one, err := Merge(at(0))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name    string
		parts   []Part
		runs    int     // that ran at the same time, on average over the turns
		seconds float64 // of all
		verdict Verdict
		note    string
	}{
		{"one after the other", at(0, 20, 40), 1, 18, Failed, "did not run at the same time, so they are laid one after the other"},
		{"in any order", at(40, 0, 20), 1, 18, Failed, "did not run at the same time"},
		{"by a clock that was set back", at(0, 5.99, 11.98), 1, 18, Failed, "did not run at the same time"},
		{"side by side", at(0, 0, 0), 3, 6, Passed, "aligned by the wall clocks"},
		{"two turns of three", at(0, 0, 0, 30, 30, 30), 3, 12, Passed, "not all of them ran at the same time"},
	} {
		s, err := Merge(tt.parts)
		if err != nil {
			t.Fatal(err)
		}
		near := func(what string, got, one float64) {
			if want := float64(tt.runs) * one; math.Abs(got-want) > 0.01*want {
				t.Errorf("%s: %s is %g, not %g", tt.name, what, got, want)
			}
		}
		near("the throughput", *s.Total.ThroughputPS, 50)
		near("that of the group", s.Groups[0].ThroughputPS, 50)
		near("that of a series", *s.Series[0].ThroughputPS, 25)
		near("the threshold's", *s.Thresholds[0].Value, 50)
		near("the steady rate", *s.Groups[0].SteadyPS, *one.Groups[0].SteadyPS)
		near("the steady rate of a series", *s.Series[0].SteadyPS, *one.Series[0].SteadyPS)
		near("the counter's rate", *s.Metrics[0].PerSecond, *one.Metrics[0].PerSecond)
		near("the threads", float64(s.Groups[0].MaxThreads), 2)
		n := int64(len(tt.parts))
		if s.Total.Count != n*200 || s.DurationNS != int64(tt.seconds*1e9) || s.Groups[0].Iterations != n*200 {
			t.Errorf("%s: %d samples in %v", tt.name, s.Total.Count, time.Duration(s.DurationNS))
		}
		for i, rate := range s.Timeline.Throughput {
			if got, want := rate, float64(50*tt.runs); i%6 >= 2 && got != want {
				t.Errorf("%s: %g samples/s in second %d, want %g", tt.name, got, i, want)
			}
			if got := *s.Timeline.Planned[i]; got > float64(2*tt.runs) {
				t.Errorf("%s: %g threads planned in second %d", tt.name, got, i)
			}
		}
		if !strings.Contains(strings.Join(s.Notes, "\n"), tt.note) {
			t.Errorf("%s: no note %q in %q", tt.name, tt.note, s.Notes)
		}
		// No run came past the 10 s before which its second threshold is not judged.
		if passed := s.Thresholds[0].Passed; passed != (tt.verdict == Passed) || !s.Thresholds[1].NoData {
			t.Errorf("%s: thresholds %+v", tt.name, s.Thresholds)
		}
	}
}

// TestShortEndsInTurn: the interval in which one run ends and the next begins is as
// long as both parts of it, and its threads are not those of both at once.
func TestShortEndsInTurn(t *testing.T) {
	var parts []Part
	for k := range 2 {
		r := &rig{clock: &fakeClock{}}
		r.Recorder = New(testLayout(), Options{Now: r.clock.now, Process: noProcess, Journal: &r.journal, Shards: 1,
			Started: time.Date(2026, 3, 4, 5, k, 0, 0, time.UTC), Info: Info{Sources: []Source{{File: "p", Text: "x"}}}})
		r.Shard(0, 0).Count(element.ThreadsStarted, 2)
		for _, at := range []time.Duration{1000, 1400} {
			r.run(0, sample(0, r.clock.at, time.Millisecond))
			r.clock.at = at * time.Millisecond
			r.Tick()
		}
		r.Shard(0, 0).Count(element.ThreadsEnded, 2)
		r.Summary(EndInfo{})
		parts = append(parts, partOf(t, fmt.Sprint(k), r))
	}
	s, err := Merge(parts)
	if err != nil {
		t.Fatal(err)
	}
	diffEmpty(t, "lengths", cmp.Diff([]float64{1, 1.4, .4}, s.Timeline.LengthS))
	diffEmpty(t, "threads", cmp.Diff([]int{2, 2, 2}, s.Timeline.ActiveThreads))
	diffEmpty(t, "closed threads", cmp.Diff([]int{2, 2, 2}, s.Timeline.ClosedThreads))
}

// TestImpossibleLengths: hostile times are refused, and no sum of them overflows.
func TestImpossibleLengths(t *testing.T) {
	for _, at := range []time.Duration{math.MaxInt64, 60 * 365 * 24 * time.Hour} {
		a, b := steadyRun(t, 0, nil), steadyRun(t, time.Hour, nil)
		a.state.at, b.state.at = at, at
		b.state.out.Info.Started = b.state.out.Info.Started.AddDate(70, 0, 0)
		if _, err := Merge([]Part{a, b}); err == nil || !strings.Contains(err.Error(), "longer than can be") {
			t.Errorf("%v: %v", at, err)
		}
	}
}

func TestOneRunTwice(t *testing.T) {
	a, b := steadyRun(t, 0, nil), steadyRun(t, time.Minute, nil)
	if err := Distinct([]Part{a, b}); err != nil {
		t.Error(err)
	}
	twin := steadyRun(t, 0, nil)
	twin.name = "copy"
	if err := Distinct([]Part{b, a, twin}); err == nil || !strings.Contains(err.Error(), "run at 0s and copy hold the same run") {
		t.Errorf("a copy: %v", err)
	}
}

// TestOtherLoads: parts of one plan that ran with other loads are told apart.
func TestOtherLoads(t *testing.T) {
	segment := func(text string) func(*element.Layout, *Info) {
		return func(l *element.Layout, i *Info) {
			i.Segment = text
			l.Groups[0].MaxThreads = 1
			if text == "1/2" {
				l.Groups[0].MaxThreads = 2
			}
		}
	}
	for _, tt := range []struct {
		name string
		a, b func(*element.Layout, *Info)
		want string
	}{
		{"the same", nil, nil, ""},
		{"other seeds", nil, func(_ *element.Layout, i *Info) { i.Seed = 8 }, ""},
		{"segments", segment("1/2"), segment("2/2"), ""},
		{"other load", nil, func(l *element.Layout, _ *Info) { l.Groups[0].Load = "90/s for 4s" }, "b ran another load than a: the group closed has “90/s for 4s” instead of “50/s for 4s”"},
		{"other length", nil, func(l *element.Layout, _ *Info) { l.Groups[0].Duration = 3 * time.Second }, "the group closed is planned for 3 s instead of 10 s"},
		{"other rate", nil, func(l *element.Layout, _ *Info) { l.Groups[1].ScheduledRate = "9/s" }, "the group open has the rate 9/s instead of 10/s"},
		{"other threads", nil, func(l *element.Layout, _ *Info) { l.Groups[1].MaxThreads = 7 }, "at most 7 threads instead of 5"},
		{"segments of other seeds", segment("1/2"), func(l *element.Layout, i *Info) { segment("2/2")(l, i); i.Seed = 77 }, "the seed 77 instead of 7"},
	} {
		a, b := steadyRun(t, 0, tt.a), steadyRun(t, time.Second, tt.b)
		a.name, b.name = "a", "b"
		err := SameLoad([]Part{a, b})
		if got := fmt.Sprint(err); (tt.want == "") != (err == nil) || err != nil && !strings.Contains(got, tt.want) {
			t.Errorf("%s: %s", tt.name, got)
		}
	}
}

func TestWholeWantsEverySegmentOnce(t *testing.T) {
	parts := func(segments ...string) (out []Part) {
		for i, text := range segments {
			out = append(out, Part{name: fmt.Sprint("f", i), state: &state{out: &outline{Info: Info{Segment: text}}}})
		}
		return out
	}
	for _, tt := range []struct {
		segments []string
		want     string
	}{
		{[]string{"", ""}, "<nil>"},
		{[]string{"3/3", "1/3", "2/3"}, "<nil>"},
		{[]string{"1/3", "3/3"}, "of the 3 segments these are missing: 2"},
		{[]string{"1/3", "2/3", "2/3", "3/3"}, "segment 2 of 3 is there twice: in f1 and f2"},
		{[]string{"1/3", "2/3", "2/3"}, "segment 2 of 3 is there twice: in f1 and f2; and these are missing: 3"},
		{[]string{"1/2", "2/2", ""}, "some of the runs are segments of a plan and others are not: no segment is in f2"},
		{[]string{"1/3", "2/4"}, "the runs are segments of 3 (f0) and of 4 (f1)"},
		{[]string{"1/9223372036854775807"}, "missing: 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, and more"},
		{[]string{"-1/0", "x/y"}, "<nil>"},
	} {
		if got := fmt.Sprint(Whole(parts(tt.segments...))); !strings.HasSuffix(got, tt.want) {
			t.Errorf("%q: %s", tt.segments, got)
		}
	}
}

// TestNotesOfSegments: one note of phases that ran in each, only if there are any;
// and which part was killed when.
func TestNotesOfSegments(t *testing.T) {
	change := func(segment string, phases bool) func(*element.Layout, *Info) {
		return func(l *element.Layout, i *Info) {
			i.Segment, l.Notes = segment, []string{"segment " + strings.Replace(segment, "/", " of ", 1) + ": this share", "another"}
			if !phases {
				l.Series[2].Phase = element.Load
			}
		}
	}
	for _, phases := range []bool{false, true} {
		a, b := steadyRun(t, 0, change("1/2", phases)), steadyRun(t, time.Second, change("2/2", phases))
		s, err := Merge([]Part{a, b})
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(s.Notes, "\n")
		if strings.Contains(notes, "this share") || strings.Count(notes, "another") != 1 || strings.Contains(notes, "setup ran in each segment") != phases {
			t.Errorf("phases %v: %s", phases, notes)
		}
	}
	a, b := steadyRun(t, 0, nil), steadyRun(t, time.Second, nil)
	b.end, b.name = nil, "h3"
	a.state.at = 8 * time.Second
	s, err := Merge([]Part{a, b})
	if err != nil {
		t.Fatal(err)
	}
	diffEmpty(t, "reasons", cmp.Diff("h3 ends after 6 s without its end being written down (killed?); the others ran 8 s", s.Reasons[0]))
}
