package stats

import (
	"time"

	"runner/plan/element"
)

// load is what the plan asked for in an interval beside what became of it: threads
// of the closed groups, arrivals of the open ones, each summed over its groups.
type load struct {
	closed        int64   // active threads of the closed groups, at most at once
	threads       float64 // planned for them, at most at once
	due           float64 // arrivals planned: the area under the open groups' rates
	started, lost int64   // iterations that the open groups began, and dropped
}

// then adds a later interval of the same run.
func (l *load) then(next load) {
	l.closed, l.threads = max(l.closed, next.closed), max(l.threads, next.threads)
	l.arrive(next)
}

// beside adds the same interval of another run.
func (l *load) beside(other load) {
	l.closed, l.threads = l.closed+other.closed, l.threads+other.threads
	l.arrive(other)
}

func (l *load) arrive(from load) {
	l.due, l.started, l.lost = l.due+from.due, l.started+from.started, l.lost+from.lost
}

func (e *encoder) load(l *load) {
	e.int(l.closed)
	e.float(l.threads)
	e.float(l.due)
	e.int(l.started)
	e.int(l.lost)
}

func (d *decoder) load() load {
	return load{closed: d.int(), threads: d.float(), due: d.float(), started: d.int(), lost: d.int()}
}

// levels fills in the load of the interval. What the batches counted must be in d.
func (r *Recorder) levels(d *delta) {
	d.active, d.load = 0, load{}
	for i, g := range r.groups {
		info, active := &r.layout.Groups[i], g.active.Load()
		active = max(g.peak.Swap(active), active)
		d.active += active
		if info.Open {
			d.load.due += g.arrivals(info, d.from, d.to)
			d.load.started += d.groups[i+1][element.IterationsStarted]
			d.load.lost += d.dropped(i)
			continue
		}
		d.load.closed += active
		d.load.threads += g.threads(info, active, d.from, d.to)
	}
	d.load.threads, d.load.due = finite(d.load.threads), finite(d.load.due)
}

// threads returns the most threads that a closed group plans at once between two
// moments of the run. The last twentieth is left out: a thread due just before a
// tick may be seen after it, which is no lack of load. A load that ends with its iterations, and not by time, ends
// with its last thread.
func (g *groupClock) threads(info *element.Group, active int64, from, to time.Duration) float64 {
	if _, ok := g.elapsed(to); !ok || info.Planned == nil || info.Duration <= 0 && active == 0 {
		return 0
	}
	most := 0.0
	for _, at := range []time.Duration{from, from + (to-from)/2, to - (to-from)/20} {
		since, _ := g.elapsed(at)
		most = max(most, info.Planned(since))
	}
	return most
}

// dueSteps is how finely the area under a rate is taken. Ramps come out exact; a
// jump is wrong by half a step's arrivals at most.
const dueSteps = 100

// arrivals returns how many arrivals an open group plans between two moments of
// the run: the area under its rate, by the midpoint rule.
func (g *groupClock) arrivals(info *element.Group, from, to time.Duration) float64 {
	begun := g.started.Load()
	if begun == 0 || info.Planned == nil {
		return 0
	}
	from = max(from, time.Duration(begun-1)) // a group's rate has no past
	sum, step := 0.0, float64(to-from)/dueSteps
	if step <= 0 {
		return 0
	}
	for i := range dueSteps {
		since, _ := g.elapsed(from + time.Duration((float64(i)+.5)*step))
		sum += finite(info.Planned(since))
	}
	return sum * step / float64(time.Second)
}

// arrivalRates returns the arrivals per second that an open group planned and
// began over the last intervals, the same ones for both, so that they agree on a
// ramp too.
func (r *Recorder) arrivalRates(group int) (planned, started float64) {
	took, count := time.Duration(0), int64(0)
	for i := range r.state.recent.slices {
		s := &r.state.recent.slices[i]
		took, count = took+s.took, count+s.started[group]
	}
	if took <= 0 {
		return 0, 0
	}
	due := r.groups[group].arrivals(&r.layout.Groups[group], r.state.at-took, r.state.at)
	return finite(due / took.Seconds()), float64(count) / took.Seconds()
}

// kinds reports whether closed and open groups run.
func (o *outline) kinds() (closed, open bool) {
	for i := range o.Groups {
		if g := &o.Groups[i]; g.Skipped == "" {
			closed, open = closed || !g.Open, open || g.Open
		}
	}
	return closed, open
}

// loads adds the load of every interval to the timeline: columns of the kinds of
// groups that run.
func (t *timeline) loads(out *Timeline, closed, open bool) {
	out.Planned = make([]*float64, len(t.columns))
	if closed {
		for i := range t.columns {
			l := &t.columns[i].load
			planned := finite(l.threads)
			out.Planned[i] = &planned
			out.ClosedThreads = append(out.ClosedThreads, int(l.closed))
		}
	}
	if !open {
		return
	}
	out.Arrivals = &Arrivals{Planned: []float64{}, Started: []int64{}, Dropped: []int64{}}
	for i := range t.columns {
		l, a := &t.columns[i].load, out.Arrivals
		a.Planned = append(a.Planned, finite(l.due))
		a.Started = append(a.Started, l.started)
		a.Dropped = append(a.Dropped, l.lost)
	}
}
