package stats

import (
	"strings"
	"testing"
	"time"

	"runner/plan/element"
)

// taken records n samples of series 0 over n tenths of a second; the k-th takes
// k ms, and every tenth fails when fails is set.
func taken(r *rig, n int, fails bool) {
	var all []element.Sample
	for k := range n {
		s := sample(0, time.Duration(k)*100*time.Millisecond, time.Duration(k+1)*time.Millisecond)
		s.Phases = element.Phases{Connect: 3 * time.Millisecond, Wait: time.Millisecond}
		if fails && k%10 == 0 {
			s = failed(s, element.Timeout, "late")
		}
		all = append(all, s)
	}
	r.run(0, all...)
}

func TestThresholds(t *testing.T) {
	ms := 1e6
	tests := []struct {
		text    string
		limit   float64
		samples int
		implied bool
		want    string // passed, broken, no data, few, not judged
		message string
	}{
		{"p95 < 960ms", 960 * ms, 1000, false, "passed", "p95 is 950 ms, limit < 960 ms"},
		{"p95 < 950ms", 950 * ms, 1000, false, "broken", "limit < 950 ms"},
		{"p99.9 < 1s", 1000 * ms, 3000, false, "broken", "p99.9 is 3 s"},
		{"p95 < 500ms", 500 * ms, 40, false, "few", "even the maximum of 40 ms"},
		{"p95 < 35ms", 35 * ms, 40, false, "broken", "40 samples, 59 are needed"},
		{"p95 < 39ms", 39 * ms, 40, false, "no data", "needs 59 samples, there were 40"},
		{"p90 > 1ms", 0.5 * ms, 10, false, "few", "minimum"},
		{"p95 < 1s", 1000 * ms, 0, false, "no data", "no sample was taken"},
		{"min >= 1ms", ms, 10, false, "passed", "min is 1 ms, limit >= 1 ms"},
		{"max <= 10ms", 10 * ms, 10, false, "passed", ""},
		{"max < 10ms", 10 * ms, 10, false, "broken", ""},
		{"mean == 5.5ms", 5.5 * ms, 10, false, "passed", ""},
		{"stddev < 3ms", 3 * ms, 10, false, "passed", ""},
		{"latency.p50 < 6ms", 6 * ms, 10, false, "passed", ""},
		{"service.p50 > 6ms", 6 * ms, 10, false, "broken", ""},
		{"connect.mean == 3ms", 3 * ms, 10, false, "passed", ""},
		{"connect.p50 <= 2ms", 2 * ms, 10, false, "broken", ""},
		{"errors <= 10%", 0.1, 10, false, "passed", "errors is 10%, limit <= 10%"},
		{"errors < 10%", 0.1, 10, false, "broken", ""},
		{"errors == 0%", 0, 0, true, "not judged", "it never ran"},
		{"errors < 1%", 0.01, 0, false, "no data", ""},
		{"error_count < 2", 2, 20, false, "broken", "error_count is 2, limit < 2"},
		{"samples >= 20", 20, 20, false, "passed", ""},
		{"samples >= 1", 1, 0, false, "broken", ""},
		{"throughput >= 10/s", 9.999999, 20, false, "passed", "throughput is 10/s"},
		{"throughput > 1/s", 1, 1, false, "no data", ""},
		{"dropped == 0", 0, 0, true, "passed", ""},
		{"apdex >= 0.9", 0.9, 10, false, "passed", "apdex is 0.9"},
		{"received < 10KB", 10000, 10, false, "broken", "received is 10 KB, limit < 10 KB"},
		{"sent <= 1KB", 1000, 10, false, "passed", ""},
		{"generator.cpu < 50%", 0.5, 10, false, "no data", ""},
		{"generator.lag.p99 < 5ms", 5 * ms, 10, false, "no data", ""},
		{"orders.count > 5", 5, 10, false, "no data", "was not measured"},
	}
	for _, tt := range tests {
		l := testLayout()
		l.Thresholds = []element.Threshold{{Scope: "closed / GET /", Group: 0, Series: []int{0}, Single: 0, Comparison: comparison(tt.text, tt.limit), Implied: tt.implied}}
		r := newRig(l)
		taken(r, tt.samples, tt.samples >= 10)
		r.second()
		got := r.Summary(EndInfo{}).Thresholds[0]
		if outcome(&got) != tt.want || !strings.Contains(got.Message, tt.message) {
			t.Errorf("%s over %d: %s, %q; want %s, %q", tt.text, tt.samples, outcome(&got), got.Message, tt.want, tt.message)
		}
	}
}

