package stats

import (
	"slices"
	"time"

	"runner/plan/element"
)

// Limits of the generator's verdict.
const (
	delayFloor   = int64(time.Millisecond)
	delayShare   = 0.05  // of the reported p50
	limitedShare = 0.995 // of what was due must be sent
	invalidShare = 0.90
	localShare   = 0.01 // of the samples
	shownSeconds = 5
	fewLate      = 3 // late samples that are needed for any blame
)

// generator collects what the load generator says of itself over a run.
type generator struct {
	delay    Histogram // dispatch delay of samples that a free thread could have sent in time
	late     int64
	unsent   int64
	pauses   Histogram
	cpu      time.Duration
	wall     time.Duration
	cpus     int
	rss      int64 // highest
	slow     int64 // seconds in which the dispatch delay was above its floor
	slowest  []time.Duration
	allowed  float64 // CPUs that the process may use
	throttle time.Duration
	steal    float64 // ns of the wall time, as a share of all CPUs
	wait     time.Duration
	longest  time.Duration
	files    int64
	most     int64 // files allowed
	causes   [causes]causeTally
	beside   float64 // share of the machine's CPU time that other programs used at most in bad seconds
	overload overload
	others   []Generator // of merged results, each judged alone
	pool     pagePool
	stood    time.Duration // that the process stood still in the last interval
	stoodAt  time.Duration // when that began
}

func (g *generator) add(d *delta) {
	t, p := &d.tally, &d.process
	slow := Enough(99, t.delay.n) && t.delay.Percentile(99) > delayFloor || !Enough(99, t.delay.n) && t.late*100 > t.delay.n
	if slow {
		g.slow++
		if len(g.slowest) < shownSeconds {
			g.slowest = append(g.slowest, d.from)
		}
	}
	g.overload.add(d)
	stood := d.stood()
	if slow || t.localResource() > 0 {
		g.blame(d)
		stood = 0 // it is told already
	}
	g.stood, g.stoodAt = stood, d.from
	g.delay.merge(&t.delay, &g.pool)
	g.late += t.late
	g.unsent += t.unsent
	if p.cpu >= 0 && d.to > d.from {
		g.cpu += p.cpu
		g.wall += d.to - d.from
		g.cpus = max(g.cpus, p.cpus)
	}
	g.rss = max(g.rss, p.rss)
	g.allowed = max(g.allowed, p.allowed)
	g.throttle += p.throttled
	g.steal += p.steal * float64(d.to-d.from)
	g.wait, g.longest = max(g.wait, p.waited), max(g.longest, p.longest)
	g.files, g.most = max(g.files, p.files), max(g.most, p.filesLimit)
	for _, x := range p.pauses {
		g.pauses.recordMany(int64(x.Upper), int64(min(x.N, maxPauses)))
	}
}

// absorb adds what another run's generator counted, which began offset later.
func (g *generator) absorb(from *generator, offset time.Duration) {
	g.delay.merge(&from.delay, &g.pool)
	g.pauses.merge(&from.pauses, &g.pool)
	g.late, g.unsent, g.slow = g.late+from.late, g.unsent+from.unsent, g.slow+from.slow
	g.cpu, g.wall = g.cpu+from.cpu, g.wall+from.wall
	g.throttle, g.steal = g.throttle+from.throttle, g.steal+from.steal
	g.cpus, g.rss, g.allowed = max(g.cpus, from.cpus), max(g.rss, from.rss), max(g.allowed, from.allowed)
	g.wait, g.longest = max(g.wait, from.wait), max(g.longest, from.longest)
	g.files, g.most = max(g.files, from.files), max(g.most, from.most)
	for c := range g.causes {
		g.causes[c].absorb(&from.causes[c], offset)
	}
	g.beside = max(g.beside, from.beside)
	g.overload.absorb(&from.overload, offset)
}

// absorb adds the seconds of another run that began offset later.
func (t *causeTally) absorb(from *causeTally, offset time.Duration) {
	t.seconds, t.worst = t.seconds+from.seconds, max(t.worst, from.worst)
	for _, at := range from.first {
		if len(t.first) < shownSeconds {
			t.first = append(t.first, at+offset)
		}
	}
	slices.Sort(t.first)
}

// maxPauses bounds the stops counted of one length and interval.
const maxPauses = 1 << 20

// cpuShare returns the part of all CPUs that the process used.
func (g *generator) cpuShare() (float64, bool) {
	if g.wall <= 0 || g.cpus <= 0 {
		return 0, false
	}
	return g.cpu.Seconds() / g.wall.Seconds() / float64(g.cpus), true
}

// judged judges the generator; p50 is the reported response time. Arrivals that an
// open group had no time to hand to a free thread count as due and not sent.
func (s *state) judged(p50 *int64) Generator {
	g, t := &s.gen, &s.total.tally
	missed := g.unsent
	for i := range s.out.Groups {
		if s.out.Groups[i].Open {
			missed += s.total.groups[i+1][element.DroppedEnd]
		}
	}
	due := g.delay.n + missed - g.unsent
	out := g.figures(due, missed)
	all := t.passed + t.failed()
	if all == 0 && missed == 0 {
		return out
	}
	out.Verdict = "ok"
	if len(g.others) > 0 {
		out.Verdict, out.Reasons = worst(g.others)
		return out
	}
	if reason := g.limited(p50); reason != "" {
		out.Verdict, out.Reasons = "limited", append(out.Reasons, reason)
	}
	if reason := g.overload.reason(); reason != "" && out.Verdict == "ok" {
		out.Verdict, out.Reasons = "limited", append(out.Reasons, reason)
	}
	if reason, share := g.undelivered(due, missed); share < limitedShare && missed >= fewLate {
		out.Reasons = append(out.Reasons, reason)
		if out.Verdict = "limited"; share < invalidShare {
			out.Verdict = "invalid"
		}
	}
	if local := t.localResource(); float64(local) > localShare*float64(all) {
		out.Verdict = "invalid"
		out.Reasons = append(out.Reasons, formatCount(local)+" of "+formatCount(all)+
			" samples failed because this machine ran out of its own resources (open files, ports); raise its limits or lower the load"+
			with(g.because([]cause{files, ports})))
	}
	return out
}

