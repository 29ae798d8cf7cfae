package stats

import (
	"time"

	"runner/plan/element"
)

// maxSeries bounds the rows of a result; the rest share one row.
const maxSeries = 1000

// tally holds the counts of the ledgers and of the generator over some stretch
// of time.
type tally struct {
	passed     int64
	requests   int64
	reconnects int64
	warmUp     int64
	classes    []classCount
	delay      Histogram // dispatch delay of samples that a free thread could have sent in time
	late       int64     // of those, sent more than 1 ms late
	unsent     int64     // of those, sent more than 1 s late: as good as not sent
	busy       int64     // ns that all samples were in flight, by their own times
}

type classCount struct {
	class string
	n     int64
}

// From when on a sample counts as late, and as not sent when it was due.
const (
	lateBy   = time.Millisecond
	unsentBy = time.Second
)

func (t *tally) record(k *entry, class string, pool *pagePool) {
	t.requests += int64(k.requests)
	t.reconnects += int64(k.reconnects)
	if k.failed {
		t.addClass(class, 1)
	} else {
		t.passed++
	}
	t.busy += int64(k.underway)
	if k.warmUp {
		t.warmUp++
		return
	}
	if k.delay > 0 && k.free {
		t.delay.record(int64(k.delay), pool)
		if k.delay > lateBy {
			t.late++
		}
		if k.delay > unsentBy {
			t.unsent++
		}
	}
}

func (t *tally) addClass(class string, n int64) {
	for i := range t.classes {
		if t.classes[i].class == class {
			t.classes[i].n += n
			return
		}
	}
	t.classes = append(t.classes, classCount{class, n})
}

func (t *tally) failed() int64 {
	sum := int64(0)
	for _, c := range t.classes {
		sum += c.n
	}
	return sum
}

func (t *tally) class(name element.Class) int64 {
	for _, c := range t.classes {
		if c.class == string(name) {
			return c.n
		}
	}
	return 0
}

func (t *tally) merge(from *tally, pool *pagePool) {
	t.passed += from.passed
	t.requests += from.requests
	t.reconnects += from.reconnects
	t.warmUp += from.warmUp
	for _, c := range from.classes {
		t.addClass(c.class, c.n)
	}
	t.delay.merge(&from.delay, pool)
	t.late += from.late
	t.unsent += from.unsent
	t.busy += from.busy
}

func (t *tally) release(pool *pagePool) {
	t.delay.release(pool)
	*t = tally{delay: t.delay, classes: t.classes[:0]}
}

// counters are the counts of one group.
type counters [element.Counters]int64

// batch holds everything recorded over some stretch of time, by series and
// group. It owns the pages of its histograms. Not safe for concurrent use.
type batch struct {
	cells   []*cell // by series; nil until first used
	touched []int   // series used since the last release
	groups  []counters
	metrics []metricCell
	tally   tally
	pool    pagePool
}

// newBatch makes a batch for that many series (the shared row included), groups
// and metrics; group 0 is setup and teardown.
func newBatch(series, groups, metrics int) *batch {
	return &batch{cells: make([]*cell, series), groups: make([]counters, groups+1), metrics: make([]metricCell, metrics)}
}

// cell returns the cell of a series and notes that it is used.
func (b *batch) cell(series int) *cell {
	if series < 0 || series >= len(b.cells) {
		series = len(b.cells) - 1
	}
	c := b.cells[series]
	if c == nil {
		c = &cell{}
		b.cells[series] = c
	}
	if !c.used {
		c.used = true
		b.touched = append(b.touched, series)
	}
	return c
}

// record counts a sample in the ledger, and after the warm-up in its series, whose
// cell it returns, or nil.
func (b *batch) record(k *entry, class string, apdex time.Duration) *cell {
	b.tally.record(k, class, &b.pool)
	if k.warmUp {
		return nil
	}
	c := b.cell(k.series)
	c.record(k, &b.pool, apdex)
	return c
}

func (b *batch) merge(from *batch) {
	for _, i := range from.touched {
		b.cell(i).merge(from.cells[i], &b.pool)
	}
	for g := range from.groups {
		for c, n := range from.groups[g] {
			b.groups[g][c] += n
		}
	}
	for i := range from.metrics {
		b.metrics[i].merge(&from.metrics[i])
	}
	b.tally.merge(&from.tally, &b.pool)
}

// release empties the batch and keeps its memory for the next interval.
func (b *batch) release() {
	for _, i := range b.touched {
		b.cells[i].release(&b.pool)
	}
	b.touched = b.touched[:0]
	clear(b.groups)
	for i := range b.metrics {
		b.metrics[i].release()
	}
	b.tally.release(&b.pool)
}

// sum returns a counter over all groups.
func (b *batch) sum(c element.Counter) int64 {
	total := int64(0)
	for g := range b.groups {
		total += b.groups[g][c]
	}
	return total
}
