package source

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// RenderOptions says how Render writes.
type RenderOptions struct {
	Color bool
	Width int // columns of the output; 0 means 100
}

// Render writes diagnostics for people: place, summary and code in one line, the
// source line with a caret under the place, and the remedy.
func Render(w io.Writer, ds Diagnostics, opts RenderOptions) error {
	if opts.Width <= 0 {
		opts.Width = 100
	}
	r := renderer{opts: opts}
	for i, d := range ds {
		if i > 0 {
			r.b.WriteByte('\n')
		}
		r.diagnostic(d)
	}
	_, err := io.WriteString(w, r.b.String())
	return err
}

type renderer struct {
	opts RenderOptions
	b    strings.Builder
}

const (
	red, yellow, blue, bold, reset = "\x1b[31;1m", "\x1b[33;1m", "\x1b[34;1m", "\x1b[1m", "\x1b[0m"
)

func (r *renderer) paint(color, text string) string {
	if !r.opts.Color || text == "" {
		return text
	}
	return color + text + reset
}

func (s Severity) color() string { return [...]string{red, yellow, blue}[s] }

func (r *renderer) diagnostic(d Diagnostic) {
	place := ""
	if !d.Range.IsZero() {
		place = fmt.Sprintf("%s:%d:%d: ", escape(d.Range.File.Name), d.Range.Start.Line, d.Range.Start.Column)
	}
	fmt.Fprintf(&r.b, "%s%s %s [%s]\n", r.paint(bold, place), r.paint(d.Severity.color(), d.Severity.String()+":"), escape(d.Summary), d.Code)
	r.snippet(d.Range, '^', d.Severity.color())
	if d.Detail != "" {
		r.note("help: " + d.Detail)
	}
	for _, rel := range d.Related {
		where := ""
		if !rel.Range.IsZero() {
			where = fmt.Sprintf("%s:%d:%d: ", escape(rel.Range.File.Name), rel.Range.Start.Line, rel.Range.Start.Column)
		}
		r.note("note: " + where + rel.Message)
		r.snippet(rel.Range, '-', blue)
	}
}

// note writes a remark; further lines are indented below the first.
func (r *renderer) note(text string) {
	for i, line := range strings.Split(text, "\n") {
		if i > 0 {
			line = strings.Repeat(" ", 6) + line
		}
		fmt.Fprintf(&r.b, "   = %s\n", escape(line))
	}
}

// snippet writes the first line of a range with the range underlined.
func (r *renderer) snippet(at Range, mark rune, color string) {
	if at.IsZero() || at.Start.Line > at.File.Lines() {
		return
	}
	line := at.File.Line(at.Start.Line)
	start := at.Start.Offset - at.File.lines[at.Start.Line-1]
	end := len(line)
	if at.End.Line == at.Start.Line {
		end = at.End.Offset - at.File.lines[at.Start.Line-1]
	}
	start = max(0, min(start, len(line)))
	end = max(start, min(end, len(line)))
	near := 4 * r.opts.Width // bytes that can matter on either side
	before, marked, after := escape(tail(line[:start], near)), escape(head(line[start:end], near)), escape(head(line[end:], near))
	number := fmt.Sprintf("%4d", at.Start.Line)
	before, marked, after = window(before, marked, after, max(20, r.opts.Width-len(number)-3))
	fmt.Fprintf(&r.b, "%s | %s\n", number, strings.TrimRight(before+marked+after, " "))
	caret := strings.Repeat(string(mark), max(1, DisplayWidth(marked)))
	fmt.Fprintf(&r.b, "%s | %s%s\n", strings.Repeat(" ", len(number)), strings.Repeat(" ", DisplayWidth(before)), r.paint(color, caret))
}

// head and tail return at most about n bytes of text, whole runes.
func head(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n]
}

func tail(text string, n int) string {
	i := max(0, len(text)-n)
	for i < len(text) && i > 0 && !utf8.RuneStart(text[i]) {
		i++
	}
	return text[i:]
}

// window cuts a long line so that the marked part can be seen.
func window(before, marked, after string, width int) (string, string, string) {
	if DisplayWidth(before)+DisplayWidth(marked)+DisplayWidth(after) <= width {
		return before, marked, after
	}
	marked = cutRight(marked, width-2)
	left := max(width/3, width-2-DisplayWidth(marked)-DisplayWidth(after))
	before = cutLeft(before, min(left, width-2-DisplayWidth(marked)))
	after = cutRight(after, width-DisplayWidth(before)-DisplayWidth(marked))
	return before, marked, after
}

func cutRight(text string, width int) string {
	if DisplayWidth(text) <= width {
		return text
	}
	if width <= 0 {
		return ""
	}
	used := 1 // of the ellipsis
	for i, c := range text {
		if used += runeWidth(c); used > width {
			return text[:i] + "…"
		}
	}
	return text
}

