package stats

import "math"

// Bounds of what charts get.
const maxBars = 40

// describe returns the distribution with the data for its charts, nil if there is
// no value. The effects are those of the samples' order in time.
func (h *Histogram) describe(e effects) *Distribution {
	if h.n == 0 {
		return nil
	}
	return &Distribution{
		Min: h.min, Mean: h.Mean(), StdDev: h.StdDev(), Max: h.max,
		P50: h.supported(50), P75: h.supported(75), P90: h.supported(90), P95: h.supported(95), P99: h.supported(99), P999: h.supported(99.9),
		P95CI: h.interval(95, e.p95), P99CI: h.interval(99, e.p99), P95Effect: e.p95, P99Effect: e.p99,
		Curve: h.curve(), Bars: h.bars(),
	}
}

// curvePercents are the points of a percentile curve, closer towards the tail.
func curvePercents() []float64 {
	var out []float64
	for p := 0; p < 90; p += 5 {
		out = append(out, float64(p))
	}
	for p := 9000; p < 9900; p += 100 {
		out = append(out, float64(p)/100)
	}
	for p := 9900; p < 9990; p += 10 {
		out = append(out, float64(p)/100)
	}
	for p := 9990; p < 10000; p++ {
		out = append(out, float64(p)/100)
	}
	return append(out, 99.999)
}

// curve returns the percentile curve: plain percentiles up to the one whose rank
// is the last value, then the maximum.
func (h *Histogram) curve() []CurvePoint {
	out := []CurvePoint{}
	s := h.sparse()
	percents := curvePercents()
	values := s.percentiles(percents...)
	for i, p := range percents {
		if p > 0 && rankOf(p, h.n) >= h.n {
			break
		}
		v := values[i]
		if p == 0 {
			v = h.min
		}
		out = append(out, CurvePoint{Percentile: p, NS: v})
	}
	return append(out, CurvePoint{Percentile: 100, NS: h.max})
}

// bars returns the counts in at most maxBars bars from minimum to maximum: equal
// steps, or equal ratios where the values span more than a factor of 20.
func (h *Histogram) bars() []Bar {
	edges := barEdges(h.min, h.max)
	out := make([]Bar, 0, len(edges)-1)
	for i := range len(edges) - 1 {
		out = append(out, Bar{FromNS: edges[i], ToNS: edges[i+1]})
	}
	at := 0
	h.each(func(index int, n int64) bool {
		v := min(max(upperEnd(index), h.min), h.max)
		for at < len(out)-1 && v >= out[at].ToNS {
			at++
		}
		out[at].Count += n
		return true
	})
	return out
}

func barEdges(lo, hi int64) []int64 {
	if hi <= lo {
		return []int64{lo, lo + 1}
	}
	edges := []int64{lo}
	from, to := float64(max(lo, 1)), float64(hi)+1
	ratio := to/from > 20
	for i := 1; i <= maxBars; i++ {
		share := float64(i) / maxBars
		edge := float64(lo) + (to-float64(lo))*share
		if ratio {
			edge = from * math.Pow(to/from, share)
		}
		v := int64(math.Round(edge))
		if i == maxBars {
			v = hi + 1
		}
		if v > edges[len(edges)-1] {
			edges = append(edges, v)
		}
	}
	return edges
}
