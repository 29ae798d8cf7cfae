package cmd_test

import (
	"cmp"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"runner/cmd/internal/witness"
	"runner/reporters"
	"runner/reporters/stats"
)

// measurement is a figure beside the truth about it, both in nanoseconds or
// without a unit.
type measurement struct {
	name            string
	measured, truth float64
	share, slack    float64 // that it may be off: of the truth, and absolutely
}

func (m measurement) off() float64 { return math.Abs(m.measured - m.truth) }

// leeway is how much more a figure may be off in `go test`, where other packages'
// tests run beside: enough for a busy machine, and far from what a hidden stall
// would do. `make accuracy` gives none.
const leeway = 5

func (m measurement) wrong() bool {
	allowed := m.share*math.Abs(m.truth) + m.slack
	if !strict {
		allowed *= leeway
	}
	return m.off() > allowed
}

func (m measurement) String() string {
	if m.truth > 1e4 {
		return fmt.Sprintf("%-28s measured %10.3f ms, truth %10.3f ms, off %6.3f ms (%.2f%%)", m.name, m.measured/1e6, m.truth/1e6, m.off()/1e6, 100*m.off()/m.truth)
	}
	return fmt.Sprintf("%-28s measured %.6g, truth %.6g", m.name, m.measured, m.truth)
}

// trial is one run with what it measured. A trial that is off is repeated, since
// the machine of a test may be busy for a while; a program that measures wrongly is
// wrong each time.
type trial func(w *witness.Process, book, dir string) ([]measurement, error)

const attempts = 3

func try(t *testing.T, w *witness.Process, name string, do trial) error {
	var wrong []string
	for i := range attempts {
		book := fmt.Sprintf("%s%d", name, i)
		dir := filepath.Join(t.TempDir(), book)
		list, err := do(w, book, dir)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		wrong = nil
		for _, m := range list {
			t.Logf("%s: %v", book, m)
			if m.wrong() {
				wrong = append(wrong, m.String())
			}
		}
		if wrong == nil {
			return nil
		}
		if says := accusation(dir); says != "" && !strict {
			t.Logf("%s: the figures are off, and the report says that they may be: %s", book, says)
			return nil
		}
	}
	return fmt.Errorf("%s, the last of %d attempts:\n%s", name, attempts, strings.Join(wrong, "\n"))
}

// accusation is what a report says against the machine that made its figures, ""
// for nothing. The promise of a report is that its figures are right or that it
// says so, and on a busy machine the tests hold it to that; `make accuracy` wants
// them right.
func accusation(dir string) string {
	summary, err := reporters.Read(filepath.Join(dir, "summary.json"))
	if err != nil {
		return ""
	}
	g := summary.Generator
	says := slices.Clone(g.Reasons)
	for _, c := range g.Causes {
		says = append(says, c.Text)
	}
	return strings.Join(says, "; ")
}

// witnessed runs a plan to its end and returns it with the witness's log of it.
func witnessed(w *witness.Process, book, dir, plan string) (*execution, []witness.Record, error) {
	r, err := startRun(dir, plan, nil)
	if err != nil {
		return nil, nil, err
	}
	if err := r.end(); err != nil {
		return nil, nil, err
	}
	if r.summary == nil {
		return nil, nil, fmt.Errorf("exit code %d and no summary:\n%s", r.code, r.out.String())
	}
	log, err := w.Log(book)
	return r, log, err
}

// stall is a constant rate against a server that stops once.
type stall struct {
	rate     int
	length   time.Duration // D
	stops    time.Duration // S
	hold     time.Duration // s
	serial   time.Duration // s of a server with one line
	threads  int
	closed   bool // threads with a throughput timer that catches up
	tail     float64
	busy     float64 // ρ
	overload bool    // the threads do not suffice
}

func (s stall) plan(w *witness.Process, book string) string {
	query := fmt.Sprintf("gate=%v&stall=%v&hold=%v&serial=%v", s.length*2/5, s.stops, s.hold, s.serial)
	load := fmt.Sprintf("{rate: %d/s, duration: %v, max_threads: %d}", s.rate, s.length, s.threads)
	lines := "    thresholds: dropped <= 100000\n"
	if s.closed {
		load = fmt.Sprintf("{threads: %d, duration: %v}", s.threads, s.length)
		lines = fmt.Sprintf("    timers: {constant_throughput: {rate: %d/s, catch_up: true}}\n", s.rate)
	}
	return onGroup(load, "http://"+w.HTTP, "", lines+indentedSteps(fmt.Sprintf(`"GET /%s/x?%s"`, book, query)))
}

