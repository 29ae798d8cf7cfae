package engine

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"time"

	"runner/plan/element"
)

// Rates are kept as whole millionths of an event per hour, so that 30/s, 7/min
// and 10/h are all exact and the number of arrivals of a stage is an integer sum.
const (
	ratePerSecond = 3600 * 1e6
	// unitsPerEvent is one event in the unit of rate·2·nanoseconds: the 2 makes
	// the area under a ramp, (from+to)·time/2, a whole number too.
	unitsPerEvent = 2 * 3600 * 1e6 * uint64(time.Second)
	// MaxRate is the highest rate of arrivals per second.
	MaxRate = 1_000_000
)

// ArrivalStage is one stage of an open load: the rate per second goes evenly
// from From to To in the time Over.
type ArrivalStage struct {
	From, To float64
	Over     time.Duration
}

// ArrivalShape is the planned arrivals of an open load, as data: no clock, no
// goroutine. Arrival i is due when the area under the rate passes i, over
// half-open intervals, so fractions carry over from stage to stage.
type ArrivalShape struct {
	stages  []arrivalStage
	length  time.Duration // 0: no planned end (iterations only)
	over    time.Duration // when the limit is reached, by the mean of a random one; 0: never
	limit   int64         // most arrivals; -1: no limit
	poisson bool
	part    element.Segment
}

type arrivalStage struct {
	begin, over time.Duration // over 0 = without end, of the last stage only
	from, to    uint64        // in millionths per hour
	whole       int64         // events before this stage
	frac        uint64        // and the part of one, in unitsPerEvent
}

// Arrivals returns the shape of the stages; a last stage with Over 0 goes on
// until limit arrivals. A limit below 0 is none.
func Arrivals(stages []ArrivalStage, limit int64, poisson bool) *ArrivalShape {
	s := &ArrivalShape{limit: limit, poisson: poisson}
	var at time.Duration
	var sum u128
	for i, st := range stages {
		if st.Over <= 0 && i < len(stages)-1 {
			continue
		}
		whole, frac := sum.split()
		next := arrivalStage{at, st.Over, rateUnits(st.From), rateUnits(st.To), whole, frac}
		s.stages = append(s.stages, next)
		sum = sum.add(next.area())
		at += st.Over
	}
	if n := len(s.stages); n > 0 && s.stages[n-1].over > 0 {
		s.length = at
		whole, frac := sum.split()
		if frac > 0 {
			whole++ // half-open: arrival i is due while i < the area
		}
		if !poisson && (limit < 0 || whole < limit) {
			s.limit = whole
		}
	}
	if s.limit > 0 && len(s.stages) > 0 {
		s.over, _ = s.at(s.limit)
	}
	return s
}

// Length is the planned time of the shape: with an iteration limit and no
// duration the time until one gap after the last arrival.
func (s *ArrivalShape) Length() time.Duration {
	if s.length > 0 || len(s.stages) == 0 || s.limit < 0 {
		return s.length
	}
	at, _ := s.at(s.limit)
	return at
}

// Timed reports whether the shape ends by time.
func (s *ArrivalShape) Timed() bool { return s.length > 0 }

// Count is the number of arrivals planned, -1 if it is random.
func (s *ArrivalShape) Count() int64 {
	if s.poisson && s.length > 0 {
		return -1
	}
	if s.limit < 0 {
		return s.limit
	}
	return s.part.Of(s.limit)
}

// Planned returns the planned rate per second at a time since the group's start.
func (s *ArrivalShape) Planned(at time.Duration) float64 {
	return s.plannedWhole(at) / float64(max(1, s.part.Count))
}

func (s *ArrivalShape) plannedWhole(at time.Duration) float64 {
	if s.over > 0 && at >= s.over {
		return 0
	}
	for i := range s.stages {
		st := &s.stages[i]
		if at >= st.begin && (st.over <= 0 || at < st.begin+st.over) {
			if st.over <= 0 || st.from == st.to {
				return float64(st.from) / ratePerSecond
			}
			part := float64(at-st.begin) / float64(st.over)
			return (float64(st.from) + (float64(st.to)-float64(st.from))*part) / ratePerSecond
		}
	}
	return 0
}

// Walk returns an iterator over the arrivals; seed is used by poisson only.
func (s *ArrivalShape) Walk(seed uint64) *ArrivalWalk {
	w := &ArrivalWalk{shape: s}
	if s.poisson {
		w.random = rand.New(rand.NewPCG(seed, 0x61727269))
	}
	return w
}

// ArrivalWalk is an iterator over planned arrivals.
type ArrivalWalk struct {
	shape  *ArrivalShape
	next   int64
	stage  int
	random *rand.Rand
	area   float64 // of poisson: events so far, as a real number
}

