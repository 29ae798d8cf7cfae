package stats

import (
	"math"
	"strconv"
	"strings"
)

// sentence tells a measured value against its limit with units.
func sentence(f *figure, t *thresholdOutline, v float64) string {
	value, limit := formatBoth(v, t.Limit, f.unit)
	return t.Figure + " is " + value + ", limit " + t.Op + " " + limit
}

// formatBoth writes two values with as few digits as tell them apart.
func formatBoth(v, limit float64, unit string) (string, string) {
	b := formatValue(limit, unit, 9)
	for digits := 3; digits < 12; digits++ {
		if a := formatValue(v, unit, digits); a != b || v == limit {
			return a, b
		}
	}
	return formatValue(v, unit, 17), b
}

func formatValue(v float64, unit string, digits int) string {
	switch unit {
	case unitTime:
		return formatTime(v, digits)
	case unitBytes:
		return scaled(v, digits, 1000, "B", "KB", "MB", "GB", "TB")
	case unitRate:
		return formatNumber(v, digits) + "/s"
	case unitShare:
		return formatNumber(v*100, digits) + "%"
	}
	return formatNumber(v, digits)
}

// formatTime writes nanoseconds in the unit that reads best.
func formatTime(ns float64, digits int) string {
	switch a := math.Abs(ns); {
	case a < 1e3:
		return formatNumber(ns, digits) + " ns"
	case a < 1e6:
		return formatNumber(ns/1e3, digits) + " µs"
	case a < 1e9:
		return formatNumber(ns/1e6, digits) + " ms"
	}
	return formatNumber(ns/1e9, digits) + " s"
}

func scaled(v float64, digits int, step float64, units ...string) string {
	i := 0
	for i < len(units)-1 && math.Abs(v) >= step {
		v /= step
		i++
	}
	return formatNumber(v, digits) + " " + units[i]
}

// formatNumber writes v with at least that many significant digits before
// rounding, never an exponent, and whole numbers in full.
func formatNumber(v float64, digits int) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e15 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	decimals := digits
	if a := math.Abs(v); a > 0 {
		decimals = digits - 1 - int(math.Floor(math.Log10(a)))
	}
	text := strconv.FormatFloat(v, 'f', min(max(decimals, 0), 12), 64)
	if strings.Contains(text, ".") {
		text = strings.TrimRight(strings.TrimRight(text, "0"), ".")
	}
	return text
}

// counted writes a count with the word for one or more.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return formatCount(n) + " " + many
}

// formatCount writes a count with a comma between thousands.
func formatCount(n int64) string {
	digits := strconv.FormatInt(n, 10)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return sign + digits
}