// run measures: R_p = s + max(0, S − (1−p)·D·(1−ρ)), the mean s + S²/(2D(1−ρ)).
func (s stall) run(w *witness.Process, book, dir string) ([]measurement, error) {
	r, log, err := witnessed(w, book, dir, s.plan(w, book))
	if err != nil {
		return nil, err
	}
	sum, group := r.summary, &r.summary.Groups[0]
	n := int64(float64(s.rate) * s.length.Seconds())
	if got := sum.Ledger.Requests; got != int64(len(log)) || got+group.Dropped != n && !s.closed {
		return nil, fmt.Errorf("%d requests and %d dropped, the witness saw %d, want %d", got, group.Dropped, len(log), n)
	}
	service := float64(quantile(log, 0.5))
	if s.closed { // n threads are a server with n lines, the program's own time included
		s.busy = float64(s.rate) * float64(*r.summary.Total.ServiceNS.P50) / float64(s.threads) / 1e9
	}
	lost := float64(s.rate)*(float64(s.stops)+service)/1e9 - float64(s.threads) // what comes until the first thread is free again
	s.stops = quantile(log, 1) - quantile(log, 0.5)                             // by the witness's clock: waking hundreds of answers takes it a while
	truth := func(p float64) float64 {
		return service + max(0, float64(s.stops)-(1-p)*float64(s.length)*(1-s.busy))
	}
	d := sum.Total.ResponseNS
	out := []measurement{{name: "max", measured: float64(d.Max), truth: service + float64(s.stops), share: s.tail, slack: 2e6}}
	if s.overload {
		return append(out, measurement{name: "dropped", measured: float64(group.Dropped), truth: lost, share: 0.05}), nil
	}
	if d.P99 == nil || d.P999 == nil {
		return nil, fmt.Errorf("%d samples are too few", d.Max)
	}
	out = append(out,
		measurement{name: "p50", measured: float64(*d.P50), truth: truth(0.5), slack: 2e6},
		measurement{name: "p99", measured: float64(*d.P99), truth: truth(0.99), share: s.tail, slack: 2e6},
		measurement{name: "p99.9", measured: float64(*d.P999), truth: truth(0.999), share: s.tail, slack: 2e6},
		measurement{name: "mean", measured: d.Mean, truth: service + float64(s.stops)*float64(s.stops)/(2*float64(s.length)*(1-s.busy)), share: s.tail, slack: 2e6})
	if s.closed { // the mean hangs on how fast the threads catch up on this machine; beside it what a closed loop believes without due times
		out = append(out[:len(out)-1], measurement{name: "p99 of the service time", measured: float64(*sum.Total.ServiceNS.P99), truth: float64(quantile(log, 0.99)), slack: 0.2 * float64(s.stops)})
	}
	return out, nil
}

// quantile is the k-th smallest hold, k = ⌈p·n⌉.
func quantile(log []witness.Record, p float64) time.Duration {
	holds := make([]time.Duration, len(log))
	for i, r := range log {
		holds[i] = r.Hold
	}
	slices.Sort(holds)
	return holds[max(0, int(math.Ceil(p*float64(len(holds))))-1)]
}

func stallCases(length, stops time.Duration, tail float64) map[string]stall {
	base := stall{rate: 500, length: length, stops: stops, hold: 10 * time.Millisecond, threads: 1500, tail: tail}
	line, few, timer := base, base, base
	line.hold, line.serial, line.busy = 0, time.Millisecond, 0.5
	few.threads, few.overload = 100, true
	timer.threads, timer.closed, timer.busy = 40, true, 0.125
	return map[string]stall{"stall": base, "line": line, "few": few, "timer": timer}
}

// known is a server of which the distribution of service times is known. The
// percentiles lie in the middle of its steps.
type known struct{ low, high time.Duration } // what p50 and p95, and p99.5, may be off

