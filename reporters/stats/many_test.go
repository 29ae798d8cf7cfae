package stats

import (
	"io"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

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
// series some fail. It returns what the tick took.
func (m *manySeries) second(perSeries int) time.Duration {
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
	begun := time.Now()
	m.Tick()
	return time.Since(begun)
}

// goOn makes more of the last second, until the timeline is nearly full.
func (m *manySeries) goOn() {
	line := &m.state.timeline
	second := &line.columns[len(line.columns)-1]
	for line.bytes < maxTimelineBytes-2*manySeriesCount*pointBytes {
		var c column
		like := column{covered: time.Second, points: slices.Clone(second.points)}
		for i := range like.points {
			like.points[i].hist.data = slices.Clone(like.points[i].hist.data)
		}
		line.merge(&c, &like)
		line.columns = append(line.columns, c)
	}
	m.clock.at = time.Duration(len(line.columns)) * time.Second
	m.last = m.clock.at
}

func liveHeap() int64 {
	var s runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&s)
	return int64(s.HeapAlloc)
}

// manyLimit is for the live heap of some minutes of a thousand series. That of an
// hour, whose rare values fill more pages, stays below 300 MiB with it.
const manyLimit = 160 << 20

// TestMemoryOfManySeries holds the memory of a run with a thousand series below
// its limit: when its timeline is about to double its interval, where it is largest,
// and with its summary. Points count with all they take, or the timeline of an hour
// would take more than everything else.
func TestMemoryOfManySeries(t *testing.T) {
	if raceEnabled { // which takes memory of its own, and ten times as long
		return
	}
	const seconds = 60
	before := liveHeap()
	m := newManySeries()
	line := &m.state.timeline
	bounded := func() {
		t.Helper()
		if points := len(line.columns) * manySeriesCount; line.bytes < points*pointBytes || line.bytes > maxTimelineBytes {
			t.Fatalf("%d points count as %d bytes", points, line.bytes)
		}
	}
	for range seconds / 2 {
		m.second(2)
		bounded()
	}
	m.goOn()
	most := liveHeap() - before
	for range seconds / 2 {
		m.second(2)
		bounded()
	}
	s := m.Summary(EndInfo{})
	with := liveHeap() - before
	t.Logf("at most %d MiB in between, %d MiB with the summary, of it %d MiB the timeline's", most>>20, with>>20, line.bytes>>20)
	if max(most, with) > manyLimit {
		t.Errorf("at most %d MiB in between, %d MiB with the summary", most>>20, with>>20)
	}
	if len(s.Series) != manySeriesCount || s.Total.Count != int64(2*manySeriesCount*seconds) || s.Total.Failed == 0 {
		t.Errorf("%d series, %d samples, %d failed", len(s.Series), s.Total.Count, s.Total.Failed)
	}
	if line.width == time.Second {
		t.Error("the timeline did not double its interval")
	}
	runtime.KeepAlive(m)
}

// TestTickOfManySeriesAllocatesLittle pins what a tick of a thousand busy series
// allocates: the points of the timeline with their histograms, five for each series.
func TestTickOfManySeriesAllocatesLittle(t *testing.T) {
	if raceEnabled {
		return
	}
	m := newManySeries()
	for range 20 {
		m.second(3)
	}
	if got := testing.AllocsPerRun(5, func() { m.second(3) }); got > 6*manySeriesCount {
		t.Errorf("%v allocations a tick", got)
	}
}

// TestCountsBeyond32Bits: a bucket may count more than a page's slot holds.
func TestCountsBeyond32Bits(t *testing.T) {
	const many = 5 << 32
	var a, b Histogram
	a.recordMany(1000, many)
	a.recordMany(int64(time.Second), 7)
	b.recordMany(1000, many+3)
	b.Merge(&a)
	got := map[int]int64{}
	b.each(func(index int, n int64) bool { got[index] = n; return true })
	want := map[int]int64{indexOf(1000): 2*many + 3, indexOf(int64(time.Second)): 7}
	diffEmpty(t, "counts", cmp.Diff(want, got))
	if b.n != 2*many+10 || b.Percentile(50) != upperEnd(indexOf(1000)) || b.Percentile(100) != b.max {
		t.Errorf("%d values, median %d", b.n, b.Percentile(50))
	}
	text, err := b.EncodeV2()
	if err != nil {
		t.Fatal(err)
	}
	again, err := DecodeV2(text)
	if err != nil || again.n != b.n {
		t.Errorf("%v, %v", again, err)
	}
	frozen := b.sparse()
	var c Histogram
	frozen.addTo(&c, nil)
	if frozen.check() != nil || c.Percentile(50) != b.Percentile(50) {
		t.Errorf("frozen: %v, median %d", frozen.check(), c.Percentile(50))
	}
}

// BenchmarkTickOfManySeries touches a thousand series between two ticks; tick-ns is
// the tick alone, which happens once a second.
func BenchmarkTickOfManySeries(b *testing.B) {
	m := newManySeries()
	b.ReportAllocs()
	var ticks time.Duration
	for b.Loop() {
		ticks += m.second(3)
	}
	b.ReportMetric(float64(ticks)/float64(b.N), "tick-ns")
}
