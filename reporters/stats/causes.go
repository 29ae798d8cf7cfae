package stats

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"runner/plan/element"
)

// cause is something on the generator's own machine that can make it late. Each
// is looked for in every second; named are those that held in seconds in which
// samples left late or failed for want of local resources.
type cause int

const (
	stoodStill cause = iota
	throttled
	stolen
	ownCPU
	otherCPU
	collector
	scheduler
	files
	ports
	causes // how many there are
)

// causeTally counts the bad seconds in which a cause held.
type causeTally struct {
	seconds int64
	first   []time.Duration
	worst   float64
}

// Limits from which on a cause is named.
const (
	stillFor       = 1250 * time.Millisecond // between two ticks that are a second apart
	throttledShare = 0.01                    // of the interval
	stolenShare    = 0.02                    // of the machine's CPU time
	busyShare      = 0.85                    // of the CPUs that the process may use
	idleShare      = 0.05
	assistShare    = 0.05
	pauseLimit     = float64(time.Millisecond)
	filesShare     = 0.95
	besideShare    = 0.2 // of the machine's CPU time, told where no cause is named
)

// strength returns how strongly each cause was felt in an interval; 0 is not.
func (d *delta) strength() (out [causes]float64) {
	p, took := &d.process, d.to-d.from
	if took <= 0 {
		return out
	}
	whole := took.Seconds()
	over := func(c cause, v, limit float64) {
		if v >= limit {
			out[c] = v
		}
	}
	over(stoodStill, float64(d.stood()), 1)
	over(throttled, p.throttled.Seconds()/whole, throttledShare)
	over(stolen, p.steal, stolenShare)
	if p.allowed > 0 && p.cpu >= 0 {
		over(ownCPU, p.cpu.Seconds()/whole/p.allowed, busyShare)
	}
	if p.busy > 1-idleShare && out[ownCPU] == 0 {
		out[otherCPU] = p.busy
	}
	for _, pause := range p.pauses {
		over(collector, max(float64(pause.Upper), out[collector]), pauseLimit)
	}
	if p.cpus > 0 && p.assist.Seconds()/whole/float64(p.cpus) >= assistShare {
		out[collector] = max(out[collector], pauseLimit)
	}
	over(scheduler, float64(p.waited), pauseLimit)
	if p.filesLimit > 0 {
		over(files, float64(p.files)/float64(p.filesLimit), filesShare)
	}
	return out
}

// stood returns how long the process stood still in an interval: by how much the
// tick at its end was late, or the readings of what is in flight, each of which
// is due in a tenth of a second; 0 if the tick came in time.
func (d *delta) stood() time.Duration {
	took := d.to - d.from
	if took < stillFor {
		return 0
	}
	return min(max(d.flight.late, took-tickEvery), took)
}

// beside returns the share of the machine's CPU time that other programs used.
func (p *processDelta) beside(took time.Duration) float64 {
	if took <= 0 || p.cpus <= 0 || p.cpu < 0 {
		return 0
	}
	return max(0, p.busy-p.steal-p.cpu.Seconds()/took.Seconds()/float64(p.cpus))
}

// say tells a cause with its worst value.
func (c cause) say(worst, allowed float64) string {
	switch c {
	case stoodStill:
		return "the process stood still for up to " + formatTime(worst, 2)
	case throttled:
		return "the cgroup's CPU quota throttled it for up to " + formatValue(min(worst, 1), unitShare, 2) + " of a second"
	case stolen:
		return "other virtual machines took up to " + formatValue(worst, unitShare, 2) + " of the CPU time (steal)"
	case ownCPU:
		return "it used up to " + formatValue(worst, unitShare, 2) + " of the CPU time it may use (" + formatNumber(allowed, 2) + " CPUs)"
	case otherCPU:
		return "all CPUs of the machine were busy with other programs"
	case collector:
		return "the garbage collector held it up"
	case scheduler:
		return "its goroutines waited for a CPU, p99 up to " + formatTime(worst, 2)
	case files:
		return "up to " + formatValue(worst, unitShare, 3) + " of the open files allowed were in use"
	case ports:
		text := "no ephemeral port was free for a connection"
		if worst > 0.005 {
			text += " (the sockets of the whole machine, open and waiting, came to " + formatValue(worst, unitShare, 3) + " of their number; a port can be used once for each address)"
		}
		return text
	}
	return ""
}

// String returns the stable name in summary.json.
func (c cause) String() string {
	return [...]string{"stopped", "cgroup_throttled", "steal", "cpu", "machine_cpu", "gc", "scheduler", "open_files", "ports"}[c]
}

// exhausted adds the means that samples failed for want of: a look at the process
// once a second may miss that all of them were in use in between. Ports are a cause
// only so: the sockets of other programs and to other addresses take none away.
func (d *delta) exhausted(felt *[causes]float64) {
	for _, i := range d.touched {
		for k := range d.cells[i].errors {
			e := &d.cells[i].errors[k]
			switch {
			case e.class != string(element.LocalResource):
			case strings.Contains(e.message, "open files"):
				felt[files] = max(felt[files], 1)
			case strings.Contains(e.message, "port"):
				used := float64(d.process.ports) / float64(max(1, d.process.portsLimit))
				felt[ports] = min(max(used, 0.001), 1)
			}
		}
	}
}

// blame counts the causes that held in a bad second.
func (g *generator) blame(d *delta) {
	felt := d.strength()
	d.exhausted(&felt)
	at := [causes]time.Duration{}
	for c := range at {
		at[c] = d.from
	}
	if felt[stoodStill] == 0 && g.stood > 0 { // what was late because of it comes in the interval after
		felt[stoodStill], at[stoodStill] = float64(g.stood), g.stoodAt
	}
	g.beside = max(g.beside, d.process.beside(d.to-d.from))
	for c, v := range felt {
		if v == 0 {
			continue
		}
		t := &g.causes[c]
		t.seconds++
		t.worst = max(t.worst, v)
		if len(t.first) < shownSeconds {
			t.first = append(t.first, at[c])
		}
	}
}

// ofLateness are the causes that can make samples leave late.
func ofLateness() []cause {
	return []cause{stoodStill, throttled, stolen, ownCPU, otherCPU, collector, scheduler}
}

// because tells those of the wanted causes that were found, the most frequent first.
func (g *generator) because(wanted []cause) string {
	var parts []string
	for _, c := range g.ranked(wanted) {
		t := &g.causes[c]
		parts = append(parts, c.say(t.worst, g.allowed)+" in "+counted(t.seconds, "second", "seconds")+namedSeconds(t.first, t.seconds))
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, "; ")
}

// ranked returns the causes that held, among those wanted or all, the most
// frequent first.
func (g *generator) ranked(wanted []cause) []cause {
	var out []cause
	for c := range causes {
		if g.causes[c].seconds == 0 || len(wanted) > 0 && !slices.Contains(wanted, c) {
			continue
		}
		at := len(out)
		for at > 0 && g.causes[out[at-1]].seconds < g.causes[c].seconds {
			at--
		}
		out = slices.Insert(out, at, c)
	}
	return out
}

// namedSeconds names the first seconds of several.
func namedSeconds(first []time.Duration, all int64) string {
	if len(first) == 0 {
		return ""
	}
	var names []string
	for _, at := range first {
		names = append(names, strconv.FormatInt(int64(at/time.Second), 10))
	}
	text := " (second " + strings.Join(names, ", ")
	if all > int64(len(first)) {
		text += ", …"
	}
	return text + ")"
}