func outcome(r *ThresholdResult) string {
	switch {
	case r.NotJudged != "":
		return "not judged"
	case r.NoData:
		return "no data"
	case !r.Passed:
		return "broken"
	case r.FewSamples:
		return "few"
	}
	return "passed"
}

func TestThresholdScopes(t *testing.T) {
	l := testLayout()
	l.Groups[1].Skipped = "not today"
	add := func(scope string, group int, series []int, single int, text string, limit float64) {
		l.Thresholds = append(l.Thresholds, element.Threshold{Scope: scope, Group: group, Series: series, Single: single, Comparison: comparison(text, limit)})
	}
	add("plan", -1, []int{0, 1}, -1, "samples == 11", 11)
	add("closed / checkout", 0, []int{3}, 3, "errors <= 50%", 0.5)
	add("closed / checkout", 0, []int{3}, 3, "max < 2s", 2e9)
	add("group open", 1, []int{1}, -1, "samples > 100", 100)
	add("group closed", 0, []int{0}, -1, "dropped < 3", 3)
	add("group closed", 0, []int{99}, -1, "errors == 0%", 0)
	l.Thresholds[5].Implied = true
	r := newRig(l)
	taken(r, 10, false)
	r.run(1, sample(1, 0, time.Second))
	for _, fails := range []bool{true, false} {
		r.Shard(0, 0).Transaction(element.Transaction{Series: 3, Time: time.Second, Failed: fails})
	}
	r.Shard(0, 0).Count(element.IterationsScheduled, 5)
	r.Shard(0, 0).Count(element.DroppedNoThread, 1)
	r.Shard(0, 0).Count(element.DroppedEnd, 1)
	r.Shard(0, 0).Count(element.DroppedAbort, 3)
	r.second()
	s := r.Summary(EndInfo{})
	var got []string
	for i := range s.Thresholds {
		got = append(got, outcome(&s.Thresholds[i]))
	}
	if want := "passed passed passed not judged passed not judged"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
	if th := s.Thresholds[1]; th.Group != "closed" || *th.SeriesID != 3 || s.Thresholds[0].SeriesID != nil {
		t.Errorf("scope: %+v", th)
	}
	if v := *s.Thresholds[4].Value; v != 2 {
		t.Errorf("dropped is %g", v)
	}
	if th := s.Thresholds[3]; !strings.Contains(th.NotJudged, "not today") {
		t.Errorf("skipped group: %+v", th)
	}
	if s.ExitCode != 0 {
		t.Errorf("exit code %d: %v", s.ExitCode, s.Reasons)
	}
}

