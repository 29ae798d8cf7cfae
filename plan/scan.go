package plan

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"runner/plan/source"
)

// scanner walks the raw text of a plan as YAML's block and flow structure, just
// closely enough to know where values begin. What it finds is reported when the
// text cannot be parsed; only the depth limit is always.
type scanner struct {
	file   *source.File
	text   []byte
	i      int
	traps  []trap
	levels []int  // indentation of the open block collections
	nested bool   // the last line ended where a nested block may follow
	bare   []int  // start and end of the last line, if it was neither key nor item
	flow   []int  // offsets of the open brackets
	item   int    // offset of the last unquoted item of a flow collection
	key    string // of the line, if it has one
}

func scan(f *source.File) []trap {
	s := &scanner{file: f, text: f.Text}
	if bytes.HasPrefix(s.text, []byte("\ufeff")) {
		s.i = 3
	}
	for s.i < len(s.text) && len(s.traps) < 20 {
		s.line()
	}
	if len(s.flow) > 0 {
		open := s.flow[len(s.flow)-1]
		s.add(trap{from: open, to: open + 1, code: "unclosed-bracket", summary: fmt.Sprintf("this %c is never closed", s.text[open]),
			detail: fmt.Sprintf("add the missing %c", closer(s.text[open]))})
	}
	return s.traps
}

func (s *scanner) add(t trap) { s.traps = append(s.traps, t) }

func closer(c byte) byte {
	if c == '[' {
		return ']'
	}
	return '}'
}

// line reads from the start of a line in block context; a flow collection or a
// quoted text that spans lines is read to its end.
func (s *scanner) line() {
	start, end := s.i, lineEnd(s.text, s.i)
	for s.i < end && s.text[s.i] == ' ' {
		s.i++
	}
	rest := bytes.TrimRight(s.text[s.i:end], " \t\r")
	switch {
	case len(rest) == 0, rest[0] == '#':
		s.i = end + 1
		return
	case rest[0] == '\t':
		s.add(trap{from: s.i, to: s.i + 1, code: "tab", summary: "a tab in the indentation", detail: "indent with spaces: two for each level"})
		s.i = end + 1
		return
	case s.i == start && rest[0] == '%' && len(s.levels) == 0:
		s.add(trap{from: s.i, to: s.i + len(rest), code: "directive", summary: "a plan has no lines that begin with %", detail: "remove this line, and the `---` that follows it"})
		s.i = end + 1
		return
	case s.i == start && (bytes.HasPrefix(rest, []byte("---")) || bytes.HasPrefix(rest, []byte("..."))):
		s.i = end + 1
		s.levels, s.nested = nil, true
		return
	}
	s.indent(s.i-start, rest)
	s.block(start)
}

// indent keeps the stack of block levels and reports a line that fits none.
func (s *scanner) indent(column int, rest []byte) {
	before := append([]int(nil), s.levels...)
	for len(s.levels) > 0 && s.levels[len(s.levels)-1] > column {
		s.levels = s.levels[:len(s.levels)-1]
	}
	top := -1
	if len(s.levels) > 0 {
		top = s.levels[len(s.levels)-1]
	}
	isKey := keyEnd(rest) > 0 || bytes.HasPrefix(rest, []byte("- "))
	switch {
	case top == column || len(before) == 0:
	case len(before) != len(s.levels) && isKey:
		s.add(trap{from: s.i, to: s.i + len(rest), code: "bad-indent",
			summary: fmt.Sprintf("this line is indented by %d spaces, which lines up with nothing above", column),
			detail:  "indent it by " + spaces(append(s.levels, nearest(before, column)))})
	case !s.nested && isKey && s.bare != nil:
		s.add(trap{from: s.bare[0], to: s.bare[1], code: "missing-colon", summary: "a colon is missing after this key",
			detail: fmt.Sprintf("write %s:", s.text[s.bare[0]:s.bare[1]])})
	case !s.nested && isKey:
		s.add(trap{from: s.i, to: s.i + len(rest), code: "bad-indent",
			summary: "this line is indented more than the one above, which has a value already",
			detail:  fmt.Sprintf("indent it by %d spaces like the key above, or move the value of that key", top)})
	}
	if isKey && top != column {
		s.push(column)
	}
}

