package engine

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"time"

	"runner/plan/element"
)

// ThreadEvent is one planned start or stop of a thread. Threads are numbered
// from 1 inside their group; At counts from the group's start.
type ThreadEvent struct {
	At     time.Duration
	Thread int
	Start  bool
}

// ThreadStage is one stage of a closed load: from the level before it to the
// level To, reached evenly Over a time; zero jumps.
type ThreadStage struct {
	To   int
	Over time.Duration
}

// ThreadShape is the planned number of threads over time, as data: no clock, no
// goroutine. The zero value plans nothing.
type ThreadShape struct {
	threads int           // of the plain form
	rampUp  time.Duration // of the plain form
	stages  []ThreadStage
	length  time.Duration // 0: open end
	part    element.Segment
}

// Ramp returns JMeter's shape: thread k of n (from 0) starts at k·rampUp/n and
// runs until length, or without end if length is 0.
func Ramp(n int, rampUp, length time.Duration) *ThreadShape {
	return &ThreadShape{threads: n, rampUp: rampUp, length: length}
}

// StagedThreads returns the shape of a staged closed load.
func StagedThreads(stages []ThreadStage) *ThreadShape {
	s := &ThreadShape{stages: stages}
	for _, st := range stages {
		s.length += st.Over
	}
	return s
}

// Length is the planned time of the shape, 0 if it has no planned end.
func (s *ThreadShape) Length() time.Duration { return s.length }

// Max is the highest number of threads that the shape asks for.
func (s *ThreadShape) Max() int {
	n := s.threads
	for _, st := range s.stages {
		n = max(n, st.To)
	}
	return int(s.part.Of(int64(n)))
}

// Lowers reports whether a stage asks for fewer threads than the one before.
func (s *ThreadShape) Lowers() bool {
	level := 0
	for _, st := range s.stages {
		if st.To < level {
			return true
		}
		level = st.To
	}
	return false
}

// Planned returns the number of threads that the plan wants at a time since the
// group's start, for charts.
func (s *ThreadShape) Planned(at time.Duration) float64 {
	if at < 0 || s.length > 0 && at >= s.length {
		return 0
	}
	return float64(s.part.Of(int64(s.plannedWhole(at))))
}

func (s *ThreadShape) plannedWhole(at time.Duration) int {
	if s.stages == nil {
		return startedBy(s.threads, s.rampUp, at)
	}
	level, begin := 0, time.Duration(0)
	for _, st := range s.stages {
		if at < begin+st.Over {
			change := st.To - level
			return level + int(mulDiv(int64(at-begin), int64(change), int64(st.Over)))
		}
		level, begin = st.To, begin+st.Over
	}
	return level
}

// startedBy counts the k in [0, n) with k·ramp/n ≤ at.
func startedBy(n int, ramp, at time.Duration) int {
	if ramp <= 0 || at >= ramp {
		return n
	}
	return min(n, int(mulDiv(int64(at), int64(n), int64(ramp)))+1)
}

// Events walks the planned starts and stops in order. Every start lies before
// the shape's length.
func (s *ThreadShape) Events() *ThreadEvents { return &ThreadEvents{shape: s} }

// ThreadEvents is an iterator over planned starts and stops.
type ThreadEvents struct {
	shape *ThreadShape
	stage int
	index int // events given of this stage
	level int // threads before this stage
	begin time.Duration
}

// Next returns the next event; false when there are no more. A staged shape does
// not stop the threads that are left at its end: that is the group's soft end.
func (e *ThreadEvents) Next() (ThreadEvent, bool) {
	for {
		event, ok := e.next()
		k := int64(event.Thread - 1)
		if !ok || e.shape.part.IsWhole() {
			return event, ok
		}
		if e.shape.part.Has(k) {
			event.Thread = int(e.shape.part.Of(k)) + 1
			return event, true
		}
	}
}

func (e *ThreadEvents) next() (ThreadEvent, bool) {
	s := e.shape
	if s.stages == nil {
		return e.nextPlain()
	}
	for e.stage < len(s.stages) {
		st := s.stages[e.stage]
		n := st.To - e.level
		if count := max(n, -n); e.index < count {
			e.index++
			// Thread A+j of B−A starts j steps of D/(B−A) into the stage, which is
			// end − D·(B−u)/(B−A) for u = A+j; stops are its mirror image.
			at := e.begin + st.Over - time.Duration(mulDiv(int64(st.Over), int64(count-e.index), int64(count)))
			if n > 0 {
				return ThreadEvent{at, e.level + e.index, true}, true
			}
			return ThreadEvent{at, e.level - e.index + 1, false}, true
		}
		e.level, e.begin, e.index = st.To, e.begin+st.Over, 0
		e.stage++
	}
	return ThreadEvent{}, false
}

// Peak is the highest number of threads that the shape asks for from the last
// given event on.
func (e *ThreadEvents) Peak() int {
	if e.shape.stages == nil || e.stage >= len(e.shape.stages) {
		return e.shape.Max()
	}
	n := e.level + e.index
	if e.shape.stages[e.stage].To < e.level {
		n = e.level - e.index
	}
	for _, st := range e.shape.stages[e.stage:] {
		n = max(n, st.To)
	}
	return int(e.shape.part.Of(int64(n)))
}

func (e *ThreadEvents) nextPlain() (ThreadEvent, bool) {
	s := e.shape
	if e.index >= s.threads {
		return ThreadEvent{}, false
	}
	at := time.Duration(mulDiv(int64(s.rampUp), int64(e.index), int64(s.threads)))
	if s.length > 0 && at >= s.length {
		return ThreadEvent{}, false
	}
	e.index++
	return ThreadEvent{at, e.index, true}, true
}

// mulDiv returns a·b/c rounded towards zero without overflow in between; the
// result is clamped to the range of int64. c must not be 0.
func mulDiv(a, b, c int64) int64 {
	negative := (a < 0) != (b < 0) != (c < 0)
	hi, lo := bits.Mul64(abs(a), abs(b))
	q := uint64(math.MaxInt64)
	if d := abs(c); hi < d {
		q, _ = bits.Div64(hi, lo, d)
		q = min(q, math.MaxInt64)
	}
	if negative {
		return -int64(q)
	}
	return int64(q)
}

func abs(n int64) uint64 {
	if n < 0 {
		return uint64(-n)
	}
	return uint64(n)
}

// between returns an evenly drawn time of [from, to].
func between(r *rand.Rand, from, to time.Duration) time.Duration {
	if to <= from {
		return from
	}
	return from + time.Duration(r.Int64N(int64(to-from)+1))
}
