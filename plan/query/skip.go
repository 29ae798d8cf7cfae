package query

import (
	"encoding/binary"
	"math/bits"
)

// skip reads the value that begins at, off the path, and returns where it ends. Not
// ok, that is the place of the mistake. So does every function of this file.
func skip(text []byte, at, depth int) (int, bool) {
	if at >= len(text) || depth > maxScanDepth {
		return at, false
	}
	switch text[at] {
	case '"':
		return skipString(text, at)
	case '{':
		return skipObject(text, at, depth+1)
	case '[':
		return skipArray(text, at, depth+1)
	case 't':
		return skipWord(text, at, "true")
	case 'f':
		return skipWord(text, at, "false")
	case 'n':
		return skipWord(text, at, "null")
	}
	return skipNumber(text, at)
}

func skipObject(text []byte, at, depth int) (int, bool) {
	at = space(text, at+1)
	if at < len(text) && text[at] == '}' {
		return at + 1, true
	}
	for ok := false; ; at++ {
		if at = space(text, at); at >= len(text) || text[at] != '"' {
			return at, false
		}
		if at, ok = skipString(text, at); !ok {
			return at, false
		}
		if at = space(text, at); at >= len(text) || text[at] != ':' {
			return at, false
		}
		if at, ok = skip(text, space(text, at+1), depth); !ok {
			return at, false
		}
		if at = space(text, at); at >= len(text) || text[at] != ',' {
			return closed(text, at, '}')
		}
	}
}

func skipArray(text []byte, at, depth int) (int, bool) {
	at = space(text, at+1)
	if at < len(text) && text[at] == ']' {
		return at + 1, true
	}
	for ok := false; ; at++ {
		if at, ok = skip(text, space(text, at), depth); !ok {
			return at, false
		}
		if at = space(text, at); at >= len(text) || text[at] != ',' {
			return closed(text, at, ']')
		}
	}
}

func closed(text []byte, at int, by byte) (int, bool) {
	if at >= len(text) || text[at] != by {
		return at, false
	}
	return at + 1, true
}

// space is small enough to be inlined: most tokens have none before them.
func space(text []byte, at int) int {
	if at < len(text) && text[at] <= ' ' {
		return spaces(text, at)
	}
	return at
}

func spaces(text []byte, at int) int {
	for at < len(text) {
		switch text[at] {
		case ' ', '\t', '\n', '\r':
			at++
		default:
			return at
		}
	}
	return at
}

// Words of eight equal bytes.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// skipString reads eight bytes at a time where it can. The lowest high bit of
// special tells the first byte that is a quote, a backslash or a control character,
// by Mycroft's test for a zero byte and its kin for one below a bound.
func skipString(text []byte, at int) (int, bool) {
	for at++; at < len(text); {
		if at+8 <= len(text) {
			w := binary.LittleEndian.Uint64(text[at:])
			quote, slash := w^'"'*ones, w^'\\'*ones
			special := ((quote-ones)&^quote | (slash-ones)&^slash | (w-' '*ones)&^w) & highs
			if special == 0 {
				at += 8
				continue
			}
			at += bits.TrailingZeros64(special) / 8
		}
		switch c := text[at]; {
		case c == '"':
			return at + 1, true
		case c < ' ':
			return at, false
		case c != '\\':
			at++
			continue
		}
		var ok bool
		if at, ok = skipEscape(text, at+1); !ok {
			return at, false
		}
	}
	return len(text), false
}

func skipEscape(text []byte, at int) (int, bool) {
	if at >= len(text) {
		return at, false
	}
	switch text[at] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return at + 1, true
	case 'u':
		at++
		for end := at + 4; at < end; at++ {
			if at >= len(text) || !hex(text[at]) {
				return at, false
			}
		}
		return at, true
	}
	return at, false
}

func hex(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f'
}

func skipWord(text []byte, at int, word string) (int, bool) {
	for i := range len(word) {
		if at >= len(text) || text[at] != word[i] {
			return at, false
		}
		at++
	}
	return at, true
}

func skipNumber(text []byte, at int) (int, bool) {
	if at < len(text) && text[at] == '-' {
		at++
	}
	ok := true
	if at < len(text) && text[at] == '0' {
		at++
	} else if at, ok = skipDigits(text, at); !ok {
		return at, false
	}
	if at < len(text) && text[at] == '.' {
		if at, ok = skipDigits(text, at+1); !ok {
			return at, false
		}
	}
	if at < len(text) && text[at]|0x20 == 'e' {
		if at++; at < len(text) && (text[at] == '+' || text[at] == '-') {
			at++
		}
		return skipDigits(text, at)
	}
	return at, true
}

func skipDigits(text []byte, at int) (int, bool) {
	start := at
	for at < len(text) && text[at]-'0' <= 9 {
		at++
	}
	return at, at > start
}
