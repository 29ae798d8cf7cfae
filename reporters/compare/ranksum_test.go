package compare

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"
)

// withU returns samples of n values each without ties in which b is larger but
// for u of the pairs.
func withU(n, u int) (a, b []float64) {
	taken := map[int]bool{}
	for i := 1; i <= n; i++ {
		down := min(n, u)
		u -= down
		b = append(b, float64(n+i-down))
		taken[n+i-down] = true
	}
	for r := 1; r <= 2*n; r++ {
		if !taken[r] {
			a = append(a, float64(r))
		}
	}
	return a, b
}

// TestRankSumAgainstTables uses the published critical values of U for one-sided
// tests (Mann and Whitney 1947; Milton 1964).
func TestRankSumAgainstTables(t *testing.T) {
	for level, table := range map[float64]map[int]int{
		0.05: {3: 0, 4: 1, 5: 4, 6: 7, 7: 11, 8: 15, 9: 21, 10: 27, 12: 42, 15: 72, 20: 138},
		0.01: {5: 1, 6: 3, 7: 6, 8: 9, 9: 14, 10: 19, 20: 114},
	} {
		for n, u := range table {
			a, b := withU(n, u)
			c, d := withU(n, u+1)
			if p, q := rankSum(a, b), rankSum(c, d); p > level || q <= level {
				t.Errorf("level %g, n = %d: p(U = %d) = %g, p(U = %d) = %g", level, n, u, p, u+1, q)
			}
		}
	}
	for _, tt := range []struct{ n, u, ways, of int }{{3, 0, 1, 20}, {4, 0, 1, 70}, {5, 0, 1, 252}, {5, 4, 12, 252}, {6, 0, 1, 924}, {6, 7, 43, 924}} {
		a, b := withU(tt.n, tt.u)
		if p, want := rankSum(a, b), float64(tt.ways)/float64(tt.of); math.Abs(p-want) > 1e-12 {
			t.Errorf("n = %d, U = %d: p = %g, want %g", tt.n, tt.u, p, want)
		}
	}
}

// TestRankSumIsTheShareOfChoices compares with an enumeration of all choices, with
// ties and sides of different size.
func TestRankSumIsTheShareOfChoices(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	for range 300 {
		n, m := 1+r.IntN(5), 1+r.IntN(5)
		all := make([]float64, n+m)
		for i := range all {
			all[i] = float64(r.IntN(4))
		}
		ranks, _ := doubledRanks(all[:n], all[n:])
		sum := func(set uint) (s int) {
			for i, rank := range ranks {
				if set>>i&1 == 1 {
					s += rank
				}
			}
			return s
		}
		observed, ways, choices := sum((1<<m-1)<<n), 0, 0
		for set := uint(0); set < 1<<(n+m); set++ {
			if bits.OnesCount(set) == m {
				choices++
				if sum(set) >= observed {
					ways++
				}
			}
		}
		if p, want := rankSum(all[:n], all[n:]), float64(ways)/float64(choices); math.Abs(p-want) > 1e-12 {
			t.Fatalf("%v: p = %g, want %g", all, p, want)
		}
	}
}

func TestRankSumOfTheMostRuns(t *testing.T) {
	a, b := withU(maxRuns, maxRuns*maxRuns/2)
	if p := rankSum(a, b); math.Abs(p-0.5) > 0.01 {
		t.Errorf("p = %g", p)
	}
	if p := rankSum(make([]float64, maxRuns), make([]float64, maxRuns)); p != 1 {
		t.Errorf("all equal: p = %g", p)
	}
}

func TestHolm(t *testing.T) {
	got := holm([]float64{0.01, 0.04, 0.03, 0.005}) // the example of Wright 1992
	for i, want := range []float64{0.03, 0.06, 0.06, 0.02} {
		if math.Abs(got[i]-want) > 1e-12 {
			t.Errorf("%v: number %d, want %g", got, i, want)
		}
	}
	if p := holm([]float64{0.9, 0.8}); p[0] != 1 || p[1] != 1 {
		t.Errorf("above one: %v", p)
	}
}

func TestShiftAndSpread(t *testing.T) {
	if d := shift([]float64{1, 2, 30}, []float64{3, 4, 32}); d != 2 {
		t.Errorf("shift %g", d)
	}
	if m := median([]float64{4, 1, 3, 2}); m != 2.5 {
		t.Errorf("median %g", m)
	}
	if s := deviation([]float64{2, 4, 4, 4, 5, 5, 7, 9}); math.Abs(s-2.138) > 0.001 {
		t.Errorf("deviation %g", s)
	}
	if median(nil) != 0 || deviation([]float64{1}) != 0 {
		t.Error("of none")
	}
}

func TestBootstrapCoversTheDifference(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	series := func(mean float64) []float64 {
		out, z := make([]float64, 120), 0.0
		for i := range out { // neighbours depend on each other
			z = 0.5*z + r.NormFloat64()
			out[i] = mean + 0.1*z
		}
		return out
	}
	covered := 0
	const trials = 200
	for range trials {
		low, high, ok := bootstrap([][]float64{series(1)}, [][]float64{series(1.3)}, r)
		if !ok || low > high {
			t.Fatalf("%v from %g to %g", ok, low, high)
		}
		if low <= 0.3 && 0.3 <= high {
			covered++
		}
	}
	if covered < trials*80/100 || covered == trials {
		t.Errorf("%d of %d intervals cover the difference", covered, trials)
	}
	if _, _, ok := bootstrap([][]float64{series(1)}, [][]float64{make([]float64, fewIntervals-1)}, r); ok {
		t.Error("so few intervals say nothing")
	}
	if blocks := slices.Repeat([]float64{7}, 25); blockMean(blocks, r) != 7 {
		t.Error("the mean of equal values")
	}
}
