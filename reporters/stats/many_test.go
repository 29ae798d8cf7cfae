package stats

import (
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"strconv"
	"testing"
	"time"

	"runner/plan/element"
)

// manySeries is a run of a thousand series whose service times are log-normal, with
// medians from 5 to 200 ms; the 99th percentile is at three times the median.
type manySeries struct {
	*Recorder
	clock *fakeClock
	rnd   *rand.Rand
}

const manySeriesCount = 1000

func newManySeries() *manySeries {
	l := element.Layout{Plan: "many", Masker: &element.Masker{}, Groups: []element.Group{{Name: "g", MaxThreads: 100}}}
	for i := range manySeriesCount {
		l.Series = append(l.Series, element.Series{ID: i, Name: "GET /" + strconv.Itoa(i), Kind: "http", Phase: element.Load})
	}
	m := &manySeries{clock: &fakeClock{}, rnd: rand.New(rand.NewPCG(1, 2))}
	m.Recorder = New(l, Options{Now: m.clock.now, Process: noProcess, Journal: io.Discard, Shards: 2})
	return m
}

// second records some samples of every series as threads would; of every tenth
// series some fail.
func (m *manySeries) second(perSeries int) {
	for i := range manySeriesCount {
		median := 5e6 * math.Pow(40, float64(i)/manySeriesCount)
		for k := range perSeries {
			sh := m.Shard(0, i+k)
			s := sample(i, m.clock.at, time.Duration(median*math.Exp(m.rnd.NormFloat64()/2)))
			s.FirstByte -= s.Done / 20
			if i%10 == 0 && m.rnd.IntN(20) == 0 {
				s = failed(s, element.Timeout, "no answer in time")
			}
			sh.Count(element.SamplesStarted, 1)
			sh.Record(&s)
		}
	}
	m.clock.at += time.Second
	m.Tick()
}

func liveHeap() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// TestMemoryOfManySeries holds the memory of a run with a thousand series below
// its limit: at its last tick, in between, and with its summary.
func TestMemoryOfManySeries(t *testing.T) {
	const limit = 300 << 20
	before := liveHeap()
	m := newManySeries()
	most := int64(0)
	seconds, every := manyTicks, manyEvery
	var slow time.Duration
	for i := range seconds {
		m.second(3)
		if i%every == every-1 {
			most = max(most, liveHeap()-before)
		}
	}
	end := liveHeap() - before
	t0 := time.Now()
	s := m.Summary(EndInfo{})
	slow = time.Since(t0)
	with := liveHeap() - before
	t.Logf("most %d MiB, end %d MiB, with summary %d MiB; columns %d width %v bytes %d; summary %v", most>>20, end>>20, with>>20, len(m.state.timeline.columns), m.state.timeline.width, m.state.timeline.bytes, slow)
	if max(most, end, with) > limit {
		t.Errorf("at most %d MiB, at the end %d MiB, with the summary %d MiB", most>>20, end>>20, with>>20)
	}
	runtime.KeepAlive(s)
	runtime.KeepAlive(m)
}

var manyTicks, manyEvery = 300, 100

func BenchmarkTickOfManySeries(b *testing.B) {
	m := newManySeries()
	b.ReportAllocs()
	for b.Loop() {
		m.second(3)
	}
}
