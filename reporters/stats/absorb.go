package stats

import (
	"slices"
	"time"
)

// absorb adds another run's state that began offset later. from is left as it is.
func (s *state) absorb(from *state, offset time.Duration) {
	s.total.merge(from.total.later(offset))
	s.at = max(s.at, from.at+offset)
	s.timeline.absorb(&from.timeline, offset)
	s.steady.absorb(&from.steady)
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
}

// later returns a copy whose times are offset later; histograms are shared.
func (b *batch) later(offset time.Duration) *batch {
	out := &batch{cells: make([]*cell, len(b.cells)), touched: b.touched, groups: b.groups, metrics: slices.Clone(b.metrics), tally: b.tally}
	for _, i := range b.touched {
		c := *b.cells[i]
		c.firstDue, c.lastDue = c.firstDue+offset, c.lastDue+offset
		c.errors = slices.Clone(c.errors)
		for k := range c.errors {
			c.errors[k].first, c.errors[k].last = c.errors[k].first+offset, c.errors[k].last+offset
		}
		out.cells[i] = &c
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

// absorb adds another run's timeline: threads of both are active at once.
func (t *timeline) absorb(from *timeline, offset time.Duration) {
	if from.width == 0 {
		return
	}
	if t.width == 0 {
		t.width = from.width
	}
	other := &timeline{width: from.width, columns: slices.Clone(from.columns)}
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
		covered, active, planned := max(to.covered, c.covered), to.active+c.active, to.planned+c.planned
		t.merge(to, c)
		to.covered, to.active, to.planned = covered, active, planned
	}
	for t.bytes > maxTimelineBytes && len(t.columns) > 1 {
		t.double()
	}
}

// steps is a time in whole intervals.
func steps(at, width time.Duration) int { return int((at + width/2) / width) }
