package stats

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

// splitRun records the same samples into one recorder and, dealt out at random,
// into several that began at the same moment.
func splitRun(machines int) (one *rig, parts []*rig) {
	layout := func() element.Layout {
		return metricLayout(
			element.Threshold{Scope: "plan", Group: -1, Series: []int{0, 1}, Single: -1, Comparison: comparison("p95 < 500ms", 5e8)},
			element.Threshold{Scope: "group open", Group: 1, Series: []int{1}, Single: -1, Comparison: comparison("errors < 50%", .5)},
			element.Threshold{Scope: "plan", Group: -1, Single: -1, Comparison: comparison("basket.p95 < 90", 90)})
	}
	one = newRig(layout())
	for range machines {
		parts = append(parts, newRig(layout()))
	}
	rnd := rand.New(rand.NewPCG(1, uint64(machines)))
	for range 6 {
		at := one.clock.at
		for k := range 200 {
			s := sample(k%2, at+time.Duration(k)*time.Millisecond, time.Duration(rnd.Int64N(int64(time.Second))))
			if k%7 == 0 {
				s = failed(s, element.Timeout, "no answer")
			}
			v := rnd.Float64() * 100
			for _, r := range []*rig{one, parts[rnd.IntN(machines)]} {
				r.run(k%2, s)
				r.Shard(0, 0).(element.MetricShard).Metric(3, v)
			}
		}
		one.second()
		for _, r := range parts {
			r.second()
		}
	}
	return one, parts
}

