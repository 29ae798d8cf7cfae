package stats

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

func TestRecordAllocatesNothing(t *testing.T) {
	if raceEnabled {
		return
	}
	r := newRig(testLayout())
	s := sample(0, time.Millisecond, 5*time.Millisecond)
	s.Assertions = []int{0, 1}
	s.Phases = element.Phases{Send: 1, Wait: 2, Receive: 3}
	sh := r.Shard(0, 0)
	sh.Record(&s)
	if n := testing.AllocsPerRun(1000, func() { sh.Record(&s); sh.Count(element.SamplesStarted, 1) }); n != 0 {
		t.Errorf("Record allocates %g times", n)
	}
}

func BenchmarkRecord(b *testing.B) {
	r := newRig(testLayout())
	sh := r.Shard(0, 0)
	s := sample(0, time.Millisecond, 5*time.Millisecond)
	s.Assertions = []int{0, 1}
	s.Phases = element.Phases{Send: 1, Wait: 2, Receive: 3}
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Done = s.Due + time.Duration(i&0xffff)*100
		sh.Record(&s)
	}
}

func BenchmarkThisProcess(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		ThisProcess()
	}
}

func BenchmarkMetric(b *testing.B) {
	r := newRig(metricLayout())
	m := r.Shard(0, 0).(element.MetricShard)
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		m.Metric(3, float64(i%1000))
	}
}

func BenchmarkTick(b *testing.B) {
	l := testLayout()
	for i := len(l.Series); i < 100; i++ {
		l.Series = append(l.Series, element.Series{ID: i, Group: 0, Name: "s" + strconv.Itoa(i), Phase: element.Load})
	}
	r := newRig(l)
	b.ReportAllocs()
	for b.Loop() {
		for i := range 3000 {
			s := sample(i%100, r.clock.at, time.Duration(1+i)*10*time.Microsecond)
			r.Shard(0, i).Record(&s)
		}
		r.second()
		r.Recorder.state.timeline = timeline{}
		r.journal.Reset()
	}
}

// TestShardsMergeToOne: what many shards recorded equals what one did.
func TestShardsMergeToOne(t *testing.T) {
	run := func(shards int) *Summary {
		c := &fakeClock{}
		r := New(testLayout(), Options{Now: c.now, Process: noProcess, Shards: shards, Started: time.Unix(1, 0)})
		rng := rand.New(rand.NewPCG(5, 6))
		for i := range 5000 {
			s := sample(rng.IntN(2), time.Duration(i)*time.Millisecond, time.Duration(rng.Int64N(int64(time.Second))))
			if i%10 == 0 {
				s = failed(s, element.Timeout, "no answer in time")
			}
			r.Shard(i%2, i).Record(&s)
			if i%1000 == 999 {
				c.at += time.Second
				r.Tick()
			}
		}
		return r.Summary(EndInfo{})
	}
	one, many := run(1), run(7)
	for i := range one.Series {
		diffEmpty(t, "histograms", cmp.Diff(one.Series[i].Histograms, many.Series[i].Histograms))
	}
	diffEmpty(t, "timeline", cmp.Diff(one.Timeline, many.Timeline))
	diffEmpty(t, "ledger", cmp.Diff(one.Ledger, many.Ledger))
}

