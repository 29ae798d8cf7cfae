package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

func metricLayout(thresholds ...element.Threshold) element.Layout {
	l := testLayout()
	l.Metrics = []element.Metric{{Name: "orders", Type: "counter"}, {Name: "queue", Type: "gauge"}, {Name: "cached", Type: "rate"}, {Name: "basket", Type: "trend"}}
	l.Thresholds = thresholds
	return l
}

// metered records ten seconds with all metrics: 10 orders, a queue of up to 9, 3
// of 10 cached, and 100 baskets of 1 to 100 each second.
func metered(l element.Layout) *rig {
	r := newRig(l)
	for s := range 10 {
		r.run(0, sample(0, r.clock.at, time.Millisecond))
		for i := range 100 {
			m := r.Shard(0, i).(element.MetricShard)
			m.Metric(3, float64(i+1))
			if i < 10 {
				m.Metric(0, 1)
				m.Metric(1, float64(s))
				m.Metric(2, float64(boolInt(i < 3)))
			}
		}
		r.second()
	}
	return r
}

func TestMetrics(t *testing.T) {
	r := metered(metricLayout())
	sum := r.Summary(EndInfo{})
	type row struct {
		Name      string
		Count     int64
		Value     float64
		PerSecond float64
		Min, Max  float64
	}
	var got []row
	for _, m := range sum.Metrics {
		x := row{m.Name, m.Count, *m.Value, 0, *m.Min, *m.Max}
		if m.PerSecond != nil {
			x.PerSecond = *m.PerSecond
		}
		got = append(got, x)
	}
	want := []row{{"orders", 100, 100, 10, 1, 1}, {"queue", 100, 9, 0, 0, 9}, {"cached", 100, .3, 0, 0, 1}, {"basket", 1000, 50.5, 0, 1, 100}}
	diffEmpty(t, "metrics", cmp.Diff(want, got))
	basket := sum.Metrics[3].Trend
	if basket == nil || math.Abs(*basket.P95-95) > .1 || math.Abs(*basket.P99-99) > .1 || basket.P999 != nil {
		t.Errorf("trend %+v", basket)
	}
	tm := sum.Timeline.Metrics
	if len(tm) != 4 || len(tm[3].P95) != len(sum.Timeline.TS) || *tm[0].Value[2] != 10 || *tm[1].Value[4] != 4 || math.Abs(*tm[3].P95[5]-95) > 1 {
		t.Errorf("over time: %+v", tm)
	}
	again, err := ReadJournal(&r.journal)
	if err != nil {
		t.Fatal(err)
	}
	diffEmpty(t, "from the journal", cmp.Diff(sum, again))
}

func TestMetricThresholds(t *testing.T) {
	tests := []struct {
		text  string
		limit float64
		want  string
	}{
		{"orders.count >= ", 100, "passed"},
		{"orders.rate < ", 10, "failed"},
		{"queue.value == ", 9, "passed"},
		{"queue.max < ", 9, "failed"},
		{"cached.rate >= ", .3, "passed"},
		{"basket.p95 <= ", 95.1, "passed"},
		{"basket.p95 < ", 94, "failed"},
		{"basket.p99.9 < ", 101, "few"},
		{"basket.p99.9 < ", 100, "failed"},
		{"basket.mean < ", 50.6, "passed"},
		{"basket.median < ", 1, "nodata"},
	}
	for _, c := range tests {
		l := metricLayout(element.Threshold{Scope: "plan", Group: -1, Single: -1, Comparison: comparison(c.text, c.limit)})
		sum := metered(l).Summary(EndInfo{})
		r := &sum.Thresholds[0]
		got := "passed"
		switch {
		case r.NoData:
			got = "nodata"
		case !r.Passed:
			got = "failed"
		case r.FewSamples:
			got = "few"
		}
		if got != c.want {
			t.Errorf("%s%v: %s, want %s: %s", c.text, c.limit, got, c.want, r.Message)
		}
	}
}

