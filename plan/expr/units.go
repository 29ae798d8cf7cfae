package expr

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"
)

var durationUnits = map[string]time.Duration{
	"ns": 1, "us": time.Microsecond, "µs": time.Microsecond, "ms": time.Millisecond,
	"s": time.Second, "m": time.Minute, "h": time.Hour, "d": 24 * time.Hour,
}

var sizeUnits = map[string]float64{
	"B": 1, "KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
	"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40,
}

var rateUnits = map[string]float64{"s": 1, "min": 60, "h": 3600}

// ParseDuration reads "300ms", "2s", "1m30s", "2h". A bare number is an error.
func ParseDuration(text string) (time.Duration, error) {
	if text == "" {
		return 0, errors.New("a duration is missing; write one like 300ms, 2s or 1m30s")
	}
	if isNumber(text) {
		return 0, fmt.Errorf("%q has no unit; write %ss, %sms or %sm", text, text, text, text)
	}
	if err := spaced(text, "duration", func(text string) error { _, err := ParseDuration(text); return err }); err != nil {
		return 0, err
	}
	if m := rangeForm.FindStringSubmatch(text); m != nil {
		return 0, fmt.Errorf("%q is not a duration; write one, or %s..%s where a range may stand", text, m[1], m[2])
	}
	var total float64
	last := math.Inf(1)
	rest := text
	for rest != "" {
		num, unit := splitNumber(rest)
		word := unit
		if i := strings.IndexFunc(unit, func(r rune) bool { return r == '.' || r >= '0' && r <= '9' }); i >= 0 {
			word = unit[:i]
		}
		size, ok := durationUnits[word]
		switch {
		case num == "" || !isNumber(num):
			return 0, fmt.Errorf("%q is not a duration; write one like 300ms, 2s or 1m30s", text)
		case num[0] == '-':
			return 0, fmt.Errorf("%q is negative; write %s", text, strings.TrimPrefix(text, "-"))
		case !ok:
			return 0, unitError(text, num, word, keysOf(durationUnits), "ns us ms s m h d", "300ms, 2s or 1m30s")
		case float64(size) >= last:
			return 0, fmt.Errorf("%q has its units out of order; write the largest first, as 1m30s", text)
		}
		n, err := strconv.ParseFloat(num, 64)
		if err != nil {
			return 0, fmt.Errorf("%q is out of range for a duration; write a shorter one, as 24h", long(text))
		}
		last = float64(size)
		total += n * last
		rest = unit[len(word):]
	}
	if total >= math.MaxInt64 {
		return 0, fmt.Errorf("%q is too long for a duration; write a shorter one, as 24h", long(text))
	}
	return time.Duration(math.Round(total)), nil
}

// rangeForm is how a range is written elsewhere.
var rangeForm = regexp.MustCompile(`^(\d[\d.]*[a-zµ]+)(?:-|–|~|\.{3}|to)(\d[\d.]*[a-zµ]+)$`)

// RangeRemedy returns how a range that is written as elsewhere ("1s-3s") is
// written here, or "".
func RangeRemedy(text string) string {
	if m := rangeForm.FindStringSubmatch(strings.Join(strings.Fields(text), "")); m != nil {
		return m[1] + ".." + m[2]
	}
	return ""
}

// spaced reports a value that has spaces in it, and is one without them.
func spaced(text, what string, parse func(string) error) error {
	tight := strings.Join(strings.Fields(text), "")
	if tight == text || tight == "" || tight[0] != '-' && (tight[0] < '0' || tight[0] > '9') {
		return nil
	}
	remedy := "write " + tight
	if err := parse(tight); err != nil {
		_, detail, ok := strings.Cut(err.Error(), "; ")
		if !ok {
			return nil
		}
		remedy = detail
	}
	return fmt.Errorf("%q is not a %s: no space stands between a number and its unit; %s", text, what, remedy)
}

// long shortens a text of too many digits.
func long(text string) string {
	if len(text) > 30 {
		return text[:20] + "…"
	}
	return text
}

// ParseRange reads "1s..3s"; the first must not exceed the second.
func ParseRange(text string) (lo, hi time.Duration, err error) {
	from, to, ok := strings.Cut(text, "..")
	if !ok {
		return 0, 0, fmt.Errorf("%q is not a range; write one like 1s..3s", text)
	}
	if lo, err = ParseDuration(strings.TrimSpace(from)); err != nil {
		return 0, 0, err
	}
	if hi, err = ParseDuration(strings.TrimSpace(to)); err != nil {
		return 0, 0, err
	}
	if lo > hi {
		return 0, 0, fmt.Errorf("the range %q runs backwards; write %s..%s", text, strings.TrimSpace(to), strings.TrimSpace(from))
	}
	return lo, hi, nil
}

