package engine_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/assertions"
	"runner/plan"
	"runner/plan/element"
	"runner/plan/engine"
	"runner/plan/expr"
	"runner/plan/query"
	"runner/plan/source"
	"runner/plan/spec"
	"runner/plans"
	"runner/reporters/stats"
	"runner/samplers/extract"
	"runner/timers"
)

// answering stands in for the http sampler: it takes a time that differs from call
// to call and answers like the shop.
type answering struct {
	Request expr.String         `plan:"request,required,short" doc:"method and path"`
	BaseURL expr.String         `plan:"base_url" doc:"unused"`
	Query   spec.Map[expr.Text] `plan:"query" doc:"unused"`
	Headers spec.Map[expr.Text] `plan:"headers" doc:"unused"`
	JSON    expr.Tree           `plan:"json" doc:"unused"`
	Timeout expr.Duration       `plan:"timeout" doc:"unused"`
}

func (a *answering) Sample(ctx context.Context, t *element.Thread, s *element.Sample) error {
	request, err := a.Request.Eval(t)
	if err != nil {
		return err
	}
	s.Sent, s.Requests = t.Now(), 1
	select {
	case <-time.After(time.Duration(1+s.Series+int(t.Iteration%7)) * time.Millisecond):
	case <-ctx.Done():
		return ctx.Err()
	}
	s.FirstByte, s.Done = t.Now(), t.Now()
	s.Status, s.Body = 200, []byte(`{"items": [{"id": 7}]}`)
	if request[:4] == "POST" {
		s.Status = 201
	}
	return nil
}

// soakProgram compiles plans/soak.yaml as it is, with fewer threads.
func soakProgram(t *testing.T, threads int, hold time.Duration) (*engine.Program, *stats.Info) {
	t.Helper()
	reg, err := element.NewRegistry(query.Functions(), []element.Definition{element.DefineSampler[answering]("http", element.Doc{})},
		timers.All(), assertions.All(), extract.All())
	if err != nil {
		t.Fatal(err)
	}
	text, err := plans.FS().Open("soak.yaml")
	if err != nil {
		t.Fatal(err)
	}
	defer text.Close()
	var buf [1 << 16]byte
	n, err := text.Read(buf[:])
	if err != nil {
		t.Fatal(err)
	}
	p, ds := plan.Parse(source.New("soak.yaml", buf[:n]), reg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	ds = plan.Validate(p, reg, plan.Options{})
	values, more := p.Evaluate(plan.EvalOptions{Seed: 1, RunID: "soak", Vars: map[string]string{"threads": strconv.Itoa(threads), "hold": hold.String()}})
	if ds = append(ds, more...); ds.HasErrors() {
		t.Fatal(ds)
	}
	program, ds := engine.Compile(p, values, reg, engine.Options{Masker: &element.Masker{}})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return program, &stats.Info{Plan: p.Name}
}

// TestADayOfSoak runs the soak plan for its 24 hours and ten minutes on a virtual
// clock, with a recorder and a journal on disk: the day's figures are right, and
// neither memory nor file grows with the samples. In short mode the day has three hours.
func TestADayOfSoak(t *testing.T) {
	const threads = 3
	hold := 24 * time.Hour
	if testing.Short() {
		hold = 3 * time.Hour
	}
	program, info := soakProgram(t, threads, hold)
	path := filepath.Join(t.TempDir(), "run.journal")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	var early, late uint64
	var summary *stats.Summary
	var took time.Duration
	synctest.Test(t, func(t *testing.T) {
		clock := engine.NewPlainClock()
		recorder := stats.New(program.Layout(), stats.Options{Now: clock.Now, Started: time.Now(), Info: *info, Journal: file,
			Process: func() stats.Process { return stats.Process{} }})
		ctx, stop := context.WithCancel(t.Context())
		ticked := make(chan struct{})
		go func() {
			defer close(ticked)
			recorder.Run(ctx, nil)
		}()
		time.AfterFunc(time.Hour, func() { early = heap() })
		if err := (&engine.Runner{Program: program, Recorder: recorder, Clock: clock, Seed: 1}).Run(t.Context()); err != nil {
			t.Error(err)
		}
		took = clock.Now()
		stop()
		<-ticked
		late = heap()
		summary = recorder.Summary(stats.EndInfo{})
	})
	if whole := hold + 10*time.Minute; took < whole || took > whole+30*time.Second {
		t.Errorf("it took %v", took)
	}
	s := summary
	if s.ExitCode != 0 || s.Total.Failed != 0 || s.Total.Count != s.Ledger.Samples.Passed || s.Ledger.Iterations.Started != s.Ledger.Iterations.Completed {
		t.Errorf("%s: %v, %+v", s.Verdict, s.Reasons, s.Ledger)
	}
	// An iteration of four samples takes 2 s and 1 to 15 ms a sample.
	if least := int64(threads * hold.Seconds() * 4 * 0.97 / 2.0); s.Total.Count < least || s.Total.Count > least*11/10 {
		t.Errorf("%d samples, want about %d", s.Total.Count, least)
	}
	points := int64(0)
	for _, n := range s.Timeline.Series[0].Count {
		points += n
	}
	if n := len(s.Timeline.TS); n > 1200 || n < 600 || points != s.Total.Count {
		t.Errorf("a timeline of %d points of %v s with %d of %d samples", n, s.Timeline.IntervalS, points, s.Total.Count)
	}
	usual := s.Timeline.Throughput[len(s.Timeline.TS)/2]
	for i := len(s.Timeline.TS) / 10; i < len(s.Timeline.TS)*9/10; i++ {
		if got := s.Timeline.Throughput[i]; got < usual*0.7 || got > usual*1.3 {
			t.Errorf("%v/s at %v s, %v/s half way", got, s.Timeline.TS[i], usual)
			break
		}
	}
	if growth := int64(late) - int64(early); growth > 8<<20 {
		t.Errorf("the heap grew from %d after an hour to %d bytes after a day", early, late)
	}
	again, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if size, err := again.Stat(); err != nil || size.Size() > 16<<20 {
		t.Errorf("the journal: %v, %v", size, err)
	}
	fromJournal, err := stats.ReadJournal(again)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.Ledger, fromJournal.Ledger); diff != "" || fromJournal.Total.Count != s.Total.Count || *fromJournal.Total.ResponseNS.P99 != *s.Total.ResponseNS.P99 {
		t.Errorf("from the journal:\n%s", diff)
	}
	t.Logf("%d samples, heap %d KiB after an hour, %d KiB after a day", s.Total.Count, early>>10, late>>10)
}

func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