// worst returns the worst verdict of several generators, and all their reasons.
func worst(list []Generator) (string, []string) {
	verdict, reasons := "ok", []string{}
	for _, g := range list {
		if g.Verdict == "invalid" || g.Verdict == "limited" && verdict == "ok" {
			verdict = g.Verdict
		}
		reasons = append(reasons, g.Reasons...)
	}
	return verdict, reasons
}

// figures are what the generator measured of itself.
func (g *generator) figures(due, missed int64) Generator {
	out := Generator{Reasons: []string{}, Causes: []Cause{}, Due: due}
	if v, ok := g.cpuShare(); ok {
		out.CPUShare = &v
	}
	if g.rss > 0 {
		v := g.rss
		out.RSSBytes = &v
	}
	if h := &g.delay; h.n > 0 {
		out.DispatchDelayNS = &DelayNS{P50: h.supported(50), P99: h.supported(99), Max: h.max}
		late := float64(g.late) / float64(h.n)
		out.LateShare = &late
	}
	if due > 0 {
		sent := 1 - float64(missed)/float64(due)
		out.SentShare = &sent
	}
	if h := &g.pauses; h.n > 0 {
		out.GCPauseNS = &GCPauseNS{P99: h.Percentile(99), Max: h.max}
	}
	if g.wall > 0 {
		throttle, steal := int64(g.throttle), g.steal/float64(g.wall)
		out.ThrottledNS, out.StealShare = &throttle, &steal
	}
	if g.allowed > 0 {
		v := g.allowed
		out.CPUsAllowed = &v
	}
	if g.longest > 0 {
		out.SchedulerNS = &GCPauseNS{P99: int64(g.wait), Max: int64(g.longest)}
	}
	if g.most > 0 {
		out.OpenFiles = &g.files
	}
	for _, c := range g.ranked(nil) {
		t := &g.causes[c]
		out.Causes = append(out.Causes, Cause{Name: c.String(), Text: c.say(t.worst, g.allowed), Seconds: t.seconds, AtS: secondsOf(t.first)})
	}
	for _, c := range g.overload.holds() {
		if t := &g.overload.causes[c]; g.causes[c].seconds == 0 {
			out.Causes = append(out.Causes, Cause{Name: c.String(), Text: c.say(t.worst, g.allowed), Seconds: t.seconds, AtS: secondsOf(t.first)})
		}
	}
	return out
}

func secondsOf(list []time.Duration) []float64 {
	out := []float64{}
	for _, at := range list {
		out = append(out, at.Seconds())
	}
	return out
}

// limited returns why the generator held the load back, or "". With fewer samples
// than a p99 needs, so many must be late that chance explains it in less than one
// run in twenty if the p99 was within the limit.
func (g *generator) limited(p50 *int64) string {
	h := &g.delay
	limit := delayFloor
	if p50 != nil {
		limit = max(limit, int64(delayShare*float64(*p50)))
	}
	p99, above := h.Percentile(99), h.above(limit)
	if p99 <= limit || above < fewLate {
		return ""
	}
	text := "samples left late although a thread was free: dispatch delay p99 " + formatTime(float64(p99), 3)
	if !Enough(99, h.n) {
		if atLeast(above, h.n, 0.01) >= 0.05 {
			return ""
		}
		text = "samples left late although a thread was free: " + formatCount(above) + " of " + formatCount(h.n) + " had a dispatch delay above the limit, up to " + formatTime(float64(h.max), 3)
	}
	share := float64(g.late) / float64(h.n)
	text += ", limit " + formatTime(float64(limit), 3) + "; " + formatValue(share, unitShare, 3) + " of the samples were more than 1 ms late"
	if g.slow > 0 {
		text += ", in " + counted(g.slow, "second", "seconds") + namedSeconds(g.slowest, g.slow)
	}
	return text + g.orUnknown()
}

// undelivered tells how much of what was due was sent, and that share.
func (g *generator) undelivered(due, missed int64) (string, float64) {
	share := 1 - float64(missed)/float64(max(1, due))
	return "only " + formatValue(share, unitShare, 3) + " of the " + formatCount(due) +
		" samples due were sent within a second of their time, although threads were free" + g.orUnknown(), share
}

func (g *generator) orUnknown() string {
	if text := with(g.because(ofLateness())); text != "" {
		return text
	}
	if g.beside >= besideShare {
		return "; no sure cause was found on this machine, but other programs used up to " + formatValue(g.beside, unitShare, 2) + " of its CPUs in these seconds"
	}
	return "; no cause was found on this machine"
}

func with(text string) string {
	if text == "" {
		return ""
	}
	return "; cause: " + text
}

// localResource counts the samples that failed for want of local resources.
func (t *tally) localResource() int64 { return t.class(element.LocalResource) }