// ParseRate reads "500/s", "0.5/s", "30000/min", "10/h".
func ParseRate(text string) (Rate, error) {
	num, unit, ok := strings.Cut(text, "/")
	num, unit = strings.TrimSpace(num), strings.TrimSpace(unit)
	if !ok && isNumber(num) {
		return 0, fmt.Errorf("%q has no unit; write %s/s, %s/min or %s/h", text, num, num, num)
	}
	if !ok || !isNumber(num) {
		return 0, fmt.Errorf("%q is not a rate; write one like 500/s, 30000/min or 10/h", text)
	}
	per, ok := rateUnits[unit]
	if !ok {
		hint := "s"
		switch unit {
		case "m", "mins", "minute", "minutes":
			hint = "min"
		case "hr", "hour", "hours":
			hint = "h"
		}
		return 0, fmt.Errorf("%q has no unit of a rate after the slash; write %s/%s", text, num, hint)
	}
	n, err := strconv.ParseFloat(num, 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is out of range for a rate; write a lower one, as 1000/s", long(text))
	case n < 0:
		return 0, fmt.Errorf("%q is negative; write %s", text, strings.TrimPrefix(text, "-"))
	}
	return Rate(n / per), nil
}

// ParseSize reads "10KB", "1MiB", "512B"; KB = 1000, KiB = 1024 bytes.
func ParseSize(text string) (Size, error) {
	if isNumber(text) {
		return 0, fmt.Errorf("%q has no unit; write %sB, %sKB or %sKiB", text, text, text, text)
	}
	if err := spaced(text, "size", func(text string) error { _, err := ParseSize(text); return err }); err != nil {
		return 0, err
	}
	num, unit := splitNumber(text)
	if num == "" || !isNumber(num) || unit == "" {
		return 0, fmt.Errorf("%q is not a size; write one like 512B, 10KB or 1MiB", text)
	}
	size, ok := sizeUnits[unit]
	if !ok {
		return 0, unitError(text, num, unit, keysOf(sizeUnits), "B KB MB GB KiB MiB GiB", "512B, 10KB or 1MiB")
	}
	n, err := strconv.ParseFloat(num, 64)
	if total := n * size; err == nil && total >= 0 && total < math.MaxInt64 {
		return Size(math.Round(total)), nil
	}
	if strings.HasPrefix(text, "-") {
		return 0, fmt.Errorf("%q is negative; write %s", text, text[1:])
	}
	return 0, fmt.Errorf("%q is out of range for a size; write a smaller one, as 1GB", long(text))
}

// ParseShare reads "1%" as 0.01.
func ParseShare(text string) (Share, error) {
	num, ok := strings.CutSuffix(text, "%")
	if !ok && isNumber(text) {
		return 0, fmt.Errorf("%q has no unit; write %s%%", text, text)
	}
	if err := spaced(text, "share", func(text string) error { _, err := ParseShare(text); return err }); err != nil {
		return 0, err
	}
	if !ok || !isNumber(num) {
		return 0, fmt.Errorf("%q is not a share; write one like 1%% or 0.5%%", text)
	}
	n, err := strconv.ParseFloat(num, 64)
	switch {
	case err != nil:
		return 0, fmt.Errorf("%q is out of range for a share; write a smaller one, as 100%%", long(text))
	case n < 0:
		return 0, fmt.Errorf("%q is negative; write %s", text, strings.TrimPrefix(text, "-"))
	}
	return Share(n / 100), nil
}

// ParseInt reads a whole number without separators or leading zeros.
func ParseInt(text string) (int64, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	switch {
	case err == nil && isNumber(text):
		return n, nil
	case errors.Is(err, strconv.ErrRange):
		return 0, fmt.Errorf("%q is out of range for a whole number; write one from %d to %d", long(text), math.MinInt64, math.MaxInt64)
	case isNumber(text):
		return 0, fmt.Errorf("%q is not a whole number; write %s", text, wholeHint(text))
	case isNumber(strings.ReplaceAll(text, "_", "")):
		return 0, fmt.Errorf("%q is not a number; write it without separators: %s", text, strings.ReplaceAll(text, "_", ""))
	case err == nil:
		return 0, fmt.Errorf("%q is not written as a number; write %d", text, n)
	}
	return 0, fmt.Errorf("%q is not a whole number; write one like 10", text)
}

