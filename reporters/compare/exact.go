package compare

import "math"

const (
	mostCounted = 1e12 // beyond it the logarithms of factorials are too coarse
	mostTerms   = 1_000_000
)

// fisher returns the exact one-sided p-value of Fisher's test that a share rose:
// the chance of at least y hits among n, given x among m and the sum of both
// (hypergeometric). Where y is no more than expected, or the counts are no counts,
// it is 1.
func fisher(x, m, y, n int64) float64 {
	if x < 0 || y < 0 || m < x || n < y || m > mostCounted || n > mostCounted {
		return 1
	}
	k, all := float64(x+y), float64(m+n)
	if all == 0 || float64(y)*all <= k*float64(n) {
		return 1
	}
	term := math.Exp(logChoose(float64(n), float64(y)) + logChoose(float64(m), float64(x)) - logChoose(all, k))
	sum := term
	// From the expected value on each term is smaller than the one before by a factor
	// that falls: what a cut leaves over is less than a geometric series.
	for i := range mostTerms {
		at, left := float64(y)+float64(i), float64(x)-float64(i) // hits on both sides
		ratio := (float64(n) - at) * left / ((at + 1) * (float64(m) - left + 1))
		if ratio <= 0 || term <= 0 {
			break
		}
		if term *= ratio; term < sum*1e-15 || i == mostTerms-1 {
			sum += term / (1 - ratio)
			break
		}
		sum += term
	}
	return math.Min(1, sum)
}

// logChoose returns ln(n over k).
func logChoose(n, k float64) float64 {
	of := func(v float64) float64 { l, _ := math.Lgamma(v + 1); return l }
	return of(n) - of(k) - of(n-k)
}