func TestMetricThresholdInAWindow(t *testing.T) {
	l := metricLayout(element.Threshold{Scope: "plan", Group: -1, Single: -1, Comparison: comparison("queue.max < ", 3), Window: 2 * time.Second, Stop: true})
	r := metered(l)
	if th, reason := r.Judge(0); th == nil || reason == "" {
		t.Error("a queue over its limit did not stop the run")
	}
	l.Thresholds[0].Comparison = comparison("orders.rate < ", 11)
	r = metered(l)
	if th, reason := r.Judge(0); th != nil {
		t.Errorf("stopped: %s", reason)
	}
}

func TestMetricWithoutValues(t *testing.T) {
	th := func(text string, limit float64) element.Threshold {
		return element.Threshold{Scope: "plan", Group: -1, Single: -1, Comparison: comparison(text, limit)}
	}
	r := newRig(metricLayout(th("orders.count == ", 0), th("queue.value < ", 5), th("cached.rate < ", 1), th("basket.p95 < ", 1)))
	r.run(0, sample(0, 0, time.Millisecond))
	r.Shard(0, 0).(element.MetricShard).Metric(3, math.NaN())
	r.Shard(0, 0).(element.MetricShard).Metric(99, 1)
	r.second()
	sum := r.Summary(EndInfo{})
	var got []bool
	for _, x := range sum.Thresholds {
		got = append(got, x.NoData)
	}
	diffEmpty(t, "no data", cmp.Diff([]bool{false, true, true, true}, got))
	said := slices.ContainsFunc(sum.Notes, func(n string) bool { return strings.Contains(n, "basket") })
	if sum.Metrics[3].Count != 0 || sum.Metrics[3].Trend != nil || !said {
		t.Errorf("what is no number was kept: %+v %q", sum.Metrics[3], sum.Notes)
	}
}

func TestSketchAgainstSort(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	sets := map[string]func() float64{
		"normal":    func() float64 { return rnd.NormFloat64() * 1000 },
		"tiny":      func() float64 { return rnd.Float64() * 1e-9 },
		"huge":      func() float64 { return math.Exp(rnd.Float64() * 700) },
		"whole":     func() float64 { return float64(rnd.IntN(50) - 25) },
		"hostile":   func() float64 { return finite(math.Float64frombits(rnd.Uint64())) },
		"one value": func() float64 { return 7 },
	}
	for name, draw := range sets {
		values := make([]float64, 50_000)
		one, parts := metricCell{}, make([]metricCell, 7)
		for i := range values {
			values[i] = draw()
			one.record(values[i], 0, true)
			parts[rnd.IntN(len(parts))].record(values[i], 0, true)
		}
		var merged metricCell
		for i := range parts {
			merged.merge(&parts[i])
		}
		if len(one.values.counts) > maxKeys {
			t.Errorf("%s: %d buckets", name, len(one.values.counts))
		}
		diffEmpty(t, name+": merged", cmp.Diff(one.values.counts, merged.values.counts))
		var back sketch
		d := decoder{b: one.values.encode(nil)}
		if n := d.sketch(&back); n != one.n || d.err != nil {
			t.Errorf("%s: decoded %d of %d: %v", name, n, one.n, d.err)
		}
		diffEmpty(t, name+": decoded", cmp.Diff(one.values.counts, back.counts))
		slices.Sort(values)
		width := math.Ldexp(1, int(one.values.joins)-10)
		for _, p := range []float64{1, 50, 95, 99, 99.9, 100} {
			want, got := values[rankOf(p, int64(len(values)))-1], one.percentile(p)
			if math.Abs(got-want) > math.Abs(want)*width*1.01+1e-300 {
				t.Errorf("%s: p%v is %v, want %v", name, p, got, want)
			}
		}
	}
}

func TestMetricAllocatesNothing(t *testing.T) {
	r := newRig(metricLayout())
	m := r.Shard(0, 0).(element.MetricShard)
	i := 0.0
	for range 300 {
		m.Metric(3, float64(int(i)%100))
		i++
	}
	if raceEnabled {
		return
	}
	if n := testing.AllocsPerRun(200, func() { m.Metric(0, 1); m.Metric(1, i); m.Metric(2, 1); m.Metric(3, 42) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
