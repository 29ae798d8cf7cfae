package compare

import (
	"math"
	"math/rand/v2"
	"slices"

	"runner/reporters/stats"
)

const (
	replicates   = 1000
	fewIntervals = 10 // a bootstrap over fewer says nothing
)

// column returns a figure of a series over the intervals of a run, on the scale of
// differences; the first and the last interval, which are cut off, are left out.
func column(run Run, k key, f *figure) []float64 {
	t := &run.Summary.Timeline
	id := -1
	if k.kind != "total" {
		_, all := seriesOf(run.Summary)
		s := all[k]
		if s == nil {
			return nil
		}
		id = s.ID
	}
	i := slices.IndexFunc(t.Series, func(s stats.TimelineSeries) bool { return s.ID == id })
	if i < 0 {
		return nil
	}
	var out []float64
	for at := 1; at < len(t.TS)-1; at++ {
		length := t.IntervalS
		if at < len(t.LengthS) && t.LengthS[at] > 0 {
			length = t.LengthS[at]
		}
		if v, ok := f.column(&t.Series[i], length, at); ok {
			out = append(out, v)
		}
	}
	return out
}

// bootstrap returns the 95 % interval of the difference of the sides' means by
// the moving-block bootstrap (Künsch 1989): whole blocks of neighbouring
// intervals are drawn, so that their dependence is kept. Not ok with too few.
func bootstrap(base, news [][]float64, random *rand.Rand) (low, high float64, ok bool) {
	for _, run := range slices.Concat(base, news) {
		if len(run) < fewIntervals {
			return 0, 0, false
		}
	}
	if len(base) == 0 || len(news) == 0 {
		return 0, 0, false
	}
	d := make([]float64, replicates)
	for i := range d {
		d[i] = resampled(news, random) - resampled(base, random)
	}
	slices.Sort(d)
	return d[replicates*25/1000], d[replicates*975/1000-1], true
}

func resampled(runs [][]float64, random *rand.Rand) float64 {
	sum := 0.0
	for _, run := range runs {
		sum += blockMean(run, random)
	}
	return sum / float64(len(runs))
}

// blockMean is the mean of a resampled series in blocks of n^(1/3) intervals, at
// least two.
func blockMean(values []float64, random *rand.Rand) float64 {
	n := len(values)
	block := max(2, int(math.Cbrt(float64(n))+0.5))
	sum, taken := 0.0, 0
	for taken < n {
		at := random.IntN(n - block + 1)
		for _, v := range values[at : at+min(block, n-taken)] {
			sum += v
		}
		taken += min(block, n-taken)
	}
	return sum / float64(n)
}