// TestLiveThresholds walks second by second: failing lists the seconds (from 0)
// in which all samples fail.
func TestLiveThresholds(t *testing.T) {
	sec := time.Second
	tests := []struct {
		name                string
		after, window, for_ time.Duration
		stop                bool
		seconds             int
		failing             [2]int
		stopsAt             int // second after which Judge says stop, −1 = never
		want                string
	}{
		{"stop at once", 0, 0, 0, true, 6, [2]int{2, 6}, 3, "broken"},
		{"after holds it back", 5 * sec, 0, 0, true, 8, [2]int{2, 8}, 5, "broken"},
		{"window slides over", 0, 2 * sec, 0, true, 9, [2]int{3, 4}, 4, "broken"},
		{"window not full", 0, 4 * sec, 0, true, 5, [2]int{0, 5}, 4, "broken"},
		{"short trouble with for", 0, 1 * sec, 2 * sec, true, 9, [2]int{3, 5}, -1, "passed"},
		{"long trouble with for", 0, 1 * sec, 2 * sec, true, 9, [2]int{3, 6}, 6, "broken"},
		{"no stop", 0, 1 * sec, 0, false, 6, [2]int{1, 2}, -1, "broken"},
		{"after not reached", 60 * sec, 0, 0, false, 3, [2]int{0, 3}, -1, "no data"},
		{"after not reached by what stops", 60 * sec, 0, 0, true, 3, [2]int{0, 3}, -1, "not judged"},
	}
	for _, tt := range tests {
		l := testLayout()
		l.Thresholds = []element.Threshold{{Scope: "group closed", Group: 0, Series: []int{0}, Single: -1, Comparison: comparison("errors < 20%", 0.2),
			After: tt.after, Window: tt.window, For: tt.for_, Stop: tt.stop}}
		r := newRig(l)
		stopped := -1
		for i := range tt.seconds {
			for range 4 {
				s := sample(0, r.clock.at, time.Millisecond)
				if i >= tt.failing[0] && i < tt.failing[1] {
					s = failed(s, element.Timeout, "late")
				}
				r.run(0, s)
			}
			r.second()
			if th, reason := r.Judge(r.clock.at); th != nil && stopped < 0 {
				stopped = i + 1
				if !strings.Contains(reason, "errors < 20%") {
					t.Errorf("%s: reason %q", tt.name, reason)
				}
			}
		}
		s := r.Summary(EndInfo{})
		if got := outcome(&s.Thresholds[0]); got != tt.want || stopped != tt.stopsAt || s.Thresholds[0].Stopped != (stopped > 0) {
			t.Errorf("%s: %s, stops after %d, want %s after %d; %q", tt.name, got, stopped, tt.want, tt.stopsAt, s.Thresholds[0].Message)
		}
	}
}

func TestVerdicts(t *testing.T) {
	holds := ThresholdResult{Scope: "plan", Passed: true}
	broken := ThresholdResult{Scope: "plan", Message: "p95 is 2 s, limit < 1 s"}
	empty := ThresholdResult{Scope: "plan", NoData: true}
	skipped := ThresholdResult{Scope: "plan", NotJudged: "skipped"}
	bad := Generator{Verdict: "invalid", Reasons: []string{"no ports left"}}
	limited := Generator{Verdict: "limited", Reasons: []string{"late"}}
	tests := []struct {
		name    string
		in      verdictInput
		verdict Verdict
		code    int
	}{
		{"all holds", verdictInput{samples: 1, thresholds: []ThresholdResult{holds, skipped}}, Passed, 0},
		{"no thresholds", verdictInput{samples: 1}, Passed, 0},
		{"limited generator", verdictInput{samples: 1, generator: limited}, Passed, 0},
		{"broken", verdictInput{samples: 1, thresholds: []ThresholdResult{holds, broken}}, Failed, 1},
		{"broken before no data", verdictInput{samples: 1, thresholds: []ThresholdResult{empty, broken}}, Failed, 1},
		{"no data", verdictInput{samples: 1, thresholds: []ThresholdResult{holds, empty}}, Invalid, 3},
		{"SIGINT before broken", verdictInput{samples: 1, signal: 2, thresholds: []ThresholdResult{broken}}, Interrupted, 130},
		{"SIGTERM", verdictInput{samples: 1, signal: 15}, Interrupted, 143},
		{"signal without samples", verdictInput{signal: 2}, Interrupted, 130},
		{"signal in setup", verdictInput{signal: 15, setupError: "cancelled", setupFailed: 1}, Interrupted, 143},
		{"no samples", verdictInput{}, Invalid, 3},
		{"setup failed", verdictInput{samples: 1, setupError: "no token"}, Invalid, 3},
		{"setup sample failed", verdictInput{samples: 1, setupFailed: 1}, Invalid, 3},
		{"ledger before signal", verdictInput{samples: 1, signal: 2, ledger: []string{"void"}}, Invalid, 3},
		{"generator before broken", verdictInput{samples: 1, generator: bad, thresholds: []ThresholdResult{broken}}, Invalid, 3},
		{"report before signal", verdictInput{samples: 1, signal: 2, reportErrors: []string{"disk full"}}, Invalid, 3},
		{"no end", verdictInput{samples: 1, partial: true}, Invalid, 3},
	}
	for _, tt := range tests {
		v, code, reasons := tt.in.verdict()
		if v != tt.verdict || code != tt.code {
			t.Errorf("%s: %s %d %q, want %s %d", tt.name, v, code, reasons, tt.verdict, tt.code)
		}
		if (len(reasons) == 0) != (v == Passed) {
			t.Errorf("%s: reasons %q", tt.name, reasons)
		}
	}
	s := Summary{Verdict: Passed}
	s.ReportFailed("disk full")
	if s.Verdict != Invalid || s.ExitCode != 3 || !strings.Contains(s.Reasons[0], "disk full") {
		t.Errorf("after a failed report: %+v", s.Reasons)
	}
}

