package query

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"runner/plan/element"
)

// Headers returns the values of every header of that name, in order.
func Headers(s *element.Sample, name string) []string {
	var found []string
	for _, h := range s.Headers {
		if sameName(h.Name, name) {
			found = append(found, string(h.Value))
		}
	}
	return found
}

// sameName compares header names, which are ASCII, without regard to case.
func sameName(a []byte, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if lower(a[i]) != lower(b[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c | 0x20
	}
	return c
}

// HeaderText returns the response's headers as lines "Name: value".
func HeaderText(s *element.Sample) []byte {
	var b []byte
	for _, h := range s.Headers {
		b = append(b, h.Name...)
		b = append(b, ": "...)
		b = append(b, h.Value...)
		b = append(b, '\n')
	}
	return b
}

// CookieJar is offered by a sample's Private where the sampler keeps cookies.
type CookieJar interface {
	Cookie(name string) (string, bool)
}

// Cookie returns the value of a cookie after the sample: as the response set it,
// else as the thread's jar has it. A cookie that the response deletes is none.
func Cookie(s *element.Sample, name string) (string, bool) {
	for i := len(s.Headers) - 1; i >= 0; i-- {
		if c, ok := setCookie(s.Headers[i], name); ok {
			return c.value, !c.deleted
		}
	}
	if jar, ok := s.Private.(CookieJar); ok {
		return jar.Cookie(name)
	}
	return "", false
}

// Cookies returns the values that the response sets for a cookie, the newest
// first, or that of the jar where it sets none.
func Cookies(s *element.Sample, name string) []string {
	if _, ok := Cookie(s, name); !ok {
		return nil
	}
	var found []string
	for i := len(s.Headers) - 1; i >= 0 && len(found) < MaxMatches; i-- {
		if c, ok := setCookie(s.Headers[i], name); ok && !c.deleted {
			found = append(found, c.value)
		}
	}
	if found == nil {
		v, _ := Cookie(s, name)
		found = []string{v}
	}
	return found
}

type cookie struct {
	value   string
	deleted bool
}

// setCookie reads a header as a Set-Cookie of that name. The value is kept byte
// for byte.
func setCookie(h element.Header, name string) (cookie, bool) {
	if !sameName(h.Name, "Set-Cookie") {
		return cookie{}, false
	}
	pair, attributes, _ := strings.Cut(string(h.Value), ";")
	key, value, ok := strings.Cut(pair, "=")
	if !ok || strings.TrimSpace(key) != name {
		return cookie{}, false
	}
	return cookie{strings.TrimSpace(value), deletes(attributes)}, true
}

func deletes(attributes string) bool {
	expired := false
	for attributes != "" {
		var one string
		one, attributes, _ = strings.Cut(attributes, ";")
		key, value, _ := strings.Cut(one, "=")
		value = strings.TrimSpace(value)
		switch strings.ToLower(strings.TrimSpace(key)) {
		case "max-age": // wins over Expires
			if n, err := strconv.ParseInt(value, 10, 64); err == nil {
				return n <= 0
			}
		case "expires":
			expired = longAgo(value)
		}
	}
	return expired
}

// longAgo reports whether an Expires attribute names the epoch, which is how
// servers delete cookies; the real time plays no part.
func longAgo(value string) bool {
	for _, layout := range []string{http.TimeFormat, "Mon, 02-Jan-2006 15:04:05 MST", time.RFC850, time.ANSIC} {
		if t, err := time.Parse(layout, value); err == nil {
			return t.Before(time.Unix(0, 0).AddDate(1, 0, 0))
		}
	}
	return false
}
