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
	metric  int // 1 + the custom metric that it reads; 0 = none
}

var countFigures = map[string]string{
	"errors": unitShare, "error_count": unitPlain, "samples": unitPlain, "throughput": unitRate, "dropped": unitPlain,
	"apdex": unitPlain, "received": unitBytes, "sent": unitBytes, "generator.cpu": unitShare,
}

var timeFamilies = map[string]distribution{
	"response": responseTimes, "service": serviceTimes, "latency": latencyTimes, "connect": connectTimes, "generator.lag": lagTimes,
}

// parseFigure takes a figure apart; false for one that is not known here.
func parseFigure(text string, metrics []metricOutline) (figure, bool) {
	text = strings.ReplaceAll(text, " ", "")
	for i := range metrics {
		if rest, ok := strings.CutPrefix(text, metrics[i].Name+"."); ok {
			f, ok := metricFigure(rest, metrics[i].Type)
			f.metric = i + 1
			return f, ok
		}
	}
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

// metricFigure takes a figure of a custom metric apart.
func metricFigure(stat, kind string) (figure, bool) {
	f := figure{stat: stat}
	var known string
	switch kind {
	case counterMetric:
		known = " count rate "
		if stat == "rate" {
			f.unit = unitRate
		}
	case gaugeMetric:
		known = " value min max "
	case rateMetric:
		known, f.unit = " rate count ", unitShare
		if stat == "count" {
			f.unit = unitPlain
		}
	case trendMetric:
		known = " min max mean stddev count "
		if percent, ok := parsePercentile(stat); ok {
			f.stat, f.percent = "p", percent
			return f, true
		}
	}
	return f, strings.Contains(known, " "+stat+" ")
}

// metricValue computes a figure of a custom metric; false where it cannot be.
func (f *figure) metricValue(c *metricCell, m *measure, kind string) (float64, bool) {
	some := c.n > 0
	switch f.stat {
	case "count":
		if kind == counterMetric {
			return c.sum, some || m.ran
		}
		return float64(c.n), some || m.ran
	case "rate":
		if kind == counterMetric {
			return c.sum / max(m.span.Seconds(), 1e-9), (some || m.ran) && m.span > 0
		}
		return float64(c.truths) / float64(max(1, c.n)), some
	case "value":
		return c.last, some
	case "min":
		return c.min, some
	case "max":
		return c.max, some
	case "mean":
		return c.mean(), some
	case "stddev":
		return c.stdDev(), some
	}
	return c.percentile(f.percent), some
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
	unsent                                 int64 // of the failed ones
	first, last                            time.Duration
	hist                                   Histogram // of the figure's distribution
	satisfied, tolerating                  int64     // for the apdex
	metric                                 metricCell
	span                                   time.Duration // that it covers
	ran                                    bool          // any sample was taken
	inTurn                                 bool          // of runs one after the other:
	pace                                   float64       // their throughput, 0 = none
}

// timed is the number of samples that have a time and count in throughput.
func (m *measure) timed() int64 { return m.count - m.unsent }

func (m *measure) add(c *cell, f *figure, pool *pagePool) {
	if c.timed() > 0 {
		if m.timed() == 0 {
			m.first, m.last = c.firstDue, c.lastDue
		}
		m.first, m.last = min(m.first, c.firstDue), max(m.last, c.lastDue)
	}
	m.count += c.count
	m.failed += c.failed
	m.unsent += c.unsent
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
	m.satisfied += c.satisfied
	m.tolerating += c.tolerating
}

// join adds a later stretch of the same series.
func (m *measure) join(later *measure) {
	if later.timed() > 0 {
		if m.timed() == 0 {
			m.first, m.last = later.first, later.last
		}
		m.first, m.last = min(m.first, later.first), max(m.last, later.last)
	}
	m.count += later.count
	m.failed += later.failed
	m.unsent += later.unsent
	m.sent += later.sent
	m.received += later.received
	m.dropped += later.dropped
	m.satisfied += later.satisfied
	m.tolerating += later.tolerating
	m.metric.merge(&later.metric)
	m.span += later.span
	m.ran = m.ran || later.ran
}

// value computes a figure; false where it cannot be.
func (f *figure) value(m *measure, s *state) (float64, bool) {
	if f.metric > 0 {
		return f.metricValue(&m.metric, m, s.out.Metrics[f.metric-1].Type)
	}
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
		if m.inTurn {
			return m.pace, m.pace > 0
		}
		return throughput(m.timed(), m.first, m.last)
	case "apdex":
		return apdexOf(m.satisfied, m.tolerating, m.count)
	case "generator.cpu":
		return s.gen.cpuShare()
	}
	return f.time(f.times(m, &s.gen))
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

// sure describes the values that a percentile was taken from.
type sure struct {
	n        int64
	min, max float64
	need     int64
}

// evidence returns what a percentile rests on.
func (f *figure) evidence(m *measure, g *generator) sure {
	if f.metric > 0 {
		c := &m.metric
		return sure{c.n, c.min, c.max, needed(f.percent)}
	}
	h := f.times(m, g)
	return sure{h.n, float64(h.min), float64(h.max), needed(f.percent)}
}

// throughput is samples / (last due − first due + mean gap), per second: n due
// times over n mean gaps, so that the drain at the end does not count.
func throughput(n int64, first, last time.Duration) (float64, bool) {
	if n < 2 || last <= first {
		return 0, false
	}
	return float64(n-1) / (last - first).Seconds(), true
}

// apdexOf is (satisfied + tolerating/2) / all; a failed sample is frustrated.
func apdexOf(satisfied, tolerating, all int64) (float64, bool) {
	return (float64(satisfied) + float64(tolerating)/2) / float64(max(1, all)), all > 0
}
