package h1

import (
	"errors"
	"strconv"
	"strings"
	"time"
)

// parseCookie reads a Set-Cookie value (RFC 6265 5.2). The value stays as it
// is, quotes, blanks, brackets and all, up to the first semicolon.
func parseCookie(line string, now time.Time) (Cookie, error) {
	pair, attributes, _ := strings.Cut(line, ";")
	name, value, found := strings.Cut(pair, "=")
	k := Cookie{Name: strings.Trim(name, " \t"), Value: strings.Trim(value, " \t")}
	if !found || k.Name == "" {
		return k, errors.New("a cookie without a name")
	}
	for i := range len(line) {
		if c := line[i]; c < ' ' && c != '\t' || c == 0x7f {
			return k, errors.New("a cookie with a control character")
		}
	}
	aged := false
	for attributes != "" {
		var one string
		one, attributes, _ = strings.Cut(attributes, ";")
		key, text, _ := strings.Cut(one, "=")
		k.attribute(strings.ToLower(strings.Trim(key, " \t")), strings.Trim(text, " \t"), now, &aged)
	}
	return k, nil
}

// attribute applies one; Max-Age wins over Expires, unknown ones are ignored.
func (k *Cookie) attribute(key, text string, now time.Time, aged *bool) {
	switch key {
	case "domain":
		k.Domain = strings.ToLower(strings.TrimPrefix(text, "."))
	case "path":
		k.Path = ""
		if strings.HasPrefix(text, "/") {
			k.Path = text
		}
	case "secure":
		k.Secure = true
	case "httponly":
		k.HTTPOnly = true
	case "max-age":
		if expires, ok := maxAge(text, now); ok {
			k.Expires, *aged = expires, true
		}
	case "expires":
		if when, ok := cookieDate(text); ok && !*aged {
			k.Expires = when
		}
	}
}

func maxAge(text string, now time.Time) (time.Time, bool) {
	digits := strings.TrimPrefix(text, "-")
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return time.Time{}, false
	}
	const longest = 400 * 24 * 3600
	seconds, err := strconv.ParseInt(text, 10, 64)
	switch {
	case text[0] == '-' || err == nil && seconds <= 0:
		return time.Unix(1, 0), true
	case err != nil || seconds > longest:
		seconds = longest
	}
	return now.Add(time.Duration(seconds) * time.Second), true
}

// cookieDate reads a date as leniently as RFC 6265 5.1.1 demands.
func cookieDate(text string) (time.Time, bool) {
	d := dateParts{day: -1, month: -1, year: -1, hour: -1}
	for _, word := range strings.FieldsFunc(text, isDateDelimiter) {
		d.take(word)
	}
	if d.day < 1 || d.day > 31 || d.month < 1 || d.year < 1601 || d.hour < 0 {
		return time.Time{}, false
	}
	when := time.Date(d.year, time.Month(d.month), d.day, d.hour, d.minute, d.second, 0, time.UTC)
	return when, when.Day() == d.day
}

func isDateDelimiter(r rune) bool {
	return !(r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r == ':' || r >= 0x7f)
}

type dateParts struct{ day, month, year, hour, minute, second int }

func (d *dateParts) take(word string) {
	n, digits := leadingNumber(word)
	switch {
	case d.hour < 0 && strings.Count(word, ":") == 2:
		d.time(word)
	case d.day < 0 && (digits == 1 || digits == 2):
		d.day = n
	case d.month < 0 && digits == 0 && monthOf(word) > 0:
		d.month = monthOf(word)
	case d.year < 0 && (digits == 2 || digits == 4):
		d.year = n
		if n >= 70 && n <= 99 {
			d.year += 1900
		} else if n < 70 {
			d.year += 2000
		}
	}
}

func (d *dateParts) time(word string) {
	parts := strings.Split(word, ":")
	var v [3]int
	for i, part := range parts {
		n, digits := leadingNumber(part)
		if digits < 1 || digits > 2 || n > 59 || i == 0 && n > 23 {
			return
		}
		v[i] = n
	}
	d.hour, d.minute, d.second = v[0], v[1], v[2]
}

func leadingNumber(word string) (n, digits int) {
	for digits < len(word) && digit(word[digits]) {
		if digits++; digits > 4 {
			return 0, digits
		}
		n = n*10 + int(word[digits-1]-'0')
	}
	return n, digits
}

func monthOf(word string) int {
	if len(word) < 3 {
		return 0
	}
	at := strings.Index("janfebmaraprmayjunjulaugsepoctnovdec", strings.ToLower(word[:3]))
	if at < 0 || at%3 != 0 {
		return 0
	}
	return at/3 + 1
}
