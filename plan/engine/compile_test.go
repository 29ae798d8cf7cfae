package engine

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

func TestLoadDiagnostics(t *testing.T) {
	tests := []struct{ load, want string }{
		{"{threads: '${zero}', duration: 1s}", "plan.yaml:5:21: error: threads is 0 [out-of-range]"},
		{"{threads: '${huge}', duration: 1s}", "plan.yaml:5:21: error: threads is 2000000 [out-of-range]"},
		{"{threads: 1, iterations: '${zero}'}", "plan.yaml:5:36: error: iterations is 0 [out-of-range]"},
		{"{threads: 1, shared_iterations: '${zero - 1}'}", "plan.yaml:5:43: error: shared_iterations is -1 [out-of-range]"},
		{"{threads: 1, duration: '${still}'}", "plan.yaml:5:34: error: duration is 0s [out-of-range]"},
		{"{rate: '${never}', duration: 1s, max_threads: 1}", "plan.yaml:5:18: error: rate is 0/s [out-of-range]"},
		{"{rate: 1/s, duration: 1s, max_threads: '${zero}'}", "plan.yaml:5:50: error: max_threads is 0 [out-of-range]"},
		{"{threads: [{to: '${zero}', over: 1s}]}", "plan.yaml:5:11: error: the stages start no thread for any time [out-of-range]"},
		{"{rate: [{to: '${never}', over: 1s}], max_threads: 1}", "plan.yaml:5:11: error: the stages start no iteration [out-of-range]"},
		{"{threads: 4, ramp_up: 2m, duration: 1m}", "plan.yaml:5:33: warning: the load ends before all threads have started [ramp-up-too-long]"},
		{"{threads: 4, duration: 1m}", ""},
		{"{threads: 4, duration: '${ten}', warm_up: '${ten}'}", "plan.yaml:5:53: error: the load is over after 10s, and its first 10s are warm-up: no sample counts [all-warm-up]"},
		{"{rate: [{to: 1/s, over: 4s}, {hold: '${ten}'}], max_threads: 4, warm_up: 14s}", "plan.yaml:5:84: error: the load is over after 14s, and its first 14s are warm-up: no sample counts [all-warm-up]"},
		{"{threads: 4, duration: '${ten}', warm_up: 9s}", ""},
		{"{rate: 1/s, iterations: 5, max_threads: 1, warm_up: '${ten}'}", ""},
	}
	for _, tt := range tests {
		t.Run(tt.load, func(t *testing.T) {
			_, ds := tryCompile(t, "plan: t\nvars: {zero: 0, huge: 2000000, never: 0/s, still: 0s, ten: 10s}\nthread_groups:\n  g:\n    load: "+tt.load+"\n    steps: [{fake: A}]\n", Options{})
			var got []string
			for _, d := range ds {
				got = append(got, d.String())
			}
			if strings.Join(got, "\n") != tt.want {
				t.Errorf("got  %s\nwant %s", strings.Join(got, "\n"), tt.want)
			}
		})
	}
}