func nearest(levels []int, column int) int {
	for _, l := range levels {
		if l > column {
			return l
		}
	}
	return column
}

func spaces(levels []int) string {
	words := make([]string, 0, len(levels))
	for _, l := range levels[max(0, len(levels)-2):] {
		words = append(words, fmt.Sprint(l))
	}
	return strings.Join(words, " or ") + " spaces"
}

func (s *scanner) push(column int) {
	s.levels = append(s.levels, column)
	s.deep(len(s.levels) + len(s.flow))
}

func (s *scanner) deep(depth int) {
	if depth > maxDepth && (len(s.traps) == 0 || s.traps[len(s.traps)-1].code != "too-deep") {
		s.add(trap{from: s.i, to: s.i + 1, code: "too-deep", summary: fmt.Sprintf("the plan is nested more than %d levels deep", maxDepth), detail: "move parts of it to an outer level"})
		s.i = len(s.text)
	}
}

var (
	word  = regexp.MustCompile(`^[\w-]+$`)
	tight = regexp.MustCompile(`^([a-z_]+):([^/\s:].*)$`)

	tightKey = regexp.MustCompile(`^[a-z_]+:[\[{"']`) // what YAML takes for the begin of a key
)

// block reads dashes, a key and a value on one line.
func (s *scanner) block(start int) {
	s.nested = true
	for s.i < len(s.text) {
		if s.text[s.i] == '-' && (s.i+1 >= len(s.text) || isSpace(s.text[s.i+1])) {
			s.i++
			for s.i < len(s.text) && s.text[s.i] == ' ' {
				s.i++
			}
			if s.i >= len(s.text) || s.text[s.i] == '\n' || s.text[s.i] == '\r' || s.text[s.i] == '#' {
				s.i = lineEnd(s.text, s.i) + 1
				return
			}
			if rest := s.text[s.i:lineEnd(s.text, s.i)]; keyEnd(rest) > 0 || bytes.HasPrefix(rest, []byte("- ")) {
				s.push(s.i - start)
			}
			continue
		}
		break
	}
	from, item := s.i, bytes.HasPrefix(bytes.TrimLeft(s.text[start:min(s.i, len(s.text))], " "), []byte("-"))
	n := keyEnd(s.text[min(s.i, len(s.text)):lineEnd(s.text, s.i)])
	if n > 0 {
		s.i += n
		for s.i < len(s.text) && s.text[s.i] == ' ' {
			s.i++
		}
	}
	s.key = ""
	if n > 0 {
		s.key = string(s.text[from : from+n-1])
		if m := tightKey.FindString(s.key); m != "" {
			end := lineEnd(s.text, from)
			s.add(trap{from: from, to: from + len(m) - 1, code: "colon-space", summary: "a space is missing after the colon",
				detail: fmt.Sprintf("write %s %s", m[:len(m)-1], valueText(s.text, from+len(m)-1))})
			s.i = end + 1
			return
		}
	}
	s.bare = nil
	if raw := valueText(s.text, s.i); n == 0 && !item && word.MatchString(raw) {
		s.bare = []int{from, from + len(raw)}
	} else if m := tight.FindStringSubmatch(raw); n == 0 && !item && m != nil {
		s.add(trap{from: from, to: from + len(m[1]) + 1, code: "colon-space", summary: "a space is missing after the colon", detail: fmt.Sprintf("write %s: %s", m[1], m[2])})
	} else if n > 0 && strings.HasPrefix(raw, "- ") {
		s.add(trap{from: s.i, to: s.i + len(raw), maskFrom: s.i, maskTo: s.i + len(raw), code: "dash-in-line", summary: "a list item cannot stand on the line of its key",
			detail: "write it on a line of its own, or in brackets: [" + strings.TrimSpace(raw[2:]) + "]"})
	}
	s.value()
}

// keyEnd returns the length of a key with its colon at the start of line, or 0.
func keyEnd(line []byte) int {
	i := 0
	if len(line) > 0 && (line[0] == '"' || line[0] == '\'') {
		i = quoteEnd(line, 0)
		for i < len(line) && line[i] == ' ' {
			i++
		}
		if i < len(line) && line[i] == ':' && (i+1 == len(line) || isSpace(line[i+1])) {
			return i + 1
		}
		return 0
	}
	if len(line) == 0 || strings.IndexByte("[{!&*|>%@`#", line[0]) >= 0 {
		return 0
	}
	for ; i < len(line); i++ {
		if line[i] == ':' && (i+1 == len(line) || isSpace(line[i+1])) {
			return i + 1
		}
		if line[i] == '#' && i > 0 && line[i-1] == ' ' {
			return 0
		}
	}
	return 0
}

