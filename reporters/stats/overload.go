package stats

import (
	"strings"
	"time"
)

// The rule by which a generator without a schedule accuses itself: in a closed
// group nothing leaves late, the threads just come round more slowly, so a busy
// machine looks like a slow target. A second is overloaded by the first of these
// that holds in it:
//
//	stopped      the tick at its end came ≥ 250 ms late: the process stood still
//	gc           the collector stopped the process for ≥ 5 % of it, or took
//	             ≥ 5 % of the CPU time allowed from goroutines that had work
//	cpu          the process used ≥ 90 % of the CPU time that machine, quota
//	             and GOMAXPROCS allow; or the machine was full as below, and it
//	             used half of that time or more
//	machine_cpu  ≥ 98 % of the machine's CPUs were busy, mostly with other
//	             programs (a target on the same machine), and the process's
//	             goroutines waited ≥ 10 ms (p99) for a CPU
//
// Seconds count while the figures are taken: with threads or samples, after the
// warm-up, and at least half a second long. The generator is limited by a cause
// in ≥ 10 % of them, and in three at least, so that neither a burst at the start
// nor a short run accuses it; by standing still for ≥ 1 % of their time, be it
// once. A slow target leaves CPUs idle and holds none of it.
const (
	overloadCPU     = 0.90
	overloadGC      = 0.05
	overloadMachine = 0.98
	overloadWait    = 10 * time.Millisecond
	overloadHalf    = 0.5
	overloadShare   = 0.10
	overloadSeconds = 3
	overloadStood   = 0.01
	overloadLeast   = time.Second / 2
)

// overload counts the seconds that were looked at, and those that a cause spoilt.
type overload struct {
	seconds     int64
	took, stood time.Duration // in all of them, and how much of it the process stood still
	causes      [causes]causeTally
}

// overloadCauses are the causes of the rule in the order in which they are told.
func overloadCauses() []cause { return []cause{stoodStill, collector, ownCPU, otherCPU} }

// measured reports whether figures were taken in an interval.
func (d *delta) measured() bool {
	if d.to-d.from < overloadLeast {
		return false
	}
	return len(d.touched) > 0 || d.active > 0 && d.tally.warmUp == 0
}

// overloaded returns the cause that spoilt an interval and how strongly.
func (p *processDelta) overloaded(took time.Duration) (cause, float64, bool) {
	whole := took.Seconds()
	stopped := time.Duration(0)
	for _, x := range p.pauses {
		stopped += time.Duration(min(x.N, maxPauses)) * min(x.Upper, took)
	}
	allowed := p.cpusAllowed()
	collected := min(1, stopped.Seconds()/whole)
	used, full := 0.0, p.busy >= overloadMachine && p.waited >= overloadWait
	if allowed > 0 {
		collected = max(collected, min(1, p.assist.Seconds()/whole/allowed))
		used = max(0, p.cpu.Seconds()) / whole / allowed
	}
	switch {
	case collected >= overloadGC:
		return collector, collected, true
	case used >= overloadCPU, full && used >= overloadHalf:
		return ownCPU, min(used, 1), true
	case full:
		return otherCPU, p.busy, true
	}
	return 0, 0, false
}

// cpusAllowed is how many CPUs the process may use at once, 0 if unknown.
func (p *processDelta) cpusAllowed() float64 {
	if p.cpus > 0 && (p.allowed <= 0 || p.allowed > float64(p.cpus)) {
		return float64(p.cpus)
	}
	return p.allowed
}

func (o *overload) add(d *delta) {
	if !d.measured() {
		return
	}
	o.seconds++
	o.took += d.to - d.from
	c, strength, ok := d.process.overloaded(d.to - d.from)
	if stood := d.stood(); stood > 0 {
		o.stood += stood
		c, strength, ok = stoodStill, float64(stood), true
	}
	if !ok {
		return
	}
	t := &o.causes[c]
	t.seconds, t.worst = t.seconds+1, max(t.worst, strength)
	if len(t.first) < shownSeconds {
		t.first = append(t.first, d.from)
	}
}

func (o *overload) absorb(from *overload, offset time.Duration) {
	o.seconds += from.seconds
	o.took, o.stood = o.took+from.took, o.stood+from.stood
	for _, c := range overloadCauses() {
		o.causes[c].absorb(&from.causes[c], offset)
	}
}

// holds returns the causes that spoilt enough of the seconds.
func (o *overload) holds() []cause {
	var out []cause
	for _, c := range overloadCauses() {
		n := o.causes[c].seconds
		often := n >= overloadSeconds && float64(n) >= overloadShare*float64(o.seconds)
		if c == stoodStill {
			often = n > 0 && float64(o.stood) >= overloadStood*float64(o.took)
		}
		if often {
			out = append(out, c)
		}
	}
	return out
}

// reason tells why the generator's own machine stands in the figures, "" if it
// does not.
func (o *overload) reason() string {
	var parts []string
	for _, c := range o.holds() {
		t := &o.causes[c]
		text := ""
		switch share := formatValue(t.worst, unitShare, 2); c {
		case stoodStill:
			text = "stopped: the process stood still for " + formatTime(float64(o.stood), 2) + " in all"
		case collector:
			text = "gc: the garbage collector held it up for up to " + share + " of a second"
		case ownCPU:
			text = "cpu: it used up to " + share + " of the CPU time that it may use"
		case otherCPU:
			text = "machine_cpu: with other programs beside it, such as a target on the same machine, the CPUs were up to " + share + " busy and it had to wait for them"
		}
		parts = append(parts, text+" in "+formatCount(t.seconds)+" of "+counted(o.seconds, "second", "seconds")+namedSeconds(t.first, t.seconds))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ") + "; times and throughput may show this machine's limit rather than the target's"
}

func (e *encoder) overload(o *overload) {
	e.int(o.seconds)
	e.dur(o.took)
	e.dur(o.stood)
	for _, c := range overloadCauses() {
		e.cause(&o.causes[c])
	}
}

func (d *decoder) overload(o *overload) {
	o.seconds, o.took, o.stood = d.count(), d.dur(), d.dur()
	for _, c := range overloadCauses() {
		d.cause(&o.causes[c])
	}
}