func TestLayout(t *testing.T) {
	p := compiled(t, `
plan: Shop
setup: [{fake: S, name: Prepare}]
thread_groups:
  browse:
    load: {threads: 50, ramp_up: 30s, duration: 10m}
    assertions: [{status: 0}]
    steps:
      - name: Visit
        thresholds: errors < 5%
        steps:
          - {fake: A, name: Home, assertions: {reply: ""}}
      - {fake: B, name: Product}
      - {fake: C, name: Product}
      - {fake: C, name: Cart, thresholds: p95 < 1s}
      - {if: thread.id > 1, fake: D, no_inherit: assertions, name: Bare}
  orders:
    load: {rate: 30/min, duration: 1m, max_threads: 5, arrivals: poisson}
    steps: [{fake: E, name: Order}]
    thresholds: [{that: errors < 20%, stop: true}, p99 < 2s]
  pool:
    load: {threads: 1, shared_iterations: 5}
    steps: [{fake: F, name: Pool}]
    thresholds: [throughput > 1/s, error_count < 3]
thresholds: p90 < 3s
teardown: [{fake: T, name: Clean}]
`, Options{})
	l := p.Layout()
	var series []string
	for i, s := range l.Series {
		if s.ID != i {
			t.Errorf("series %d has ID %d", i, s.ID)
		}
		var names []string
		for _, a := range s.Assertions {
			names = append(names, a.Name)
		}
		series = append(series, fmt.Sprintf("%d %s %d %s %s %d", i, s.Phase, s.Group, s.Kind, s.Name, len(names)))
	}
	wantSeries := []string{
		"0 setup -1 fake Prepare 0", "1 load 0 transaction Visit 0", "2 load 0 fake Home 2", "3 load 0 fake Product 1",
		"4 load 0 fake Cart 1", "5 load 0 fake Bare 0", "6 load 0 control Bare: if thread.id > 1 0", "7 load 1 fake Order 0", "8 load 2 fake Pool 0", "9 teardown -1 fake Clean 0",
	}
	if diff := cmp.Diff(wantSeries, series); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var rules []string
	for _, r := range l.Thresholds {
		rules = append(rules, fmt.Sprintf("%s: %s over %v single %d implied %v", r.Scope, r.Comparison.Source, r.Series, r.Single, r.Implied))
	}
	wantRules := []string{
		"plan: p90 < 3s over [2 3 4 5 6 7 8] single -1 implied false",
		"browse / Visit: errors < 5% over [1] single 1 implied false",
		"browse / Cart: p95 < 1s over [4] single 4 implied false",
		"group orders: errors < 20% over [7] single -1 implied false",
		"group orders: p99 < 2s over [7] single -1 implied false",
		"group pool: throughput > 1/s over [8] single -1 implied false",
		"group pool: error_count < 3 over [8] single -1 implied false",
		"browse / Product: errors == 0% over [3] single 3 implied true",
		"browse / Cart: errors == 0% over [4] single 4 implied true",
		"browse / Bare: errors == 0% over [5] single 5 implied true",
		"group browse: errors == 0% over [6] single -1 implied true",
		"orders / Order: errors == 0% over [7] single 7 implied true",
		"group orders: dropped == 0 over [7] single -1 implied true",
		"teardown / Clean: errors == 0% over [9] single 9 implied true",
	}
	if diff := cmp.Diff(wantRules, rules); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	var groups []string
	for _, g := range l.Groups {
		groups = append(groups, fmt.Sprintf("%s: %s; open %v, %v, %q", g.Name, g.Load, g.Open, g.Duration, g.ScheduledRate))
	}
	wantGroups := []string{
		`browse: 50 threads, ramp-up 30s, for 10m; open false, 10m0s, ""`,
		`orders: 30/min, poisson arrivals, at most 5 threads, for 1m; open true, 1m0s, "30/min"`,
		`pool: 1 thread, 5 iterations shared; open false, 0s, ""`,
	}
	if diff := cmp.Diff(wantGroups, groups); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if p.MaxThreads() != 56 || l.Groups[0].Planned(15*time.Second) != 26 {
		t.Errorf("%d threads, planned %g", p.MaxThreads(), l.Groups[0].Planned(15*time.Second))
	}
	only, err := p.Only("orders")
	if err != nil || len(only.Layout().Groups) != 1 || only.MaxThreads() != 5 {
		t.Errorf("only: %v", err)
	}
	if _, err := p.Only("order"); err == nil {
		t.Error("an unknown group is no error")
	}
}

func TestCycle(t *testing.T) {
	tests := []struct {
		weights []float64
		want    string
	}{
		{[]float64{1, 1}, "01"}, {[]float64{3, 1}, "0010"}, {[]float64{50, 30, 20}, "0102010120"[:10]}, {[]float64{0.5, 0.25, 0}, "010"},
	}
	for _, tt := range tests {
		var got strings.Builder
		counts := make([]float64, len(tt.weights))
		for _, i := range cycle(tt.weights) {
			fmt.Fprint(&got, i)
			counts[i]++
		}
		if len(got.String()) != len(tt.want) {
			t.Errorf("%v: %s, want %d entries", tt.weights, got.String(), len(tt.want))
		}
		for i, w := range tt.weights {
			if counts[i]*tt.weights[0] != w*counts[0] {
				t.Errorf("%v: %s has the wrong mix", tt.weights, got.String())
			}
		}
	}
	for _, weights := range [][]float64{{1, 99999}, {1e9, 1}, {0.333333333, 0.666666667}, {1234567, 7654321, 1}} {
		c := cycle(weights)
		seen := map[uint16]int{}
		for _, i := range c {
			seen[i]++
		}
		if len(c) > 10_010 || len(seen) != len(weights) {
			t.Errorf("%v: %d entries, %v", weights, len(c), seen)
		}
	}
}

