package timers_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/engine"
	"runner/plan/expr"
	"runner/plan/source"
	"runner/timers"
)

// note writes down when it ran.
type note struct {
	Text expr.String   `plan:"text,short" doc:"what to write"`
	Take expr.Duration `plan:"take" doc:"how long"`
}

type notesKey struct{}

func (n *note) Sample(ctx context.Context, t *element.Thread, s *element.Sample) error {
	text, err := n.Text.Eval(t)
	if err != nil {
		return err
	}
	take, err := n.Take.Eval(t)
	if err != nil {
		return err
	}
	s.Sent = t.Now()
	ctx.Value(notesKey{}).(*notes).add(fmt.Sprintf("%v %s", t.Now(), text))
	select {
	case <-time.After(take):
	case <-ctx.Done():
		return ctx.Err()
	}
	return nil
}

type notes struct {
	mu      sync.Mutex
	lines   []string
	samples []element.Sample
}

func (n *notes) add(line string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.lines = append(n.lines, line)
}

func (n *notes) Shard(int, int) element.Shard    { return n }
func (n *notes) Note(string)                     {}
func (n *notes) Transaction(element.Transaction) {}
func (n *notes) Count(element.Counter, int64)    {}
func (n *notes) Record(s *element.Sample) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.samples = append(n.samples, *s)
}

// compiled returns a plan of one group, ready to run.
func compiled(t *testing.T, load, steps string) *engine.Program {
	t.Helper()
	reg, err := element.NewRegistry(nil, timers.All(), []element.Definition{element.DefineSampler[note]("note", element.Doc{})})
	if err != nil {
		t.Fatal(err)
	}
	text := "plan: test\nthread_groups:\n  g:\n    load: " + load + "\n    steps:\n      " + strings.ReplaceAll(steps, "\n", "\n      ") + "\n"
	p, ds := plan.Parse(source.New("plan.yaml", []byte(text)), reg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	if ds = plan.Validate(p, reg, plan.Options{}); ds.HasErrors() {
		t.Fatal(ds)
	}
	values, _ := p.Evaluate(plan.EvalOptions{Seed: 1, RunID: "run"})
	program, ds := engine.Compile(p, values, reg, engine.Options{Masker: &element.Masker{}})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	return program
}

// run plays a plan on virtual time and returns what ran when, and how long the
// run took.
func run(t *testing.T, load, steps string, beside func(r *engine.Runner)) (*notes, time.Duration) {
	t.Helper()
	program := compiled(t, load, steps)
	n, took := &notes{}, time.Duration(0)
	synctest.Test(t, func(t *testing.T) {
		r := &engine.Runner{Program: program, Recorder: n, Clock: engine.NewPlainClock(), Seed: 1}
		var wg sync.WaitGroup
		if beside != nil {
			wg.Go(func() { beside(r) })
		}
		if err := r.Run(context.WithValue(t.Context(), notesKey{}, n)); err != nil {
			t.Error(err)
		}
		took = r.Clock.Now()
		wg.Wait()
	})
	slices.SortStableFunc(n.lines, func(a, b string) int {
		x, _ := time.ParseDuration(strings.Fields(a)[0])
		y, _ := time.ParseDuration(strings.Fields(b)[0])
		return int(x - y)
	})
	return n, took
}

func TestSynchronizing(t *testing.T) {
	const meet = "- note: met\n  timers: {synchronizing: {threads: %d, timeout: %s}}"
	for name, c := range map[string]struct {
		load, steps string
		want        []string
		took        time.Duration
	}{
		"all come one after another": {"{threads: 3, ramp_up: 3s, iterations: 1}", fmt.Sprintf(meet, 3, "1m"), []string{"2s met", "2s met", "2s met"}, 2 * time.Second},
		"in rounds":                  {"{threads: 4, ramp_up: 4s, iterations: 1}", fmt.Sprintf(meet, 2, "1m"), []string{"1s met", "1s met", "3s met", "3s met"}, 3 * time.Second},
		"again in each iteration": {"{threads: 2, ramp_up: 2s, iterations: 2}", fmt.Sprintf(meet, 2, "1m") + "\n- pause: 5s",
			[]string{"1s met", "1s met", "6s met", "6s met"}, 11 * time.Second},
		"the timeout counts from the first": {"{threads: 3, ramp_up: 30s, iterations: 1}", fmt.Sprintf(meet, 3, "15s"),
			[]string{"15s met", "15s met", "20s met"}, 20 * time.Second},
		"fewer threads than asked for": {"{threads: 2, ramp_up: 2s, iterations: 1}", fmt.Sprintf(meet, 10, "1h"), []string{"1s met", "1s met"}, time.Second},
		"a thread ends before it comes": {"{threads: 3, iterations: 1}", "- if: thread.id == 2\n  stop: thread\n- pause: 1s\n" + fmt.Sprintf(meet, 3, "1h"),
			[]string{"1s met", "1s met"}, time.Second},
		"the others end while it waits": {"{threads: 3, iterations: 1}", "- if: thread.id > 1\n  note: {text: busy, take: 7s}\n- if: thread.id > 1\n  stop: thread\n" + fmt.Sprintf(meet, 3, "1h"),
			[]string{"0s busy", "0s busy", "7s met"}, 7 * time.Second},
		"a shared total runs out": {"{threads: 5, shared_iterations: 3}", fmt.Sprintf(meet, 5, "1h"), []string{"0s met", "0s met", "0s met"}, 0},
		"the load ends": {"{threads: 2, duration: 10s}", "- note: {text: first, take: 3s}\n- if: thread.id == 1\n  note: met\n  timers: {synchronizing: {threads: 2, timeout: 1h}}\n  else: [{pause: 30s}]",
			[]string{"0s first", "0s first", "10s met"}, 33 * time.Second},
		"a wait for the first sample is no iteration": {"{threads: 2, duration: 10s}", "- if: thread.id == 1\n  note: met\n  timers: {synchronizing: {threads: 2, timeout: 1h}}\n  else: [{pause: 30s}]",
			nil, 30 * time.Second},
		"ramping down": {"{threads: [{at: 3, for: 10s}, {to: 1, over: 10s}, {hold: 10s}]}", "- pause: 4500ms\n" + fmt.Sprintf(meet, 3, "1h"),
			[]string{"4.5s met", "4.5s met", "4.5s met", "9s met", "9s met", "9s met", "13.5s met", "13.5s met", "13.5s met", "18s met", "18s met", "18s met", "22.5s met", "22.5s met", "27s met", "31.5s met"}, 31500 * time.Millisecond},
		"arrivals": {"{rate: 1/s, duration: 6s, max_threads: 10}", fmt.Sprintf(meet, 3, "1h"),
			[]string{"2s met", "2s met", "2s met", "5s met", "5s met", "5s met"}, 6 * time.Second},
		"too few threads for the arrivals": {"{rate: 1/s, duration: 6s, max_threads: 2}", fmt.Sprintf(meet, 3, "1h"),
			[]string{"1s met", "1s met", "3s met", "3s met", "5s met", "5s met"}, 6 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			n, took := run(t, c.load, c.steps, nil)
			if d := cmp.Diff(c.want, n.lines); d != "" || took != c.took {
				t.Errorf("took %s, want %s\n%s", took, c.took, d)
			}
		})
	}
}

