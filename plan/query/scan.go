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

func (s *scanner) space() { s.at = space(s.text, s.at) }

func (s *scanner) take(c byte) bool {
	if s.at < len(s.text) && s.text[s.at] == c {
		s.at++
		return true
	}
	return false
}

func (s *scanner) key() (ok bool) {
	if s.at >= len(s.text) || s.text[s.at] != '"' {
		return false
	}
	s.at, ok = skipString(s.text, s.at)
	return ok
}

// value reads one value, to which so many steps lead, -1 off the path.
func (s *scanner) value(matched, depth int) bool {
	if s.at >= len(s.text) || depth > maxScanDepth {
		return false
	}
	start, ok := s.at, false
	switch on := matched >= 0 && matched < len(s.steps); {
	case on && s.text[s.at] == '{':
		ok = s.object(matched, depth+1)
	case on && s.text[s.at] == '[':
		ok = s.array(matched, depth+1)
	default:
		s.at, ok = skip(s.text, s.at, depth)
	}
	if ok && matched == len(s.steps) {
		s.found = s.text[start:s.at]
	}
	return ok
}

// object reads an object on the path, though not at its end.
func (s *scanner) object(matched, depth int) bool {
	s.at++
	s.space()
	if s.take('}') {
		return true
	}
	for {
		s.space()
		start := s.at
		if !s.key() {
			return false
		}
		next := -1
		if s.steps[matched].isKey && sameKey(s.text[start:s.at], s.steps[matched].key) {
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

// array is object for an array.
func (s *scanner) array(matched, depth int) bool {
	s.at++
	s.space()
	if s.take(']') {
		return true
	}
	want := -1
	if !s.steps[matched].isKey {
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