func TestLedger(t *testing.T) {
	good := Ledger{
		Iterations: IterationLedger{Scheduled: 10, Started: 6, Completed: 4, Interrupted: 1, InFlight: 1, DroppedNoThread: 2, DroppedEnd: 1, DroppedAbort: 1},
		Samples:    SampleLedger{Started: 9, Passed: 5, Errors: map[string]int64{"timeout": 2, "status": 1}, InFlight: 1},
	}
	if p := good.Check(); len(p) > 0 {
		t.Errorf("a good ledger: %q", p)
	}
	for name, spoil := range map[string]func(*Ledger){
		"scheduled": func(l *Ledger) { l.Iterations.Scheduled++ },
		"completed": func(l *Ledger) { l.Iterations.Completed-- },
		"passed":    func(l *Ledger) { l.Samples.Passed++ },
		"error":     func(l *Ledger) { l.Samples.Errors = nil },
		"negative":  func(l *Ledger) { l.Requests = -1 },
	} {
		l := good
		spoil(&l)
		if len(l.Check()) != 1 {
			t.Errorf("%s: %q", name, l.Check())
		}
	}
}

// TestVoidLedger: what is missing makes the run invalid, unless it was cut off.
func TestVoidLedger(t *testing.T) {
	for aborted, want := range map[bool]int{false: 3, true: 130} {
		r := newRig(testLayout())
		r.run(0, sample(0, 0, time.Second))
		sh := r.Shard(0, 0)
		sh.Count(element.IterationsScheduled, 1)
		sh.Count(element.IterationsStarted, 1)
		sh.Count(element.SamplesStarted, 1)
		s := r.Summary(EndInfo{Signal: 2, Aborted: aborted})
		if s.ExitCode != want {
			t.Errorf("aborted %v: exit code %d, %q", aborted, s.ExitCode, s.Reasons)
		}
		if aborted && (s.Ledger.Samples.InFlight != 1 || s.Ledger.Iterations.InFlight != 1) {
			t.Errorf("in flight: %+v", s.Ledger)
		}
	}
}

// TestThreadLeftBehind: what a thread that never ended was doing is in flight.
func TestThreadLeftBehind(t *testing.T) {
	r := newRig(testLayout())
	r.run(0, sample(0, 0, time.Second))
	sh := r.Shard(0, 0)
	for _, c := range []element.Counter{element.ThreadsStarted, element.IterationsScheduled, element.IterationsStarted, element.SamplesStarted} {
		sh.Count(c, 1)
	}
	s := r.Summary(EndInfo{})
	if s.ExitCode != 0 || s.Ledger.Samples.InFlight != 1 || !strings.Contains(strings.Join(s.Notes, "\n"), "1 thread did not end") {
		t.Errorf("exit code %d, %+v, %q, %q", s.ExitCode, s.Ledger, s.Reasons, s.Notes)
	}
}

