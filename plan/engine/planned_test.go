package engine_test

import (
	"bytes"
	"context"
	"math"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/engine"
	"runner/plan/expr"
	"runner/plan/source"
	"runner/reporters/stats"
)

// nap is a sampler that takes a time and passes.
type nap struct {
	Take expr.Duration `plan:"take,required,short" doc:"how long"`
}

func (n *nap) Sample(ctx context.Context, t *element.Thread, s *element.Sample) error {
	take, err := n.Take.Eval(t)
	if err != nil {
		return err
	}
	s.Sent, s.Requests = t.Now(), 1
	select {
	case <-time.After(take):
	case <-ctx.Done():
		return ctx.Err()
	}
	s.FirstByte, s.Done = t.Now(), t.Now()
	return nil
}

// onVirtualTime runs a plan on a virtual clock and returns its summary, and what
// the journal makes of it.
func onVirtualTime(t *testing.T, text string, part element.Segment) (s *stats.Summary, journal []byte) {
	t.Helper()
	reg, err := element.NewRegistry(nil, []element.Definition{element.DefineSampler[nap]("nap", element.Doc{})})
	if err != nil {
		t.Fatal(err)
	}
	p, ds := plan.Parse(source.New("plan.yaml", []byte(text)), reg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	ds = plan.Validate(p, reg, plan.Options{})
	values, more := p.Evaluate(plan.EvalOptions{Seed: 1, RunID: "run"})
	program, last := engine.Compile(p, values, reg, engine.Options{Masker: &element.Masker{}, Segment: part})
	if ds = append(append(ds, more...), last...); ds.HasErrors() {
		t.Fatal(ds)
	}
	var file bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		clock := engine.NewPlainClock()
		recorder := stats.New(program.Layout(), stats.Options{Now: clock.Now, Started: time.Now(), Journal: &file,
			Info: stats.Info{Plan: p.Name, Sources: []stats.Source{{File: "plan.yaml", Text: text}}}, Process: func() stats.Process { return stats.Process{} }})
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
		s = recorder.Summary(stats.EndInfo{})
	})
	again, err := stats.ReadJournal(bytes.NewReader(file.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.Timeline, again.Timeline); diff != "" {
		t.Errorf("from the run (-) and from its journal (+):\n%s", diff)
	}
	return s, file.Bytes()
}

// near is one arrival, which at a tick may fall to either side.
const near = 1 + 1e-6

// arrivalsMatch reports intervals whose arrivals are off the plan by more than one.
func arrivalsMatch(t *testing.T, a *stats.Arrivals, want func(second float64) float64) {
	t.Helper()
	for i := range a.Planned {
		if math.Abs(a.Planned[i]-want(float64(i))) > 1e-6 || math.Abs(a.Planned[i]-float64(a.Started[i])) > near || a.Dropped[i] != 0 {
			t.Errorf("second %d: %g wanted, %g planned, %d started, %d dropped", i, want(float64(i)), a.Planned[i], a.Started[i], a.Dropped[i])
		}
	}
}

// ramped is the load of the plan below in a second after its setup.
func ramped(second float64) float64 {
	switch {
	case second < 10: // waits
		return 0
	case second < 30:
		return (second - 10 + .5) * 5
	case second < 35:
		return 100
	}
	return 0
}

const rampedArrivals = `
  arrivals:
    load: {rate: [{to: 100/s, over: 20s}, {hold: 5s}], delay: 10s, max_threads: 50}
    steps: [nap: 100ms]
`

// TestPlannedArrivals: on a ramp every second's arrivals are planned and begun alike.
func TestPlannedArrivals(t *testing.T) {
	s, _ := onVirtualTime(t, "plan: x\nthread_groups:"+rampedArrivals, element.Segment{})
	tl := &s.Timeline
	arrivalsMatch(t, tl.Arrivals, ramped)
	if len(tl.TS) < 35 || tl.ClosedThreads != nil || tl.Planned[0] != nil || tl.Planned[20] != nil {
		t.Errorf("%d seconds; threads planned by an open group: %v", len(tl.TS), tl.ClosedThreads)
	}
	if g := s.Groups[0]; g.Scheduled != 1500 || g.Iterations != 1500 {
		t.Errorf("%d of %d started", g.Iterations, g.Scheduled)
	}
}

