package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"time"

	"runner/reporters/stats"
)

// simulated makes runs as services do: log-normal response times that depend on
// their neighbours, and a level that differs from run to run.
type simulated struct {
	random   *rand.Rand
	samples  int     // of a run
	memory   float64 // autocorrelation of neighbouring samples
	spread   float64 // deviation of the level from run to run
	series   int
	seconds  int
	failures float64
	made     int
}

const bins = 8000 // of log times, a thousandth wide

// run makes one run whose times are slower by the factor.
func (m *simulated) run(slower float64) Run {
	m.made++
	s := &stats.Summary{
		Plan: "Simulated", PlanSHA256: "abc", RunID: fmt.Sprint("run", m.made), Verdict: stats.Passed, RunnerVersion: "1",
		Started: time.Unix(int64(m.made)*100, 0), DurationNS: int64(time.Minute),
		Generator: stats.Generator{Verdict: "ok"}, Groups: []stats.Group{{Name: "shop", Load: "10 threads"}},
	}
	level := math.Log(20e6*slower) + m.spread*m.random.NormFloat64()
	s.Total = m.one(level, -1, s)
	for i := range m.series {
		s.Series = append(s.Series, m.one(level, i, s))
	}
	s.Timeline.IntervalS = 1
	for i := range m.seconds {
		s.Timeline.TS = append(s.Timeline.TS, float64(i))
	}
	return Run{fmt.Sprint("run-", m.made), s}
}

func (m *simulated) one(level float64, id int, s *stats.Summary) stats.Series {
	var counts [bins]int
	z, fresh := m.random.NormFloat64(), math.Sqrt(1-m.memory*m.memory)
	for range m.samples {
		z = m.memory*z + fresh*m.random.NormFloat64()
		counts[min(bins-1, max(0, int(4000+400*z)))]++
	}
	at := func(p float64) *int64 {
		left := int(math.Ceil(p * float64(m.samples)))
		for i, n := range counts {
			if left -= n; left <= 0 {
				ns := int64(math.Exp(level + float64(i-4000)/1000))
				return &ns
			}
		}
		return nil
	}
	failed := int64(0)
	for range m.samples / 100 {
		if m.random.Float64() < m.failures {
			failed += 100
		}
	}
	share := float64(failed) / float64(m.samples)
	rate := float64(m.samples) / 60 * math.Exp(0.002*m.random.NormFloat64())
	m.timeline(level, id, s)
	return stats.Series{
		ID: id, Group: "shop", Name: fmt.Sprint("step ", id), Kind: "http", Phase: "load", Count: int64(m.samples), Failed: failed,
		ErrorRate: &share, ThroughputPS: &rate, ResponseNS: &stats.Distribution{P50: at(0.5), P95: at(0.95), P99: at(0.99)},
	}
}

func (m *simulated) timeline(level float64, id int, s *stats.Summary) {
	line := stats.TimelineSeries{ID: id}
	for range m.seconds {
		point := func(add float64) *int64 {
			ns := int64(math.Exp(level + add + 0.05*m.random.NormFloat64()))
			return &ns
		}
		line.Count, line.Failed = append(line.Count, int64(m.samples/m.seconds)), append(line.Failed, 0)
		line.P50, line.P95, line.P99 = append(line.P50, point(0)), append(line.P95, point(0.65)), append(line.P99, point(0.9))
	}
	s.Timeline.Series = append(s.Timeline.Series, line)
}

// sides makes k runs a side, in turns.
func (m *simulated) sides(k int, slower float64) (base, news []Run) {
	for i := range k {
		if i%2 == 0 {
			base, news = append(base, m.run(1)), append(news, m.run(slower))
		} else {
			news, base = append(news, m.run(slower)), append(base, m.run(1))
		}
	}
	return base, news
}
