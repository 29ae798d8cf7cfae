package stats

import (
	"time"

	"runner/plan/element"
)

// recentSeconds is how many intervals the console's rates look back.
const recentSeconds = 5

// recent keeps the last intervals of every group.
type recent struct {
	groups int
	slices []recentSlice
}

type recentSlice struct {
	took    time.Duration
	counts  []int64 // samples, by group
	started []int64 // iterations, by group
	hists   []sparse
}

func (r *recent) add(s *state, d *delta) {
	if d.to == d.from {
		return
	}
	slice := recentSlice{took: d.to - d.from, counts: make([]int64, r.groups), started: make([]int64, r.groups), hists: make([]sparse, r.groups)}
	hists := make([]Histogram, r.groups)
	for _, i := range d.touched {
		if g := s.groupOf(i); g >= 0 && s.load(i) {
			slice.counts[g] += d.cells[i].timed()
			hists[g].merge(&d.cells[i].success, &d.pool)
			hists[g].merge(&d.cells[i].failure, &d.pool)
		}
	}
	for g := range hists {
		slice.started[g] = d.groups[g+1][element.IterationsStarted]
		slice.hists[g] = hists[g].sparse()
		hists[g].release(&d.pool)
	}
	r.slices = append(r.slices, slice)
	if len(r.slices) > recentSeconds {
		r.slices = append(r.slices[:0], r.slices[1:]...)
	}
}

// of returns a group's rate and p95 over the last intervals.
func (r *recent) of(group int) (rate float64, p95 *time.Duration) {
	var h Histogram
	var took time.Duration
	count := int64(0)
	for i := range r.slices {
		took += r.slices[i].took
		count += r.slices[i].counts[group]
		r.slices[i].hists[group].addTo(&h, nil)
	}
	if h.n > 0 {
		v := time.Duration(h.Percentile(95))
		p95 = &v
	}
	if took > 0 {
		rate = float64(count) / took.Seconds()
	}
	return rate, p95
}

// Progress returns how the run stands, as of the last Tick.
func (r *Recorder) Progress() Progress {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.now()
	p := Progress{At: now}
	for g := range r.layout.Groups {
		gp := r.groupProgress(g, now)
		p.Samples += gp.Samples
		p.Errors += gp.Errors
		p.Groups = append(p.Groups, gp)
	}
	return p
}

func (r *Recorder) groupProgress(g int, now time.Duration) GroupProgress {
	info, s := &r.layout.Groups[g], r.state
	out := GroupProgress{Name: s.out.Groups[g].Name, Open: info.Open, Duration: info.Duration, Max: info.MaxThreads,
		Active: int(r.groups[g].active.Load()), Dropped: s.total.dropped(g)}
	for _, i := range s.total.touched {
		if s.groupOf(i) == g && s.load(i) {
			out.Samples += s.total.cells[i].count
			out.Errors += s.total.cells[i].failed
		}
	}
	out.Rate, out.P95 = s.recent.of(g)
	if at, ok := r.groups[g].elapsed(now); ok {
		out.Started, out.Elapsed = true, at
		if info.Planned != nil {
			v := finite(info.Planned(at))
			out.Planned = &v
		}
		if info.Open {
			out.PlannedPS, out.StartedPS = r.arrivalRates(g)
		}
	}
	if c := &s.total.groups[g+1]; c[element.IterationsStarted] > 0 {
		out.Started = true
	}
	return out
}
