package plan

import (
	"bytes"
	"strings"
)

// collection reads a flow collection from its opening bracket at i to behind its
// end.
func (s *scanner) collection() {
	s.open()
	fresh := true // the next character begins an item, a key or a value
	for s.i < len(s.text) && len(s.flow) > 0 && len(s.traps) < 20 {
		c := s.text[s.i]
		switch {
		case isSpace(c):
			s.i++
		case c == '#' && isSpace(s.text[s.i-1]):
			s.comment()
		case c == ',' || c == ':' && s.i+1 < len(s.text) && (isSpace(s.text[s.i+1]) || !fresh):
			s.i, fresh = s.i+1, true
		case c == ']' || c == '}':
			s.flow, s.i, fresh = s.flow[:len(s.flow)-1], s.i+1, false
		case (c == '[' || c == '{') && fresh:
			s.open()
		case (c == '"' || c == '\'') && fresh:
			s.flowQuoted()
			fresh = false
		default:
			before := s.i
			if !s.flowPlain() {
				return
			}
			s.i = max(s.i, before+1) // a lone colon is no text
			fresh = false
		}
	}
}

// comment skips a comment. One that holds the bracket which is then missing was
// no comment.
func (s *scanner) comment() {
	end := lineEnd(s.text, s.i)
	rest := s.text[s.i:end]
	open := s.flow[len(s.flow)-1]
	if len(rest) < 2 || isSpace(rest[1]) || bytes.IndexByte(rest, closer(s.text[open])) < 0 || s.item < open {
		s.i = end
		return
	}
	stop := itemEnd(s.text, s.item)
	raw := strings.TrimRight(string(s.text[s.item:stop]), " ")
	s.add(trap{from: s.i, to: s.i + 1, maskFrom: s.item, maskTo: s.item + len(raw), code: "cut-comment",
		summary: "the value is cut at ` #`, where YAML starts a comment", detail: "put the value in quotes: " + quoted(raw)})
	s.i = stop
}

func (s *scanner) open() {
	s.flow = append(s.flow, s.i)
	s.i++
	s.deep(len(s.levels) + len(s.flow))
}

// flowQuoted reads a quoted item; text behind the closing quote is a trap.
func (s *scanner) flowQuoted() {
	from := s.i
	end := s.closeQuote(from)
	if end < 0 {
		s.i, s.flow = lineEnd(s.text, from), nil
		return
	}
	s.i = end
	for s.i < len(s.text) && isSpace(s.text[s.i]) {
		s.i++
	}
	if s.i < len(s.text) && strings.IndexByte(",:]}#", s.text[s.i]) < 0 {
		s.i = itemEnd(s.text, from)
		raw := strings.TrimRight(string(s.text[from:s.i]), " ")
		s.add(afterQuote(from, from+len(raw), raw, end-from))
	}
}

// flowPlain reads an unquoted item. An item that a bracket ends too early is a
// trap, and is then skipped as a whole. False: the collection was left open.
func (s *scanner) flowPlain() bool {
	from := s.i
	s.item = from
	text := s.text
	if strings.IndexByte("&*!%@`|>", text[from]) >= 0 {
		s.i = max(itemEnd(s.text, from), from+1)
		raw := strings.TrimRight(string(text[from:s.i]), " \n\r")
		s.add(startsWith(from, from+len(raw), raw))
		return true
	}
	for ; s.i < len(text); s.i++ {
		switch c := text[s.i]; {
		case c == ',' || c == ']' || c == '}':
			return true
		case c == ':' && (s.i+1 >= len(text) || isSpace(text[s.i+1]) || strings.IndexByte(",[]{}", text[s.i+1]) >= 0):
			return true
		case c == '#' && s.i > from && isSpace(text[s.i-1]):
			return true
		case c == '[' || c == '{' || c == '?':
			s.i = itemEnd(s.text, from)
			raw := strings.TrimRight(string(text[from:s.i]), " \n\r")
			s.add(inFlow(from, from+len(raw), raw))
			return true
		case c == '\n':
			next := strings.TrimLeft(string(text[s.i+1:lineEnd(text, s.i+1)]), " ")
			if strings.HasPrefix(next, "- ") {
				return false
			}
		}
	}
	return true
}

// itemEnd returns the end of the item that was meant to begin at from: a comma or
// closing bracket outside the brackets, parentheses and quotes that it opens.
func itemEnd(text []byte, from int) int {
	depth, quote := 0, byte(0)
	end := lineEnd(text, from)
	for i := from; i < end; i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '(' || c == '[' || c == '{':
			depth++
		case depth > 0 && (c == ')' || c == ']' || c == '}'):
			depth--
		case depth == 0 && (c == ',' || c == ']' || c == '}'):
			return i
		}
	}
	return end
}
