package sql

import "strings"

// givesRows reports whether a statement is one whose answer has rows.
func givesRows(query string) bool {
	words := words{text: query}
	for {
		word, depth, ok := words.next()
		if !ok {
			return false
		}
		switch word {
		case "select", "values", "table", "show", "explain", "describe", "desc", "pragma":
			return true
		case "with":
			return mainVerb(&words)
		}
		if depth == 0 {
			return returning(query)
		}
	}
}

// mainVerb reports whether the statement behind a `with` gives rows.
func mainVerb(rest *words) bool {
	for {
		word, depth, ok := rest.next()
		switch {
		case !ok:
			return true
		case depth > 0:
		case word == "select", word == "values", word == "table":
			return true
		case word == "insert", word == "update", word == "delete", word == "merge", word == "replace":
			return returning(rest.text[rest.at:])
		}
	}
}

// returning reports whether the statement has a `returning`.
func returning(query string) bool {
	words := words{text: query}
	for {
		word, depth, ok := words.next()
		if !ok || word == "returning" && depth == 0 {
			return ok
		}
	}
}

// words reads the words of a statement, without quoted text and comments.
type words struct {
	text      string
	at, depth int
}

// next returns the next word in small letters and how many parentheses are open
// around it.
func (w *words) next() (word string, depth int, ok bool) {
	for w.at < len(w.text) {
		c := w.text[w.at]
		switch {
		case c == '(':
			w.depth++
		case c == ')':
			w.depth--
		case c == '\'' || c == '"' || c == '`':
			w.skip(1, string(c))
			continue
		case strings.HasPrefix(w.text[w.at:], "--"):
			w.skip(2, "\n")
			continue
		case strings.HasPrefix(w.text[w.at:], "/*"):
			w.skip(2, "*/")
			continue
		case letter(c):
			start := w.at
			for w.at < len(w.text) && letter(w.text[w.at]) {
				w.at++
			}
			return strings.ToLower(w.text[start:w.at]), w.depth, true
		}
		w.at++
	}
	return "", 0, false
}

// skip goes behind the next end, begin bytes from here.
func (w *words) skip(begin int, end string) {
	w.at += begin
	i := strings.Index(w.text[w.at:], end)
	if i < 0 {
		w.at = len(w.text)
		return
	}
	w.at += i + len(end)
}

func letter(c byte) bool {
	return c == '_' || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || c >= 0x80
}
