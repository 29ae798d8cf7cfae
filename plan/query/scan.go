package query

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"
)

// step is one member of a singular path: a key of an object or an index.
type step struct {
	key   string
	index int
	isKey bool
}

const maxScanDepth = 10_000 // that of encoding/json

// find returns the text of the value at steps, nil where there is none. It reads
// the whole document once, so that it accepts exactly what encoding/json accepts
// and, as there, the last of equal keys wins. It does not allocate on success.
func find(text []byte, steps []step) ([]byte, error) {
	s := scanner{text: text, steps: steps}
	s.space()
	if s.at == len(text) {
		return nil, &notJSON{"it is empty"}
	}
	if !s.value(0, 0) {
		return nil, s.err()
	}
	s.space()
	if s.at != len(text) {
		return nil, s.err()
	}
	return s.found, nil
}

type scanner struct {
	text  []byte
	at    int
	steps []step
	found []byte
}

func (s *scanner) err() error {
	if s.at >= len(s.text) {
		return &notJSON{"it ends too early"}
	}
	r, _ := utf8.DecodeRune(s.text[s.at:])
	return &notJSON{fmt.Sprintf("%q at byte %d is out of place", r, s.at)}
}

// ErrNotJSON is what errors.Is finds where a body that should be JSON is not.
var ErrNotJSON = errors.New("the body is not JSON")

// notJSON is ErrNotJSON with the reason.
type notJSON struct{ reason string }

func (e *notJSON) Error() string      { return "the body is not JSON: " + e.reason }
func (*notJSON) Is(target error) bool { return target == ErrNotJSON }

func (s *scanner) space() {
	if s.at < len(s.text) && s.text[s.at] <= ' ' {
		s.spaces()
	}
}

func (s *scanner) spaces() {
	for s.at < len(s.text) {
		switch s.text[s.at] {
		case ' ', '\t', '\n', '\r':
			s.at++
		default:
			return
		}
	}
}

func (s *scanner) take(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

// value reads one value. matched is how many steps lead to it, -1 off the path.
func (s *scanner) value(matched, depth int) bool {
	if s.at >= len(s.text) || depth > maxScanDepth {
		return false
	}
	start, ok := s.at, false
	switch c := s.text[s.at]; c {
	case '{':
		ok = s.object(matched, depth+1)
	case '[':
		ok = s.array(matched, depth+1)
	case '"':
		ok = s.str()
	case 't':
		ok = s.word("true")
	case 'f':
		ok = s.word("false")
	case 'n':
		ok = s.word("null")
	default:
		ok = s.number()
	}
	if ok && matched == len(s.steps) {
		s.found = s.text[start:s.at]
	}
	return ok
}

func (s *scanner) object(matched, depth int) bool {
	s.at++
	s.space()
	if s.take('}') {
		return true
	}
	for {
		s.space()
		start := s.at
		if s.at >= len(s.text) || s.text[s.at] != '"' || !s.str() {
			return false
		}
		next := -1
		if matched >= 0 && matched < len(s.steps) && s.steps[matched].isKey && sameKey(s.text[start:s.at], s.steps[matched].key) {
			next, s.found = matched+1, nil
		}
		s.space()
		if !s.take(':') {
			return false
		}
		s.space()
		if !s.value(next, depth) {
			return false
		}
		s.space()
		if s.take('}') {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
}

func (s *scanner) array(matched, depth int) bool {
	s.at++
	s.space()
	if s.take(']') {
		return true
	}
	want := -1
	if matched >= 0 && matched < len(s.steps) && !s.steps[matched].isKey {
		want = s.steps[matched].index
	}
	for i := 0; ; i++ {
		next := -1
		if i == want {
			next = matched + 1
		}
		s.space()
		if !s.value(next, depth) {
			return false
		}
		s.space()
		if s.take(']') {
			return true
		}
		if !s.take(',') {
			return false
		}
	}
}

func (s *scanner) str() bool {
	text := s.text
	for i := s.at + 1; i < len(text); i++ {
		c := text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		s.at = i
		switch {
		case c == '"':
			s.at++
			return true
		case c < ' ':
			return false
		}
		s.at++
		if !s.escape() {
			return false
		}
		i = s.at - 1
	}
	s.at = len(text)
	return false
}

func (s *scanner) escape() bool {
	if s.at >= len(s.text) {
		return false
	}
	switch s.text[s.at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		s.at++
		return true
	case 'u':
		s.at++
		for end := s.at + 4; s.at < end; s.at++ {
			if s.at >= len(s.text) || !hex(s.text[s.at]) {
				return false
			}
		}
		return true
	}
	return false
}

func hex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func (s *scanner) word(w string) bool {
	for i := range len(w) {
		if !s.take(w[i]) {
			return false
		}
	}
	return true
}

func (s *scanner) number() bool {
	s.take('-')
	if !s.take('0') && !s.digits() {
		return false
	}
	if s.take('.') && !s.digits() {
		return false
	}
	if s.take('e') || s.take('E') {
		if !s.take('+') {
			s.take('-')
		}
		return s.digits()
	}
	return true
}

func (s *scanner) digits() bool {
	start := s.at
	for s.at < len(s.text) && s.text[s.at] >= '0' && s.text[s.at] <= '9' {
		s.at++
	}
	return s.at > start
}

// sameKey compares a quoted key with a text; only escaped keys are decoded.
func sameKey(quoted []byte, key string) bool {
	inner := quoted[1 : len(quoted)-1]
	if bytes.IndexByte(inner, '\\') < 0 && (string(inner) == key || utf8.Valid(inner)) {
		return string(inner) == key
	}
	var decoded string
	return json.Unmarshal(quoted, &decoded) == nil && decoded == key
}

// PlainString returns the inside of a raw JSON string that means what it says,
// letter for letter; not ok for other values and for strings with escapes.
func PlainString(raw []byte) (inner []byte, ok bool) {
	if len(raw) < 2 || raw[0] != '"' {
		return nil, false
	}
	inner = raw[1 : len(raw)-1]
	return inner, bytes.IndexByte(inner, '\\') < 0 && utf8.Valid(inner)
}
