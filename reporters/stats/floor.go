package stats

import (
	"slices"
	"strings"
	"time"

	"runner/plan/element"
)

// Floor is what the machine and the program themselves need for the simplest HTTP
// request: service times in nanoseconds of N requests, one after the other over
// one connection, to a server in this process on loopback that answers at once.
// TLS and a network come on top of it.
type Floor struct {
	P50 int64 `json:"p50"`
	P99 int64 `json:"p99"`
	N   int64 `json:"n"`
}

const (
	floorMargin = 5 // times the floor; below it a time is near the floor
	floorNamed  = 3 // series that are named
	floorKind   = "http"
)

// NewFloor returns the floor of these service times, which it sorts; nil of none.
func NewFloor(times []time.Duration) *Floor {
	if len(times) == 0 {
		return nil
	}
	slices.Sort(times)
	n := int64(len(times))
	at := func(percent float64) int64 { return max(1, int64(times[rankOf(percent, n)-1])) }
	return &Floor{P50: at(50), P99: at(99), N: n}
}

// possible reports whether a floor read from a journal can be one.
func (f *Floor) possible() bool {
	return f == nil || 0 < f.P50 && f.P50 <= f.P99 && f.P99 <= highestValue && f.N > 0
}

// largest returns the floor with the larger median.
func largest(a, b *Floor) *Floor {
	if a == nil || b != nil && b.P50 > a.P50 {
		return b
	}
	return a
}

// near reports whether the median of service times is near the floor.
func (f *Floor) near(d *Distribution) bool {
	return d != nil && d.P50 != nil && *d.P50 < floorMargin*f.P50
}

// nearFloor says which service times of a run are near the floor, "" if none are.
// The total counts where all its samples are of the http sampler, of which the
// floor was measured.
func (s *Summary) nearFloor() string {
	f := s.Generator.Floor
	if f == nil {
		return ""
	}
	var near []string
	samples, rows := int64(0), 0
	for i := range s.Series {
		row := &s.Series[i]
		if row.Kind != floorKind {
			continue
		}
		if row.Phase == string(element.Load) && row.Count > 0 {
			samples, rows = samples+row.Count, rows+1
		}
		if f.near(row.ServiceNS) {
			near = append(near, withMedian(strings.TrimPrefix(row.Group+" / "+row.Name, " / "), row.ServiceNS))
		}
	}
	if rows > 1 && samples == s.Total.Count && f.near(s.Total.ServiceNS) {
		near = slices.Insert(near, 0, withMedian("the total", s.Total.ServiceNS))
	}
	if len(near) == 0 {
		return ""
	}
	more := ""
	if rest := len(near) - floorNamed; rest > 0 {
		near, more = near[:floorNamed], " and "+counted(int64(rest), "other", "others")
	}
	return "near the floor of this machine: the median service time of " + strings.Join(near, ", ") + more + " is below " +
		formatCount(floorMargin) + " × " + formatTime(float64(f.P50), 3) + ", which the simplest request takes here without a network; " +
		"a large part of such a time is this machine and not the target"
}

func withMedian(name string, d *Distribution) string {
	return name + " (" + formatTime(float64(*d.P50), 3) + ")"
}