func cutLeft(text string, width int) string {
	total := DisplayWidth(text)
	if total <= width {
		return text
	}
	if width <= 0 {
		return ""
	}
	for i, c := range text {
		if total <= width-1 {
			return "…" + text[i:]
		}
		total -= runeWidth(c)
	}
	return "…"
}

// escape makes control characters and broken UTF-8 visible, so that a plan's text
// cannot drive the terminal.
func escape(text string) string {
	clean := true
	for _, c := range text {
		if hidden(c) || c == utf8.RuneError {
			clean = false
			break
		}
	}
	if clean {
		return text
	}
	var b strings.Builder
	for i := 0; i < len(text); {
		c, n := utf8.DecodeRuneInString(text[i:])
		switch {
		case c == utf8.RuneError && n == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case c == '\t':
			b.WriteString(`\t`)
		case hidden(c) && c < 0x80:
			fmt.Fprintf(&b, `\x%02x`, c)
		case hidden(c):
			fmt.Fprintf(&b, `\u%04x`, c)
		default:
			b.WriteRune(c)
		}
		i += n
	}
	return b.String()
}

// hidden reports characters that a terminal does not show as themselves: controls
// and marks that change the direction of text.
func hidden(c rune) bool {
	return unicode.IsControl(c) || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 || c == 0x2028 || c == 0x2029 || c == 0xfeff
}

// DisplayWidth returns how many columns a terminal uses for text.
func DisplayWidth(text string) int {
	n := 0
	for _, c := range text {
		n += runeWidth(c)
	}
	return n
}

// wide are the ranges of characters that take two columns: East Asian wide and
// full-width ones, and emoji.
var wide = [...][2]rune{
	{0x1100, 0x115f}, {0x231a, 0x231b}, {0x23e9, 0x23ec}, {0x25fd, 0x25fe}, {0x2614, 0x2615}, {0x2648, 0x2653}, {0x26a1, 0x26a1}, {0x26aa, 0x26ab},
	{0x26bd, 0x26be}, {0x26c4, 0x26c5}, {0x26d4, 0x26d4}, {0x26ea, 0x26ea}, {0x26f2, 0x26f5}, {0x26fa, 0x26fd}, {0x2705, 0x2705}, {0x270a, 0x270b}, {0x2728, 0x2728},
	{0x274c, 0x274e}, {0x2753, 0x2757}, {0x2795, 0x2797}, {0x27b0, 0x27bf}, {0x2b1b, 0x2b1c}, {0x2b50, 0x2b55}, {0x2e80, 0x303e}, {0x3041, 0x33ff}, {0x3400, 0x4dbf},
	{0x4e00, 0x9fff}, {0xa000, 0xa4cf}, {0xa960, 0xa97c}, {0xac00, 0xd7a3}, {0xf900, 0xfaff}, {0xfe30, 0xfe6f}, {0xff00, 0xff60}, {0xffe0, 0xffe6},
	{0x1f004, 0x1f004}, {0x1f0cf, 0x1f0cf}, {0x1f18e, 0x1f19a}, {0x1f200, 0x1f320}, {0x1f32d, 0x1f64f}, {0x1f680, 0x1f6fc}, {0x1f7e0, 0x1f7eb}, {0x1f90c, 0x1faff},
	{0x20000, 0x3fffd},
}

func runeWidth(c rune) int {
	switch {
	case c < 0x300:
		return 1
	case unicode.In(c, unicode.Mn, unicode.Me, unicode.Cf):
		return 0
	}
	for _, r := range wide {
		if c >= r[0] && c <= r[1] {
			return 2
		}
	}
	return 1
}

// place is the JSON form of a Range.
type place struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Column    int    `json:"column"`
	EndLine   int    `json:"end_line"`
	EndColumn int    `json:"end_column"`
}

type jsonRelated struct {
	Message string `json:"message"`
	*place
}

type jsonDiagnostic struct {
	Severity string `json:"severity"`
	Code     string `json:"code"`
	Summary  string `json:"summary"`
	Detail   string `json:"detail,omitempty"`
	*place
	Related []jsonRelated `json:"related,omitempty"`
}

// JSON returns diagnostics as a JSON array, one object each.
func JSON(ds Diagnostics) []byte {
	out := make([]jsonDiagnostic, len(ds))
	for i, d := range ds {
		out[i] = jsonDiagnostic{Severity: d.Severity.String(), Code: d.Code, Summary: d.Summary, Detail: d.Detail, place: placeOf(d.Range)}
		for _, r := range d.Related {
			out[i].Related = append(out[i].Related, jsonRelated{Message: r.Message, place: placeOf(r.Range)})
		}
	}
	text, _ := json.MarshalIndent(out, "", "  ") // strings and ints always marshal
	return append(text, '\n')
}

func placeOf(r Range) *place {
	if r.IsZero() {
		return nil
	}
	return &place{r.File.Name, r.Start.Line, r.Start.Column, r.End.Line, r.End.Column}
}
