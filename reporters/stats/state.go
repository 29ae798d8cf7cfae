package stats

import (
	"math"
	"time"

	"runner/plan/element"
)

// delta is what happened between two ticks.
type delta struct {
	batch
	from, to time.Duration
	active   int64 // threads at most at once
	load     load
	flight   flight
	process  processDelta
	notes    []string
	names    []rowName
	began    []time.Duration // when each group's clock began, −1 if it is not known
}

// rowName is the name that a reserved row got.
type rowName struct {
	series int
	name   string
}

// dropped returns the iterations that were dropped in a group, or in all for −1.
// Those left over by a stop are not among them.
func (b *batch) dropped(group int) int64 {
	if group >= 0 && group+1 < len(b.groups) {
		g := &b.groups[group+1]
		return g[element.DroppedNoThread] + g[element.DroppedEnd]
	}
	return b.sum(element.DroppedNoThread) + b.sum(element.DroppedEnd)
}

// state is a run as known from its deltas alone. It is the same whether they come
// from the shards or from a journal. Not safe for concurrent use.
type state struct {
	out      *outline
	total    *batch
	at       time.Duration
	timeline timeline
	judges   []*judge
	stopper  int // index of the threshold that ended the run, −1
	gen      generator
	recent   recent
	steady   steady
	flight   flight
	laws     []partLaw       // of merged results
	turns    []ran           // of merged results whose runs did not all overlap in time
	killed   string          // why the end is not known, "" = the usual reason
	unread   string          // of a damaged journal: how much of it
	begun    []time.Duration // when each group began; −1 = not yet
	notes    []string
}

func newState(out *outline) *state {
	s := &state{out: out, total: out.batch(), stopper: -1, steady: newSteady(out)}
	for i := range out.Thresholds {
		s.judges = append(s.judges, newJudge(&out.Thresholds[i], out.Metrics))
	}
	for range out.Groups {
		s.begun = append(s.begun, -1)
	}
	s.recent.groups = len(out.Groups)
	return s
}

// width is the number of rows, the shared one included.
func (s *state) width() int { return len(s.out.Series) + 1 }

func (s *state) apply(d *delta) {
	for g := range s.begun {
		c := &d.groups[g+1]
		if s.begun[g] < 0 && c[element.IterationsStarted]+c[element.ThreadsStarted]+c[element.IterationsScheduled] > 0 {
			s.begun[g] = d.from
			if at := d.began[g]; at >= 0 && at <= d.to {
				s.begun[g] = at
			}
		}
	}
	s.total.merge(&d.batch)
	s.at = d.to
	s.timeline.add(d)
	s.gen.add(d)
	s.recent.add(s, d)
	s.steady.add(s, d)
	s.flight.merge(&d.flight)
	for _, n := range d.notes {
		s.note(n)
	}
	for _, n := range d.names {
		s.name(n)
	}
	s.judge(d)
}

func (s *state) note(text string) {
	for _, n := range s.notes {
		if n == text {
			return
		}
	}
	if len(s.notes) < maxNotes {
		s.notes = append(s.notes, text)
	}
}

// name gives a reserved row its name.
func (s *state) name(n rowName) {
	if n.series >= 0 && n.series < len(s.out.Series) && s.out.Series[n.series].Reserved {
		s.out.Series[n.series].Name = n.name
	}
}

// load reports whether a row counts in the total.
func (s *state) load(series int) bool {
	if series >= len(s.out.Series) {
		return true
	}
	o := &s.out.Series[series]
	return !o.Transaction && o.Phase == string(element.Load)
}

// groupOf returns the group of a row, −1 for setup, teardown and the shared row.
func (s *state) groupOf(series int) int {
	if series < 0 || series >= len(s.out.Series) {
		return -1
	}
	if g := s.out.Series[series].Group; g >= 0 && g < len(s.out.Groups) {
		return g
	}
	return -1
}

// finite returns v, or 0 where it is none.
func finite(v float64) float64 {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return 0
	}
	return v
}
