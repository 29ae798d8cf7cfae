package plan

import (
	"fmt"
	"regexp"
	"strings"

	"runner/plan/expr"
	"runner/plan/source"
)

// trap is a place where YAML reads something else than what was meant, found in
// the raw text. Each kind has a code, and a remedy that can be copied.
type trap struct {
	from, to              int
	maskFrom, maskTo      int // the value that is meant, made harmless to read the rest; 0: it cannot be
	code, summary, detail string
	related               []source.Related
}

func (t trap) diagnostic(f *source.File) source.Diagnostic {
	return source.Diagnostic{Code: t.code, Summary: t.summary, Detail: t.detail, Range: at(f, t.from, t.to), Related: t.related}
}

// startsWith is the trap of a value that begins with a character of YAML's own.
func startsWith(from, to int, raw string) trap {
	t := trap{from: from, to: to, maskFrom: from, maskTo: to, code: "unquoted"}
	if raw == "" {
		return trap{from: from, to: from + 1, code: "unquoted", summary: "a value is missing here", detail: "write the value"}
	}
	c := raw[:1]
	t.summary = fmt.Sprintf("a value cannot begin with %s unquoted", c)
	t.detail = "put it in quotes: " + quoted(raw)
	switch c {
	case "!":
		t.summary = "a value that begins with ! is a tag to YAML and would be dropped"
		if word := strings.TrimSpace(raw[1:]); isExpression(word) {
			t.detail = fmt.Sprintf("write `not %s`, or put it in quotes: %s", word, quoted(raw))
		} else if _, value, ok := strings.Cut(raw, " "); ok {
			t.detail = fmt.Sprintf("remove the tag: %s, or put the whole in quotes: %s", strings.TrimSpace(value), quoted(raw))
		}
	case "&":
		t.code, t.summary = "anchor", "a value that begins with & is an anchor to YAML; anchors are not part of the language"
	case "*":
		t.code, t.summary = "alias", "a value that begins with * is an alias to YAML; aliases are not part of the language"
	case ">", "|":
		t.summary = fmt.Sprintf("a value that begins with %s starts a block of text to YAML", c)
	}
	if reference.MatchString(raw) {
		t.detail = "remove it; what several steps share belongs into `defaults:`"
	}
	return t
}

// reference is an anchor or alias as other tools' files have them.
var reference = regexp.MustCompile(`^[&*][\w-]+$`)

// isExpression tells a condition from a YAML tag as other tools use them (!env X).
func isExpression(word string) bool {
	return word != "" && word[0] != '!' && (strings.IndexByte(word, ' ') < 0 || strings.ContainsAny(word, "=<>(") || strings.Contains(word, " and ") || strings.Contains(word, " or "))
}

// afterQuote is the trap of a value that begins with a quoted text and goes on.
func afterQuote(from, to int, raw string, end int) trap {
	detail := "put the whole in quotes: " + quoted(raw)
	if left, rest := raw[:end], strings.TrimSpace(raw[end:]); len(rest) > 2 && (rest[:2] == "==" || rest[:2] == "!=") {
		detail = fmt.Sprintf("swap the sides: `%s %s %s`, or put the whole in quotes: %s", strings.TrimSpace(rest[2:]), rest[:2], left, quoted(raw))
	}
	return trap{from: from, to: to, maskFrom: from, maskTo: to, code: "unquoted", summary: "text follows the closing quote: to YAML the value ends there", detail: detail}
}

// inFlow is the trap of an item of [ ] or { } that holds brackets or a ?.
func inFlow(from, to int, raw string) trap {
	return trap{from: from, to: to, maskFrom: from, maskTo: to, code: "flow-unquoted",
		summary: "inside [ ] and { } a text with brackets or a ? must be in quotes",
		detail:  "put it in quotes: " + quoted(raw)}
}

// colonSpace is the trap of a plain value with `: ` in it.
func colonSpace(from, to int, raw, key string) trap {
	t := trap{from: from, to: to, maskFrom: from, maskTo: to, code: "colon-unquoted", summary: "a colon and a space inside an unquoted value start a new key", detail: "put the value in quotes: " + quoted(raw)}
	if braced, ok := inBraces(key, raw); ok {
		t.summary = fmt.Sprintf("the keys of `%s` cannot begin on its line without braces", key)
		t.detail = fmt.Sprintf("write %s: %s", key, braced)
	}
	if strings.Contains(raw, " ? ") {
		t.summary = "`a ? b : c` must be in quotes: its colon starts a key to YAML"
	}
	return t
}

// holders are the keys whose value is a map, or may be one.
var holders = set("assertions timers extract thresholds defaults load steps setup teardown vars secrets data reports metrics counters " +
	"http headers query cookies form json auth tls dns redirects with set record percent switch threads rate")

// inBraces returns what was meant by a map that was begun on the line of its key.
func inBraces(key, raw string) (string, bool) {
	word, value, ok := strings.Cut(raw, ": ")
	value = strings.TrimSpace(value)
	switch {
	case !ok || !holders[key] || value == "" || !innerKey.MatchString(word):
		return "", false
	case codes.MatchString(value) && strings.Contains(value, ","):
		value = "[" + value + "]"
	case strings.IndexByte("[{\"'", value[0]) < 0 && strings.ContainsAny(value, "[]{}?,"):
		if strings.Contains(value, ", ") && strings.Contains(value, ": ") {
			break // several keys
		}
		value = quoted(value)
	}
	return "{" + word + ": " + value + "}", true
}

