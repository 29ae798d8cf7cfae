package stats

import (
	"time"

	"runner/plan/element"
)

// steady counts what fell into the stretch of each group's load in which it is at
// its height: after the ramp-up and the warm-up and before the ramp-down, in whole
// intervals. The total is counted in the intervals that are so for all groups.
type steady struct {
	counts   []int64         // by series
	took     []time.Duration // by group
	total    int64
	together time.Duration
}

func newSteady(out *outline) steady {
	return steady{counts: make([]int64, len(out.Series)+1), took: make([]time.Duration, len(out.Groups))}
}

// plannedSteps is how finely a load's shape is looked at.
const plannedSteps = 2000

// heightOf returns from when to when, counted from the group's start, a load is at
// its height, at 99.9 % of its most threads or highest rate, and past its warm-up;
// and that height.
func heightOf(g *element.Group) (from, to time.Duration, top float64) {
	if g.Planned == nil || g.Duration <= 0 {
		return g.WarmUp, g.Duration, 0
	}
	step := max(time.Millisecond, g.Duration/plannedSteps)
	for at := time.Duration(0); at < g.Duration; at += step {
		top = max(top, finite(g.Planned(at)))
	}
	from = -1
	for at := time.Duration(0); at < g.Duration; at += step {
		if v := finite(g.Planned(at)); v < top*0.999 || v == 0 {
			continue
		}
		if from < 0 {
			from = at
		}
		to = min(at+step, g.Duration)
	}
	return max(0, from, g.WarmUp), to, top
}

// add counts a delta that lies wholly within a group's height.
func (st *steady) add(s *state, d *delta) {
	all := true
	for g := range st.took {
		if !st.within(s, g, d) {
			all = all && s.out.Groups[g].Skipped != ""
			continue
		}
		st.took[g] += d.to - d.from
		for _, i := range d.touched {
			if s.groupOf(i) == g {
				st.counts[i] += d.cells[i].timed()
			}
		}
	}
	if !all {
		return
	}
	st.together += d.to - d.from
	for _, i := range d.touched {
		if s.load(i) {
			st.total += d.cells[i].timed()
		}
	}
}

// within reports whether a delta lies within a group's height. What was begun in
// the warm-up and ends after it belongs to neither, so the height of a group with
// one begins with an interval without such samples.
func (st *steady) within(s *state, g int, d *delta) bool {
	o, begun := &s.out.Groups[g], s.begun[g]
	switch {
	case begun < 0 || d.from+lateTick < begun+o.SteadyFrom || o.SteadyTo > 0 && d.to > begun+o.SteadyTo+lateTick:
		return false
	case o.WarmUp > 0 && st.took[g] == 0:
		return d.tally.warmUp == 0
	}
	return true
}

// absorb adds another run's: the counts add up; side by side the time does not.
func (st *steady) absorb(from *steady, rows []int, after bool) {
	for i, n := range from.counts {
		st.counts[rows[i]] += n
	}
	for g, d := range from.took {
		if after {
			st.took[g] += d
		} else {
			st.took[g] = max(st.took[g], d)
		}
	}
	st.total += from.total
	if after {
		st.together += from.together
	} else {
		st.together = max(st.together, from.together)
	}
}

// rate is the samples per second of a series in its group's steady state, nil if
// there was none.
func (st *steady) rate(series, group int) *float64 {
	if group < 0 || group >= len(st.took) || st.took[group] < time.Second {
		return nil
	}
	v := float64(st.counts[series]) / st.took[group].Seconds()
	return &v
}

// groupRate is that of all samplers of a group.
func (s *state) groupRate(group int) *float64 {
	if s.steady.took[group] < time.Second {
		return nil
	}
	sum := int64(0)
	for i, n := range s.steady.counts {
		if s.groupOf(i) == group && s.load(i) {
			sum += n
		}
	}
	v := float64(sum) / s.steady.took[group].Seconds()
	return &v
}

// totalRate is that of all samplers while all groups are in their steady state, nil
// if they are not for a second.
func (s *state) totalRate() *float64 {
	if s.steady.together < tickEvery {
		return nil
	}
	v := float64(s.steady.total) / s.steady.together.Seconds()
	return &v
}

// droppedShare is how much of what an open group was to start was dropped; −1 is
// all open groups. nil for closed ones.
func (s *state) droppedShare(group int) *float64 {
	scheduled, dropped := int64(0), int64(0)
	for g := range s.out.Groups {
		if s.out.Groups[g].Open && (group < 0 || g == group) {
			scheduled += s.total.groups[g+1][element.IterationsScheduled]
			dropped += s.total.dropped(g)
		}
	}
	if scheduled == 0 {
		return nil
	}
	v := float64(dropped) / float64(scheduled)
	return &v
}