// rows hands out numbered rows, then an error.
type rows struct {
	mu   sync.Mutex
	n    int
	most int
	end  error
}

func (r *rows) Next(*element.Thread) (map[string]any, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.n >= r.most {
		return nil, r.end
	}
	r.n++
	return map[string]any{"id": fmt.Sprint(r.n)}, nil
}

func TestData(t *testing.T) {
	const text = `
plan: t
data:
  row: {file: rows.csv, columns: [id], per: %s}
thread_groups:
  unused: {load: {threads: 1, iterations: 1}, steps: [{fake: "none"}]}
  g: {load: %s, steps: [{fake: {say: "${row.id}", take: %s}, name: A}]}
`
	tests := []struct {
		name, per, load string
		end             error
		want            []string
		classes         string
	}{
		{"per iteration until the end", "iteration", "{threads: 1, duration: 10s}", fmt.Errorf("rows: %w", ErrStopThread), []string{"0s T1 none", "0s T2 1", "1s T2 2", "2s T2 3"}, ""},
		{"per thread", "thread", "{threads: 2, ramp_up: 1s, iterations: 2}", nil, []string{"0s T1 none", "0s T2 1", "500ms T3 2", "1s T2 1", "1.5s T3 2"}, ""},
		{"the end fails", "iteration", "{threads: 1, duration: 10s}", errors.New("used up"), []string{"0s T1 none", "0s T2 1", "1s T2 2", "2s T2 3"}, "data row:expression"},
		{"arrivals after the end", "iteration", "{rate: 1/s, iterations: 5, max_threads: 2}", ErrStopThread, []string{"0s T1 none", "0s T2 1", "1s T2 2", "2s T2 3"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			take := "1s"
			if strings.Contains(tt.load, "rate") {
				take = "500ms"
			}
			p := compiled(t, fmt.Sprintf(text, tt.per, tt.load, take), Options{Data: map[string]Feeder{"row": &rows{most: 3, end: tt.end}}})
			r := playProgram(t, p, nil)
			if diff := cmp.Diff(tt.want, r.journal); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			var failed []string
			for _, c := range r.classes() {
				if !strings.HasSuffix(c, ":") {
					failed = append(failed, c)
				}
			}
			if strings.Join(failed, ",") != tt.classes {
				t.Errorf("failed: %v", failed)
			}
			if i, s := r.ledger(t); i != 0 || s != 0 {
				t.Errorf("in flight %d, %d", i, s)
			}
		})
	}
}

func TestManyThreads(t *testing.T) {
	p := compiled(t, group1("{threads: 10000, ramp_up: 10s, duration: 20s}", "- noop: A\n- pause: 1s"), Options{})
	synctest.Test(t, func(t *testing.T) {
		rec := &counter{}
		r := &Runner{Program: p, Recorder: rec, Clock: NewPlainClock()}
		if err := r.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		// Thread k starts at k ms and begins an iteration each second until 20 s.
		want := int64(0)
		for k := range int64(10000) {
			want += (20000 - k + 999) / 1000
		}
		if rec.samples != want {
			t.Errorf("%d samples, want %d", rec.samples, want)
		}
	})
}

// counter counts samples only.
type counter struct {
	mu      sync.Mutex
	samples int64
}

func (c *counter) Shard(int, int) element.Shard    { return c }
func (c *counter) Note(string)                     {}
func (c *counter) Transaction(element.Transaction) {}
func (c *counter) Count(element.Counter, int64)    {}
func (c *counter) Record(*element.Sample) {
	c.mu.Lock()
	c.samples++
	c.mu.Unlock()
}
