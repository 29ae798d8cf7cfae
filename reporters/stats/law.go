package stats

import (
	"math"
	"math/rand/v2"
	"time"
)

// flight is what was read of the samples in flight. Readings are taken at one
// random moment in each tenth of a second, so that their mean is that of the run,
// whatever the period of the load.
type flight struct {
	readings int64
	sum      int64
	squares  int64         // of the differences of neighbours
	late     time.Duration // by which readings came after their moments, in all
	most     int64         // in flight at once, or more
}

func (f *flight) merge(from *flight) {
	f.readings += from.readings
	f.sum += from.sum
	f.squares += from.squares
	f.late += from.late
	f.most = max(f.most, from.most)
}

func (e *encoder) flight(f *flight) {
	for _, v := range []int64{f.readings, f.sum, f.squares, int64(f.late), f.most} {
		e.int(v)
	}
}

func (d *decoder) flight(f *flight) {
	*f = flight{d.count(), d.int(), d.int(), time.Duration(d.count()), d.count()}
}

// lookEvery is the stretch of time in which there is one reading.
const lookEvery = 100 * time.Millisecond

// watch knows when the next reading is due.
type watch struct {
	rand    *rand.Rand
	stretch time.Duration // when the reading's stretch begins
	due     time.Duration
	last    int64 // reading
}

func newWatch(seed uint64, now time.Duration) watch {
	w := watch{rand: rand.New(rand.NewPCG(seed, 0x117713)), stretch: now}
	w.due = now + time.Duration(w.rand.Int64N(int64(lookEvery)))
	return w
}

// next draws the moment in the next stretch; those that have passed are left out.
func (w *watch) next(now time.Duration) {
	w.stretch += lookEvery * max(1, (now-w.stretch)/lookEvery)
	w.due = w.stretch + time.Duration(w.rand.Int64N(int64(lookEvery)))
}

// look reads how many samples are in flight, if it is time to, and returns how
// long it is until the next reading. It disturbs nobody who records.
func (r *Recorder) look() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, f := &r.watch, &r.delta.flight
	now := r.now()
	if r.closed == nil && now >= w.due {
		n := int64(0)
		for _, s := range r.shards {
			n += s.flying.Load()
		}
		f.readings++
		f.sum += n
		f.squares += (n - w.last) * (n - w.last)
		f.late += now - w.due
		w.last = n
		w.next(now)
	}
	return max(0, w.due-now)
}

// Limits of the check by Little's law: fewer readings (20 s of them) or samples in
// flight prove nothing. Chance is allowed for as in Maurer and Pontil, "Empirical
// Bernstein bounds and sample variance penalization" (COLT 2009), theorem 4, for
// one run in 10,000: √(2·ln(2/δ)) standard errors, and 7·ln(2/δ)/3 times the range
// over n for what is too rare to be in the readings.
const (
	lawReadings  = 200
	lawInFlight  = 2
	lawTolerance = 0.05
	lawErrors    = 5
	lawRange     = 23
	lawCPU       = 2
)

// concurrency holds the samples seen in flight against Little's law: throughput
// times mean time, which is the time of all samples over that of the run. missing
// is how many samples were in flight and never recorded; each was so for the
// whole run at most. It is nil where there are too few readings.
//
// Beside chance, the tolerance covers readings that came late or not at all, which
// are off by the most in flight at worst, and the time that a sample is in flight
// before its first stamp and after its last: the CPU time of this process, twice
// for the waits that come with it.
func (s *state) concurrency(missing int64) *Concurrency {
	f := &s.flight
	if f.readings < lawReadings || s.at <= 0 {
		return nil
	}
	n, whole, most := float64(f.readings), float64(s.at), float64(f.most)
	c := &Concurrency{InFlight: float64(f.sum) / n, Expected: float64(s.total.tally.busy) / whole}
	unread := max(0, s.at-time.Duration(f.readings)*lookEvery)
	c.Tolerance = lawTolerance*c.Expected +
		lawErrors*math.Sqrt(max(0, float64(f.squares))/2)/n +
		lawRange*most/n +
		most*float64(f.late+unread)/whole +
		lawCPU*float64(s.gen.cpu)/whole +
		float64(missing)
	c.judge()
	return c
}

func (c *Concurrency) judge() {
	c.Holds = max(c.InFlight, c.Expected) < lawInFlight || math.Abs(c.InFlight-c.Expected) <= c.Tolerance
}

// partLaw is the check of one of several merged results.
type partLaw struct {
	check *Concurrency
	void  bool
	name  string
	span  time.Duration
}

// check judges a run or part by the law; cut says that it has no end or that
// something was cut off. Its figures are void only if nothing else explains the
// difference: the generator, whose CPU time must be known, does not accuse itself.
func (s *state) check(cut bool, g *Generator) partLaw {
	c := s.concurrency(s.ledger(cut).Samples.InFlight)
	fit := g.Verdict == "ok" && len(g.Causes) == 0 && s.gen.wall > 0
	return partLaw{check: c, void: c != nil && !c.Holds && !cut && fit, span: s.at}
}

// law returns the check, why it makes the run void, and what else is to be said.
// A merged result is the sum of its parts, each of which was judged alone.
func (s *state) law(cut bool, g *Generator) (sum *Concurrency, reasons, notes []string) {
	parts := s.laws
	if len(parts) == 0 {
		parts = []partLaw{s.check(cut, g)}
	}
	for i := range parts {
		p := &parts[i]
		c := p.check
		if c == nil {
			continue
		}
		text := c.text()
		if p.name != "" {
			text = prefixed(p.name, text)
		}
		if p.void {
			reasons = append(reasons, text+"; so its times or counts are wrong")
		} else if !c.Holds {
			notes = append(notes, text+"; its times or counts may be wrong")
		}
		if len(parts) == 1 {
			return c, reasons, notes
		}
		if sum == nil {
			sum = &Concurrency{Holds: true}
		}
		weight := float64(p.span) / float64(max(1, s.at))
		sum.InFlight += weight * c.InFlight
		sum.Expected += weight * c.Expected
		sum.Tolerance += weight * c.Tolerance
		sum.Holds = sum.Holds && c.Holds
	}
	return sum, reasons, notes
}

// text says that the law does not hold.
func (c *Concurrency) text() string {
	return "the figures contradict each other by Little's law: on average " + formatNumber(c.InFlight, 3) +
		" samples were in flight, but throughput times mean time gives " + formatNumber(c.Expected, 3) +
		" (± " + formatNumber(c.Tolerance, 3) + " are allowed)"
}
