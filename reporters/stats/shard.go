package stats

import (
	"sync"
	"sync/atomic"
	"time"

	"runner/plan/element"
)

// waitingRoom is how many passed samples a shard keeps before it counts them.
const waitingRoom = 32

// shard collects what some threads record between two ticks. Its two batches
// change places at each tick: threads fill one while the other is merged and
// emptied. Passed samples wait until there are some: counting them in one go finds
// code and counts in the processor's cache.
type shard struct {
	mu      sync.Mutex
	cur     *batch
	spare   *batch // owned by the ticking goroutine
	waiting [waitingRoom]entry
	waits   int // of waiting
	masker  *element.Masker
	apdex   time.Duration

	flying atomic.Int64 // samples in flight
	most   atomic.Int64 // of them at once since the last swap
	_      [64]byte     // keeps neighbours off this cache line
}

func newShard(out *outline, m *element.Masker) *shard {
	return &shard{cur: out.batch(), spare: out.batch(), masker: m, apdex: out.Apdex}
}

// swap returns what was recorded since the last swap, valid until the next, and
// the most samples that were in flight at once.
func (s *shard) swap() (_ *batch, most int64) {
	s.spare.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.count()
	s.cur, s.spare = s.spare, s.cur
	return s.spare, s.most.Swap(s.flying.Load())
}

// count counts the samples that wait; the caller holds the lock.
func (s *shard) count() {
	for i := range s.waiting[:s.waits] {
		s.cur.record(&s.waiting[i], "", s.apdex)
	}
	s.waits = 0
}

func (s *shard) record(x *element.Sample) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if x.Class != element.Passed {
		s.recordFailed(x)
		return
	}
	s.waiting[s.waits].take(x)
	if s.waits++; s.waits == len(s.waiting) {
		s.count()
	}
}

//go:noinline
func (s *shard) recordFailed(x *element.Sample) {
	var k entry
	k.take(x)
	if c := s.cur.record(&k, string(x.Class), s.apdex); c != nil {
		c.blame(x, s.masker)
	}
}

// takeOff and land follow how many samples are in flight.
func (s *shard) takeOff(n int64) {
	now := s.flying.Add(n)
	for most := s.most.Load(); now > most && !s.most.CompareAndSwap(most, now); most = s.most.Load() {
	}
}

func (s *shard) land(n int64) { s.flying.Add(-n) }

// handle is a shard as one group's threads see it.
type handle struct {
	shard    *shard
	recorder *Recorder
	group    int // + 1; 0 is setup and teardown
	counts   [element.Counters]atomic.Int64
	told     counters // of counts, by the last tick
}

// collect adds to what was counted since the last time. What follows something
// else is read before that, so that nothing has ended that has not begun.
func (h *handle) collect(to *counters) {
	for c := element.Counters - 1; ; c-- {
		n := h.counts[c].Load()
		to[c] += n - h.told[c]
		h.told[c] = n
		if c == 0 {
			return
		}
	}
}

// Record counts a sample. It allocates nothing for a passed one.
func (h *handle) Record(s *element.Sample) { h.shard.record(s) }

// Transaction counts one pass through a named block; aborted ones apart.
func (h *handle) Transaction(t element.Transaction) {
	if t.WarmUp {
		return
	}
	h.shard.mu.Lock()
	defer h.shard.mu.Unlock()
	b := h.shard.cur
	c := b.cell(t.Series)
	if t.Aborted {
		c.aborted++
		return
	}
	c.took(t.Due, max(0, t.Time), t.Failed, t.Unsent, &b.pool, h.recorder.state.out.Apdex)
}

var _ element.MetricShard = (*handle)(nil)

// Metric gives a custom metric a value. What is no number is left out, and said.
func (h *handle) Metric(id int, v float64) {
	metrics := h.recorder.state.out.Metrics
	if id < 0 || id >= len(metrics) {
		return
	}
	if finite(v) != v {
		h.recorder.Note("the metric " + metrics[id].Name + " was given values that are no finite numbers; they are left out")
		return
	}
	at := time.Duration(0)
	if metrics[id].Type == gaugeMetric {
		at = h.recorder.now()
	}
	h.shard.mu.Lock()
	defer h.shard.mu.Unlock()
	h.shard.cur.metrics[id].record(v, at, metrics[id].Type == trendMetric)
}

// Count adds to a counter of the ledgers.
func (h *handle) Count(c element.Counter, n int64) {
	if c >= element.Counters {
		return
	}
	h.counts[c].Add(n)
	switch c {
	case element.SamplesStarted:
		h.shard.takeOff(n)
	case element.SamplesReturned:
		h.shard.land(n)
	default:
		h.recorder.count(h.group-1, c, n)
	}
}
