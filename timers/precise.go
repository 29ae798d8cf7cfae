package timers

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
)

func definePreciseThroughput() element.Definition {
	return element.DefineTimer[preciseThroughput]("precise_throughput", element.Doc{
		Summary: "starts an exact number of samplers in each window of time, at random moments",
		Text: "In each window the number of samplers is exact, and the gaps between them look as if people came independently " +
			"(a Poisson process). The schedule is shared by the group, begins with its first sample and is drawn from the run's seed, " +
			"so the same seed gives the same schedule. What does not fit a window evenly is carried into the next: " +
			"`10/h` is ten in an hour, whatever the window. Samplers that come late start at once, so nothing is lost; " +
			"their lateness counts in the response time only from when they start.\n\n" +
			"With `batch` that many samplers start together each time; the rate still counts samplers.",
		Examples: []element.Example{
			{YAML: "precise_throughput: 30/min"},
			{YAML: "precise_throughput: {rate: 600/h, batch: 5}"},
			{YAML: "precise_throughput: {rate: 50/s, window: 10s}", Note: "exactly 500 in every ten seconds"},
		},
	})
}

type preciseThroughput struct {
	Rate   expr.RateValue `plan:"rate,required,short" doc:"how many samplers start per time, as 30/min"`
	Batch  expr.Int       `plan:"batch" doc:"how many samplers start together" default:"1" min:"1" max:"1000000"`
	Window expr.Duration  `plan:"window" doc:"the time over which the number is exact; by default 1m, or the time of ten starts where that is longer" min:"1ms"`
}

// Check reports a rate of nothing.
func (p *preciseThroughput) Check(report func(field, code, summary, detail string)) {
	if rate, ok := p.Rate.Literal(); ok && !(rate > 0) {
		report("rate", "out-of-range", "the rate must be above 0", "write one like 50/s, 3000/min or 10/h")
	}
}

// Scheduled reports that due times are a schedule: lateness counts.
func (*preciseThroughput) Scheduled() bool { return true }

// Due returns the next moment of the group's schedule, also one that has passed:
// the response time counts from it.
func (p *preciseThroughput) Due(t *element.Thread, now time.Duration) (time.Duration, error) {
	rate, err := p.Rate.Eval(t)
	if err != nil {
		return now, err
	}
	batch, err := p.Batch.Eval(t)
	if err != nil {
		return now, err
	}
	if !(rate > 0) || batch < 1 {
		return now, fmt.Errorf("precise_throughput needs a rate above 0 and a batch from 1 on, not %s and %d", rate, batch)
	}
	starts := float64(rate) / float64(batch) // per second
	window, err := p.window(t, starts)
	if err != nil {
		return now, err
	}
	s := t.Local(p, func() any {
		return t.Members.Value(p, func() any { return newMoments(t.Members, uint64(p.Rate.Range().Start.Offset), now) })
	}).(*moments)
	return s.take(starts, batch, window), nil
}

// window returns the length of a window in seconds.
func (p *preciseThroughput) window(t *element.Thread, starts float64) (float64, error) {
	if p.Window.IsSet() {
		d, err := p.Window.Eval(t)
		if err == nil && d <= 0 {
			err = fmt.Errorf("the window of precise_throughput is %s; it must be above 0s", d)
		}
		return d.Seconds(), err
	}
	return max(60, 10/starts), nil
}

// moments draws the schedule of one group, one moment at a time, in constant
// memory: the sorted uniform moments of a window are drawn in order, each as the
// least of those that are left (for n uniform draws of [u, 1) that is
// 1 − (1−u)·V^(1/n) with V uniform). Safe for concurrent use.
type moments struct {
	mu     sync.Mutex
	rand   *rand.Rand
	start  time.Duration // of the schedule
	begin  float64       // of the window, in seconds after start
	length float64       // of the window
	at     float64       // share of the window that is over, at the last moment
	left   int64         // moments left in the window
	carry  float64       // part of a moment that windows so far owe
	last   time.Duration
	repeat int64 // samplers that still start at last

	drawn   int64 // moments so far
	segment element.Segment
}

func newMoments(s *element.Shared, salt uint64, now time.Duration) *moments {
	return &moments{rand: rand.New(rand.NewPCG(s.Seed, salt)), start: now, segment: s.Segment}
}

// take returns the next moment; starts are per second, the window is in seconds.
func (m *moments) take(starts float64, batch int64, window float64) time.Duration {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.repeat > 0 {
		m.repeat--
		return m.last
	}
	for m.draw(starts, window); !m.segment.Has(m.drawn - 1); {
		m.draw(starts, window)
	}
	m.repeat = batch - 1
	return m.last
}

// draw sets last to the next moment of all segments.
func (m *moments) draw(starts, window float64) {
	m.drawn++
	for m.left == 0 {
		m.open(starts, window)
	}
	m.at = 1 - (1-m.at)*math.Pow(1-m.rand.Float64(), 1/float64(m.left))
	m.left--
	if seconds := m.begin + m.at*m.length; seconds < (math.MaxInt64-float64(m.start))/float64(time.Second) {
		m.last = max(m.last, m.start+time.Duration(seconds*float64(time.Second)))
	} else {
		m.last = math.MaxInt64
	}
}

// open begins the next window. A window without a moment is passed over; its
// share is carried.
func (m *moments) open(starts, window float64) {
	m.begin += m.length
	m.length, m.at = window, 0
	due := m.carry + starts*window
	if due < 1-1e-9 { // many windows of a low rate: go on where the next moment is
		skip := math.Ceil((1-1e-9-due)/(starts*window)) - 1
		m.begin += skip * window
		due += skip * starts * window
	}
	whole := math.Floor(due + 1e-9)
	m.left, m.carry = int64(min(whole, 1<<53)), max(0, due-whole)
}