func partOf(t testing.TB, name string, r *rig) Part {
	t.Helper()
	p, err := ReadPart(name, bytes.NewReader(r.journal.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMergedMachinesEqualOne: the merge of what several machines recorded equals,
// bit for bit, what one machine would have recorded.
func TestMergedMachinesEqualOne(t *testing.T) {
	for _, machines := range []int{1, 2, 5} {
		one, rigs := splitRun(machines)
		want := one.Summary(EndInfo{})
		var parts []Part
		for i, r := range rigs {
			r.Summary(EndInfo{})
			parts = append(parts, partOf(t, string(rune('a'+i)), r))
		}
		got, err := Merge(parts)
		if err != nil {
			t.Fatal(err)
		}
		again, err := Merge(parts)
		if err != nil || asJSON(t, got) != asJSON(t, again) {
			t.Error("merging changed the parts")
		}
		for _, s := range []*Summary{want, got} {
			s.Notes, s.RunID = nil, ""
			for i := range s.Metrics {
				if s.Metrics[i].Trend != nil { // sums of floating point values depend on their order
					s.Metrics[i].Value, s.Metrics[i].Trend.Mean, s.Metrics[i].Trend.StdDev = nil, 0, 0
				}
			}
			for i := range s.Timeline.Metrics {
				s.Timeline.Metrics[i].Value = nil
			}
			for i := range s.Timeline.Series { // intervals that were merged have coarser buckets
				x := &s.Timeline.Series[i]
				x.P50, x.P95, x.P99 = nil, nil, nil
			}
			s.Environment.CPUs = 0
			s.Groups[0].MaxThreads, s.Groups[1].MaxThreads = 0, 0
			s.Timeline.Planned, s.Timeline.ActiveThreads = nil, nil // peaks of several machines add up
			dropExamples(s)
		}
		diffEmpty(t, "merged", cmp.Diff(asJSON(t, want), asJSON(t, got)))
	}
}

// dropExamples takes out what depends on which machine saw an error first.
func dropExamples(s *Summary) {
	for i := range s.Series {
		for k := range s.Series[i].Errors {
			s.Series[i].Errors[k].Examples = nil
		}
	}
	for k := range s.Total.Errors {
		s.Total.Errors[k].Examples = nil
	}
}

func TestMergeAlignsByTheWallClock(t *testing.T) {
	start := func(at time.Duration) *rig {
		r := &rig{clock: &fakeClock{}}
		r.Recorder = New(testLayout(), Options{Now: r.clock.now, Process: noProcess, Journal: &r.journal, Shards: 1,
			Started: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC).Add(at), Info: Info{RunID: at.String(), Sources: []Source{{File: "p", Text: "x"}}}})
		for range 5 {
			r.run(0, sample(0, r.clock.at, time.Millisecond))
			r.Shard(0, 0).Count(element.ThreadsStarted, 1)
			r.second()
		}
		r.Shard(0, 0).Count(element.ThreadsEnded, 5)
		r.Summary(EndInfo{})
		return r
	}
	a, b, far := start(0), start(3*time.Second), start(time.Hour)
	s, err := Merge([]Part{partOf(t, "a", a), partOf(t, "b", b)})
	if err != nil {
		t.Fatal(err)
	}
	diffEmpty(t, "samples", cmp.Diff([]int64{1, 1, 1, 2, 2, 1, 1, 1}, s.Timeline.Series[0].Count))
	diffEmpty(t, "threads", cmp.Diff([]int{1, 2, 3, 5, 7, 3, 4, 5}, s.Timeline.ActiveThreads))
	if s.DurationNS != int64(8*time.Second) || s.Total.Count != 10 || s.Verdict != Passed || s.Groups[0].MaxThreads != 4 {
		t.Errorf("%v, %d samples, %s %q, %d threads", time.Duration(s.DurationNS), s.Total.Count, s.Verdict, s.Reasons, s.Groups[0].MaxThreads)
	}
	s, err = Merge([]Part{partOf(t, "far", far), partOf(t, "a", a)})
	if err != nil {
		t.Fatal(err)
	}
	diffEmpty(t, "apart", cmp.Diff([]int64{1, 1, 1, 1, 1, 1, 1, 1, 1, 1}, s.Timeline.Series[0].Count))
	diffEmpty(t, "threads apart", cmp.Diff([]int{1, 2, 3, 4, 5, 1, 2, 3, 4, 5}, s.Timeline.ActiveThreads))
	if !strings.Contains(strings.Join(s.Notes, " "), "did not run at the same time") || s.Started.Minute() != 6 {
		t.Errorf("%q, started %v", s.Notes, s.Started)
	}
}

func TestMergeRefuses(t *testing.T) {
	if _, err := Merge(nil); err == nil {
		t.Error("nothing was merged")
	}
	_, rigs := splitRun(2)
	a := partOf(t, "a", rigs[0])
	other := newRig(testLayout())
	if _, err := Merge([]Part{a, partOf(t, "b", other)}); err == nil || !strings.Contains(err.Error(), "differ") {
		t.Errorf("another layout: %v", err)
	}
	b := partOf(t, "b", rigs[1])
	b.state.out.Info.PlanSHA256 = "0"
	if _, err := Merge([]Part{a, b}); err == nil || !strings.Contains(err.Error(), "different plans") {
		t.Errorf("another plan: %v", err)
	}
	if _, err := ReadPart("x", strings.NewReader("junk")); err == nil {
		t.Error("junk was read")
	}
}

// TestMergeKeepsTheWorst: what ended or spoiled one part is told of the whole.
func TestMergeKeepsTheWorst(t *testing.T) {
	make := func(end *EndInfo, late bool) *rig {
		r := busyRun(t, 4, nil)
		if late {
			for range 400 {
				r.run(1, scheduled(r.clock.at, 2*time.Second, time.Millisecond, true))
			}
			r.second()
		}
		if end != nil {
			r.Summary(*end)
		}
		return r
	}
	good := partOf(t, "good", make(&EndInfo{}, false))
	tests := []struct {
		name string
		bad  *rig
		want string
	}{
		{"killed", make(nil, false), "without its end"},
		{"setup", make(&EndInfo{SetupError: "no login"}, false), "bad: no login"},
		{"report", make(&EndInfo{ReportErrors: []string{"disk full"}}, false), "bad: disk full"},
		{"generator", make(&EndInfo{}, true), "bad: only"},
	}
	for _, tt := range tests {
		s, err := Merge([]Part{good, partOf(t, "bad", tt.bad)})
		if err != nil {
			t.Fatal(err)
		}
		if s.ExitCode != 3 || !strings.Contains(strings.Join(s.Reasons, " "), tt.want) {
			t.Errorf("%s: exit %d %q", tt.name, s.ExitCode, s.Reasons)
		}
	}
	s, err := Merge([]Part{good, partOf(t, "bad", make(&EndInfo{Signal: 2}, false))})
	if err != nil || s.ExitCode != 130 {
		t.Errorf("%v: exit %d", err, s.ExitCode)
	}
	s, _ = Merge([]Part{good, good})
	if r := s.Thresholds[1]; r.Passed || r.NoData {
		t.Errorf("a threshold that was broken in the parts: %+v", r)
	}
}
