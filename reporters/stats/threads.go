package stats

import (
	"math"
	"time"

	"runner/plan/element"
)

// tooFewThreads says how many threads would have served the arrivals that were
// dropped for want of a free one: in a group, or for −1 in the one that lost most;
// "" if none was.
func (s *state) tooFewThreads(group int) string {
	if group < 0 {
		most := int64(0)
		for g := range s.out.Groups {
			if n := s.total.groups[g+1][element.DroppedNoThread]; n > most {
				group, most = g, n
			}
		}
	}
	if group < 0 || group >= len(s.out.Groups) || s.total.groups[group+1][element.DroppedNoThread] == 0 {
		return ""
	}
	o := &s.out.Groups[group]
	text := "; no thread was free: raise max_threads of " + o.Name + ", now " + formatCount(int64(o.MaxThreads))
	needed, mean := s.threadsNeeded(group)
	if needed <= int64(o.MaxThreads) {
		return text
	}
	text += "; about " + formatCount(needed) + " threads are needed"
	if int64(math.Ceil(o.Top*mean.Seconds())) == needed {
		text += " (" + formatNumber(o.Top, 3) + "/s × " + formatTime(float64(mean), 3) + " for an iteration)"
	}
	return text
}

// threadsNeeded returns how many threads an open group needs for its highest rate,
// by Little's law rate × mean time of an iteration; and that time, of its samples
// alone. Pauses are not in it, so what the group's threads began of what was
// scheduled is taken too: each of them does its part.
func (s *state) threadsNeeded(group int) (int64, time.Duration) {
	n := &s.total.groups[group+1]
	started := float64(max(1, n[element.IterationsStarted]))
	sum := 0.0
	for _, i := range s.total.touched {
		if s.groupOf(i) == group && s.load(i) {
			h := &s.total.cells[i].service
			sum += h.Mean() * float64(h.n)
		}
	}
	o := &s.out.Groups[group]
	mean := time.Duration(finite(min(sum/started, float64(time.Hour))))
	byTime := o.Top * mean.Seconds()
	byShare := float64(o.MaxThreads) * float64(n[element.IterationsScheduled]-n[element.DroppedAbort]) / started
	return int64(math.Ceil(min(max(byTime, byShare), 1e9))), mean
}
