package engine

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
)

// fake is a sampler that takes a time and answers what the plan says. It writes
// "time thread text" into the journal of its test when it begins.
type fake struct {
	Say    expr.String   `plan:"say,short" doc:"what to write"`
	Take   expr.Duration `plan:"take" doc:"how long"`
	Status expr.Int      `plan:"status" doc:"status"`
	Reply  expr.String   `plan:"reply" doc:"message"`
	Fail   expr.String   `plan:"fail" doc:"class of the error"`
	Panic  bool          `plan:"panic" doc:"panics"`
	Stuck  expr.Duration `plan:"stuck" doc:"does not obey the context"`
	Errors expr.Int      `plan:"errors" doc:"fails in that iteration"`
}

func (f *fake) Sample(ctx context.Context, t *element.Thread, s *element.Sample) error {
	text, err := f.Say.Eval(t)
	if err != nil {
		return err
	}
	if j, ok := ctx.Value(journalKey{}).(*journal); ok {
		j.add(t, text)
	}
	take, _ := f.Take.Eval(t)
	status, _ := f.Status.Eval(t)
	if s.Message, err = f.Reply.Eval(t); err != nil {
		return err
	}
	stuck, _ := f.Stuck.Eval(t)
	s.Sent, s.Status, s.Requests = t.Now(), int(status), 1
	if f.Panic {
		panic("boom")
	}
	time.Sleep(stuck)
	if take > 0 {
		select {
		case <-time.After(take):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	s.Done = t.Now()
	class, _ := f.Fail.Eval(t)
	if class != "" {
		return &element.Error{Class: element.Class(class), Message: class + " happened"}
	}
	if n, err := f.Errors.Eval(t); f.Errors.IsSet() && err == nil && n == t.Iteration {
		return &element.Error{Class: element.Timeout, Message: "too late"}
	}
	return nil
}

func (f *fake) Describe(t *element.Thread, s *element.Sample) string {
	text, _ := f.Say.Eval(t)
	return "FAKE " + text
}

// noop does nothing, for benchmarks.
type noop struct {
	Say expr.String `plan:"say,short" doc:"nothing"`
}

func (*noop) Sample(_ context.Context, t *element.Thread, s *element.Sample) error {
	s.Done = t.Now()
	return nil
}

type wait struct {
	Time expr.Duration `plan:"time,short" doc:"how long"`
}

func (w *wait) Due(t *element.Thread, now time.Duration) (time.Duration, error) {
	d, err := w.Time.Eval(t)
	return now + d, err
}

// slots hands out slots of one clock for all threads of the group.
type slots struct {
	Every expr.Duration `plan:"every,short" doc:"gap"`
	mu    sync.Mutex
	next  time.Duration
}

func (w *slots) Scheduled() bool { return true }

func (w *slots) Due(t *element.Thread, now time.Duration) (time.Duration, error) {
	every, err := w.Every.Eval(t)
	w.mu.Lock()
	defer w.mu.Unlock()
	at := max(now, w.next)
	w.next = at + every
	return at, err
}

type status struct {
	Want expr.Int `plan:"want,short" doc:"status"`
}

func (a *status) Assert(t *element.Thread, s *element.Sample) error {
	if n, _ := a.Want.Eval(t); int(n) != s.Status {
		return &element.Failure{Message: "other status", Expected: fmt.Sprint(n), Actual: fmt.Sprint(s.Status)}
	}
	return nil
}

type reply struct {
	Want  expr.String `plan:"want,short" doc:"message"`
	Panic bool        `plan:"panic" doc:"panics"`
}

func (a *reply) Assert(t *element.Thread, s *element.Sample) error {
	if a.Panic {
		panic("boom")
	}
	if text, err := a.Want.Eval(t); err != nil || text != s.Message {
		return errors.Join(err, &element.Failure{Message: "other reply", Expected: text, Actual: s.Message})
	}
	return nil
}

type word struct {
	Number int64 `plan:"word" doc:"which word of the reply"`
}

func (w *word) Extract(_ *element.Thread, s *element.Sample, _ element.Pick) (any, error) {
	words := strings.Fields(s.Message)
	if int(w.Number) > len(words) {
		return nil, element.ErrNotFound
	}
	return words[w.Number-1], nil
}

func registry(t testing.TB) *element.Registry {
	t.Helper()
	reg, err := element.NewRegistry(nil, []element.Definition{
		element.DefineSampler[fake]("fake", element.Doc{}), element.DefineSampler[noop]("noop", element.Doc{}),
		element.DefineTimer[wait]("wait", element.Doc{}), element.DefineTimer[slots]("slots", element.Doc{}),
		element.DefineAssertion[status]("status", element.Doc{}), element.DefineAssertion[reply]("reply", element.Doc{}),
		element.DefineExtractor[word]("word", element.Doc{}),
	})
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

// compiled parses, validates and compiles a plan that must be right.
func compiled(t testing.TB, text string, o Options) *Program {
	t.Helper()
	p, ds := tryCompile(t, text, o)
	if ds.HasErrors() {
		t.Fatalf("plan:\n%s\n%v", text, ds)
	}
	return p
}

func tryCompile(t testing.TB, text string, o Options) (*Program, source.Diagnostics) {
	t.Helper()
	reg := registry(t)
	p, ds := plan.Parse(source.New("plan.yaml", []byte(text)), reg)
	if p == nil {
		t.Fatal(ds)
	}
	ds = append(ds, plan.Validate(p, reg, plan.Options{})...)
	if ds.HasErrors() {
		t.Fatalf("plan:\n%s\n%v", text, ds)
	}
	values, vds := p.Evaluate(plan.EvalOptions{Seed: 1, RunID: "run"})
	if vds.HasErrors() {
		t.Fatal(vds)
	}
	return Compile(p, values, reg, o)
}

// journal is what a test run did, in order of time, then thread.
type journal struct {
	mu    sync.Mutex
	lines []entry
}

type entry struct {
	at     time.Duration
	thread int
	text   string
}

type journalKey struct{}

func (j *journal) add(t *element.Thread, text string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, entry{t.Now(), t.ID, text})
}

func (j *journal) text() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	slices.SortStableFunc(j.lines, func(a, b entry) int {
		if a.at != b.at {
			return int(a.at - b.at)
		}
		return a.thread - b.thread
	})
	var out []string
	for _, l := range j.lines {
		out = append(out, fmt.Sprintf("%v T%d %s", l.at, l.thread, l.text))
	}
	return out
}

// recorder keeps everything that it is told.
type recorder struct {
	mu           sync.Mutex
	samples      []element.Sample
	transactions []element.Transaction
	counts       [element.Counters]int64
	notes        []string
	metrics      []string       // "id value"
	named        map[int]string // rows that got names
}

func (r *recorder) Shard(group, thread int) element.Shard { return r }

func (r *recorder) Metric(id int, v float64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.metrics = append(r.metrics, fmt.Sprint(id, " ", v))
}

func (r *recorder) NameRow(series int, name string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.named == nil {
		r.named = map[int]string{}
	}
	r.named[series] = name
}

func (r *recorder) Note(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.notes = append(r.notes, text)
}

func (r *recorder) Record(s *element.Sample) {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := *s
	c.Problems = slices.Clone(s.Problems)
	r.samples = append(r.samples, c)
}

func (r *recorder) Transaction(t element.Transaction) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.transactions = append(r.transactions, t)
}

