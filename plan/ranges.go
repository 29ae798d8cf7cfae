package plan

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"runner/plan/source"
)

// at returns the range of two byte offsets.
func at(f *source.File, from, to int) source.Range {
	return source.Range{File: f, Start: f.Pos(from), End: f.Pos(max(from, to))}
}

func isSpace(b byte) bool { return b == ' ' || b == '\t' || b == '\n' || b == '\r' }

// quoteEnd returns the offset after the quote that closes the one at start, or
// the end of the text.
func quoteEnd(text []byte, start int) int {
	if start >= len(text) {
		return start
	}
	quote := text[start]
	for i := start + 1; i < len(text); i++ {
		switch {
		case quote == '"' && text[i] == '\\':
			i++
		case text[i] == quote && quote == '\'' && i+1 < len(text) && text[i+1] == quote:
			i++
		case text[i] == quote:
			return i + 1
		}
	}
	return len(text)
}

// plainEnd returns the offset after a plain scalar whose value is known: the
// text is matched letter by letter, where a fold in the value stands for any
// white space and comments do not occur.
func plainEnd(text []byte, start int, value string) int {
	i := start
	for j := 0; j < len(value); {
		if value[j] != ' ' && value[j] != '\n' {
			if i >= len(text) || text[i] != value[j] {
				return min(i, len(text))
			}
			i, j = i+1, j+1
			continue
		}
		for j < len(value) && (value[j] == ' ' || value[j] == '\n') {
			j++
		}
		for i < len(text) && isSpace(text[i]) {
			i++
		}
	}
	return i
}

// blockEnd returns the offset after a block scalar whose header is at start: up
// to the last line that is indented like its first.
func blockEnd(text []byte, start int, value string) int {
	end := lineEnd(text, start)
	if strings.Trim(value, "\n ") == "" {
		return end
	}
	indent := -1
	for i := end + 1; i < len(text); {
		stop := lineEnd(text, i)
		line := bytes.TrimRight(text[i:stop], "\r")
		if trimmed := bytes.TrimLeft(line, " "); len(trimmed) > 0 {
			n := len(line) - len(trimmed)
			if indent < 0 {
				indent = n
			}
			if n < indent {
				break
			}
			end = i + len(line)
		}
		i = stop + 1
	}
	return end
}

func lineEnd(text []byte, i int) int {
	if i >= len(text) {
		return len(text)
	}
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n
	}
	return len(text)
}

// closing returns the offset after the bracket that follows from i, past white
// space, commas and comments.
func closing(text []byte, i int, bracket byte) int {
	for i < len(text) {
		switch {
		case text[i] == bracket:
			return i + 1
		case text[i] == '#':
			i = lineEnd(text, i)
		case isSpace(text[i]) || text[i] == ',' || text[i] == ':':
			i++
		default:
			return i
		}
	}
	return len(text)
}

// afterKey returns the offset after the colon of a key that ends at i.
func afterKey(text []byte, i int) int {
	for j := i; j < len(text); j++ {
		if text[j] == ':' {
			return j + 1
		}
		if text[j] != ' ' {
			break
		}
	}
	return min(i, len(text))
}

// valueText returns the rest of the line from i without a comment and trailing
// space: what the user meant as the value.
func valueText(text []byte, i int) string {
	line := text[min(i, len(text)):lineEnd(text, i)]
	if n := bytes.Index(line, []byte(" #")); n >= 0 {
		line = line[:n]
	}
	return strings.TrimRight(string(line), " \t\r")
}

// quoted returns text in the YAML quotes that leave it most readable.
func quoted(text string) string {
	if !strings.ContainsAny(text, `"\`) {
		return `"` + text + `"`
	}
	return "'" + strings.ReplaceAll(text, "'", "''") + "'"
}

// guard checks what must hold before the text is parsed at all.
func guard(f *source.File) source.Diagnostics {
	var ds source.Diagnostics
	if len(f.Text) > maxBytes {
		ds.Add(at(f, 0, 0), "too-large", "the plan is larger than 1 MiB", "move bulk data into a CSV file under `data:` or a file that a body names")
		return ds
	}
	for i := 0; i < len(f.Text) && len(ds) < 10; {
		r, n := utf8.DecodeRune(f.Text[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			ds.Add(at(f, i, i+1), "bad-character", "the plan is not UTF-8 here", "save the file as UTF-8")
			return ds
		case r == '\r' && (i+1 >= len(f.Text) || f.Text[i+1] != '\n'), r == '\u0085', r == '\u2028', r == '\u2029':
			ds.Add(at(f, i, i+n), "bad-character", "a line break that is neither LF nor CRLF", `write it as an escape in double quotes ("\r", "\u2028"), or save the file with Unix line ends`)
		case r == '\ufeff' && i > 0, r != '\n' && r != '\t' && r != '\r' && unicode.IsControl(r), r == '\ufffe', r == '\uffff':
			ds.Add(at(f, i, i+n), "bad-character", "a control character", "remove it, or write it as an escape in double quotes, like \"\\x1b\"")
		}
		i += n
	}
	return ds
}
