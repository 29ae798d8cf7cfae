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
	_      [64]byte // keeps neighbours' mutexes off this cache line
}

func newShard(series, groups int, m *element.Masker) *shard {
	return &shard{cur: newBatch(series, groups), spare: newBatch(series, groups), masker: m}
}

// swap returns what was recorded since the last swap. It is valid until the next.
func (s *shard) swap() *batch {
	s.spare.release()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cur, s.spare = s.spare, s.cur
	return s.spare
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
		b.cell(s.Series).record(s, &b.pool, h.shard.masker)
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
	c.due(t.Due)
	c.count++
	took := int64(max(time.Duration(0), t.Time))
	if t.Failed {
		c.failed++
		c.failure.record(took, &b.pool)
	} else {
		c.success.record(took, &b.pool)
	}
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
}
