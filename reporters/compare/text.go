package compare

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// WriteJSON writes the result as indented JSON.
func (r *Result) WriteJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// TextOptions say how WriteText writes.
type TextOptions struct {
	Colour bool
	Quiet  bool // the outcome and its reasons only
}

// maxName is the widest name of a series in the table.
const maxName = 40

// WriteText writes the outcome, its reasons and a table of the figures.
func (r *Result) WriteText(w io.Writer, o TextOptions) error {
	var b strings.Builder
	if !o.Quiet {
		fmt.Fprintf(&b, "%s: %s against %s\n\n", clean(r.Plan), countRuns(len(r.New), "new"), countRuns(len(r.Base), "base"))
		writeTable(&b, r.Rows, o.Colour)
		b.WriteString("\n")
	}
	for _, warning := range r.Warnings {
		fmt.Fprintf(&b, "warning: %s\n", clean(warning))
	}
	if !o.Quiet {
		fmt.Fprintf(&b, "%s\n", r.Method)
	}
	for _, reason := range r.Reasons {
		fmt.Fprintf(&b, "%s\n", clean(reason))
	}
	fmt.Fprintf(&b, "%s\n", paint(strings.ToUpper(string(r.Outcome)), r.Outcome, o.Colour))
	_, err := io.WriteString(w, b.String())
	return err
}

func countRuns(n int, side string) string {
	if n == 1 {
		return "1 " + side + " run"
	}
	return fmt.Sprintf("%d %s runs", n, side)
}

func writeTable(b *strings.Builder, rows []Row, colour bool) {
	cells := [][]string{{"series", "figure", "base", "new", "change", "p", "outcome"}}
	hidden := 0
	for i := range rows {
		row := &rows[i]
		if row.Change == nil {
			hidden++
			continue
		}
		cells = append(cells, []string{clip(row.name()), row.Figure, row.value(row.Base), row.value(row.New), row.changed(), pText(row.P), string(row.Outcome)})
	}
	align(b, cells, 2, func(cell string) string { return paint(cell, Outcome(cell), colour) })
	if hidden > 0 {
		fmt.Fprintf(b, "%d figures have too few samples and are not judged\n", hidden)
	}
}

// align writes cells in columns: the first ones to the left, the last one as last
// writes it, the others to the right.
func align(b *strings.Builder, cells [][]string, left int, last func(string) string) {
	widths := make([]int, len(cells[0]))
	for _, line := range cells {
		for i, cell := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, line := range cells {
		for i, cell := range line {
			gap := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			switch {
			case i == len(line)-1:
				b.WriteString(last(cell))
			case i < left:
				b.WriteString(cell + gap + "  ")
			default:
				b.WriteString(gap + cell + "  ")
			}
		}
		b.WriteString("\n")
	}
}

func (r *Row) name() string {
	if r.Kind == "total" {
		return "total"
	}
	return clean(r.Group + " / " + r.Series)
}

func (r *Row) title() string { return r.name() + " " + r.Figure }

// value writes a figure with its unit.
func (r *Row) value(v *float64) string {
	if v == nil {
		return "n/a"
	}
	switch r.Unit {
	case "share":
		return percent(*v)
	case "per_second":
		return short(*v) + "/s"
	}
	return duration(*v)
}

func (r *Row) changed() string {
	if r.Change == nil {
		return "n/a"
	}
	return r.spoken(*r.Change)
}

// spoken writes a change; that of a share in percentage points.
func (r *Row) spoken(change float64) string {
	unit := " %"
	if r.Unit == "share" {
		unit = " points"
	}
	v := change * 100
	if math.Abs(v) >= 9999 {
		return fmt.Sprintf("%+.0e%s", v, unit)
	}
	text := strconv.FormatFloat(v, 'f', 1, 64)
	if v >= 0 && text != "-0.0" {
		text = "+" + strings.TrimPrefix(text, "-")
	}
	return strings.Replace(text, "-0.0", "+0.0", 1) + unit
}

func pText(p *float64) string {
	if p == nil {
		return ""
	}
	return short(*p)
}

// percent writes a share as a percentage.
func percent(v float64) string { return short(v*100) + " %" }

// short writes a number with three digits.
func short(v float64) string {
	if v != 0 && math.Abs(v) < 0.001 {
		return strconv.FormatFloat(v, 'e', 1, 64)
	}
	return strconv.FormatFloat(rounded(v), 'f', -1, 64)
}

// rounded keeps three significant digits, and all whole ones.
func rounded(v float64) float64 {
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return v
	}
	scale := math.Pow(10, math.Max(0, 2-math.Floor(math.Log10(math.Abs(v)))))
	return math.Round(v*scale) / scale
}

// duration writes nanoseconds in the unit that suits them.
func duration(ns float64) string {
	switch d := time.Duration(ns); {
	case d < time.Microsecond:
		return short(ns) + " ns"
	case d < time.Millisecond:
		return short(ns/1e3) + " µs"
	case d < time.Second:
		return short(ns/1e6) + " ms"
	}
	return short(ns/1e9) + " s"
}

func clip(s string) string {
	if utf8.RuneCountInString(s) <= maxName {
		return s
	}
	return string([]rune(s)[:maxName-1]) + "…"
}

// clean leaves out what would steer a terminal: names come from plans.
func clean(s string) string {
	return strings.Map(func(c rune) rune {
		if c < ' ' || c == 0x7f || c >= 0x80 && c < 0xa0 || c >= 0x200b && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x2066 && c <= 0x2069 {
			return -1
		}
		return c
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

func paint(text string, o Outcome, colour bool) string {
	codes := map[Outcome]string{Regression: "31", OK: "32", Inconclusive: "33"}
	if code := codes[o]; colour && code != "" {
		return "\x1b[" + code + "m" + text + "\x1b[0m"
	}
	return text
}
