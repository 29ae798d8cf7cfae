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

const pauseMetric = "/sched/pauses/total/gc:seconds"

// ThisProcess reads the figures of the running process.
func ThisProcess() Process {
	return Process{CPU: processCPU(), RSS: residentBytes(), CPUs: runtime.NumCPU(), Pause: pauses()}
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

func pauses() []PauseCount {
	s := []metrics.Sample{{Name: pauseMetric}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	h := s[0].Value.Float64Histogram()
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

// processDelta is what a process did in one interval. Negative is unknown.
type processDelta struct {
	cpu    time.Duration
	rss    int64
	cpus   int
	pauses []PauseCount
}

// since returns what happened between two readings.
func (p Process) since(before Process) processDelta {
	d := processDelta{cpu: -1, rss: p.RSS, cpus: p.CPUs}
	if p.CPU >= 0 && before.CPU >= 0 {
		d.cpu = max(0, p.CPU-before.CPU)
	}
	seen := make(map[time.Duration]uint64, len(before.Pause))
	for _, b := range before.Pause {
		seen[b.Upper] += b.N
	}
	for _, a := range p.Pause {
		if a.N > seen[a.Upper] {
			d.pauses = append(d.pauses, PauseCount{a.Upper, a.N - seen[a.Upper]})
		}
	}
	return d
}
