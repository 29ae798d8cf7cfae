package stats

import (
	"fmt"
	"os"
	"time"
)

// A journal in a file is rewritten each hour, or sooner when it has grown by so many
// bytes: its deltas become one checkpoint, so that a long run's journal stays small.
const (
	compactEvery  = time.Hour
	compactGrowth = 64 << 20
)

// compact rewrites the journal as head and checkpoint into a new file and renames
// that over the old one. At any moment one of the two stands whole under the
// journal's name. A journal that cannot be rewritten just goes on growing.
func (j *journalWriter) compact(s *state) {
	if j.file == nil || j.err != nil || s.at-j.compacted < j.every && j.grown < j.growth {
		return
	}
	j.compacted, j.grown = s.at, 0
	file, err := os.OpenFile(j.name+".tmp", os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o644)
	if err != nil {
		return
	}
	if err := j.rewrite(file, s); err != nil {
		file.Close()
		os.Remove(file.Name())
		return
	}
	j.close()
	j.w, j.file, j.own = file, file, true
}

func (j *journalWriter) rewrite(file *os.File, s *state) error {
	next := &journalWriter{w: file}
	next.object(headFrame, s.out)
	next.begin(checkpointFrame)
	next.enc.state(s)
	next.write()
	if next.err != nil {
		return next.err
	}
	if err := file.Sync(); err != nil {
		return fmt.Errorf("sync journal: %w", err)
	}
	if err := os.Rename(file.Name(), j.name); err != nil {
		return fmt.Errorf("replace journal: %w", err)
	}
	return nil
}

// close closes a file that compact opened; the caller's own is left to it.
func (j *journalWriter) close() {
	if !j.own {
		return
	}
	if err := j.file.Close(); err != nil && j.err == nil {
		j.err = err
	}
	j.own = false
}

// state writes everything that deltas have made of a state.
func (e *encoder) state(s *state) {
	e.dur(s.at)
	e.batch(s.total)
	e.texts(s.notes)
	e.int(int64(s.stopper))
	for _, at := range s.begun {
		e.dur(at)
	}
	for _, j := range s.judges {
		e.judge(j)
	}
	e.generator(&s.gen)
	for _, n := range s.steady.counts {
		e.int(n)
	}
	for _, at := range s.steady.took {
		e.dur(at)
	}
	e.int(s.steady.total)
	e.dur(s.steady.together)
	e.flight(&s.flight)
	e.timeline(&s.timeline)
}

func (d *decoder) state(s *state) {
	s.at = d.dur()
	d.batch(s.total)
	s.notes = d.texts(maxNotes)
	s.stopper = int(d.int())
	for g := range s.begun {
		s.begun[g] = d.dur()
	}
	for _, j := range s.judges {
		d.judge(j)
	}
	d.generator(&s.gen)
	for i := range s.steady.counts {
		s.steady.counts[i] = d.count()
	}
	for g := range s.steady.took {
		s.steady.took[g] = d.dur()
	}
	s.steady.total, s.steady.together = d.count(), d.dur()
	d.flight(&s.flight)
	d.timeline(&s.timeline, s.width(), len(s.out.Metrics))
	if s.at < 0 || s.stopper < -1 || s.stopper >= len(s.judges) || len(d.b) > 0 {
		d.fail()
	}
}

func (e *encoder) judge(j *judge) {
	e.len(boolInt(j.judged) | boolInt(j.doubted)<<1 | boolInt(j.broken)<<2)
	e.dur(j.since)
	e.float(j.value)
	e.dur(j.when)
	e.len(len(j.slices))
	for i := range j.slices {
		w := &j.slices[i]
		e.dur(w.from)
		e.dur(w.to)
		for _, v := range []int64{w.m.count, w.m.failed, w.m.unsent, w.m.sent, w.m.received, w.m.dropped, int64(w.m.first), int64(w.m.last),
			w.m.satisfied, w.m.tolerating, int64(w.m.span), int64(boolInt(w.m.ran))} {
			e.int(v)
		}
		e.metric(&w.m.metric)
		e.sparse(&w.hist)
	}
}

// maxSlices bounds the intervals of one sliding window.
const maxSlices = 1 << 20