// TestConcurrentThreads records from eight goroutines while ticks, progress and
// judgements go on; every count must come out exact.
func TestConcurrentThreads(t *testing.T) {
	l := testLayout()
	l.Thresholds = []element.Threshold{{Group: 0, Series: []int{0}, Single: 0, Comparison: comparison("errors < 90%", 0.9), Stop: true, Window: time.Second}}
	r := New(l, Options{Process: noProcess})
	const threads, each = 8, 2000
	var wg sync.WaitGroup
	for id := range threads {
		wg.Go(func() {
			sh := r.Shard(id%2, id)
			sh.Count(element.ThreadsStarted, 1)
			for i := range each {
				sh.Count(element.IterationsScheduled, 1)
				sh.Count(element.IterationsStarted, 1)
				sh.Count(element.SamplesStarted, 1)
				s := sample(id%2, time.Duration(i), time.Millisecond)
				if i%4 == 0 {
					s = failed(s, element.Reset, "connection reset "+strconv.Itoa(i%200))
				}
				sh.Record(&s)
				sh.Transaction(element.Transaction{Series: 3, Time: time.Millisecond, Failed: i%4 == 0})
				sh.Count(element.IterationsCompleted, 1)
			}
			r.Note("done")
			sh.Count(element.ThreadsEnded, 1)
		})
	}
	ctx, cancel := context.WithCancel(context.Background())
	var ticker sync.WaitGroup
	ticker.Go(func() {
		for ctx.Err() == nil {
			r.Tick()
			r.Progress()
			r.Judge(r.now())
			r.Snapshot()
		}
	})
	wg.Wait()
	cancel()
	ticker.Wait()
	s := r.Summary(EndInfo{})
	if s.Total.Count != threads*each || s.Total.Failed != threads*each/4 || s.Ledger.Requests != threads*each || s.Transactions[0].Count != threads*each {
		t.Errorf("total %d, failed %d, requests %d, transactions %d", s.Total.Count, s.Total.Failed, s.Ledger.Requests, s.Transactions[0].Count)
	}
	diffEmpty(t, "ledger", cmp.Diff([]string(nil), s.Ledger.Check()))
	sum := int64(0)
	for _, n := range s.Timeline.Series[0].Count {
		sum += n
	}
	if sum != s.Total.Count {
		t.Errorf("the timeline holds %d of %d samples", sum, s.Total.Count)
	}
	for i := range s.Series[:2] {
		if n := len(s.Series[i].Errors); n != maxErrorKinds && n != maxErrorKinds+1 {
			t.Errorf("%d kinds of errors are kept", n)
		}
	}
}

func TestSeriesFigures(t *testing.T) {
	r := newRig(testLayout())
	a := sample(0, 0, 10*time.Millisecond)
	a.Assertions = []int{0, 1}
	a.Phases = element.Phases{Connect: 2 * time.Millisecond, Wait: 4 * time.Millisecond}
	b := sample(0, 100*time.Millisecond, 30*time.Millisecond)
	b.Assertions, b.Status = []int{0, 1}, 500
	b.Phases = element.Phases{Wait: 8 * time.Millisecond}
	b.Request = "GET /b"
	b.Fail(element.Problem{Class: element.Status, Assertion: 0, Message: "status is wrong", Expected: "200", Actual: "500"})
	b.Fail(element.Problem{Class: element.Assert, Assertion: 1, Message: "body is wrong"})
	setup := sample(2, 0, time.Millisecond)
	warm := failed(sample(0, 0, time.Second), element.Timeout, "late")
	warm.WarmUp = true
	r.run(-1, setup)
	r.run(0, warm, a, b)
	r.Shard(0, 0).Transaction(element.Transaction{Series: 3, Time: 40 * time.Millisecond, Failed: true})
	r.Shard(0, 0).Transaction(element.Transaction{Series: 3, Aborted: true})
	r.Shard(0, 0).Transaction(element.Transaction{Series: 3, WarmUp: true})
	r.second()
	s := r.Summary(EndInfo{})

	got := s.Series[0]
	if got.Count != 2 || got.Failed != 1 || *got.ErrorRate != 0.5 || *got.ThroughputPS != 10 || got.Requests != 2 || got.BytesReceived != 2000 {
		t.Errorf("figures: %+v", got)
	}
	if d := got.ResponseNS; d.Min != int64(10*time.Millisecond) || d.Max != int64(30*time.Millisecond) || d.Mean != 2e7 || d.StdDev != 1e7 || d.P50 != nil {
		t.Errorf("response: %+v", d)
	}
	if got.SuccessNS.Max != int64(10*time.Millisecond) || got.FailureNS.Min != int64(30*time.Millisecond) {
		t.Errorf("successes %+v, failures %+v", got.SuccessNS, got.FailureNS)
	}
	diffEmpty(t, "phases", cmp.Diff(&Phases{Connect: MeanMax{1e6, 2e6}, Wait: MeanMax{6e6, 8e6}}, got.PhasesNS))
	diffEmpty(t, "status", cmp.Diff(map[string]int64{"200": 1, "500": 1}, got.Status))
	diffEmpty(t, "assertions", cmp.Diff([]AssertionCount{
		{Name: "status", Passed: 1, Failed: 1, File: "plan.yaml", Line: 3, Examples: []Example{{"GET /b", "200", "500", "status is wrong"}}},
		{Name: "body", Passed: 1, Failed: 1, File: "plan.yaml", Line: 3, Examples: []Example{{"GET /b", "", "", "body is wrong"}}},
	}, got.Assertions))
	diffEmpty(t, "errors", cmp.Diff([]ErrorCount{{Class: "status", Message: "status is wrong", Count: 1, FirstS: 0.13, LastS: 0.13,
		Examples: []string{"GET /b: expected 200, was 500"}}}, got.Errors))
	if tx := s.Transactions[0]; tx.Count != 1 || tx.Failed != 1 || tx.Aborted != 1 {
		t.Errorf("transaction: %+v", tx)
	}
	if s.Total.Count != 2 || s.Series[2].Count != 1 || s.Ledger.Requests != 4 {
		t.Errorf("total %d, setup %d, requests %d", s.Total.Count, s.Series[2].Count, s.Ledger.Requests)
	}
	diffEmpty(t, "ledger", cmp.Diff(SampleLedger{Started: 4, Passed: 2, Errors: map[string]int64{"status": 1, "timeout": 1}}, s.Ledger.Samples))
	if !strings.Contains(strings.Join(s.Notes, "\n"), "the warm-up sent 1 sample,") {
		t.Errorf("notes: %q", s.Notes)
	}
}