func wholeHint(text string) string {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || math.Abs(f) >= 1<<53 {
		return "one like 10"
	}
	return strconv.FormatInt(int64(f), 10)
}

// ParseFloat reads a number.
func ParseFloat(text string) (float64, error) {
	if !isNumber(text) {
		return 0, fmt.Errorf("%q is not a number; write one like 10 or 0.5", text)
	}
	f, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return 0, fmt.Errorf("%q is out of range for a number; write one with fewer digits", long(text))
	}
	return f, nil
}

// ParseBool reads true or false.
func ParseBool(text string) (bool, error) {
	switch text {
	case "true":
		return true, nil
	case "false":
		return false, nil
	}
	switch strings.ToLower(text) {
	case "true", "yes", "on", "y", "1":
		return false, fmt.Errorf("%q is not a truth value; write true", text)
	case "false", "no", "off", "n", "0":
		return false, fmt.Errorf("%q is not a truth value; write false", text)
	}
	return false, fmt.Errorf("%q is not a truth value; write true or false", text)
}

// Infer types an unquoted value by its look: int64, float64, bool,
// time.Duration, Rate, Size, Share, else the text itself.
func Infer(text string) any {
	if text == "true" || text == "false" {
		return text == "true"
	}
	if text == "" || text[0] != '-' && (text[0] < '0' || text[0] > '9') {
		return text
	}
	if isNumber(text) {
		if n, err := strconv.ParseInt(text, 10, 64); err == nil {
			return n
		}
		if f, err := strconv.ParseFloat(text, 64); err == nil && strings.ContainsAny(text, ".eE") {
			return f
		}
		return text
	}
	if d, err := ParseDuration(text); err == nil {
		return d
	}
	if r, err := ParseRate(text); err == nil && !strings.Contains(text, " ") {
		return r
	}
	if s, err := ParseSize(text); err == nil {
		return s
	}
	if s, err := ParseShare(text); err == nil {
		return s
	}
	return text
}

// isNumber reports whether text is a number as JSON writes it.
func isNumber(text string) bool {
	s := strings.TrimPrefix(text, "-")
	digits := func() bool {
		n := 0
		for n < len(s) && s[n] >= '0' && s[n] <= '9' {
			n++
		}
		s = s[n:]
		return n > 0
	}
	lead := s
	if !digits() || len(lead)-len(s) > 1 && lead[0] == '0' {
		return false
	}
	if strings.HasPrefix(s, ".") {
		s = s[1:]
		if !digits() {
			return false
		}
	}
	if s != "" && (s[0] == 'e' || s[0] == 'E') {
		s = s[1:]
		if s != "" && (s[0] == '+' || s[0] == '-') {
			s = s[1:]
		}
		if !digits() {
			return false
		}
	}
	return s == ""
}

// splitNumber cuts a leading decimal number off text.
func splitNumber(text string) (num, rest string) {
	i := 0
	if i < len(text) && text[i] == '-' {
		i++
	}
	for i < len(text) && (text[i] >= '0' && text[i] <= '9' || text[i] == '.') {
		i++
	}
	return text[:i], text[i:]
}

// unitError reports an unknown unit with the nearest known one.
func unitError(text, num, unit string, known []string, list, examples string) error {
	if unit == "" {
		return fmt.Errorf("%q has no unit at its end; write one like %s", text, examples)
	}
	for _, k := range known {
		if strings.EqualFold(k, unit) {
			return fmt.Errorf("%q has the unit %q in the wrong case; write %s%s", text, unit, num, k)
		}
	}
	word := strings.ToLower(unit)
	for long, short := range map[string]string{"sec": "s", "min": "m", "hour": "h", "msec": "ms", "milli": "ms", "hr": "h", "day": "d"} {
		if strings.HasPrefix(word, long) && strings.Contains(" "+list+" ", " "+short+" ") {
			return fmt.Errorf("%q has the unknown unit %q; write %s%s", text, unit, num, short)
		}
	}
	return fmt.Errorf("%q has the unknown unit %q; the units are %s", text, unit, list)
}

func keysOf[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	return keys
}

// FormatDuration writes a duration as a plan does: 1m, not 1m0s.
func FormatDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}