// Next returns when the next arrival is due, counted from the group's start;
// false when there are no more.
func (w *ArrivalWalk) Next() (time.Duration, bool) {
	part := w.shape.part
	if w.random == nil {
		w.next = part.Nth(part.Of(w.next))
	}
	for {
		at, ok := w.step()
		if !ok || part.Has(w.next-1) {
			return at, ok
		}
	}
}

// step is Next for the whole shape.
func (w *ArrivalWalk) step() (time.Duration, bool) {
	s := w.shape
	if s.limit >= 0 && w.next >= s.limit || len(s.stages) == 0 {
		return 0, false
	}
	i, offset := w.next, 0.0
	if w.random != nil {
		w.area += w.random.ExpFloat64()
		whole := math.Floor(w.area)
		i, offset = int64(whole), w.area-whole
	}
	for w.stage < len(s.stages)-1 && s.stages[w.stage+1].holds(i, offset) {
		w.stage++
	}
	at, ok := s.stages[w.stage].due(i, offset)
	if ok {
		w.next++
	}
	return at, ok
}

// Remaining counts the arrivals that Next would still give, and uses them up.
func (w *ArrivalWalk) Remaining() int64 {
	if s := w.shape; s.Count() >= 0 {
		left := s.part.Of(s.limit) - s.part.Of(w.next)
		w.next = s.limit
		return max(0, left)
	}
	for n := int64(0); ; n++ {
		if _, ok := w.Next(); !ok {
			return n
		}
	}
}

func (s *ArrivalShape) at(i int64) (time.Duration, bool) {
	k := 0
	for k < len(s.stages)-1 && s.stages[k+1].holds(i, 0) {
		k++
	}
	return s.stages[k].due(i, 0)
}

// holds reports whether event i+offset is due in this stage or after it.
func (st *arrivalStage) holds(i int64, offset float64) bool {
	if i != st.whole {
		return i > st.whole
	}
	return offset*float64(unitsPerEvent) >= float64(st.frac)
}

// due returns when the area under the rate reaches i+offset, not ok if it never
// does in this stage.
func (st *arrivalStage) due(i int64, offset float64) (time.Duration, bool) {
	switch {
	case i < st.whole || i == st.whole && st.frac > 0 && !st.holds(i, offset):
		return st.begin, true
	case st.from == st.to && st.from == 0:
		return 0, false
	case st.from == st.to && offset == 0:
		return st.dueEven(i)
	}
	events := float64(i-st.whole) + offset - float64(st.frac)/float64(unitsPerEvent)
	from, to := float64(st.from)/ratePerSecond, float64(st.to)/ratePerSecond
	over := st.over.Seconds()
	slope := 0.0
	if st.over > 0 {
		slope = (to - from) / over
	}
	// from·t + slope·t²/2 = events, solved in the form that keeps its digits.
	root := from*from + 2*slope*events
	if root < 0 || events < 0 {
		root = max(root, 0)
	}
	below := from + math.Sqrt(root)
	if below <= 0 {
		return st.begin, true
	}
	t := time.Duration(math.Round(2 * events / below * 1e9))
	if st.over > 0 && t >= st.over {
		if offset != 0 {
			return 0, false
		}
		t = st.over - 1 // rounding only: the count of the stage is exact
	}
	return st.begin + max(t, 0), true
}

// dueEven is due for a constant rate, in whole numbers: (i − before)/rate.
func (st *arrivalStage) dueEven(i int64) (time.Duration, bool) {
	hi, lo := bits.Mul64(uint64(i-st.whole), unitsPerEvent)
	lo, borrow := bits.Sub64(lo, st.frac, 0)
	hi, _ = bits.Sub64(hi, 0, borrow)
	if hi >= 2*st.from {
		return math.MaxInt64, false
	}
	t, _ := bits.Div64(hi, lo, 2*st.from)
	if t > math.MaxInt64/2 || st.over > 0 && t >= uint64(st.over) {
		return 0, false
	}
	return st.begin + time.Duration(t), true
}

func (st *arrivalStage) area() u128 {
	hi, lo := bits.Mul64(st.from+st.to, uint64(max(0, st.over)))
	return u128{hi, lo}
}

func rateUnits(perSecond float64) uint64 {
	return uint64(math.Round(min(max(perSecond, 0), 10*MaxRate) * ratePerSecond))
}

type u128 struct{ hi, lo uint64 }

func (a u128) add(b u128) u128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return u128{hi, lo}
}

// split returns whole events and the rest.
func (a u128) split() (whole int64, frac uint64) {
	if a.hi >= unitsPerEvent {
		return math.MaxInt64, 0
	}
	q, r := bits.Div64(a.hi, a.lo, unitsPerEvent)
	return int64(min(q, math.MaxInt64)), r
}