// TestPlannedOfBothKinds: closed and open groups side by side each have their plan,
// and it ends where the load ends.
func TestPlannedOfBothKinds(t *testing.T) {
	const both = "plan: x\nthread_groups:" + rampedArrivals + `
  threads:
    load: {threads: 20, ramp_up: 20s, duration: 30s}
    steps: [nap: 300ms]
  few:
    load: {threads: 4, iterations: 10}
    steps: [nap: 470ms]
  hundred:
    load: {rate: 50/s, iterations: 100, max_threads: 10}
    steps: [nap: 10ms]
`
	check := func(t *testing.T, tl *stats.Timeline) {
		t.Helper()
		arrivalsMatch(t, tl.Arrivals, func(second float64) float64 {
			if second < 2 {
				return 50
			}
			return ramped(second)
		})
		for i := range tl.TS {
			if off := math.Abs(*tl.Planned[i] - float64(tl.ClosedThreads[i])); off > 1 && i != 30 { // threads finish in second 30
				t.Errorf("second %d: %d active of %g planned", i, tl.ClosedThreads[i], *tl.Planned[i])
			}
		}
		if most := *tl.Planned[2]; most != 7 { // 3 that ramp up, and 4
			t.Errorf("planned in second 2: %g", most)
		}
		if most := *tl.Planned[25]; most != 20 {
			t.Errorf("planned in second 25: %g", most)
		}
	}
	s, _ := onVirtualTime(t, both, element.Segment{})
	check(t, &s.Timeline)

	var parts []stats.Part
	for i := range 3 {
		s, journal := onVirtualTime(t, both, element.Segment{Index: i, Count: 3})
		if most := *s.Timeline.Planned[25]; most < 6 || most > 7 {
			t.Errorf("segment %d plans %g threads", i+1, most)
		}
		part, err := stats.ReadPart("part", bytes.NewReader(journal))
		if err != nil {
			t.Fatal(err)
		}
		parts = append(parts, part)
	}
	merged, err := stats.Merge(parts)
	if err != nil {
		t.Fatal(err)
	}
	for i := range merged.Timeline.TS {
		if off := math.Abs(merged.Timeline.Arrivals.Planned[i] - s.Timeline.Arrivals.Planned[i]); off > 1e-6 {
			t.Errorf("second %d: the segments' plans differ from the whole by %g", i, off)
		}
	}
	check(t, &merged.Timeline)
}

// TestPlannedBeyondTheThreads: where max_threads is exhausted, planned and started
// part, and the difference is dropped.
func TestPlannedBeyondTheThreads(t *testing.T) {
	s, _ := onVirtualTime(t, strings.Replace("plan: x\nthread_groups:"+rampedArrivals, "max_threads: 50", "max_threads: 5", 1), element.Segment{})
	a := s.Timeline.Arrivals
	for i := range a.Planned {
		planned, started, dropped := a.Planned[i], float64(a.Started[i]), float64(a.Dropped[i])
		if started > 55 || math.Abs(planned-started-dropped) > near || planned > 55 && dropped == 0 {
			t.Errorf("second %d: %g planned, %g started, %g dropped", i, planned, started, dropped)
		}
	}
	if g := s.Groups[0]; g.Scheduled != 1500 || g.Scheduled != g.Iterations+g.Dropped || a.Started[32] < 45 || a.Dropped[32] < 45 {
		t.Errorf("%d scheduled, %d started, %d dropped; in second 32 %d and %d", g.Scheduled, g.Iterations, g.Dropped, a.Started[32], a.Dropped[32])
	}
}
