package stats

import (
	"bytes"
	"math"
	"os"
	"runtime"
	"runtime/metrics"
	"strconv"
	"time"
)

// The runtime's own figures.
const (
	pauseMetric  = "/sched/pauses/total/gc:seconds"
	waitMetric   = "/sched/latencies:seconds"
	assistMetric = "/cpu/classes/gc/mark/assist:cpu-seconds"
)

// ThisProcess reads the figures of the running process and its machine.
func ThisProcess() Process {
	s := []metrics.Sample{{Name: pauseMetric}, {Name: waitMetric}, {Name: assistMetric}}
	metrics.Read(s)
	p := Process{CPU: processCPU(), RSS: residentBytes(), CPUs: runtime.NumCPU(), Pause: countsOf(&s[0]), wait: countsOf(&s[1]),
		procs: runtime.GOMAXPROCS(0), machine: readMachine(slurp)}
	if s[2].Value.Kind() == metrics.KindFloat64 {
		p.assist = time.Duration(finite(s[2].Value.Float64()) * float64(time.Second))
	}
	return p
}

// residentBytes returns the resident memory, negative where the system does not
// tell it.
func residentBytes() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return -1
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return -1
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return -1
	}
	return pages * int64(os.Getpagesize())
}

// countsOf returns a runtime histogram's counts by the upper ends of its buckets.
func countsOf(s *metrics.Sample) []PauseCount {
	if s.Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	h := s.Value.Float64Histogram()
	out := make([]PauseCount, 0, len(h.Counts))
	for i, n := range h.Counts {
		upper := h.Buckets[i+1]
		if math.IsInf(upper, 0) {
			upper = h.Buckets[i]
		}
		if n > 0 && !math.IsInf(upper, 0) {
			out = append(out, PauseCount{time.Duration(upper * float64(time.Second)), n})
		}
	}
	return out
}

// processDelta is what a process and its machine did in one interval. A negative
// cpu or rss is unknown, elsewhere 0.
type processDelta struct {
	cpu    time.Duration
	rss    int64
	cpus   int
	pauses []PauseCount

	allowed           float64 // CPUs that the process may use at once
	busy, steal       float64 // shares of the machine's CPU time
	throttled, assist time.Duration
	waited            time.Duration // p99 of the goroutines' waits for a CPU
	longest           time.Duration // the longest of them
	files, filesLimit int64
	ports, portsLimit int64
}

// since returns what happened between two readings.
func (p Process) since(before Process) processDelta {
	m, b := &p.machine, &before.machine
	d := processDelta{cpu: -1, rss: p.RSS, cpus: p.CPUs, allowed: float64(p.procs), pauses: newCounts(p.Pause, before.Pause),
		files: m.Files, filesLimit: m.FilesLimit, ports: m.Ports, portsLimit: m.PortsLimit,
		throttled: max(0, m.Throttled-b.Throttled), assist: max(0, p.assist-before.assist)}
	if p.CPU >= 0 && before.CPU >= 0 {
		d.cpu = max(0, p.CPU-before.CPU)
	}
	if m.Quota > 0 {
		d.allowed = min(d.allowed, m.Quota)
	}
	if all := float64(m.Total - b.Total); all > 0 && b.Total > 0 {
		d.busy = min(max(0, 1-float64(m.Idle-b.Idle)/all), 1)
		d.steal = min(max(0, float64(m.Steal-b.Steal)/all), 1)
	}
	d.waited, d.longest = tail(newCounts(p.wait, before.wait))
	return d
}

// newCounts returns what was counted between two readings.
func newCounts(after, before []PauseCount) []PauseCount {
	seen := make(map[time.Duration]uint64, len(before))
	for _, b := range before {
		seen[b.Upper] += b.N
	}
	var out []PauseCount
	for _, a := range after {
		if a.N > seen[a.Upper] {
			out = append(out, PauseCount{a.Upper, a.N - seen[a.Upper]})
		}
	}
	return out
}

// tail returns the 99th percentile and the maximum of ascending counts.
func tail(counts []PauseCount) (p99, longest time.Duration) {
	all, seen := uint64(0), uint64(0)
	for _, c := range counts {
		all += c.N
	}
	for _, c := range counts {
		seen += c.N
		if p99 == 0 && seen*100 >= all*99 {
			p99 = c.Upper
		}
		longest = c.Upper
	}
	return p99, longest
}