// value reads the value that begins at i in block context and leaves i at the
// start of a later line.
func (s *scanner) value() {
	from, end := s.i, lineEnd(s.text, s.i)
	raw := valueText(s.text, from)
	if raw == "" || raw[0] == '#' {
		s.i = end + 1
		return
	}
	s.nested = false
	switch raw[0] {
	case '"', '\'':
		s.quoted()
	case '|', '>':
		if !blockHeader.Match(s.text[s.i:end]) {
			s.add(startsWith(s.i, s.i+len(raw), raw))
			s.i = end + 1
			return
		}
		s.skipBlock(end + 1)
	case '[', '{':
		s.collection()
		if rest := valueText(s.text, s.i); len(s.flow) == 0 && s.i < end && strings.TrimSpace(rest) != "" && !strings.HasPrefix(rest, "#") {
			s.add(trap{from: from, to: from + len(raw), maskFrom: from, maskTo: from + len(raw), code: "unquoted",
				summary: "text follows the closing bracket: to YAML the value ends there", detail: "put the whole in quotes: " + quoted(raw)})
		}
		s.i = lineEnd(s.text, s.i) + 1
	case '&', '*', '!', '%', '@', '`':
		s.add(startsWith(s.i, s.i+len(raw), raw))
		s.i = end + 1
	default:
		if n := strings.Index(raw+" ", ": "); n >= 0 {
			s.add(colonSpace(s.i, s.i+len(raw), raw, s.key))
		}
		s.i = end + 1
	}
}

// quoted reads a quoted text in block context.
func (s *scanner) quoted() {
	from := s.i
	end := s.closeQuote(from)
	if end < 0 {
		s.i = lineEnd(s.text, from) + 1
		return
	}
	s.i = end
	stop := lineEnd(s.text, end)
	if rest := strings.TrimSpace(string(s.text[end:stop])); rest != "" && rest[0] != '#' {
		raw := string(s.text[from:end]) + valueText(s.text, end)
		if bytes.IndexByte(s.text[from:end], '\n') < 0 {
			s.add(afterQuote(from, from+len(raw), raw, end-from))
		}
	}
	s.i = stop + 1
}

// closeQuote returns the offset after the quoted text at from. A text that runs
// over lines which look like keys was left open: -1.
func (s *scanner) closeQuote(from int) int {
	end := quoteEnd(s.text, from)
	closed := end <= len(s.text) && end-from >= 2 && s.text[end-1] == s.text[from]
	first := lineEnd(s.text, from)
	if end > first {
		for i := first + 1; i < min(end, len(s.text)); i = lineEnd(s.text, i) + 1 {
			line := bytes.TrimLeft(s.text[i:lineEnd(s.text, i)], " ")
			if keyEnd(line) > 0 || bytes.HasPrefix(line, []byte("- ")) {
				closed = false
			}
		}
	}
	if !closed {
		s.add(trap{from: from, to: from + 1, code: "unclosed-quote", summary: "this quote is never closed",
			detail: fmt.Sprintf("add the missing %c at the end of the value", s.text[from])})
		return -1
	}
	if s.text[from] == '"' {
		s.traps = append(s.traps, badEscapes(s.text, from, end)...)
	}
	return end
}

// skipBlock skips the lines of a block scalar: those that are blank or indented
// more than the collection that it stands in.
func (s *scanner) skipBlock(i int) {
	parent := -1
	if len(s.levels) > 0 {
		parent = s.levels[len(s.levels)-1]
	}
	for i < len(s.text) {
		end := lineEnd(s.text, i)
		line := bytes.TrimRight(s.text[i:end], "\r")
		trimmed := bytes.TrimLeft(line, " ")
		if len(trimmed) > 0 && len(line)-len(trimmed) <= parent {
			break
		}
		i = end + 1
	}
	s.i = i
}