func (d *decoder) judge(j *judge) {
	flags := d.len(7)
	j.judged, j.doubted, j.broken = flags&1 != 0, flags&2 != 0, flags&4 != 0
	j.since, j.value, j.when = d.dur(), d.float(), d.dur()
	for range d.len(maxSlices) {
		w := windowSlice{from: d.dur(), to: d.dur()}
		for _, v := range []*int64{&w.m.count, &w.m.failed, &w.m.unsent, &w.m.sent, &w.m.received, &w.m.dropped} {
			*v = d.int()
		}
		w.m.first, w.m.last = d.dur(), d.dur()
		w.m.satisfied, w.m.tolerating, w.m.span, w.m.ran = d.int(), d.int(), d.dur(), d.int() == 1
		d.metric(&w.m.metric)
		d.sparse(&w.hist)
		if d.err != nil {
			return
		}
		j.slices = append(j.slices, w)
	}
}

func (e *encoder) generator(g *generator) {
	e.histogram(&g.delay)
	e.histogram(&g.pauses)
	for _, v := range []int64{g.late, int64(g.cpu), int64(g.wall), int64(g.cpus), g.rss, g.slow} {
		e.int(v)
	}
	e.durs(g.slowest)
	for _, v := range []int64{g.unsent, int64(g.throttle), int64(g.wait), int64(g.longest), g.files, g.most} {
		e.int(v)
	}
	e.float(g.allowed)
	e.float(g.steal)
	e.float(g.beside)
	for c := range g.causes {
		e.cause(&g.causes[c])
	}
	e.overload(&g.overload)
}

func (e *encoder) cause(t *causeTally) {
	e.int(t.seconds)
	e.float(t.worst)
	e.durs(t.first)
}

func (d *decoder) generator(g *generator) {
	d.histogram(&g.delay, &g.pool)
	d.histogram(&g.pauses, &g.pool)
	g.late, g.cpu, g.wall = d.count(), d.dur(), d.dur()
	g.cpus, g.rss, g.slow = int(d.count()), d.int(), d.count()
	g.slowest = d.durs(shownSeconds)
	g.unsent, g.throttle, g.wait, g.longest, g.files, g.most = d.count(), d.dur(), d.dur(), d.dur(), d.count(), d.count()
	g.allowed, g.steal, g.beside = d.float(), d.float(), d.float()
	for c := range g.causes {
		d.cause(&g.causes[c])
	}
	d.overload(&g.overload)
}

func (d *decoder) cause(t *causeTally) {
	t.seconds, t.worst, t.first = d.count(), d.float(), d.durs(shownSeconds)
}

func (e *encoder) timeline(t *timeline) {
	e.dur(t.width)
	e.len(len(t.columns))
	for i := range t.columns {
		c := &t.columns[i]
		e.dur(c.covered)
		e.int(c.active)
		e.int(c.dropped)
		e.load(&c.load)
		e.len(len(c.points))
		for k := range c.points {
			p := &c.points[k]
			e.len(p.series)
			e.int(p.count)
			e.int(p.failed)
			e.int(p.unsent)
			e.int(p.bytes)
			e.sparse(&p.hist)
		}
		e.len(len(c.metrics))
		for k := range c.metrics {
			e.len(c.metrics[k].metric)
			e.metric(&c.metrics[k].cell)
		}
	}
}

func (d *decoder) timeline(t *timeline, width, metrics int) {
	t.width = d.dur()
	n := d.len(maxColumns)
	if t.width < 0 || t.width == 0 && n > 0 {
		d.fail()
		return
	}
	for range n {
		c := column{covered: d.dur(), active: d.int(), dropped: d.int(), load: d.load()}
		for k := range d.len(width) {
			p := point{series: d.len(width - 1), count: d.count(), failed: d.count(), unsent: d.count(), bytes: d.count()}
			d.sparse(&p.hist)
			if d.err != nil {
				return
			}
			t.put(&c, &p, k)
		}
		for range d.len(metrics) {
			p := metricPoint{metric: d.len(metrics - 1)}
			d.metric(&p.cell)
			if d.err != nil {
				return
			}
			t.putMetric(&c, p)
		}
		t.columns = append(t.columns, c)
	}
}
