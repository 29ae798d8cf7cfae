package stats

import "math"

// confidence is how often an interval of order statistics holds the true
// percentile, whatever the distribution.
const confidence = 0.95

// exactBelow is up to how many samples the binomial distribution is summed up;
// beyond, the normal one is as good.
const exactBelow = 10_000

// ranksAround returns the ranks of the order statistics that enclose a percentile
// with the confidence: P(X < low) and P(X ≥ high) are at most half the rest each
// for X binomial(n, p), the number of values below the percentile. ok is false
// where n is too small for either end.
func ranksAround(percent float64, n int64) (low, high int64, ok bool) {
	p := percent / 100
	if n < 1 || !(p > 0) || p >= 1 {
		return 0, 0, false
	}
	tail := (1 - confidence) / 2
	if n > exactBelow {
		half := 1.959964 * math.Sqrt(float64(n)*p*(1-p))
		low, high = int64(math.Floor(float64(n)*p-half)), int64(math.Ceil(float64(n)*p+half))+1
	} else {
		low, high = binomialRanks(n, p, tail)
	}
	return low, high, low >= 1 && high <= n
}

// binomialRanks returns the largest low with P(X < low) ≤ tail and the smallest
// high with P(X ≥ high) ≤ tail.
func binomialRanks(n int64, p, tail float64) (low, high int64) {
	reach := 10*math.Sqrt(float64(n)*p*(1-p)) + 10 // what lies farther out is nothing
	from, to := max(0, int64(float64(n)*p-reach)), min(n, int64(float64(n)*p+reach))
	below := 0.0
	for k := from; k <= to; k++ {
		below += binomial(k, n, p)
		if below > tail {
			low = k
			break
		}
	}
	above := 0.0
	for k := to; k >= from; k-- {
		above += binomial(k, n, p)
		if above > tail {
			return low, k + 1
		}
	}
	return low, n + 1
}

// binomial is P(X = k) for X binomial(n, p), 0 < p < 1.
func binomial(k, n int64, p float64) float64 {
	lg := func(v int64) float64 {
		x, _ := math.Lgamma(float64(v) + 1)
		return x
	}
	return math.Exp(lg(n) - lg(k) - lg(n-k) + float64(k)*math.Log(p) + float64(n-k)*math.Log1p(-p))
}

// atLeast is P(X ≥ k) for X binomial(n, p).
func atLeast(k, n int64, p float64) float64 {
	sum := 0.0
	for i := int64(0); i < k; i++ {
		sum += binomial(i, n, p)
	}
	return max(0, 1-sum)
}

// spread moves ranks away from the percentile's own, n·p, as far as a variance
// larger by the effect needs. ok is false where n is too small for either end.
func spread(low, high int64, percent float64, n int64, effect float64) (_, _ int64, ok bool) {
	if !(effect > 1) {
		return low, high, true
	}
	middle, by := float64(n)*percent/100, math.Sqrt(effect)
	below, above := middle-(middle-float64(low))*by, middle+(float64(high)-middle)*by
	if below < 1 || above > float64(n) {
		return 0, 0, false
	}
	return int64(math.Floor(below)), int64(math.Ceil(above)), true
}

// interval returns the confidence interval of a percentile, nil where there are
// too few values. effect is the design effect, 0 where it is not known.
func (h *Histogram) interval(percent, effect float64) *Interval {
	low, high, ok := ranksAround(percent, h.n)
	if !ok || !Enough(percent, h.n) {
		return nil
	}
	if low, high, ok = spread(low, high, percent, h.n, effect); !ok {
		return nil
	}
	return &Interval{h.ranked(low), h.ranked(high)}
}

// ranked returns the rank-th smallest value, as precise as its bucket.
func (h *Histogram) ranked(rank int64) int64 {
	switch {
	case rank <= 1:
		return h.min
	case rank >= h.n:
		return h.max
	}
	value, seen := h.max, int64(0)
	h.each(func(index int, n int64) bool {
		if seen += n; seen >= rank {
			value = upperEnd(index)
			return false
		}
		return true
	})
	return min(max(value, h.min), h.max)
}

// above counts the values above a limit, as precise as the limit's bucket.
func (h *Histogram) above(limit int64) int64 {
	last, sum := indexOf(min(max(limit, 0), highestValue)), int64(0)
	h.each(func(index int, n int64) bool {
		if index > last {
			sum += n
		}
		return true
	})
	return sum
}
