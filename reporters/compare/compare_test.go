package compare

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/reporters/stats"
)

func simulation(seed uint64) *simulated {
	return &simulated{random: rand.New(rand.NewPCG(seed, 42)), samples: 4000, memory: 0.8, spread: 0.03}
}

func outcomes(t *testing.T, m *simulated, pairs, k int, slower float64) map[Outcome]int {
	t.Helper()
	out := map[Outcome]int{}
	for range pairs {
		base, news := m.sides(k, slower)
		r, err := Compare(base, news, Options{})
		if err != nil {
			t.Fatal(err)
		}
		out[r.Outcome]++
	}
	return out
}

// TestFalseAlarms compares runs of the same: a true rate of 1 % would give more
// than 7 alarms in 300 with a chance of 1.2 %.
func TestFalseAlarms(t *testing.T) {
	if got := outcomes(t, simulation(1), 300, 6, 1); got[Regression] > 7 || got[OK] < 200 {
		t.Errorf("300 pairs of equal sides: %v", got)
	}
	m := simulation(2)
	m.series, m.samples = 4, 1000
	if got := outcomes(t, m, 100, 6, 1); got[Regression] > 4 {
		t.Errorf("100 pairs of equal sides with four series: %v", got)
	}
	m = simulation(100)
	m.failures = 0.02
	if got := outcomes(t, m, 300, 6, 1); got[Regression] > 7 {
		t.Errorf("300 pairs of equal sides with errors: %v", got)
	}
}

func TestPower(t *testing.T) {
	for slower, least := range map[float64]int{1.1: 85, 1.2: 99} {
		if got := outcomes(t, simulation(4), 100, 6, slower); got[Regression] < least {
			t.Errorf("%g times slower, six runs a side: %v of 100, want %d regressions", slower, got, least)
		}
	}
	if got := outcomes(t, simulation(5), 50, 6, 0.8); got[OK] != 50 {
		t.Errorf("faster: %v", got)
	}
}

func TestFewRuns(t *testing.T) {
	m := simulation(6)
	m.seconds = 60
	for _, k := range []int{1, 2, 3, 4} {
		if got := outcomes(t, m, 40, k, 1); got[Regression] > 0 || got[OK] > 0 {
			t.Errorf("%d runs a side of the same: %v, want inconclusive only", k, got)
		}
	}
	if got := outcomes(t, m, 40, 1, 1.6); got[Regression] < 38 {
		t.Errorf("one run a side, 60 %% slower: %v", got)
	}
	if got := outcomes(t, m, 40, 1, 1.08); got[Regression] > 3 {
		t.Errorf("one run a side, 8 %% slower: %v", got)
	}
	m.seconds = 5
	if got := outcomes(t, m, 20, 1, 1.6); got[Inconclusive] != 20 {
		t.Errorf("runs of five seconds: %v", got)
	}
}

func TestSpreadIsMeasuredOnASideWithManyRuns(t *testing.T) {
	m := simulation(7)
	m.seconds, m.spread = 60, 0.01
	var base []Run
	for range 6 {
		base = append(base, m.run(1))
	}
	r, err := Compare(base, []Run{m.run(1.12)}, Options{Spread: 0.2})
	if err != nil {
		t.Fatal(err)
	}
	if r.Outcome != Regression {
		t.Errorf("%s %v", r.Outcome, r.Reasons)
	}
}

func TestErrorsAndThroughput(t *testing.T) {
	m := simulation(8)
	base, news := m.sides(6, 1)
	for i := range news {
		failed, rate := 0.01+float64(i)/1000, 50+float64(i)
		news[i].Summary.Total.ErrorRate, news[i].Summary.Total.ThroughputPS = &failed, &rate
	}
	r, err := Compare(base, news, Options{})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]Outcome{}
	for _, row := range r.Rows {
		got[row.Figure] = row.Outcome
	}
	want := map[string]Outcome{"p50": OK, "p95": OK, "p99": OK, "error rate": Regression, "throughput": Regression}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(r.Reasons) != 2 || !strings.Contains(r.Reasons[0], "total error rate: +1.2 points") {
		t.Errorf("%q", r.Reasons)
	}
}

