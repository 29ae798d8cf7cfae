package stats

import (
	"sync"
	"time"

	"runner/plan/element"
)

// shard collects what some threads record between two ticks. Its two batches
// change places at each tick: threads fill one while the other is merged and
// emptied.
type shard struct {
	mu     sync.Mutex
	cur    *batch
	spare  *batch // owned by the ticking goroutine
	masker *element.Masker
	flying int64    // samples in flight
	most   int64    // of them at once since the last swap
	_      [64]byte // keeps neighbours' mutexes off this cache line
}

func newShard(out *outline, m *element.Masker) *shard {
	return &shard{cur: out.batch(), spare: out.batch(), masker: m}
}

// swap returns what was recorded since the last swap, valid until the next, and
// the most samples that were in flight at once.
func (s *shard) swap() (_ *batch, most int64) {
	s.spare.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cur, s.spare = s.spare, s.cur
	most, s.most = s.most, s.flying
	return s.spare, most
}

// inFlight returns how many samples are in flight.
func (s *shard) inFlight() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.flying
}

// handle is a shard as one group's threads see it.
type handle struct {
	shard    *shard
	recorder *Recorder
	group    int // + 1; 0 is setup and teardown
}

// Record counts a sample. It allocates nothing for a passed one.
func (h *handle) Record(s *element.Sample) {
	h.shard.mu.Lock()
	defer h.shard.mu.Unlock()
	b := h.shard.cur
	b.tally.record(s, &b.pool)
	if !s.WarmUp {
		b.cell(s.Series).record(s, &b.pool, h.shard.masker, h.recorder.state.out.Apdex)
	}
}

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
	h.recorder.count(h.group-1, c, n)
	h.shard.mu.Lock()
	defer h.shard.mu.Unlock()
	h.shard.cur.groups[h.group][c] += n
	switch c {
	case element.SamplesStarted:
		h.shard.flying += n
		h.shard.most = max(h.shard.most, h.shard.flying)
	case element.SamplesReturned:
		h.shard.flying -= n
	}
}
