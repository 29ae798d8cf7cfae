package stats

import (
	"slices"
	"time"
)

// absorb adds another run's state that began offset later: beside this one, or
// after it. It returns the other's cells by this state's rows. from is left as it is.
func (s *state) absorb(from *state, offset time.Duration, after bool) []*cell {
	rows := s.rowsOf(from)
	moved := from.total.later(offset, rows)
	s.total.merge(moved)
	s.at = max(s.at, from.at+offset)
	s.timeline.absorb(&from.timeline, offset, rows, after)
	s.steady.absorb(&from.steady, rows, after)
	s.gen.absorb(&from.gen, offset)
	for g, at := range from.begun {
		if at >= 0 && (s.begun[g] < 0 || at+offset < s.begun[g]) {
			s.begun[g] = at + offset
		}
	}
	for i, j := range from.judges {
		s.judges[i].absorb(j, offset)
	}
	if s.stopper < 0 {
		s.stopper = from.stopper
	}
	for _, n := range from.notes {
		s.note(n)
	}
	return moved.cells
}

// rowsOf returns which row each of another run's rows goes to. Reserved rows of
// one step go by their names: each run met the values in its own order. A value
// for which no row is left goes to the step's first one, that of all further values.
func (s *state) rowsOf(from *state) []int {
	rows := make([]int, from.width())
	for i := range rows {
		rows[i] = i
		if i < len(from.out.Series) && from.out.Series[i].Reserved && from.total.cells[i] != nil {
			rows[i] = s.reserved(&from.out.Series[i], i)
		}
	}
	return rows
}

// reserved finds or takes the row for a value of a split step.
func (s *state) reserved(o *seriesOutline, at int) int {
	free, first := -1, -1
	for i := range s.out.Series {
		x := &s.out.Series[i]
		if !x.Reserved || x.File != o.File || x.Line != o.Line || x.Group != o.Group {
			continue
		}
		switch {
		case x.Name == o.Name:
			return i
		case first < 0:
			first = i
		case s.total.cells[i] == nil && (free < 0 || i == at):
			free = i
		}
	}
	if free < 0 {
		return max(first, 0)
	}
	s.out.Series[free].Name = o.Name
	s.total.cell(free)
	return free
}

// later returns a copy whose times are offset later and whose rows are those
// given; histograms are shared.
func (b *batch) later(offset time.Duration, rows []int) *batch {
	out := &batch{cells: make([]*cell, len(b.cells)), groups: b.groups, metrics: slices.Clone(b.metrics), tally: b.tally}
	for _, i := range b.touched {
		c := *b.cells[i]
		c.firstDue, c.lastDue = c.firstDue+offset, c.lastDue+offset
		c.errors = slices.Clone(c.errors)
		for k := range c.errors {
			c.errors[k].first, c.errors[k].last = c.errors[k].first+offset, c.errors[k].last+offset
		}
		if to := rows[i]; out.cells[to] == nil {
			out.cells[to], out.touched = &c, append(out.touched, to)
		} else {
			sum := &cell{}
			sum.merge(out.cells[to], nil)
			sum.merge(&c, nil)
			out.cells[to] = sum
		}
	}
	for i := range out.metrics {
		out.metrics[i].lastAt += offset
	}
	return out
}

// absorb takes over what a live judgement of another run found: broken in one is
// broken in all.
func (j *judge) absorb(from *judge, offset time.Duration) {
	if j.broken || !from.judged {
		return
	}
	if from.broken || !j.judged {
		j.judged, j.doubted, j.broken = from.judged, from.doubted, from.broken
		j.since, j.value, j.when = from.since+offset, from.value, from.when+offset
	}
}

// absorb adds another run's timeline. Beside this one, threads of both are active at
// once; after it, an interval may hold the end of one run and the begin of the next.
func (t *timeline) absorb(from *timeline, offset time.Duration, rows []int, after bool) {
	if from.width == 0 {
		return
	}
	if t.width == 0 {
		t.width = from.width
	}
	other := &timeline{width: from.width, columns: slices.Clone(from.columns)}
	for i := range other.columns {
		points := slices.Clone(other.columns[i].points)
		for k := range points {
			points[k].series = rows[points[k].series]
		}
		other.columns[i].points = points
	}
	for t.width != other.width || len(other.columns)+steps(offset, t.width) > maxColumns {
		if t.width <= other.width {
			t.double()
		}
		if other.width < t.width {
			other.double()
		}
	}
	shift := steps(offset, t.width)
	for len(t.columns) < len(other.columns)+shift {
		t.columns = append(t.columns, column{})
	}
	for i := range other.columns {
		to, c := &t.columns[i+shift], &other.columns[i]
		covered, active, load := max(to.covered, c.covered), to.active+c.active, to.load
		load.beside(c.load)
		t.merge(to, c)
		if !after {
			to.covered, to.active, to.load = covered, active, load
		}
	}
	for t.bytes > maxTimelineBytes && len(t.columns) > 1 {
		t.double()
	}
}

// steps is a time in whole intervals.
func steps(at, width time.Duration) int { return int((at + width/2) / width) }