func TestTooManySeriesForTheRuns(t *testing.T) {
	m := simulation(9)
	m.series, m.samples = 15, 400
	base, news := m.sides(6, 1.3)
	r, err := Compare(base, news, Options{})
	if err != nil {
		t.Fatal(err)
	}
	last := r.Rows[len(r.Rows)-1]
	if r.Outcome != Regression || last.Outcome != NotJudged || last.Reason != "too few runs for 60 figures: 7 a side would do" {
		t.Errorf("%s, %+v", r.Outcome, last)
	}
}

func TestSeriesAlone(t *testing.T) {
	m := simulation(10)
	m.series = 3
	base, news := m.sides(6, 1)
	for _, run := range news {
		slow := *run.Summary.Series[1].ResponseNS.P95 * 2
		run.Summary.Series[1].ResponseNS.P95 = &slow
		run.Summary.Series[2].ResponseNS.P99 = nil
	}
	news[0].Summary.Series = append(news[0].Summary.Series, stats.Series{Group: "shop", Name: "new step", Kind: "http", Phase: "load"},
		stats.Series{Group: "", Name: "login", Kind: "http", Phase: "setup"})
	r, err := Compare(base, news, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var bad, left []string
	for _, row := range r.Rows {
		switch row.Outcome {
		case Regression:
			bad = append(bad, row.title())
		case NotJudged:
			left = append(left, row.title()+": "+row.Reason)
		}
	}
	if diff := cmp.Diff([]string{"shop / step 1 p95"}, bad); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if len(left) != 1 || !strings.HasPrefix(left[0], "shop / step 2 p99: too few samples in run-") {
		t.Errorf("%q", left)
	}
	if !slices.ContainsFunc(r.Warnings, func(w string) bool {
		return strings.HasPrefix(w, "shop / new step is not compared: run-1 has no such series")
	}) || strings.Contains(strings.Join(r.Warnings, " "), "login") {
		t.Errorf("%q", r.Warnings)
	}
}

func TestIncomparable(t *testing.T) {
	for want, spoil := range map[string]func(a, b *stats.Summary){
		"run-2 ran another plan than run-1":                                           func(_, b *stats.Summary) { b.PlanSHA256 = "other" },
		"run-2 ran group shop with another load (20 threads) than run-1 (10 threads)": func(_, b *stats.Summary) { b.Groups = []stats.Group{{Name: "shop", Load: "20 threads"}} },
		"run-2 ran other thread groups than run-1":                                    func(_, b *stats.Summary) { b.Groups = nil },
		"run-1 is a part of a run that was killed":                                    func(a, _ *stats.Summary) { a.Partial = true },
		"run-2 was interrupted":                                                       func(_, b *stats.Summary) { b.Verdict = stats.Interrupted },
		"run-2 has no samples":                                                        func(_, b *stats.Summary) { b.Total.Count = 0 },
		"run-1 and run-2 are the same run":                                            func(a, b *stats.Summary) { b.RunID = a.RunID },
		"the load generator was limited in 0 of 1 base run and 1 of 1 new run: the machine, not the target, may have made the difference": func(_, b *stats.Summary) { b.Generator.Verdict = "limited" },
		"run-2 is invalid: the load generator did not keep up":                                                                            func(_, b *stats.Summary) { b.Generator.Verdict = "invalid" },
		"run-2 was interrupted; run-1 and run-2 are the same run; run-2 ran another plan than run-1":                                      func(a, b *stats.Summary) { b.Verdict, b.RunID, b.PlanSHA256 = stats.Interrupted, a.RunID, "x" },
	} {
		m := simulation(11)
		a, b := m.run(1), m.run(1)
		spoil(a.Summary, b.Summary)
		_, err := Compare([]Run{a}, []Run{b}, Options{})
		var bad *IncomparableError
		if !errors.As(err, &bad) || strings.Join(bad.Reasons, "; ") != want {
			t.Errorf("%v, want %s", err, want)
			continue
		}
		r, err := Compare([]Run{a}, []Run{b}, Options{Force: true})
		if err != nil || len(r.Warnings) < len(bad.Reasons) || r.Warnings[0] != bad.Reasons[0] {
			t.Errorf("forced: %v %+v", err, r)
		}
	}
	if _, err := Compare(nil, []Run{simulation(1).run(1)}, Options{}); err == nil {
		t.Error("no base run is an error")
	}
	if _, err := Compare(make([]Run, maxRuns+1), make([]Run, 1), Options{}); err == nil {
		t.Error("too many runs are an error")
	}
}

func TestWarnings(t *testing.T) {
	m := simulation(12)
	base, news := []Run{m.run(1), m.run(1)}, []Run{m.run(1), m.run(1)}
	s := news[1].Summary
	s.Environment.Host, s.Environment.CPUs, s.RunnerVersion, s.DurationNS = "b", 4, "2", s.DurationNS*2
	r, err := Compare(base, news, Options{})
	if err != nil {
		t.Fatal(err)
	}
	all := strings.Join(r.Warnings, "\n")
	for _, want := range []string{"on one machine", "differ in CPUs", "one version of runner", "differ in length (1m0s, 2m0s)", "take turns"} {
		if !strings.Contains(all, want) {
			t.Errorf("%q is not in\n%s", want, all)
		}
	}
}

func TestSameInputsSameAnswer(t *testing.T) {
	m := simulation(13)
	m.seconds = 30
	a, b := m.run(1), m.run(1.2)
	var texts []string
	for range 2 {
		r, err := Compare([]Run{a}, []Run{b}, Options{Seed: 5})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		if err := r.WriteJSON(&out); err != nil {
			t.Fatal(err)
		}
		texts = append(texts, out.String())
	}
	if texts[0] != texts[1] {
		t.Error("two answers")
	}
	var back Result
	if err := json.Unmarshal([]byte(texts[0]), &back); err != nil || back.Schema != ResultSchema || len(back.Rows) != 5 {
		t.Errorf("%v %+v", err, back)
	}
}

func TestText(t *testing.T) {
	m := simulation(14)
	m.series = 1
	base, news := m.sides(6, 1.5)
	news[0].Summary.Plan = "Shop\x1b[31m\u202e"
	r, err := Compare(base, news, Options{})
	if err != nil {
		t.Fatal(err)
	}
	var out, quiet, html bytes.Buffer
	if err := errors.Join(r.WriteText(&out, TextOptions{}), r.WriteText(&quiet, TextOptions{Quiet: true, Colour: true}), r.WriteHTML(&html)); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"Shop[31m: 6 new runs against 6 base runs\n", "shop / step 0  p95", "REGRESSION\n", "exact one-sided rank sum over 6 and 6 runs"} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("%q is not in\n%s", want, out.String())
		}
	}
	if strings.Contains(out.String(), "\x1b") || !strings.HasSuffix(quiet.String(), "\x1b[31mREGRESSION\x1b[0m\n") || strings.Contains(quiet.String(), "series") {
		t.Errorf("quiet: %q", quiet.String())
	}
	for _, want := range []string{"REGRESSION", "<svg", "step 0", "new-dot"} {
		if !strings.Contains(html.String(), want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	for _, bad := range []string{"<script", "http://", "https://", "src="} {
		if strings.Contains(html.String(), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
}

func TestNumbers(t *testing.T) {
	share, rate, ns := Row{Unit: "share"}, Row{Unit: "per_second"}, Row{Unit: "ns"}
	v := func(f float64) *float64 { return &f }
	for got, want := range map[string]string{
		share.value(v(0.0123)): "1.23 %", rate.value(v(1234.56)): "1235/s", ns.value(v(12_345_678)): "12.3 ms", ns.value(v(999)): "999 ns",
		ns.value(v(1.5e9)): "1.5 s", ns.value(v(2500)): "2.5 µs", ns.value(nil): "n/a", share.spoken(0.012): "+1.2 points",
		ns.spoken(-0.1): "-10.0 %", ns.spoken(0): "+0.0 %", ns.spoken(-0.00001): "+0.0 %", short(0.0001): "1.0e-04", percent(0.05): "5 %",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