func TestGeneratorVerdicts(t *testing.T) {
	late := func(s element.Sample, by time.Duration, free bool) element.Sample {
		s.Dispatched += by
		if !free {
			s.FreeSince = s.Dispatched
		}
		return s
	}
	tests := []struct {
		name string
		make func(k int) element.Sample
		want string
	}{
		{"on time", func(k int) element.Sample { return late(sample(0, 0, time.Millisecond), 100, true) }, "ok"},
		{"late though free", func(k int) element.Sample { return late(sample(0, 0, 5*time.Millisecond), 2*time.Millisecond, true) }, "limited"},
		{"late but slow target", func(k int) element.Sample { return late(sample(0, 0, time.Second), 2*time.Millisecond, true) }, "ok"},
		{"the thread was busy", func(k int) element.Sample { return late(sample(0, 0, time.Second), time.Second, false) }, "ok"},
		{"no local resources", func(k int) element.Sample {
			if k%50 == 0 {
				return failed(sample(0, 0, 1), element.LocalResource, "too many open files")
			}
			return sample(0, 0, time.Millisecond)
		}, "invalid"},
		{"resetting target", func(k int) element.Sample { return failed(sample(0, 0, 1), element.Reset, "connection reset") }, "ok"},
	}
	for _, tt := range tests {
		r := newRig(testLayout())
		for k := range 400 {
			r.run(0, tt.make(k))
		}
		r.second()
		s := r.Summary(EndInfo{})
		if s.Generator.Verdict != tt.want || (len(s.Generator.Reasons) > 0) != (tt.want != "ok") {
			t.Errorf("%s: %+v, want %s", tt.name, s.Generator, tt.want)
		}
		if (tt.want == "invalid") != (s.ExitCode == 3) {
			t.Errorf("%s: exit code %d, %q", tt.name, s.ExitCode, s.Reasons)
		}
	}
}

func TestProcessFigures(t *testing.T) {
	p := ThisProcess()
	if p.CPUs < 1 || p.CPU == 0 {
		t.Errorf("this process: %+v", p)
	}
	r := busyRun(t, 4, nil)
	g := r.Summary(EndInfo{}).Generator
	if *g.CPUShare != 0.25 || *g.RSSBytes != 1<<20 || g.GCPauseNS.Max != int64(50*time.Microsecond) || g.DispatchDelayNS.Max != int64(2*time.Millisecond) {
		t.Errorf("generator: %g %d %+v %+v", *g.CPUShare, *g.RSSBytes, g.GCPauseNS, g.DispatchDelayNS)
	}
}

func TestWords(t *testing.T) {
	for _, tt := range []struct {
		v, limit float64
		unit     string
		want     string
	}{
		{5.0004e8, 5e8, unitTime, "500.04 ms | 500 ms"}, {612.3456e6, 5e8, unitTime, "612 ms | 500 ms"}, {1500, 2000, unitBytes, "1.5 KB | 2 KB"},
		{0.00123, 0.01, unitShare, "0.123% | 1%"}, {494.98, 495, unitRate, "494.98/s | 495/s"}, {3, 0, unitPlain, "3 | 0"},
	} {
		a, b := formatBoth(tt.v, tt.limit, tt.unit)
		if a+" | "+b != tt.want {
			t.Errorf("%g against %g: %s | %s, want %s", tt.v, tt.limit, a, b, tt.want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", -1234567: "-1,234,567"} {
		if got := formatCount(n); got != want {
			t.Errorf("%d is written %s", n, got)
		}
	}
}