var innerKey = regexp.MustCompile(`^[A-Za-z_][\w-]*$`)

var (
	blockHeader = regexp.MustCompile(`^[|>][-+0-9]{0,2}[ \t]*(#.*)?\r?$`)
	escapes     = "0abt\tnvfre \"/\\N_LPxuU\n\r"
)

// badEscapes finds backslashes in a double-quoted text that YAML does not know.
func badEscapes(text []byte, from, to int) []trap {
	for i := from + 1; i+1 < to; i++ {
		if text[i] != '\\' {
			continue
		}
		if strings.IndexByte(escapes, text[i+1]) < 0 {
			raw := strings.Trim(string(text[from:to]), `"`)
			return []trap{{from: i, to: i + 2, maskFrom: from + 1, maskTo: to - 1, code: "bad-escape",
				summary: fmt.Sprintf(`\%c is not an escape inside double quotes`, text[i+1]),
				detail:  "use single quotes: '" + strings.ReplaceAll(strings.ReplaceAll(raw, `\"`, `"`), "'", "''") + "'"}}
		}
		i++
	}
	return nil
}

// cut reports a plain value that a ` #` cuts off.
func (c *converter) cut(n *source.Node, start, end int) {
	text := c.text
	from := end
	for from < len(text) && (text[from] == ' ' || text[from] == '\t') {
		from++
	}
	if from == end || from == len(text) || text[from] != '#' || n.Null {
		return
	}
	rest := text[from:lineEnd(text, from)]
	open := unbalanced(n.Text)
	_, isText := expr.Infer(n.Text).(string)
	if !open && (!isText || len(rest) < 2 || isSpace(rest[1]) || rest[1] == '#') {
		return
	}
	whole := strings.TrimRight(string(text[start:lineEnd(text, end)]), " \r")
	d := source.Diagnostic{Code: "cut-comment", Summary: fmt.Sprintf("the value is cut at ` #`, where YAML starts a comment: %s", n.Text),
		Detail: "put the value in quotes: " + quoted(whole), Range: at(c.file, from, from+1)}
	if open {
		c.poison = append(c.poison, at(c.file, start, end))
	} else {
		d.Severity = source.Warning
		d.Detail += ", or write a space after # if it is a comment"
	}
	c.ds = append(c.ds, d)
}

// unbalanced reports whether a quote or bracket is open at the end of text.
func unbalanced(text string) bool {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch ch := text[i]; {
		case quote != 0:
			if ch == quote {
				quote = 0
			}
		case ch == '"':
			quote = ch
		case ch == '(', ch == '[', ch == '{':
			depth++
		case ch == ')', ch == ']', ch == '}':
			depth--
		}
	}
	return depth > 0 || quote != 0
}

// splitItems reports an item of [ ] that a comma cut in two.
func (c *converter) splitItems(list *source.Node) {
	for i := 0; i+1 < len(list.Items); i++ {
		n := list.Items[i]
		if n.Kind != source.Scalar || n.Quoted || !unbalanced(n.Text) {
			continue
		}
		last := list.Items[len(list.Items)-1].Range.End
		whole := source.Range{File: c.file, Start: n.Range.Start, End: last}
		c.ds.Add(whole, "flow-comma", "a comma inside [ ] starts the next item: this is read as "+fmt.Sprintf("%d items", len(list.Items)-i),
			"put the text in quotes: "+quoted(whole.Text()))
		list.Items = append(list.Items[:i:i], &source.Node{Kind: source.Scalar, Text: whole.Text(), Range: whole})
		return
	}
}

// splitFields reports a value of { } that a comma cut: what follows the comma is
// read as a key without a value.
func (c *converter) splitFields(m *source.Node) {
	for i := 1; i < len(m.Fields); i++ {
		f, before := m.Fields[i], m.Fields[i-1].Value
		if !f.Value.Null || f.Value.Text != "" || before.Kind != source.Scalar || before.Quoted || colonAfter(c.text, f.Key.Range.End.Offset) {
			continue
		}
		j := i
		for j+1 < len(m.Fields) && m.Fields[j+1].Value.Null && !colonAfter(c.text, m.Fields[j+1].Key.Range.End.Offset) {
			j++
		}
		whole := source.Range{File: c.file, Start: before.Range.Start, End: m.Fields[j].Key.Range.End}
		remedy := "put the text in quotes: " + quoted(whole.Text())
		if codes.MatchString(whole.Text()) {
			remedy = "put the values in brackets: [" + whole.Text() + "]"
		}
		c.ds.Add(whole, "flow-comma", fmt.Sprintf("a comma inside { } starts the next key: %q is read as a key without a value", f.Key.Text), remedy)
		m.Fields[i-1].Value = &source.Node{Kind: source.Scalar, Text: whole.Text(), Range: whole}
		c.poison = append(c.poison, whole)
		m.Fields = append(m.Fields[:i:i], m.Fields[j+1:]...)
		return
	}
}

var codes = regexp.MustCompile(`^[\dx]+(\s*,\s*[\dx]+)*$`)

func colonAfter(text []byte, i int) bool {
	for i < len(text) && isSpace(text[i]) {
		i++
	}
	return i < len(text) && text[i] == ':'
}
