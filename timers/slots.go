package timers

import (
	"math"
	"sync/atomic"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
)

// ticksPerNs is the resolution of a clock: finer than a nanosecond, so that a
// period that is no whole number of them (1/7 s) does not drift: less than 8 ms
// in a thousand million slots. The range is four years.
const ticksPerNs = 64

const (
	unset    = math.MinInt64
	maxTicks = math.MaxInt64 / 4 // about a year: as good as never
)

// slots is one clock that hands out due times. Lock-free.
//
//	last    what the next caller at now gets
//	unset   now
//	else    last + period, but without catch-up not before now; with it a slot
//	        that was missed keeps its time, which the response time counts from
//
// In a segment of n it hands out every n-th slot of the whole's clock, the first
// one as many periods late as there are segments before it.
type slots struct {
	start   int64 // ticks: when the first slot was asked for
	last    atomic.Int64
	profile *profile // of a rate that changes; nil for a constant one
	segment element.Segment
	err     error // the stages cannot be evaluated
}

func newSlots(now time.Duration, segment element.Segment) *slots {
	s := &slots{start: ticks(now), segment: segment}
	s.last.Store(unset)
	return s
}

// Branch lets what a thread does side by side share its rate.
func (s *slots) Branch() any { return s }

// take returns the next slot and moves the clock on. period is in ticks; with a
// profile it is not used.
func (s *slots) take(now time.Duration, period int64, catchUp bool) time.Duration {
	asked := ticks(now)
	for {
		last := s.last.Load()
		var slot int64
		if last == unset {
			slot = s.following(asked, period, s.segment.Nth(0))
		} else {
			slot = s.following(last, period, s.segment.Nth(1)-s.segment.Nth(0))
			if !catchUp {
				slot = max(slot, asked)
			}
		}
		if s.last.CompareAndSwap(last, slot) {
			due := time.Duration((slot + ticksPerNs/2) / ticksPerNs)
			if catchUp {
				return due
			}
			return max(now, due)
		}
	}
}

// following returns the slot that is n slots of the whole after last.
func (s *slots) following(last, period, n int64) int64 {
	if n == 0 {
		return last
	}
	if s.profile != nil {
		const perSecond = float64(time.Second * ticksPerNs)
		at := s.profile.next(float64(last-s.start)/perSecond, float64(n))
		if at*perSecond > maxTicks {
			return maxTicks
		}
		return max(last, s.start+int64(math.Round(at*perSecond)))
	}
	if period > maxTicks/n {
		return maxTicks
	}
	return min(last+n*period, maxTicks)
}

// ticks converts a time; beyond the range it stands still.
func ticks(d time.Duration) int64 { return int64(min(d, maxTicks/ticksPerNs)) * ticksPerNs }

// period returns the ticks from one slot to the next.
func period(rate expr.Rate) int64 {
	return int64(min(math.Round(float64(time.Second*ticksPerNs)/float64(rate)), maxTicks))
}
