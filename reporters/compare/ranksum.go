package compare

import (
	"math"
	"slices"
)

// maxRuns is the most runs of a side: the exact distribution stays cheap, and
// more of them tell nothing new.
const maxRuns = 30

// rankSum returns the exact one-sided p-value of the Wilcoxon–Mann–Whitney test
// that values of b are larger than those of a: the share of all ways to choose
// len(b) of the pooled values whose rank sum is at least that of b. Ties have
// their mean rank; the distribution is conditional on them.
func rankSum(a, b []float64) float64 {
	ranks, total := doubledRanks(a, b)
	observed := 0
	for _, r := range ranks[len(a):] {
		observed += r
	}
	// ways[m][s]: the share of choices of m of the ranks so far with the sum s,
	// kept as a number of ways over the number of all choices of m, so that
	// nothing overflows.
	n, m := len(ranks), len(b)
	ways := make([][]float64, m+1)
	for i := range ways {
		ways[i] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for _, r := range ranks {
		for k := m; k >= 1; k-- {
			for s := total; s >= r; s-- {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	at := 0.0
	for s := observed; s <= total; s++ {
		at += ways[m][s]
	}
	return math.Min(1, at/choose(n, m))
}

// doubledRanks returns twice the mean rank of each value of a, then of b, and
// their sum: whole numbers also where there are ties.
func doubledRanks(a, b []float64) (ranks []int, total int) {
	all := slices.Concat(a, b)
	sorted := slices.Clone(all)
	slices.Sort(sorted)
	for _, v := range all {
		first, _ := slices.BinarySearch(sorted, v)
		last := first
		for last < len(sorted) && sorted[last] == v {
			last++
		}
		r := first + 1 + last // ranks first+1 … last
		ranks = append(ranks, r)
		total += r
	}
	return ranks, total
}

// leastP returns the smallest p-value that rankSum can give for sides of that
// size.
func leastP(a, b int) float64 { return 1 / choose(a+b, b) }

func choose(n, k int) float64 {
	c := 1.0
	for i := 1; i <= min(k, n-k); i++ {
		c = c * float64(n-min(k, n-k)+i) / float64(i)
	}
	return math.Round(c)
}

// holm returns the p-values adjusted for their number (Holm 1979): an effect is
// significant at a level if its adjusted value is not above it.
func holm(p []float64) []float64 {
	order := make([]int, len(p))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int {
		switch {
		case p[i] < p[j]:
			return -1
		case p[i] > p[j]:
			return 1
		}
		return 0
	})
	out := make([]float64, len(p))
	worst := 0.0
	for k, i := range order {
		worst = max(worst, min(1, float64(len(p)-k)*p[i]))
		out[i] = worst
	}
	return out
}

// shift returns the Hodges–Lehmann estimate of how much larger b is than a: the
// median of all differences. It goes with the rank sum as the mean goes with the
// t-test.
func shift(a, b []float64) float64 {
	var d []float64
	for _, x := range a {
		for _, y := range b {
			d = append(d, y-x)
		}
	}
	return median(d)
}

// median returns the middle value, or the mean of the two; of none 0.
func median(values []float64) float64 {
	v := slices.Sorted(slices.Values(values))
	switch n := len(v); {
	case n == 0:
		return 0
	case n%2 == 1:
		return v[n/2]
	default:
		return (v[n/2-1] + v[n/2]) / 2
	}
}

// noise is the deviation that rounding alone makes of equal values, on the scales
// of differences: shares and logarithms.
const noise = 1e-9

// deviation returns the standard deviation of a sample; what is no more than noise
// is 0.
func deviation(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	mean := 0.0
	for _, v := range values {
		mean += v / float64(len(values))
	}
	sum := 0.0
	for _, v := range values {
		sum += (v - mean) * (v - mean)
	}
	d := math.Sqrt(sum / float64(len(values)-1))
	if d < noise {
		return 0
	}
	return d
}
