package stats

import (
	"slices"
	"time"
	"unsafe"
)

// Bounds of the timeline: at either limit neighbours merge and the interval
// doubles.
const (
	maxColumns       = 1200
	maxTimelineBytes = 96 << 20
)

// pointBytes is what a point takes beside its histogram.
const pointBytes = int(unsafe.Sizeof(point{}))

// timeline keeps what happened in equal intervals since the run's start.
type timeline struct {
	width   time.Duration
	columns []column
	bytes   int // in the points and their histograms
}

type column struct {
	covered time.Duration // of the interval, by ticks
	active  int64         // threads at most
	dropped int64
	load    load
	points  []point // by series, only those that were used
	metrics []metricPoint
}

type point struct {
	series               int
	count, failed, bytes int64
	unsent               int64 // of the failed ones
	hist                 sparse
}

// add puts a delta into the interval that its middle falls into; a short rest at
// the end goes into the interval before, where it distorts no rate.
func (t *timeline) add(d *delta) {
	if t.width == 0 {
		t.width = time.Second
	}
	middle := d.from + (d.to-d.from)/2
	for middle/t.width >= maxColumns {
		t.double()
	}
	i := int(middle / t.width)
	if d.to-d.from < time.Second/4 && len(t.columns) > 0 {
		i = min(i, len(t.columns)-1)
	}
	for len(t.columns) <= i {
		t.columns = append(t.columns, column{})
	}
	t.merge(&t.columns[i], t.columnOf(d))
	for t.bytes > maxTimelineBytes && len(t.columns) > 1 {
		t.double()
	}
}

func (t *timeline) columnOf(d *delta) *column {
	c := &column{covered: d.to - d.from, active: d.active, dropped: d.dropped(-1), load: d.load}
	var h Histogram
	for _, i := range d.touched {
		cell := d.cells[i]
		h.merge(&cell.success, &d.pool)
		h.merge(&cell.failure, &d.pool)
		c.points = append(c.points, point{series: i, count: cell.count, failed: cell.failed, unsent: cell.unsent, bytes: cell.received, hist: h.sparse()})
		h.release(&d.pool)
	}
	for i := range d.metrics {
		if d.metrics[i].n > 0 {
			c.metrics = append(c.metrics, pointOf(i, &d.metrics[i]))
		}
	}
	return c
}

// merge adds from to c.
func (t *timeline) merge(c, from *column) {
	c.covered += from.covered
	c.active = max(c.active, from.active)
	c.dropped += from.dropped
	c.load.then(from.load)
	c.points = slices.Grow(c.points, max(0, len(from.points)-len(c.points)))
	for k := range from.points {
		t.put(c, &from.points[k], k)
	}
	for _, p := range from.metrics {
		t.putMetric(c, p)
	}
}

// put adds a point, whose series most probably has the place that is given.
func (t *timeline) put(c *column, p *point, place int) {
	if place >= len(c.points) || c.points[place].series != p.series {
		place = slices.IndexFunc(c.points, func(q point) bool { return q.series == p.series })
	}
	if place >= 0 {
		q := &c.points[place]
		t.bytes -= len(q.hist.data)
		q.count += p.count
		q.failed += p.failed
		q.unsent += p.unsent
		q.bytes += p.bytes
		q.hist = joined(&q.hist, &p.hist)
		t.bytes += len(q.hist.data)
		return
	}
	c.points = append(c.points, *p)
	t.bytes += pointBytes + len(p.hist.data)
}

// double merges neighbours.
func (t *timeline) double() {
	old := t.columns
	t.width *= 2
	t.columns, t.bytes = nil, 0
	for i := range old {
		if i%2 == 0 {
			t.columns = append(t.columns, column{})
		}
		t.merge(&t.columns[i/2], &old[i])
	}
}

// summary returns the timeline with the total of the load series first, then
// every series of ids that was used.
func (t *timeline) summary(loads map[int]bool, ids []int) Timeline {
	out := Timeline{IntervalS: max(t.width, time.Second).Seconds(), TS: []float64{}, ActiveThreads: []int{},
		LengthS: []float64{}, Throughput: []float64{}, Dropped: []int64{}}
	rows := make([]TimelineSeries, len(ids)+1)
	where := map[int]int{}
	for k, id := range ids {
		rows[k+1].ID = id
		where[id] = k + 1
	}
	rows[0].ID = -1
	var h Histogram
	var pool pagePool
	for i := range t.columns {
		c := &t.columns[i]
		total := point{}
		filled := make([]*point, len(rows))
		for k := range c.points {
			p := &c.points[k]
			if row, ok := where[p.series]; ok {
				filled[row] = p
			}
			if loads[p.series] {
				p.hist.addTo(&h, &pool)
				total.count, total.failed, total.bytes = total.count+p.count, total.failed+p.failed, total.bytes+p.bytes
				total.unsent += p.unsent
			}
		}
		total.hist = h.sparse()
		h.release(&pool)
		filled[0] = &total
		for row := range rows {
			rows[row].add(filled[row])
		}
		t.head(&out, i, total.count-total.unsent)
	}
	for row := range rows {
		rows[row].Unsent = someOf(rows[row].Unsent)
	}
	out.Series = rows
	return out
}

// someOf returns counts, nil if all are 0.
func someOf(counts []int64) []int64 {
	if slices.ContainsFunc(counts, func(n int64) bool { return n != 0 }) {
		return counts
	}
	return nil
}

// length is how much of an interval the run covers, in seconds: 0 for one that a
// late tick left out, in which nothing was counted.
func (t *timeline) length(i int) float64 {
	c := &t.columns[i]
	if c.covered > 0 {
		return c.covered.Seconds()
	}
	if len(c.points)+len(c.metrics) == 0 && c.dropped == 0 {
		return 0
	}
	return t.width.Seconds()
}

// head appends what an interval has of all series; sent samples make its rate.
func (t *timeline) head(out *Timeline, i int, sent int64) {
	c := &t.columns[i]
	out.TS = append(out.TS, (time.Duration(i) * t.width).Seconds())
	out.LengthS = append(out.LengthS, t.length(i))
	out.ActiveThreads = append(out.ActiveThreads, int(c.active))
	rate := 0.0
	if sent != 0 {
		rate = float64(sent) / t.length(i)
	}
	out.Throughput = append(out.Throughput, rate)
	out.Dropped = append(out.Dropped, c.dropped)
}

// add appends one interval; nil is one without samples.
func (s *TimelineSeries) add(p *point) {
	if p == nil {
		p = &point{}
	}
	s.Count = append(s.Count, p.count)
	s.Failed = append(s.Failed, p.failed)
	s.Unsent = append(s.Unsent, p.unsent)
	s.Bytes = append(s.Bytes, p.bytes)
	if p.hist.n == 0 {
		s.P50, s.P95, s.P99, s.Max = append(s.P50, nil), append(s.P95, nil), append(s.P99, nil), append(s.Max, nil)
		return
	}
	q := append(p.hist.percentiles(50, 95, 99), p.hist.max)
	s.P50, s.P95, s.P99, s.Max = append(s.P50, &q[0]), append(s.P95, &q[1]), append(s.P99, &q[2]), append(s.Max, &q[3])
}
