package expr

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// unitLiteral is a number with a unit that stands in an expression.
type unitLiteral struct {
	text  string
	typ   Type
	value any // int or float64, in base units
}

// problem is a mistake that the scan found, at byte offsets of the text.
type problem struct {
	from, to              int
	code, summary, detail string
}

// scanned is an expression's text made ready for expr's parser: literals with a
// unit are replaced by placeholder identifiers of the same length, so that every
// position stays as it is.
type scanned struct {
	text     string
	units    map[int]unitLiteral // by rune offset of the placeholder
	problems []problem
}

type scanner struct {
	scanned
	src   string
	out   []byte
	i     int
	runes int // rune offset of i
}

// scan looks through an expression outside its strings for units and for what
// other languages write differently.
func scan(src string) scanned {
	s := &scanner{src: src, out: []byte(src)}
	for s.i < len(src) {
		switch c := src[s.i]; {
		case c == '"' || c == '\'' || c == '`':
			s.str(c)
		case c >= '0' && c <= '9':
			s.number()
		case c == '.' && s.i+1 < len(src) && src[s.i+1] >= '0' && src[s.i+1] <= '9':
			s.advance(1)
			s.number()
		case isWordByte(c):
			s.word()
		default:
			s.operator(c)
		}
	}
	s.text = string(s.out)
	return s.scanned
}

func isWordByte(c byte) bool {
	return c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'
}

func (s *scanner) advance(bytes int) {
	bytes = min(bytes, len(s.src)-s.i)
	s.runes += utf8.RuneCountInString(s.src[s.i : s.i+bytes])
	s.i += bytes
}

func (s *scanner) rest() string { return s.src[s.i:] }

func (s *scanner) problem(n int, code, summary, detail string) {
	s.problems = append(s.problems, problem{s.i, min(s.i+n, len(s.src)), code, summary, detail})
}

func (s *scanner) str(quote byte) {
	for j := s.i + 1; j < len(s.src); j++ {
		switch {
		case s.src[j] == '\\' && quote != '`':
			j++
		case s.src[j] == quote:
			s.templated(j + 1 - s.i)
			s.advance(j + 1 - s.i)
			return
		}
	}
	s.problem(1, "unclosed-string", "the quote is never closed", "close the text with "+string(quote))
	s.advance(len(s.src))
}

// templated refuses a quoted text of n bytes with ${ } in it: nothing would be
// replaced there. A text that must hold the two characters is written "$" + "{".
func (s *scanner) templated(n int) {
	text := s.src[s.i+1 : s.i+n-1]
	at := strings.Index(text, "${")
	if at < 0 {
		return
	}
	end := closing(text, at+2)
	if end < 0 {
		end = len(text) - 1
	}
	inner := strings.TrimSpace(strings.TrimSuffix(text[at+2:end+1], "}"))
	quote := s.src[s.i : s.i+1]
	quoted := func(part string) string { return quote + part + quote }
	write := inner
	if before, after := text[:at], text[end+1:]; before != "" || after != "" {
		write = "string(" + inner + ")"
		if before != "" {
			write = quoted(before) + " + " + write
		}
		if after != "" {
			write += " + " + quoted(after)
		}
	}
	start := s.i
	s.i += 1 + at
	s.problem(2, "interpolation-in-expression", "nothing is replaced in a text inside an expression", "write "+write+" in place of "+quoted(text))
	s.i = start
}

func (s *scanner) word() {
	n := strings.IndexFunc(s.rest(), func(r rune) bool { return r >= utf8.RuneSelf || !isWordByte(byte(r)) })
	if n < 0 {
		n = len(s.rest())
	}
	s.advance(n)
}

// number passes over a number and, if a unit follows directly, replaces both.
func (s *scanner) number() {
	rest := s.rest()
	n := numberLength(rest)
	if n == 0 || strings.HasPrefix(rest[n:], "..") {
		s.advance(max(n, 1))
		return
	}
	after := rest[n:]
	switch {
	case after == "":
	case after[0] == '%':
		if len(after) == 1 || !isWordByte(after[1]) && after[1] != '(' {
			s.literal(n+1, ShareType)
			return
		}
	case after[0] == '/':
		end := 1 + wordLength(after[1:])
		if _, ok := rateUnits[after[1:end]]; ok && !strings.HasPrefix(after[end:], "(") {
			s.literal(n+end, RateType)
			return
		}
	case unicode.IsLetter(firstRune(after)) || after[0] == '_':
		s.unit(n, after)
		return
	}
	s.advance(n)
}

// unit handles a number of n bytes that is followed by letters.
func (s *scanner) unit(n int, after string) {
	end := n + wordLength(after)
	for end < len(s.rest()) { // the fraction of a later part, as in 1m1.5s
		more := s.rest()[end:]
		if more[0] != '.' || len(more) < 2 || more[1] < '0' || more[1] > '9' {
			break
		}
		end += 1 + wordLength(more[1:])
	}
	text := s.rest()[:end]
	if _, err := ParseSize(text); err == nil {
		s.literal(end, SizeType)
		return
	}
	_, err := ParseDuration(text)
	if err == nil {
		s.literal(end, DurationType)
		return
	}
	if strings.ContainsAny(after[wordLength(after)-1:wordLength(after)], "bB") {
		_, err = ParseSize(text)
	}
	detail := "the units are ns us ms s m h d for durations, B KB MB GB KiB MiB GiB for sizes, /s /min /h for rates and % for shares"
	if lower := strings.ToLower(text); len(lower) == 3 && strings.HasSuffix(lower, "xx") {
		detail = "write status >= " + text[:1] + "00 and status < " + string(text[0]+1) + "00, or the assertion `status: " + lower + "`"
	} else if _, hint, ok := strings.Cut(err.Error(), "; "); ok {
		detail = hint
	}
	s.problem(end, "unknown-unit", quote(text)+" is not a number with a unit", detail)
	s.blank(end)
}

