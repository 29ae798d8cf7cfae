package stats

import (
	"strconv"
	"strings"
	"time"
)

// Units of figures, as in ThresholdResult.
const (
	unitTime  = "ns"
	unitBytes = "bytes"
	unitRate  = "per_second"
	unitShare = "share"
	unitPlain = ""
)

// distribution says which times a figure reads.
type distribution uint8

const (
	noTimes distribution = iota
	responseTimes
	serviceTimes
	latencyTimes
	connectTimes
	lagTimes // of the generator
)

// figure is a threshold's left side, taken apart.
type figure struct {
	from    distribution
	stat    string // p, min, max, mean, stddev, or the name of a count
	percent float64
	unit    string
}

var countFigures = map[string]string{
	"errors": unitShare, "error_count": unitPlain, "samples": unitPlain, "throughput": unitRate, "dropped": unitPlain,
	"apdex": unitPlain, "received": unitBytes, "sent": unitBytes, "generator.cpu": unitShare,
}

var timeFamilies = map[string]distribution{
	"response": responseTimes, "service": serviceTimes, "latency": latencyTimes, "connect": connectTimes, "generator.lag": lagTimes,
}

// parseFigure takes a figure apart; false for one that is not known here.
func parseFigure(text string) (figure, bool) {
	text = strings.ReplaceAll(text, " ", "")
	if unit, ok := countFigures[text]; ok {
		return figure{stat: text, unit: unit}, true
	}
	f := figure{from: responseTimes, unit: unitTime}
	for family, from := range timeFamilies {
		if rest, ok := strings.CutPrefix(text, family+"."); ok {
			f.from, text = from, rest
		}
	}
	switch text {
	case "min", "max", "mean", "stddev":
		f.stat = text
		return f, true
	}
	var ok bool
	f.stat = "p"
	f.percent, ok = parsePercentile(text)
	return f, ok
}

// parsePercentile reads p95, p99 and p(99.9).
func parsePercentile(text string) (float64, bool) {
	digits, ok := strings.CutPrefix(text, "p")
	if !ok {
		return 0, false
	}
	if inner, ok := strings.CutPrefix(digits, "("); ok {
		digits, ok = strings.CutSuffix(inner, ")")
		if !ok {
			return 0, false
		}
	}
	v, err := strconv.ParseFloat(digits, 64)
	return v, err == nil && v >= 0 && v <= 100 && digits[0] != '+' && digits[0] != '-'
}

// measure is what a figure is computed from: the merged figures of some series
// over some stretch of time.
type measure struct {
	count, failed, sent, received, dropped int64
	first, last                            time.Duration
	hist                                   Histogram // of the figure's distribution
}

func (m *measure) add(c *cell, f *figure, pool *pagePool) {
	if c.count > 0 {
		if m.count == 0 {
			m.first, m.last = c.firstDue, c.lastDue
		}
		m.first, m.last = min(m.first, c.firstDue), max(m.last, c.lastDue)
	}
	m.count += c.count
	m.failed += c.failed
	m.sent += c.sent
	m.received += c.received
	switch f.from {
	case responseTimes:
		m.hist.merge(&c.success, pool)
		m.hist.merge(&c.failure, pool)
	case serviceTimes:
		m.hist.merge(&c.service, pool)
	case latencyTimes:
		m.hist.merge(&c.latency, pool)
	case connectTimes:
		m.hist.merge(&c.connect, pool)
	}
	if f.stat == "apdex" {
		m.hist.merge(&c.success, pool)
	}
}

// join adds a later stretch of the same series.
func (m *measure) join(later *measure) {
	if later.count > 0 {
		if m.count == 0 {
			m.first, m.last = later.first, later.last
		}
		m.first, m.last = min(m.first, later.first), max(m.last, later.last)
	}
	m.count += later.count
	m.failed += later.failed
	m.sent += later.sent
	m.received += later.received
	m.dropped += later.dropped
}

// value computes a figure; false where it cannot be.
func (f *figure) value(m *measure, g *generator, apdex time.Duration) (float64, bool) {
	switch f.stat {
	case "samples":
		return float64(m.count), true
	case "dropped":
		return float64(m.dropped), true
	case "errors":
		return float64(m.failed) / float64(max(1, m.count)), m.count > 0
	case "error_count":
		return float64(m.failed), m.count > 0
	case "received":
		return float64(m.received), m.count > 0
	case "sent":
		return float64(m.sent), m.count > 0
	case "throughput":
		return throughput(m.count, m.first, m.last)
	case "apdex":
		return apdexOf(&m.hist, m.count, apdex)
	case "generator.cpu":
		return g.cpuShare()
	}
	return f.time(f.times(m, g))
}

// times returns the histogram that the figure reads.
func (f *figure) times(m *measure, g *generator) *Histogram {
	if f.from == lagTimes {
		return &g.delay
	}
	return &m.hist
}

func (f *figure) time(h *Histogram) (float64, bool) {
	switch f.stat {
	case "min":
		return float64(h.min), h.n > 0
	case "max":
		return float64(h.max), h.n > 0
	case "mean":
		return h.Mean(), h.n > 0
	case "stddev":
		return h.StdDev(), h.n > 0
	}
	return float64(h.Percentile(f.percent)), h.n > 0
}

// few reports whether a percentile has too few values to be sure.
func (f *figure) few(h *Histogram) bool { return f.stat == "p" && !Enough(f.percent, h.n) }

// throughput is samples / (last due − first due + mean gap), per second: n due
// times over n mean gaps, so that the drain at the end does not count.
func throughput(n int64, first, last time.Duration) (float64, bool) {
	if n < 2 || last <= first {
		return 0, false
	}
	return float64(n-1) / (last - first).Seconds(), true
}

// apdexOf is (satisfied + tolerating/2) / all; a failed sample is frustrated.
func apdexOf(success *Histogram, all int64, limit time.Duration) (float64, bool) {
	if all == 0 {
		return 0, false
	}
	satisfied, tolerating := int64(0), int64(0)
	success.each(func(index int, n int64) bool {
		switch v := min(max(upperEnd(index), success.min), success.max); {
		case v <= bucketEnd(int64(limit)):
			satisfied += n
		case v <= bucketEnd(4*int64(limit)):
			tolerating += n
		}
		return true
	})
	return (float64(satisfied) + float64(tolerating)/2) / float64(all), true
}

// bucketEnd returns the largest value of the bucket that v falls into.
func bucketEnd(v int64) int64 { return upperEnd(indexOf(min(max(v, 0), highestValue))) }
