package stats

import (
	"encoding/binary"
	"errors"
	"math"
	"slices"
	"time"
)

// The journal's deltas are flat: uvarints, zigzag varints for what may be
// negative, length-prefixed texts, and eight bytes for a float.

type encoder struct{ b []byte }

func (e *encoder) uint(v uint64)       { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)         { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) len(n int)           { e.uint(uint64(n)) }
func (e *encoder) float(v float64)     { e.b = binary.BigEndian.AppendUint64(e.b, math.Float64bits(v)) }
func (e *encoder) dur(d time.Duration) { e.int(int64(d)) }
func (e *encoder) text(s string) {
	e.len(len(s))
	e.b = append(e.b, s...)
}

func (e *encoder) durs(list []time.Duration) {
	e.len(len(list))
	for _, at := range list {
		e.dur(at)
	}
}

func (e *encoder) texts(list []string) {
	e.len(len(list))
	for _, s := range list {
		e.text(s)
	}
}

func (e *encoder) histogram(h *Histogram) {
	s := sparse{}
	if h.n > 0 {
		s = h.sparse()
	}
	e.sparse(&s)
}

func (e *encoder) sparse(s *sparse) {
	e.int(s.n)
	if s.n == 0 {
		return
	}
	e.int(s.min)
	e.int(s.max)
	e.uint(s.sumHi)
	e.uint(s.sumLo)
	e.uint(s.squares.hi)
	e.uint(s.squares.lo)
	e.int(s.clamped)
	e.len(len(s.data))
	e.b = append(e.b, s.data...)
}

func (e *encoder) cell(c *cell) {
	for _, v := range []int64{c.count, c.failed, c.unsent, c.aborted, c.requests, c.sent, c.received, c.scheduled, c.satisfied, c.tolerating, int64(c.firstDue), int64(c.lastDue), c.phased} {
		e.int(v)
	}
	for _, h := range c.histograms() {
		e.histogram(h)
	}
	if c.phased > 0 {
		for _, p := range c.phases {
			e.int(p.sum)
			e.int(p.max)
		}
	}
	e.len(len(c.statuses))
	for _, s := range c.statuses {
		e.int(int64(s.code))
		e.int(s.n)
	}
	e.len(len(c.assertions))
	for i := range c.assertions {
		t := &c.assertions[i]
		e.int(t.passed)
		e.int(t.failed)
		e.len(len(t.examples))
		for _, x := range t.examples {
			e.text(x.Request)
			e.text(x.Expected)
			e.text(x.Actual)
			e.text(x.Message)
		}
	}
	e.len(len(c.errors))
	for i := range c.errors {
		e.error(&c.errors[i])
	}
}

func (e *encoder) error(t *errorTally) {
	e.text(t.class)
	e.text(t.message)
	e.int(t.count)
	e.dur(t.first)
	e.dur(t.last)
	e.len(len(t.examples))
	for _, x := range t.examples {
		e.text(x)
	}
}

func (e *encoder) delta(d *delta) {
	e.dur(d.from)
	e.dur(d.to)
	e.int(d.active)
	e.load(&d.load)
	e.flight(&d.flight)
	e.dur(d.process.cpu)
	e.int(d.process.rss)
	e.len(d.process.cpus)
	e.len(len(d.process.pauses))
	for _, p := range d.process.pauses {
		e.dur(p.Upper)
		e.uint(p.N)
	}
	p := &d.process
	for _, v := range []float64{p.allowed, p.busy, p.steal} {
		e.float(v)
	}
	for _, v := range []int64{int64(p.throttled), int64(p.assist), int64(p.waited), int64(p.longest), p.files, p.filesLimit, p.ports, p.portsLimit} {
		e.int(v)
	}
	for _, at := range d.began {
		e.dur(at)
	}
	e.texts(d.notes)
	e.len(len(d.names))
	for _, n := range d.names {
		e.len(n.series)
		e.text(n.name)
	}
	e.batch(&d.batch)
}

