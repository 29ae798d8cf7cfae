package stats

import (
	"math"
	"math/rand/v2"
	"testing"
	"time"
)

// covered simulates runs of blocks of samples and returns how often the intervals
// of p95 and p99 hold the true percentiles. fill records a block's samples.
func covered(trials, count int, fill func(h *Histogram, pool *pagePool)) (p95, p99 float64) {
	truth := [2]int64{responseAt(.95), responseAt(.99)}
	var held [2]int
	var all, one Histogram
	var pool pagePool
	points, blocks := make([]point, count), make([]block, count)
	for range trials {
		for i := range blocks {
			fill(&one, &pool)
			all.merge(&one, &pool)
			points[i] = point{hist: one.sparse()}
			blocks[i] = block{i, &points[i]}
			one.release(&pool)
		}
		e := effectsOf(blocks, all.Percentile(95), all.Percentile(99))
		for q, v := range []*Interval{all.interval(95, e.p95), all.interval(99, e.p99)} {
			if v != nil && v.Low <= truth[q] && truth[q] <= v.High {
				held[q]++
			}
		}
		all.release(&pool)
	}
	return float64(held[0]) / float64(trials), float64(held[1]) / float64(trials)
}

// slowest is the share from which on times differ.
const slowest = 0.93

// responseAt is the response time at a share of the distribution; only that of
// the slowest matters.
func responseAt(share float64) int64 {
	return int64(float64(20*time.Millisecond) * math.Exp(40*max(0, share-slowest)))
}

func TestIntervalsCoverIndependentSamples(t *testing.T) {
	trials, margin := 10_000, 0.01
	if testing.Short() || raceEnabled {
		trials, margin = 1000, 0.02
	}
	const size = 140 // of a number of samples for which the ranks hold little more than 95 %
	r := rand.New(rand.NewPCG(1, 2))
	p95, p99 := covered(trials, 60, func(h *Histogram, pool *pagePool) {
		slow := int64(0)
		for i := r.ExpFloat64() / -math.Log(slowest); i < size; i = math.Floor(i) + 1 + r.ExpFloat64()/-math.Log(slowest) {
			h.record(responseAt(slowest+(1-slowest)*r.Float64()), pool)
			slow++
		}
		fast := responseAt(0)
		h.record(fast, pool)
		h.bump(indexOf(fast), size-1-slow, pool)
		h.mergeTotals(&Histogram{n: size - 1 - slow, min: fast, max: fast})
	})
	t.Logf("p95 %.4f, p99 %.4f", p95, p99)
	if math.Abs(p95-.95) > margin || math.Abs(p99-.95) > margin {
		t.Errorf("the intervals hold p95 in %.4f and p99 in %.4f of %d runs, want 0.95", p95, p99, trials)
	}
}

// TestIntervalsCoverDependentSamples: of an AR(1) process with φ = 0.9, where
// intervals that assume independence hold in about half of the runs.
func TestIntervalsCoverDependentSamples(t *testing.T) {
	trials := 1000
	if testing.Short() || raceEnabled {
		trials = 200
	}
	const phi = 0.9
	r := rand.New(rand.NewPCG(3, 4))
	z := r.NormFloat64()
	p95, p99 := covered(trials, 60, func(h *Histogram, pool *pagePool) {
		for range 100 {
			z = phi*z + math.Sqrt(1-phi*phi)*r.NormFloat64()
			h.record(responseAt(1-math.Erfc(z/math.Sqrt2)/2), pool)
		}
	})
	t.Logf("p95 %.4f, p99 %.4f", p95, p99)
	if p95 < .90 || p99 < .90 {
		t.Errorf("the intervals hold p95 in %.4f and p99 in %.4f of the runs, want 0.9 at least", p95, p99)
	}
}

// TestEffects computes one by hand: 20 blocks of 10 samples, in half of which four
// are above the limit and in half none.
func TestEffects(t *testing.T) {
	make20 := func(n int) (list []block) {
		for i := range n {
			var h Histogram
			for k := range 10 {
				v := time.Millisecond
				if i%2 == 0 && k < 4 {
					v = time.Second
				}
				h.Record(int64(v))
			}
			s := h.sparse()
			// two series share the interval
			a, b := point{hist: s}, point{}
			list = append(list, block{i, &a}, block{i, &b})
		}
		return list
	}
	// p = 0.8: Σ(k − 8)² = 80, over n·p·(1 − p) = 32, times 20/19.
	want := 80.0 / 32 * 20 / 19
	if e := effectsOf(make20(20), int64(time.Millisecond), int64(time.Second)); math.Abs(e.p95-want) > 1e-9 || e.p99 != 1 {
		t.Errorf("%+v, want %v and 1", e, want)
	}
	if e := effectsOf(make20(19), int64(time.Millisecond), int64(time.Second)); e != (effects{}) {
		t.Errorf("of 19 blocks: %+v", e)
	}
	if low, high, ok := spread(940, 960, 95, 1000, 4); !ok || low != 930 || high != 970 {
		t.Errorf("spread to %d and %d, %v", low, high, ok)
	}
	if _, _, ok := spread(940, 960, 95, 1000, 100); ok {
		t.Error("an interval beyond the samples")
	}
}

// TestEffectsStandInTheSummary: of each row and the total, and the same from the
// journal.
func TestEffectsStandInTheSummary(t *testing.T) {
	r := newRig(testLayout())
	for i := range 30 {
		for k := range 40 {
			took := time.Duration(10+k) * time.Millisecond
			if i%5 == 0 {
				took *= 3
			}
			r.run(0, sample(0, r.clock.at, took))
			r.run(1, sample(1, r.clock.at, time.Duration(10+(i*40+k)*7%400)*time.Millisecond))
		}
		r.second()
	}
	s := r.Summary(EndInfo{})
	slow, even, total := s.Series[0].ResponseNS, s.Series[1].ResponseNS, s.Total.ResponseNS
	if slow.P95Effect < 3 || slow.P95CI == nil || even.P95Effect < 1 || even.P95Effect > 1.5 || total.P95Effect < 1 {
		t.Errorf("slow times %v %v, even times %v, total %v", slow.P95Effect, slow.P95CI, even.P95Effect, total.P95Effect)
	}
}
