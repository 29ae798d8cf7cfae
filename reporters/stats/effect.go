package stats

import "math"

// Response times of neighbouring samples depend on each other: a slow moment hits
// many. So a percentile is less certain than that many independent samples make
// it. How much less is estimated from the timeline, whose intervals are blocks.

// block is what one interval of the timeline has of a series, or of one of several.
type block struct {
	interval int
	point    *point
}

// blocks returns each row's blocks in the order of time.
func (t *timeline) blocks(rows int) [][]block {
	out := make([][]block, rows)
	for i := range t.columns {
		for k := range t.columns[i].points {
			if p := &t.columns[i].points[k]; p.series < rows {
				out[p.series] = append(out[p.series], block{i, p})
			}
		}
	}
	return out
}

// blocksOf returns the blocks of several rows together.
func (t *timeline) blocksOf(rows map[int]bool) []block {
	var out []block
	for i := range t.columns {
		for k := range t.columns[i].points {
			if p := &t.columns[i].points[k]; rows[p.series] {
				out = append(out, block{i, p})
			}
		}
	}
	return out
}

// byChance is how many of its standard errors an effect of independent samples
// exceeds in one case of twenty.
const byChance = 1.645

// enoughBlocks are needed to estimate an effect.
const enoughBlocks = 20

// effects are the design effects of the response times' p95 and p99: the variance
// of the share of samples up to the percentile, over that of as many independent
// ones. At least 1; 0 where it cannot be estimated.
type effects struct{ p95, p99 float64 }

// effectsOf estimates the effects of two percentiles, low ≤ high.
func effectsOf(blocks []block, low, high int64) effects {
	var all [2]ratio
	limits := [2]int{coarse(indexOf(min(low, highestValue))), coarse(indexOf(min(high, highestValue)))}
	for i := 0; i < len(blocks); {
		n, up := int64(0), [2]int64{}
		k := i
		for ; k < len(blocks) && blocks[k].interval == blocks[i].interval; k++ {
			h := &blocks[k].point.hist
			n += h.n
			h.upTo(limits, &up)
		}
		i = k
		for q := range all {
			all[q].add(float64(n), float64(up[q]))
		}
	}
	return effects{all[0].effect(), all[1].effect()}
}

// upTo adds how many values lie in buckets up to each limit, which ascend.
func (s *sparse) upTo(limits [2]int, sum *[2]int64) {
	for p := s.pairs(); p.next() && p.index <= limits[1]; {
		sum[1] += p.n
		if p.index <= limits[0] {
			sum[0] += p.n
		}
	}
}

// ratio adds up blocks of n samples, of which k count.
type ratio struct {
	blocks     float64
	n, k       float64
	nn, nk, kk float64
}

func (r *ratio) add(n, k float64) {
	if n == 0 {
		return
	}
	r.blocks++
	r.n, r.k = r.n+n, r.k+k
	r.nn, r.nk, r.kk = r.nn+n*n, r.nk+n*k, r.kk+k*k
}

// effect is the variance of the ratio k/n with blocks as the units, B/(B−1)·Σ(k −
// p·n)²/n² (Cochran, Sampling Techniques, 6.3), over that of independent samples,
// p(1−p)/n. For independent samples it is 1 with a variance of 2/B + 1/(n·p(1−p)),
// that of the squares of B binomial numbers; what they reach by chance is no effect.
func (r *ratio) effect() float64 {
	if r.blocks < enoughBlocks {
		return 0
	}
	p := r.k / r.n
	if p <= 0 || p >= 1 {
		return 1
	}
	within := r.n * p * (1 - p)
	e := r.blocks / (r.blocks - 1) * (r.kk - 2*p*r.nk + p*p*r.nn) / within
	if chance := math.Sqrt(2/r.blocks + 1/within); e < 1+byChance*chance {
		return 1
	}
	return e
}