func (e *encoder) batch(b *batch) {
	e.tally(&b.tally)
	for g := range b.groups {
		for _, n := range b.groups[g] {
			e.int(n)
		}
	}
	for i := range b.metrics {
		e.metric(&b.metrics[i])
	}
	e.len(len(b.touched))
	for _, i := range b.touched {
		e.len(i)
		e.cell(b.cells[i])
	}
}

func (e *encoder) metric(c *metricCell) {
	e.int(c.n)
	if c.n == 0 {
		return
	}
	e.int(c.truths)
	for _, v := range []float64{c.sum, c.squares, c.min, c.max, c.last} {
		e.float(v)
	}
	e.dur(c.lastAt)
	e.b = c.values.encode(e.b)
}

func (d *decoder) metric(c *metricCell) {
	if c.n = d.count(); c.n == 0 {
		return
	}
	c.truths = d.count()
	for _, v := range []*float64{&c.sum, &c.squares, &c.min, &c.max, &c.last} {
		*v = d.float()
	}
	c.lastAt = d.dur()
	if sum := d.sketch(&c.values); sum != 0 && sum != c.n || c.truths > c.n || c.max < c.min {
		d.fail()
	}
}

func (e *encoder) tally(t *tally) {
	for _, v := range []int64{t.passed, t.requests, t.reconnects, t.warmUp, t.late, t.unsent, t.busy} {
		e.int(v)
	}
	e.len(len(t.classes))
	for _, c := range t.classes {
		e.text(c.class)
		e.int(c.n)
	}
	e.histogram(&t.delay)
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

var errRecord = errors.New("a record in it is malformed")

// decoder reads what encoder wrote. After the first problem it returns zeros.
// Nothing it allocates is larger than the bytes it has read, times a constant.
type decoder struct {
	b   []byte
	err error
}

func (d *decoder) fail() {
	d.b = nil
	if d.err == nil {
		d.err = errRecord
	}
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	if n <= 0 {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count reads a number that must not be negative.
func (d *decoder) count() int64 {
	v := d.int()
	if v < 0 {
		d.fail()
		return 0
	}
	return v
}

// len reads a length of at most limit.
func (d *decoder) len(limit int) int {
	v := d.uint()
	if v > uint64(limit) {
		d.fail()
		return 0
	}
	return int(v)
}

func (d *decoder) float() float64 {
	if len(d.b) < 8 {
		d.fail()
		return 0
	}
	v := math.Float64frombits(binary.BigEndian.Uint64(d.b))
	d.b = d.b[8:]
	if finite(v) != v {
		d.fail()
		return 0
	}
	return v
}

func (d *decoder) dur() time.Duration { return time.Duration(d.int()) }

// text reads a text; one longer than any that is written is cut.
func (d *decoder) text() string { return cut(string(d.bytes()), 2*maxText+len("…")) }

func (d *decoder) bytes() []byte {
	n := d.len(len(d.b))
	if n > len(d.b) {
		d.fail()
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *decoder) durs(limit int) []time.Duration {
	var out []time.Duration
	for range d.len(limit) {
		out = append(out, d.dur())
	}
	return out
}

func (d *decoder) texts(limit int) []string {
	var out []string
	for range d.len(limit) {
		out = append(out, d.text())
	}
	return out
}

func (d *decoder) histogram(h *Histogram, pool *pagePool) {
	var s sparse
	if d.sparse(&s); d.err == nil {
		s.addTo(h, pool)
	}
}

func (d *decoder) sparse(s *sparse) {
	s.n = d.count()
	if s.n == 0 {
		return
	}
	s.min, s.max = d.count(), d.count()
	s.sumHi, s.sumLo = d.uint(), d.uint()
	s.squares, s.clamped = wide{d.uint(), d.uint()}, d.count()
	s.data = slices.Clone(d.bytes())
	if d.err != nil {
		return
	}
	if err := s.check(); err != nil {
		d.err = err
		d.fail()
	}
}

func (d *decoder) cell(c *cell, pool *pagePool) {
	for _, v := range []*int64{&c.count, &c.failed, &c.unsent, &c.aborted, &c.requests, &c.sent, &c.received, &c.scheduled, &c.satisfied, &c.tolerating} {
		*v = d.count()
	}
	c.firstDue, c.lastDue, c.phased = d.dur(), d.dur(), d.count()
	for _, h := range c.histograms() {
		d.histogram(h, pool)
	}
	if c.phased > 0 {
		for i := range c.phases {
			c.phases[i] = phase{d.count(), d.count()}
		}
	}
	for range d.len(maxStatuses + 1) {
		code := d.int()
		c.addStatus(int(code), d.count())
	}
	for i := range d.len(maxAssertions) {
		t := c.assertion(i)
		t.passed, t.failed = d.count(), d.count()
		for range d.len(maxExamples) {
			t.examples = append(t.examples, Example{Request: d.text(), Expected: d.text(), Actual: d.text(), Message: d.text()})
		}
		if d.err != nil {
			return
		}
	}
	for range d.len(maxErrorKinds + 1) {
		d.error(c)
	}
	if c.success.n+c.failure.n != c.timed() || c.failure.n != c.failed-c.unsent {
		d.fail()
	}
}

func (d *decoder) error(c *cell) {
	t := errorTally{class: d.text(), message: d.text(), count: d.count(), first: d.dur(), last: d.dur()}
	for range d.len(maxExamples) {
		t.examples = append(t.examples, d.text())
	}
	if d.err == nil {
		c.mergeError(&t)
	}
}

// maxListed bounds lists whose natural size is small.
const maxListed = 10_000

func (d *decoder) delta(out *delta) {
	out.from, out.to = d.dur(), d.dur()
	if out.from < 0 || out.to < out.from {
		d.fail()
	}
	out.active, out.load = d.int(), d.load()
	d.flight(&out.flight)
	out.process = processDelta{cpu: d.dur(), rss: d.int(), cpus: d.len(1 << 20)}
	for range d.len(maxListed) {
		out.process.pauses = append(out.process.pauses, PauseCount{d.dur(), d.uint()})
		if d.err != nil {
			return
		}
	}
	p := &out.process
	p.allowed, p.busy, p.steal = d.float(), d.float(), d.float()
	p.throttled, p.assist, p.waited, p.longest = d.dur(), d.dur(), d.dur(), d.dur()
	p.files, p.filesLimit, p.ports, p.portsLimit = d.count(), d.count(), d.count(), d.count()
	for g := range out.began {
		out.began[g] = d.dur()
	}
	out.notes = d.texts(maxNotes)
	out.names = nil
	for range d.len(maxSeries) {
		out.names = append(out.names, rowName{d.len(len(out.cells) - 1), d.text()})
		if d.err != nil {
			return
		}
	}
	d.batch(&out.batch)
	if len(d.b) > 0 {
		d.fail()
	}
}

func (d *decoder) batch(out *batch) {
	d.tally(&out.tally, &out.pool)
	for g := range out.groups {
		for c := range out.groups[g] {
			out.groups[g][c] = d.int()
		}
	}
	for i := range out.metrics {
		d.metric(&out.metrics[i])
	}
	for range d.len(len(out.cells)) {
		i := d.len(len(out.cells) - 1)
		if d.err != nil {
			return
		}
		if c := out.cells[i]; c != nil && c.used {
			d.fail()
			return
		}
		d.cell(out.cell(i), &out.pool)
		if out.pool.made > maxReplayPages {
			d.fail()
		}
	}
}

func (d *decoder) tally(t *tally, pool *pagePool) {
	for _, v := range []*int64{&t.passed, &t.requests, &t.reconnects, &t.warmUp, &t.late, &t.unsent, &t.busy} {
		*v = d.count()
	}
	for range d.len(maxListed) {
		class, n := d.text(), d.count()
		if d.err != nil {
			return
		}
		if len(t.classes) < maxStatuses {
			t.addClass(class, n)
		}
	}
	d.histogram(&t.delay, pool)
}
