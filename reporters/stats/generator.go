package stats

import (
	"strconv"
	"strings"
	"time"

	"runner/plan/element"
)

// Limits of the generator's verdict.
const (
	delayFloor   = int64(time.Millisecond)
	delayShare   = 0.05 // of the reported p50
	localShare   = 0.01 // of the samples
	shownSeconds = 5
)

// generator collects what the load generator says of itself over a run.
type generator struct {
	delay   Histogram // dispatch delay of samples that a free thread could have sent in time
	late    int64
	pauses  Histogram
	cpu     time.Duration
	wall    time.Duration
	cpus    int
	rss     int64 // highest
	slow    int64 // seconds in which the dispatch delay was above its floor
	slowest []time.Duration
	pool    pagePool
}

func (g *generator) add(d *delta) {
	t := &d.tally
	if Enough(99, t.delay.n) && t.delay.Percentile(99) > delayFloor || !Enough(99, t.delay.n) && t.late*100 > t.delay.n {
		g.slow++
		if len(g.slowest) < shownSeconds {
			g.slowest = append(g.slowest, d.from)
		}
	}
	g.delay.merge(&t.delay, &g.pool)
	g.late += t.late
	if d.process.cpu >= 0 && d.to > d.from {
		g.cpu += d.process.cpu
		g.wall += d.to - d.from
		g.cpus = max(g.cpus, d.process.cpus)
	}
	g.rss = max(g.rss, d.process.rss)
	for _, p := range d.process.pauses {
		g.pauses.recordMany(int64(p.Upper), int64(min(p.N, maxPauses)))
	}
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

// summary judges the generator: p50 is the reported response time, local and all
// count the samples that failed for want of local resources, and all.
func (g *generator) summary(p50 *int64, local, all int64) Generator {
	out := Generator{Reasons: []string{}}
	if v, ok := g.cpuShare(); ok {
		out.CPUShare = &v
	}
	if g.rss > 0 {
		v := g.rss
		out.RSSBytes = &v
	}
	if h := &g.delay; h.n > 0 {
		out.DispatchDelayNS = &DelayNS{P50: h.Percentile(50), P99: h.Percentile(99), Max: h.max}
	}
	if h := &g.pauses; h.n > 0 {
		out.GCPauseNS = &GCPauseNS{P99: h.Percentile(99), Max: h.max}
	}
	if all == 0 {
		return out
	}
	out.Verdict = "ok"
	if reason := g.limited(p50); reason != "" {
		out.Verdict, out.Reasons = "limited", append(out.Reasons, reason)
	}
	if float64(local) > localShare*float64(all) {
		out.Verdict = "invalid"
		out.Reasons = append(out.Reasons, formatCount(local)+" of "+formatCount(all)+
			" samples failed because this machine ran out of its own resources (open files, ports); raise its limits or lower the load")
	}
	return out
}

// limited returns why the generator held the load back, or "".
func (g *generator) limited(p50 *int64) string {
	h := &g.delay
	limit := delayFloor
	if p50 != nil {
		limit = max(limit, int64(delayShare*float64(*p50)))
	}
	p99 := h.Percentile(99)
	if !Enough(99, h.n) || p99 <= limit {
		return ""
	}
	share := float64(g.late) / float64(h.n)
	text := "samples left late although a thread was free: dispatch delay p99 " + formatTime(float64(p99), 3) + ", limit " +
		formatTime(float64(limit), 3) + "; " + formatValue(share, unitShare, 3) + " of the samples were more than 1 ms late"
	if g.slow > 0 {
		text += ", in " + counted(g.slow, "second", "seconds") + g.when()
	}
	return text
}

// when names the first seconds in which the delay was high.
func (g *generator) when() string {
	var names []string
	for _, at := range g.slowest {
		names = append(names, strconv.FormatInt(int64(at.Round(time.Second)/time.Second), 10))
	}
	text := " (second " + strings.Join(names, ", ")
	if g.slow > int64(len(g.slowest)) {
		text += ", …"
	}
	return text + ")"
}

// localResource counts the samples that failed for want of local resources.
func (t *tally) localResource() int64 { return t.class(element.LocalResource) }