// literal replaces a literal of n bytes by a placeholder.
func (s *scanner) literal(n int, t Type) {
	text := s.rest()[:n]
	lit := unitLiteral{text: text, typ: t}
	var err error
	switch t {
	case DurationType:
		d, e := ParseDuration(text)
		lit.value, err = int(d), e
	case SizeType:
		n, e := ParseSize(text)
		lit.value, err = int(n), e
	case RateType:
		r, e := ParseRate(strings.ReplaceAll(text, "_", ""))
		lit.value, err = float64(r), e
	case ShareType:
		p, e := ParseShare(strings.ReplaceAll(text, "_", ""))
		lit.value, err = float64(p), e
	}
	if err != nil {
		s.problem(n, "bad-literal", err.Error(), "write a number and a unit, as in 500ms, 10KB, 100/s or 1%")
	}
	if s.units == nil {
		s.units = map[int]unitLiteral{}
	}
	s.units[s.runes] = lit
	s.blank(n)
}

// blank overwrites n bytes by an identifier of as many runes.
func (s *scanner) blank(n int) {
	runes := utf8.RuneCountInString(s.rest()[:n])
	at := len(s.out) - (len(s.src) - s.i)
	tail := append([]byte(strings.Repeat("_", runes)), s.out[at+n:]...)
	s.out = append(s.out[:at], tail...)
	s.advance(n)
}

func (s *scanner) operator(c byte) {
	rest := s.rest()
	has := func(p string) bool { return strings.HasPrefix(rest, p) }
	switch {
	case has("${"):
		s.problem(2, "interpolation-in-expression", "an expression is written without ${ }", "drop the `${ }`: "+quote(dropInterpolation(s.src)))
		s.advance(2)
	case has("$.") || has("$["):
		end := strings.IndexAny(rest, " \t\n=<>!,)")
		if end < 0 {
			end = len(rest)
		}
		s.problem(end, "jsonpath-in-expression", "a path with $ cannot stand in an expression", "write json"+rest[1:end])
		s.advance(end)
	case has("===") || has("!=="):
		s.problem(3, "unknown-operator", quote(rest[:3])+" is not an operator here", "write "+rest[:2])
		s.advance(3)
	case has("<>"):
		s.problem(2, "unknown-operator", quote("<>")+" is not an operator here", "write !=")
		s.advance(2)
	case has("=<") || has("=>"):
		s.problem(2, "unknown-operator", quote(rest[:2])+" is not an operator here", "write "+rest[1:2]+"=")
		s.advance(2)
	case has("=="), has("!="), has("<="), has(">="), has("&&"), has("||"):
		s.advance(2)
	case has("=~"):
		s.problem(2, "unknown-operator", quote("=~")+" is not an operator here", "write matches")
		s.advance(2)
	case c == '=' && !strings.Contains(s.src, "let "):
		s.problem(1, "assignment-in-expression", "a single = does not compare", "write ==")
		s.advance(1)
	case c == '&':
		s.problem(1, "unknown-operator", "a single & is not an operator here", "write and")
		s.advance(1)
	case has("“") || has("”") || has("‘") || has("’"):
		s.problem(len("“"), "typographic-quote", "a typographic quote does not delimit a text", `write " or '`)
		s.advance(len("“"))
	default:
		_, n := utf8.DecodeRuneInString(rest)
		s.advance(n)
	}
}

// dropInterpolation returns an expression without the ${ } around its parts.
func dropInterpolation(src string) string {
	var out strings.Builder
	for {
		i := strings.Index(src, "${")
		if i < 0 {
			break
		}
		out.WriteString(src[:i])
		end := closing(src, i+2)
		if end < 0 {
			src = src[i+2:]
			continue
		}
		out.WriteString(strings.TrimSpace(src[i+2 : end]))
		src = src[end+1:]
	}
	return out.String() + src
}

// closing returns the offset of the } that closes an interpolation whose
// expression begins at from, or -1.
func closing(text string, from int) int {
	depth := 0
	for i := from; i < len(text); i++ {
		switch c := text[i]; c {
		case '{':
			depth++
		case '}':
			if depth == 0 {
				return i
			}
			depth--
		case '"', '\'', '`':
			j := i + 1
			for j < len(text) && text[j] != c {
				if text[j] == '\\' && c != '`' {
					j++
				}
				j++
			}
			i = j
		}
	}
	return -1
}

// numberLength returns the length of the number that text begins with, without a
// fraction that is the beginning of `..`.
func numberLength(text string) int {
	n := 0
	digits := func() {
		for n < len(text) && (text[n] >= '0' && text[n] <= '9' || text[n] == '_') {
			n++
		}
	}
	if len(text) > 1 && text[0] == '0' && strings.ContainsRune("xXoObB", rune(text[1])) && len(text) > 2 && isWordByte(text[2]) {
		return wordLength(text)
	}
	digits()
	if n+1 < len(text) && text[n] == '.' && text[n+1] >= '0' && text[n+1] <= '9' {
		n++
		digits()
	}
	if n < len(text) && (text[n] == 'e' || text[n] == 'E') {
		m := n + 1
		if m < len(text) && (text[m] == '+' || text[m] == '-') {
			m++
		}
		if m < len(text) && text[m] >= '0' && text[m] <= '9' {
			n = m
			digits()
		}
	}
	return n
}

func wordLength(text string) int {
	for i, r := range text {
		if r != '_' && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			return i
		}
	}
	return len(text)
}

func firstRune(text string) rune {
	r, _ := utf8.DecodeRuneInString(text)
	return r
}

func quote(text string) string { return "`" + oneLine(text) + "`" }
