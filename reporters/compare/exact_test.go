package compare

import (
	"bytes"
	"errors"
	"math"
	"strings"
	"testing"

	"runner/reporters/stats"
)

func TestFisher(t *testing.T) {
	for _, c := range []struct {
		x, m, y, n int64
		want       float64
	}{
		{1, 4, 3, 4, 17.0 / 70}, // Fisher's tea, 1935
		{0, 6, 6, 6, 1.0 / 924},
		{2, 6, 6, 6, 15.0 / 495},
		{0, 300, 3, 300, 300.0 * 299 * 298 / (600 * 599 * 598)},
		{0, 4, 0, 4, 1}, {3, 4, 1, 4, 1}, {2, 4, 2, 4, 1}, {-1, 4, 2, 4, 1}, {5, 4, 2, 4, 1}, {0, 0, 0, 0, 1},
		{0, math.MaxInt64, 5, 5, 1},
	} {
		if got := fisher(c.x, c.m, c.y, c.n); math.Abs(got-c.want) > 1e-9*c.want {
			t.Errorf("%d of %d, %d of %d: %g, want %g", c.x, c.m, c.y, c.n, got, c.want)
		}
	}
	if p := fisher(0, 300, 300, 300); p > 1e-170 {
		t.Errorf("none against all of 300: %g", p)
	}
	// So large that the sum is cut: what is left over counts, so that it is not too small.
	if p := fisher(5e11, 1e12, 5e11+1000, 1e12); p < 0.49 || p > 1 {
		t.Errorf("hardly more of very many: %g", p)
	}
}

// TestErrorsInShortRuns compares counts of errors where the timeline is too short
// for the bootstrap.
func TestErrorsInShortRuns(t *testing.T) {
	for _, c := range []struct {
		base, news int64 // of 300
		want       Outcome
	}{{0, 300, Regression}, {0, 6, Regression}, {0, 4, Inconclusive}, {150, 158, Inconclusive}, {150, 190, Regression}, {300, 0, OK}, {0, 0, OK}} {
		m := simulation(20)
		m.samples, m.seconds, m.series = 300, 3, 1
		a, b := m.run(1), m.run(1)
		for run, failed := range map[Run]int64{a: c.base, b: c.news} {
			for _, s := range []*stats.Series{&run.Summary.Total, &run.Summary.Series[0]} {
				share := float64(failed) / 300
				s.Failed, s.ErrorRate = failed, &share
			}
		}
		r, err := Compare([]Run{a}, []Run{b}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Rows {
			if row.Figure == "error rate" && row.Outcome != c.want {
				t.Errorf("%d against %d of 300: %s is %s (%s), want %s", c.base, c.news, row.title(), row.Outcome, row.Reason, c.want)
			}
		}
	}
}

func TestSameRate(t *testing.T) {
	for name, c := range map[string]struct {
		change  float64
		dropped int64
		model   string
		want    Outcome
	}{
		"same":         {1.0004, 0, "open", OK},
		"other":        {1.001, 0, "open", Inconclusive},
		"dropped":      {1, 1, "open", Inconclusive},
		"closed model": {1, 0, "closed", Inconclusive},
	} {
		m := simulation(21)
		a, b := m.run(1), m.run(1)
		rate := *a.Summary.Total.ThroughputPS * c.change
		b.Summary.Total.ThroughputPS = &rate
		for _, r := range []Run{a, b} {
			r.Summary.Groups[0].Model, r.Summary.Groups[0].Scheduled, r.Summary.Groups[0].Iterations = c.model, 4000, 4000
		}
		b.Summary.Groups[0].Dropped, b.Summary.Groups[0].Iterations = c.dropped, 4000-c.dropped
		r, err := Compare([]Run{a}, []Run{b}, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range r.Rows {
			if row.Figure == "throughput" && row.Outcome != c.want {
				t.Errorf("%s: %s (%s), want %s", name, row.Outcome, row.Reason, c.want)
			}
			if row.Unit == "ns" && row.Outcome != Inconclusive {
				t.Errorf("%s: %s is %s", name, row.Figure, row.Outcome)
			}
		}
	}
}

func TestLimitedGenerators(t *testing.T) {
	for _, c := range []struct {
		runs, base, news int
		refused          bool
		want             string // "" for nothing said
	}{
		{6, 0, 0, false, ""},
		{6, 0, 1, false, "limited in 0 of 6 base runs and 1 of 6 new runs"},
		{6, 2, 6, false, "limited in 2 of 6 base runs and 6 of 6 new runs"},
		{6, 6, 6, false, "limited in 6 of 6 base runs and 6 of 6 new runs"},
		{6, 1, 6, true, "limited in 1 of 6 base runs and 6 of 6 new runs"},
		{6, 5, 0, true, "limited in 5 of 6 base runs and 0 of 6 new runs"},
		{2, 2, 0, true, "limited in 2 of 2 base runs and 0 of 2 new runs"},
		{2, 1, 2, false, "limited in 1 of 2 base runs and 2 of 2 new runs"},
		{1, 1, 1, false, "limited in 1 of 1 base run and 1 of 1 new run"},
	} {
		base, news := simulation(22).sides(c.runs, 1)
		for i := range c.base {
			base[i].Summary.Generator.Verdict = "limited"
		}
		for i := range c.news {
			news[i].Summary.Generator.Verdict = "limited"
		}
		r, err := Compare(base, news, Options{})
		var bad *IncomparableError
		said := ""
		switch {
		case errors.As(err, &bad):
			said = strings.Join(bad.Reasons, "\n")
		case err != nil:
			t.Fatal(err)
		default:
			said = strings.Join(r.Warnings, "\n")
		}
		if refused := bad != nil; refused != c.refused || !strings.Contains(said, c.want) || c.want == "" && strings.Contains(said, "limited") {
			t.Errorf("%d and %d of %d: refused %v, %q", c.base, c.news, c.runs, refused, said)
		}
	}
}

// TestNoSpread prints runs whose figures are the same but for rounding.
func TestNoSpread(t *testing.T) {
	var runs []Run
	for i := range 3 {
		r := simulation(23).run(1)
		share, rate := 0.058, 100+float64(i)*1e-12
		r.Summary.Total.ErrorRate, r.Summary.Total.ThroughputPS = &share, &rate
		runs = append(runs, r)
	}
	var b bytes.Buffer
	if err := WriteRuns(&b, runs); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), "0 points") || strings.Contains(b.String(), "e-") {
		t.Errorf("%s", b.String())
	}
}