func (k known) run(w *witness.Process, book, dir string) ([]measurement, error) {
	const holds = "900x5ms,90x50ms,9x200ms,1x1000ms"
	plan := onGroup("{rate: 500/s, iterations: 5000, max_threads: 2000}", "http://"+w.HTTP, "",
		indentedSteps(fmt.Sprintf(`"GET /%s/x?holds=%s"`, book, holds))+"    thresholds: p(99.5) < 10s\n")
	r, log, err := witnessed(w, book, dir, plan)
	if err != nil {
		return nil, err
	}
	d := r.summary.Total.ResponseNS
	if len(log) != 5000 || r.summary.Total.Count != 5000 || d.P999 == nil {
		return nil, fmt.Errorf("%d samples, the witness saw %d", r.summary.Total.Count, len(log))
	}
	p995 := r.summary.Thresholds[slices.IndexFunc(r.summary.Thresholds, func(t stats.ThresholdResult) bool { return t.Figure == "p99.5" })].Value
	var out []measurement
	for _, q := range []struct {
		name  string
		p     float64
		value float64
		slack float64
	}{
		{"p50", 0.5, float64(*d.P50), float64(k.low)}, {"p95", 0.95, float64(*d.P95), float64(k.low)}, {"p99.5", 0.995, *p995, float64(k.high)},
	} {
		out = append(out, measurement{name: q.name, measured: q.value, truth: float64(quantile(log, q.p)), share: 0.001, slack: q.slack})
	}
	return out, nil
}

// constant is a rate whose arrivals the witness times.
type constant struct {
	rate  int
	n     int
	slope float64
	delay time.Duration // that the median of the dispatch delay may have
}

func (c constant) run(w *witness.Process, book, dir string) ([]measurement, error) {
	plan := onGroup(fmt.Sprintf("{rate: %d/s, iterations: %d, max_threads: 1000}", c.rate, c.n), "http://"+w.HTTP, "",
		indentedSteps(fmt.Sprintf(`"GET /%s/x?hold=2ms"`, book)))
	r, log, err := witnessed(w, book, dir, plan)
	if err != nil {
		return nil, err
	}
	if len(log) != c.n || r.summary.Ledger.Requests != int64(c.n) || r.summary.Total.Failed != 0 {
		return nil, fmt.Errorf("%d requests, the witness saw %d, want %d", r.summary.Ledger.Requests, len(log), c.n)
	}
	delay := r.summary.Generator.DispatchDelayNS
	if delay == nil || delay.P50 == nil {
		return nil, fmt.Errorf("no dispatch delay: %+v", r.summary.Generator)
	}
	return []measurement{
		{name: "rate at the witness, /s", measured: 1e9 / gapOf(log), truth: float64(c.rate), share: c.slope},
		{name: "throughput in the report, /s", measured: *r.summary.Total.ThroughputPS, truth: float64(c.rate), share: 1e-9},
		{name: "dispatch delay p50, µs", measured: float64(*delay.P50) / 1e3, slack: float64(c.delay) / 1e3},
	}, nil
}

// gapOf is the slope of the arrivals over their order, by least squares, in ns.
func gapOf(log []witness.Record) float64 {
	slices.SortFunc(log, func(a, b witness.Record) int { return cmp.Compare(a.Arrived, b.Arrived) })
	n := float64(len(log))
	var sum, cross float64
	for i, r := range log {
		x := float64(i) - (n-1)/2
		sum += x * x
		cross += x * float64(r.Arrived-log[0].Arrived)
	}
	return cross / sum
}

// TestTruthOfTimes measures what is measured on a real clock, while no other test
// of the package runs: percentiles through a stall (M2), a known distribution
// (M3), constant rates (M4).
func TestTruthOfTimes(t *testing.T) {
	w := newWitness(t)
	trials := map[string]trial{}
	length, stops := 10*time.Second, time.Second
	if testing.Short() {
		length, stops = 6*time.Second, 600*time.Millisecond
	}
	for name, s := range stallCases(length, stops, 0.02) {
		if !testing.Short() || name == "stall" {
			trials[name] = s.run
		}
	}
	if !testing.Short() {
		trials["known"] = known{2 * time.Millisecond, 10 * time.Millisecond}.run
	}
	runTrials(t, w, trials)
	loose := 5 * time.Millisecond
	runTrials(t, w, map[string]trial{
		"r50": constant{50, 150, 0.02, loose}.run, "r500": constant{500, 1500, 0.01, loose}.run, "r2000": constant{2000, 6000, 0.01, loose}.run,
	})
}

func runTrials(t *testing.T, w *witness.Process, trials map[string]trial) {
	t.Helper()
	var names []string
	for name := range trials {
		names = append(names, name)
	}
	beside(t, len(names), func(i int) error { return try(t, w, names[i], trials[names[i]]) })
}