func (r *recorder) Count(c element.Counter, n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[c] += n
}

// result is a finished run of a test.
type result struct {
	*recorder
	program *Program
	journal []string
	err     error
	took    time.Duration
	log     string
	skipped map[int]string
}

// play runs a plan on virtual time. meddle, if any, runs beside it.
func play(t *testing.T, text string, meddle func(r *Runner, cancel context.CancelFunc)) *result {
	t.Helper()
	return playProgram(t, compiled(t, text, Options{Masker: &element.Masker{}}), meddle)
}

func playProgram(t *testing.T, p *Program, meddle func(r *Runner, cancel context.CancelFunc)) *result {
	t.Helper()
	out := &result{recorder: &recorder{}, program: p}
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		j := &journal{}
		ctx, cancel := context.WithCancel(context.WithValue(context.Background(), journalKey{}, j))
		defer cancel()
		r := &Runner{Program: p, Recorder: out.recorder, Clock: NewPlainClock(), Seed: 1, Log: slog.New(slog.NewTextHandler(&log, nil))}
		var wg sync.WaitGroup
		if meddle != nil {
			wg.Go(func() { meddle(r, cancel) })
		}
		out.err = r.Run(ctx)
		out.took, out.skipped = r.Clock.Now(), r.SkippedGroups()
		wg.Wait()
		time.Sleep(2 * time.Hour) // threads that were left behind come to their end
		synctest.Wait()
		out.journal, out.log = j.text(), log.String()
	})
	return out
}

// ledger checks that both ledgers add up and returns what is in flight.
func (r *result) ledger(t *testing.T) (iterations, samples int64) {
	t.Helper()
	c := func(n element.Counter) int64 { return r.counts[n] }
	if got, want := c(element.IterationsScheduled), c(element.IterationsStarted)+c(element.DroppedNoThread)+c(element.DroppedEnd)+c(element.DroppedAbort); got != want {
		t.Errorf("scheduled %d, but started and dropped %d: %v", got, want, r.counts)
	}
	iterations = c(element.IterationsStarted) - c(element.IterationsCompleted) - c(element.IterationsInterrupted)
	samples = c(element.SamplesStarted) - int64(len(r.samples))
	if iterations < 0 || samples < 0 || c(element.ThreadsEnded) > c(element.ThreadsStarted) {
		t.Errorf("more ended than started: %v, %d samples", r.counts, len(r.samples))
	}
	for _, s := range r.samples {
		if s.Done < s.Dispatched || s.Series < 0 || (s.Class == "") != (len(s.Problems) == 0) {
			t.Errorf("bad sample %+v", s)
		}
	}
	return iterations, samples
}

func (r *result) classes() []string {
	var out []string
	for _, s := range r.samples {
		out = append(out, r.name(s.Series)+":"+string(s.Class))
	}
	return out
}

func (r *result) name(series int) string { return r.program.layout.Series[series].Name }

// group wraps a load and steps into a plan of one group "g".
func group1(load, steps string) string {
	return "plan: test\nthread_groups:\n  g:\n    load: " + load + "\n    steps:\n" + indent(steps, 6)
}

func indent(text string, n int) string {
	pad := strings.Repeat(" ", n)
	var out []string
	for _, line := range strings.Split(strings.Trim(text, "\n"), "\n") {
		out = append(out, pad+line)
	}
	return strings.Join(out, "\n") + "\n"
}
