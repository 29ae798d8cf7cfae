package reporters

import "runner/reporters/stats"

// loadView is a chart of the load over time: which, and its outcome in words.
type loadView struct {
	ID, Title, Text string
	Missed          bool // the load was not what the plan asked for
	Wide            bool // it has a row for itself
}

// newLoads lists the charts of what was planned and what really was.
func newLoads(s *stats.Summary) []loadView {
	t, open := &s.Timeline, s.Timeline.Arrivals != nil
	threads := loadView{ID: "c-threads", Title: "Threads", Text: "most at once: " + count(int64(peakThreads(t))), Wide: !open}
	if len(t.ClosedThreads) > 0 {
		threads.Title = "Load: planned and actual threads"
		if most, planned := peakOf(t); planned > 0 {
			threads.Text = "most at once: " + count(int64(most)) + " of " + significant(planned, 3) + " planned"
			threads.Missed = float64(most) < planned
		}
	}
	if !open {
		return []loadView{threads}
	}
	if len(t.ClosedThreads) == 0 {
		threads.Title, threads.Text = "Busy threads", "most at once: "+count(int64(peakThreads(t)))
	}
	return []loadView{newArrivals(t.Arrivals), threads}
}

func newArrivals(a *stats.Arrivals) loadView {
	planned, started, dropped := 0.0, int64(0), int64(0)
	for i := range a.Planned {
		planned, started, dropped = planned+a.Planned[i], started+a.Started[i], dropped+a.Dropped[i]
	}
	v := loadView{ID: "c-arrivals", Title: "Load: planned and actual arrivals", Text: count(started) + " started of " + grouped(planned, 0) + " planned"}
	if dropped > 0 {
		v.Text, v.Missed = v.Text+", "+count(dropped)+" dropped", true
	}
	return v
}

// peakOf returns the most threads of closed groups, active and planned.
func peakOf(t *stats.Timeline) (most int, planned float64) {
	for _, n := range t.ClosedThreads {
		most = max(most, n)
	}
	for _, p := range t.Planned {
		if p != nil {
			planned = max(planned, *p)
		}
	}
	return most, planned
}
