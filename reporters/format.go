package reporters

import (
	"math"
	"strconv"
	"strings"
	"time"

	"runner/reporters/stats"
)

// notMeasured stands where a figure is null.
const notMeasured = "n/a"

// timeUnit is a unit that a column of durations is written in.
type timeUnit struct {
	Name   string
	NS     float64
	Digits int
}

// in writes ns in the unit without its name.
func (u timeUnit) in(ns float64) string { return grouped(ns/u.NS, u.Digits) }

// ptr is in for a figure that may be null.
func (u timeUnit) ptr(ns *int64) string {
	if ns == nil {
		return notMeasured
	}
	return u.in(float64(*ns))
}

// count writes a whole number with thousands separated.
func count(n int64) string { return grouped(float64(n), 0) }

// grouped writes v with a fixed number of decimals and its thousands separated.
func grouped(v float64, digits int) string {
	text := strconv.FormatFloat(v, 'f', digits, 64)
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, rest := text, ""
	if i := strings.IndexByte(text, '.'); i >= 0 {
		whole, rest = text[:i], text[i:]
	}
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	return sign + whole + rest
}

// significant writes v with n significant digits at least, whole part complete.
func significant(v float64, n int) string {
	if v == 0 || math.IsNaN(v) || math.IsInf(v, 0) {
		return "0"
	}
	digits := max(0, n-1-int(math.Floor(math.Log10(math.Abs(v)))))
	text := grouped(v, min(digits, 12))
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// duration writes one duration alone: 812 ms, 1.24 s, 45.3 µs.
func duration(ns float64) string { return durationN(ns, 3) }

func durationN(ns float64, digits int) string {
	switch a := math.Abs(ns); {
	case a == 0:
		return "0 ms"
	case a < 1e3:
		return significant(ns, digits) + " ns"
	case a < 1e6:
		return significant(ns/1e3, digits) + " µs"
	case a < 1e9:
		return significant(ns/1e6, digits) + " ms"
	}
	return significant(ns/1e9, digits) + " s"
}

// durationPtr is duration for a figure that may be null.
func durationPtr(ns *int64) string {
	if ns == nil {
		return notMeasured
	}
	return duration(float64(*ns))
}

// span writes how long something lasted: 45 s, 12 min 30 s, 1 h 05 min.
func span(d time.Duration) string {
	switch {
	case d < time.Minute:
		return duration(float64(d))
	case d < time.Hour:
		d = d.Round(time.Second)
		return strconv.Itoa(int(d/time.Minute)) + " min " + two(d%time.Minute/time.Second) + " s"
	}
	d = d.Round(time.Minute)
	return strconv.Itoa(int(d/time.Hour)) + " h " + two(d%time.Hour/time.Minute) + " min"
}

// clock writes a moment of the run as m:ss or h:mm:ss.
func clock(d time.Duration) string {
	s := int64(d.Round(time.Second) / time.Second)
	text := two(time.Duration(s / 60 % 60))
	if h := s / 3600; h > 0 {
		return strconv.FormatInt(h, 10) + ":" + text + ":" + two(time.Duration(s%60))
	}
	return strings.TrimPrefix(text, "0") + ":" + two(time.Duration(s%60))
}

func two(n time.Duration) string {
	if n < 10 {
		return "0" + strconv.Itoa(int(n))
	}
	return strconv.Itoa(int(n))
}

// share writes a share as a percentage. Only none is "0%" and only all is "100%".
func share(x float64) string { return shareN(x, 3) }

func shareN(x float64, digits int) string {
	p := x * 100
	switch {
	case p == 0:
		return "0%"
	case p > 0 && p < 0.001:
		return "<0.001%"
	case p > 99.99 && p < 100:
		return ">99.99%"
	}
	return significant(p, digits+min(1, int(p/99))) + "%"
}

func sharePtr(x *float64) string {
	if x == nil {
		return notMeasured
	}
	return share(*x)
}

// rate writes events per second.
func rate(x float64) string { return rateNumber(x) + "/s" }

// rateNumber is rate without the unit, for a column that has it in its head.
func rateNumber(x float64) string {
	switch {
	case x >= 1000:
		return grouped(x, 0)
	case x >= 10:
		return grouped(x, 1)
	}
	return grouped(x, 2)
}

func ratePtr(x *float64) string {
	if x == nil {
		return notMeasured
	}
	return rate(*x)
}

// size writes a number of bytes in powers of 1000.
func size(n float64) string { return sizeN(n, 3) }

func sizeN(n float64, digits int) string {
	switch a := math.Abs(n); {
	case a >= 1e12:
		return significant(n/1e12, digits) + " TB"
	case a >= 1e9:
		return significant(n/1e9, digits) + " GB"
	case a >= 1e6:
		return significant(n/1e6, digits) + " MB"
	case a >= 1e3:
		return significant(n/1e3, digits) + " KB"
	}
	return significant(n, digits) + " B"
}

// figure writes a value of a threshold's unit with so many significant digits.
func figure(v float64, unit string, digits int) string {
	switch unit {
	case "ns":
		return durationN(v, digits)
	case "bytes":
		return sizeN(v, digits)
	case "share":
		return shareN(v, digits)
	case "per_second":
		return significant(v, digits+1) + "/s"
	}
	return significant(v, digits+1)
}

// measured returns a threshold's value and limit as text, with as many digits as
// it takes for unequal figures to look unequal.
func measured(t *stats.ThresholdResult) (value, limit string) {
	if t.Value == nil {
		return "no data", figure(t.Limit, t.Unit, 3)
	}
	for digits := 3; ; digits++ {
		value, limit = figure(*t.Value, t.Unit, digits), figure(t.Limit, t.Unit, digits)
		if value != limit || *t.Value == t.Limit || digits == 12 {
			return value, limit
		}
	}
}

// plural writes a count with its noun.
func plural(n int64, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return count(n) + " " + noun + "s"
}