func TestSecretsAndHostileTexts(t *testing.T) {
	l := testLayout()
	l.Masker.Add("hunter22")
	r := newRig(l)
	s := sample(0, 0, time.Millisecond)
	s.Request = "GET /?t=hunter22"
	s.Fail(element.Problem{Class: element.Assert, Assertion: 0, Message: "hunter22 \xff", Expected: "hunter22", Actual: strings.Repeat("é", 4000)})
	r.run(0, s)
	r.Note("the token is hunter22")
	sum := r.Summary(EndInfo{SetupError: "hunter22", Errors: []string{"hunter22"}, SkippedGroups: map[int]string{1: "hunter22"}})
	text, err := json.Marshal(sum)
	if err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"summary": string(text), "journal": r.journal.String()} {
		if strings.Contains(data, "hunter22") {
			t.Errorf("the %s holds a secret", name)
		}
		if strings.Contains(data, strings.Repeat("é", 300)) {
			t.Errorf("the %s holds a text that was not cut", name)
		}
	}
}

func TestLimitsOnKindsAndSeries(t *testing.T) {
	l := testLayout()
	for i := len(l.Series); i < maxSeries+5; i++ {
		l.Series = append(l.Series, element.Series{ID: i, Group: 0, Name: "s" + strconv.Itoa(i), Phase: element.Load})
	}
	r := newRig(l)
	var all []element.Sample
	for i := range 200 {
		s := failed(sample(0, 0, time.Millisecond), element.Protocol, "odd "+strconv.Itoa(i))
		s.Status = i + 1
		all = append(all, s)
	}
	all = append(all, sample(maxSeries+2, 0, time.Millisecond), sample(-1, 0, time.Millisecond), sample(1<<40, 0, time.Millisecond))
	r.run(0, all...)
	s := r.Summary(EndInfo{})
	if n := len(s.Series[0].Errors); n != maxErrorKinds+1 || len(s.Series[0].Status) != maxStatuses+1 {
		t.Errorf("%d kinds of errors and %d statuses are kept", n, len(s.Series[0].Status))
	}
	last := s.Series[len(s.Series)-1]
	if last.Name != otherKind || last.Count != 3 || len(s.Series)+len(s.Transactions) != maxSeries+1 || s.Total.Count != 203 {
		t.Errorf("last row %q with %d, %d rows, total %d", last.Name, last.Count, len(s.Series), s.Total.Count)
	}
	if !strings.Contains(strings.Join(s.Notes, "\n"), "share the row (other)") {
		t.Errorf("notes: %q", s.Notes)
	}
}

// closedLayout is the test layout without its open group.
func closedLayout() element.Layout {
	l := testLayout()
	l.Groups[1].Skipped = "off"
	return l
}

