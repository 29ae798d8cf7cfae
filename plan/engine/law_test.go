package engine_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/engine"
	"runner/plan/expr"
	"runner/plan/source"
	"runner/reporters/stats"
)

// stamping takes a time and may stamp it wrong.
type stamping struct {
	Take  expr.Duration `plan:"take,short" doc:"how long it takes"`
	Early expr.Duration `plan:"early" doc:"by which its end is stamped too early"`
	Aside expr.Duration `plan:"aside" doc:"what it takes out of its time"`
	Body  expr.Duration `plan:"body" doc:"how long a body still goes out after the end"`
	Panic bool          `plan:"panic" doc:"panics"`
	Fail  bool          `plan:"fail" doc:"fails, and does not stamp its end"`
}

func (x *stamping) Sample(ctx context.Context, t *element.Thread, s *element.Sample) error {
	take, _ := x.Take.Eval(t)
	early, _ := x.Early.Eval(t)
	aside, _ := x.Aside.Eval(t)
	body, _ := x.Body.Eval(t)
	time.Sleep(aside)
	s.Due, s.Dispatched, s.FreeSince = s.Due+aside, s.Dispatched+aside, s.FreeSince+aside
	s.Sent, s.Requests = t.Now(), 1
	time.Sleep(take)
	switch {
	case x.Panic:
		panic("boom")
	case x.Fail:
		return errors.New("failed")
	}
	s.Done = t.Now() - early
	if body > 0 {
		time.Sleep(body)
		s.Left = t.Now()
	}
	return nil
}

// recorded runs a plan on a virtual clock under the recorder of real runs.
func recorded(t *testing.T, text string) (sum *stats.Summary, journal []byte) {
	t.Helper()
	reg, err := element.NewRegistry(nil, []element.Definition{element.DefineSampler[stamping]("stamping", element.Doc{})})
	if err != nil {
		t.Fatal(err)
	}
	p, ds := plan.Parse(source.New("plan.yaml", []byte(text)), reg)
	if p == nil {
		t.Fatal(ds)
	}
	ds = append(ds, plan.Validate(p, reg, plan.Options{})...)
	values, more := p.Evaluate(plan.EvalOptions{Seed: 1, RunID: "law"})
	if ds = append(ds, more...); ds.HasErrors() {
		t.Fatalf("%s\n%v", text, ds)
	}
	program, ds := engine.Compile(p, values, reg, engine.Options{Masker: &element.Masker{}})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	var file bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		clock := engine.NewPlainClock()
		recorder := stats.New(program.Layout(), stats.Options{Now: clock.Now, Started: time.Now(), Info: stats.Info{Plan: p.Name, Seed: 1}, Journal: &file,
			Process: func() stats.Process { return stats.Process{CPUs: 2} }})
		ctx, stop := context.WithCancel(t.Context())
		ticked := make(chan struct{})
		go func() {
			defer close(ticked)
			recorder.Run(ctx, nil)
		}()
		if err := (&engine.Runner{Program: program, Recorder: recorder, Clock: clock, Seed: 1}).Run(t.Context()); err != nil {
			t.Error(err)
		}
		stop()
		<-ticked
		sum = recorder.Summary(stats.EndInfo{})
	})
	return sum, file.Bytes()
}

// TestLittlesLawHoldsInEveryPlan: what the engine counts as in flight is what the
// samples' times say, whatever the samples are; and a sampler that stamps its end
// too early makes the run void.
func TestLittlesLawHoldsInEveryPlan(t *testing.T) {
	tests := []struct {
		name, steps string
		void        bool
		inFlight    float64
	}{
		{"plain", "- stamping: 70ms", false, 20},
		{"with a pause", "- stamping: 70ms\n- pause: 70ms", false, 10},
		{"taken out of the time", "- stamping: {take: 70ms, aside: 200ms}", false, 20},
		{"a body after the end", "- stamping: {take: 70ms, body: 200ms}", false, 20},
		{"tries", "- stamping: 70ms\n  until: attempt == 4\n  every: 50ms\n  max: 5\n- pause: 430ms", false, 10},
		{"tries in vain", "- stamping: {take: 70ms, fail: true}\n  until: attempt == 4\n  every: 50ms\n  max: 2\n- pause: 190ms", false, 10},
		{"failures", "- stamping: {take: 70ms, fail: true}\n- stamping: {take: 70ms, panic: true}", false, 20},
		{"never sent", "- if: 1 / (thread.iteration - thread.iteration) > 0\n  stamping: 70ms\n- stamping: 70ms", false, 20},
		{"side by side", "- parallel: true\n  steps:\n    - stamping: 70ms\n    - stamping: 140ms", false, 30},
		{"stamped too early", "- stamping: {take: 70ms, early: 15ms}", true, 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			text := "plan: law\nthread_groups:\n  g:\n    load: {threads: 20, duration: 1m}\n    steps:\n      " + strings.ReplaceAll(tt.steps, "\n", "\n      ") + "\n"
			sum, journal := recorded(t, text)
			c := sum.Concurrency
			if c == nil || c.Holds == tt.void || (sum.ExitCode == 3) != tt.void || c.InFlight < tt.inFlight*.85 || c.InFlight > tt.inFlight*1.15 {
				t.Fatalf("exit %d: %+v, %q", sum.ExitCode, c, sum.Reasons)
			}
			if tt.void {
				return
			}
			if off := c.InFlight/c.Expected - 1; off > .12 || off < -.12 {
				t.Errorf("%+v", c)
			}
			back, err := stats.ReadJournal(bytes.NewReader(journal))
			if err != nil || *back.Concurrency != *c {
				t.Errorf("from the journal: %+v, %v", back.Concurrency, err)
			}
		})
	}
}