func TestSynchronizingIsLeftByAStop(t *testing.T) {
	n, took := run(t, "{threads: 3, iterations: 1}", "- note: first\n- if: thread.id < 3\n  note: met\n  timers: {synchronizing: {threads: 3, timeout: 1h}}\n  else: [{pause: 10m}]",
		func(r *engine.Runner) {
			time.Sleep(5 * time.Second)
			r.Drain()
		})
	if d := cmp.Diff([]string{"0s first", "0s first", "0s first", "5s met", "5s met"}, n.lines); d != "" || took != 35*time.Second {
		t.Errorf("took %s\n%s", took, d)
	}
}

// TestSynchronizingIsThinkTime: waiting for others is not the target's time, with
// a scheduled start neither.
func TestSynchronizingIsThinkTime(t *testing.T) {
	for _, load := range []string{"{threads: 3, ramp_up: 6s, iterations: 1}", "{rate: 1/s, iterations: 3, max_threads: 5}"} {
		n, _ := run(t, load, "- note: {text: met, take: 1s}\n  timers: {synchronizing: {threads: 3, timeout: 1h}}", nil)
		for _, s := range n.samples {
			if s.Response() != time.Second || s.Due != s.Dispatched {
				t.Errorf("%s: due %s, dispatched %s, response %s", load, s.Due, s.Dispatched, s.Response())
			}
		}
		if len(n.samples) != 3 {
			t.Errorf("%d samples", len(n.samples))
		}
	}
}

func TestSynchronizingInSetupWaitsForNobody(t *testing.T) {
	timer := timers.All()[6].New().(element.Waiter)
	th := element.NewThread(1, "setup", nil, nil)
	if err := timer.Wait(t.Context(), th); err == nil {
		t.Error("0 threads were accepted")
	}
}

// TestThroughputOfARun counts what whole runs send at exact rates.
func TestThroughputOfARun(t *testing.T) {
	for timer, c := range map[string]struct {
		duration string
		want     int
	}{
		"constant_throughput: 600/min":                            {"9950ms", 100},
		"constant_throughput: 40000/min":                          {"9995ms", 6664},
		"constant_throughput: {rate: 60/min, per: thread}":        {"9950ms", 200},
		"constant_throughput: {rate: 1200/min, per: plan}":        {"9975ms", 200},
		"precise_throughput: {rate: 600/min, window: 10s}":        {"10s", 100},
		"precise_throughput: {rate: 130000/min, window: 6s}":      {"6s", 13000},
		"precise_throughput: {rate: 10/s, batch: 20, window: 2s}": {"10s", 100},
	} {
		n, _ := run(t, "{threads: 20, duration: "+c.duration+"}", "- note: x\n  timers: {"+timer+"}", nil)
		if len(n.samples) != c.want {
			t.Errorf("%s: %d samples in %s, want %d", timer, len(n.samples), c.duration, c.want)
		}
	}
}

// TestThroughputInRealTime holds the slope on a real clock, and roughly the
// number, which the machine may cut a little early or late.
func TestThroughputInRealTime(t *testing.T) {
	const rate, length = 2000, 1.5
	program := compiled(t, "{threads: 50, duration: 1500ms}", "- note: x\n  timers: {constant_throughput: {rate: 2000/s, catch_up: true}}")
	n := &notes{}
	r := &engine.Runner{Program: program, Recorder: n, Seed: 1}
	if err := r.Run(context.WithValue(t.Context(), notesKey{}, n)); err != nil {
		t.Fatal(err)
	}
	var first, last time.Duration
	for i, s := range n.samples {
		if i == 0 || s.Due < first {
			first = s.Due
		}
		last = max(last, s.Due)
	}
	count := float64(len(n.samples))
	if slope := (count - 1) / (last - first).Seconds(); slope < rate*0.999 || slope > rate*1.001 {
		t.Errorf("%v samples a second, want %v", slope, rate)
	}
	if count < rate*length*0.98 || count > rate*length*1.02 {
		t.Errorf("%v samples, want %v", count, rate*length)
	}
}