// TestLoadByKind: threads are held against the plans of the closed groups,
// arrivals against those of the open ones; a kind that does not run has no column.
func TestLoadByKind(t *testing.T) {
	both := testLayout()
	both.Groups[1].Planned = func(time.Duration) float64 { return 10 }
	alone := testLayout()
	alone.Groups[0].Skipped = "off"
	for _, tt := range []struct {
		layout       element.Layout
		closed, open bool
	}{{both, true, true}, {closedLayout(), true, false}, {alone, false, true}} {
		r := newRig(tt.layout)
		r.GroupStarted(1, time.Second/2)
		r.Shard(0, 0).Count(element.ThreadsStarted, 2)
		r.Shard(1, 0).Count(element.ThreadsStarted, 9)
		r.Shard(1, 0).Count(element.IterationsStarted, 3)
		r.Shard(1, 0).Count(element.IterationsCompleted, 1)
		r.Shard(1, 0).Count(element.IterationsStarted, 1)
		r.Shard(1, 0).Count(element.ThreadsEnded, 8)
		if p := r.Progress().Groups; p[0].Active != 2 || p[1].Active != 3 {
			t.Errorf("the console shows %d and %d threads", p[0].Active, p[1].Active)
		}
		r.Shard(1, 0).Count(element.DroppedNoThread, 1)
		r.Shard(0, 0).Count(element.DroppedEnd, 7)
		r.second()
		tl := r.Summary(EndInfo{}).Timeline
		if (tl.Planned[0] != nil) != tt.closed || (len(tl.ClosedThreads) > 0) != tt.closed || (tl.Arrivals != nil) != tt.open {
			t.Errorf("closed %t, open %t: %v %v %v", tt.closed, tt.open, tl.Planned, tl.ClosedThreads, tl.Arrivals)
			continue
		}
		if tt.closed && (*tl.Planned[0] != 2 || tl.ClosedThreads[0] != 2 || tl.ActiveThreads[0] != 5) {
			t.Errorf("%d of %g threads, %d in all", tl.ClosedThreads[0], *tl.Planned[0], tl.ActiveThreads[0])
		}
		if tt.closed && tt.open {
			diffEmpty(t, "arrivals", cmp.Diff(&Arrivals{Planned: []float64{5}, Started: []int64{4}, Dropped: []int64{1}}, tl.Arrivals))
		}
	}
}

// TestArrivalsOfLately: what the console shows as planned and begun is over the
// same seconds, so a ramp does not look like a lag.
func TestArrivalsOfLately(t *testing.T) {
	l := testLayout()
	l.Groups[1].Planned = func(at time.Duration) float64 { return 10 * at.Seconds() }
	r := newRig(l)
	r.GroupStarted(1, 0)
	for i := range 20 {
		r.Shard(1, 0).Count(element.IterationsStarted, int64(10*i+5))
		r.second()
	}
	if g := r.Progress().Groups[1]; math.Abs(g.PlannedPS-175) > 1e-6 || g.StartedPS != 175 {
		t.Errorf("%g planned, %g started", g.PlannedPS, g.StartedPS)
	}
}

func TestTimelineDoublesAndKeepsCounts(t *testing.T) {
	r := newRig(closedLayout())
	for i := range 3000 {
		r.run(0, sample(0, r.clock.at, time.Duration(1+i)*time.Microsecond), sample(0, r.clock.at, time.Second))
		r.second()
	}
	tl := r.Summary(EndInfo{}).Timeline
	if tl.IntervalS != 4 || len(tl.TS) != 750 || tl.TS[749] != 749*4 {
		t.Fatalf("interval %g, %d columns", tl.IntervalS, len(tl.TS))
	}
	for i := range tl.TS {
		if tl.Series[0].Count[i] != 8 || *tl.Series[0].Max[i] != int64(time.Second) || tl.Throughput[i] != 2 || *tl.Planned[i] != 2 {
			t.Fatalf("column %d: %d samples, throughput %g, planned %g", i, tl.Series[0].Count[i], tl.Throughput[i], *tl.Planned[i])
		}
	}
}

func TestThreadsInTimeline(t *testing.T) {
	r := newRig(closedLayout())
	sh := r.Shard(0, 0)
	r.second()
	sh.Count(element.ThreadsStarted, 2)
	sh.Count(element.ThreadsEnded, 1)
	r.second()
	r.second()
	if p := r.Progress(); p.Groups[0].Active != 1 || p.Groups[0].Elapsed != 2*time.Second || *p.Groups[0].Planned != 2 || p.Groups[1].Started {
		t.Errorf("progress: %+v", p)
	}
	sh.Count(element.ThreadsEnded, 1)
	tl := r.Summary(EndInfo{}).Timeline
	diffEmpty(t, "active", cmp.Diff([]int{0, 2, 1}, tl.ActiveThreads))
	two, zero := 2.0, 0.0
	diffEmpty(t, "planned", cmp.Diff([]*float64{&zero, &two, &two}, tl.Planned))
}

func TestProgress(t *testing.T) {
	r := newRig(testLayout())
	for range 10 {
		for range 20 {
			r.run(1, sample(1, r.clock.at, 10*time.Millisecond))
		}
		r.run(1, failed(sample(1, r.clock.at, time.Second), element.Timeout, "late"))
		r.second()
	}
	g := r.Progress().Groups[1]
	if g.Samples != 210 || g.Errors != 10 || g.Rate != 21 || g.P95.Round(time.Millisecond) != 10*time.Millisecond {
		t.Errorf("progress: %+v, p95 %v", g, g.P95)
	}
}

func TestRunTicksAndStops(t *testing.T) {
	r := newRig(testLayout())
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r.Run(ctx, nil)
	if first, again := r.Summary(EndInfo{}), r.Summary(EndInfo{Signal: 2}); first != again {
		t.Error("a second Summary is another one")
	}
}

func BenchmarkSummary(b *testing.B) {
	l := testLayout()
	for i := len(l.Series); i < 100; i++ {
		l.Series = append(l.Series, element.Series{ID: i, Group: 0, Name: "s" + strconv.Itoa(i), Phase: element.Load})
	}
	r := newRig(l)
	rng := rand.New(rand.NewPCG(1, 1))
	for range 1200 {
		for i := range 3000 {
			s := sample(i%100, r.clock.at, time.Duration(rng.ExpFloat64()*float64(50*time.Millisecond)))
			r.Shard(0, i).Record(&s)
		}
		r.second()
	}
	b.ReportMetric(float64(r.journal.Len())/1200, "journal-B/s")
	b.ReportAllocs()
	for b.Loop() {
		r.Snapshot()
	}
}

// TestEmptyLayout: a plan without groups, series or thresholds records and
// reports without a panic.
func TestEmptyLayout(t *testing.T) {
	r := New(element.Layout{}, Options{})
	s := failed(sample(5, 0, time.Millisecond), element.DNS, "no such host")
	for _, group := range []int{-1, 0, 7} {
		sh := r.Shard(group, -3)
		sh.Record(&s)
		sh.Transaction(element.Transaction{Series: -4})
		sh.Count(element.Counters, 1)
		sh.Count(element.ThreadsStarted, 1)
	}
	r.GroupStarted(3, 0)
	r.Tick()
	if p := r.Progress(); len(p.Groups) != 0 {
		t.Errorf("progress: %+v", p)
	}
	sum := r.Summary(EndInfo{})
	if sum.Total.Count != 6 || sum.Series[0].Name != otherKind {
		t.Errorf("total %d, series %+v", sum.Total.Count, sum.Series)
	}
	if text, err := json.Marshal(sum); err != nil || strings.Contains(string(text), "null,null,null,null,null,null,null") {
		t.Errorf("%v", err)
	}
}

// TestPlannedThreads: a group that ramps slowly began before its first thread.
func TestPlannedThreads(t *testing.T) {
	ramp := func(at time.Duration) float64 { return at.Seconds() / 4 }
	l := closedLayout()
	l.Groups[0].Planned, l.Groups[0].Duration = ramp, 20*time.Second
	guessed, told := newRig(l), newRig(l)
	told.GroupStarted(0, time.Second)
	for range 10 {
		if guessed.clock.at == 5*time.Second {
			guessed.Shard(0, 0).Count(element.ThreadsStarted, 1)
		}
		guessed.second()
		told.second()
	}
	for name, r := range map[string]*rig{"guessed": guessed, "told": told} {
		tl := r.Summary(EndInfo{}).Timeline
		if got := *tl.Planned[8]; got < 1.98 || got > 2 {
			t.Errorf("%s: planned in second 8 is %g", name, got)
		}
	}
}

// TestRecordedTextsAreCopies: what a sampler reuses may change after Record.
func TestRecordedTextsAreCopies(t *testing.T) {
	r := newRig(testLayout())
	buf := []byte("first message")
	s := sample(0, 0, time.Millisecond)
	s.Request = unsafe.String(&buf[0], len(buf))
	s.Fail(element.Problem{Class: element.Assert, Assertion: 0, Message: s.Request, Expected: s.Request, Actual: s.Request})
	r.run(0, s)
	copy(buf, "other message")
	text, err := json.Marshal(r.Summary(EndInfo{}))
	if err != nil || strings.Contains(string(text), "other message") {
		t.Errorf("the summary follows the sampler's buffer (%v)", err)
	}
}
