package reporters

import (
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
)

// grid is a table on the console: the columns from right to end (exclusive) hold
// figures, the others text.
type grid struct {
	table
	right, end int
}

// Bounds of the columns of text.
const (
	maxColumn  = 60  // of names
	maxMessage = 160 // of a last column of text
	leastText  = 14  // while columns of figures are dropped
	leastCut   = 6   // where even that is too wide
)

// drop takes out a column.
func (g *grid) drop(name string) {
	i := g.index(name)
	if i < 0 {
		return
	}
	g.table.drop(name)
	if i < g.right {
		g.right--
	}
	if i < g.end {
		g.end--
	}
}

// widths are those that the columns need, text bounded.
func (g *grid) widths() []int {
	widths := make([]int, len(g.Heads))
	for i, h := range g.Heads {
		widths[i] = runewidth.StringWidth(h)
	}
	for _, r := range g.Rows {
		for i, cell := range r {
			bound := maxColumn
			if i == len(g.Heads)-1 && !g.figures(i) {
				bound = maxMessage
			}
			widths[i] = max(widths[i], min(bound, runewidth.StringWidth(CleanLine(cell))))
		}
	}
	return widths
}

func (g *grid) figures(i int) bool { return i >= g.right && i < g.end }

// need is how wide the table is with text of at most so many columns.
func (g *grid) need(text int) int {
	sum := 0
	for i, w := range g.widths() {
		if !g.figures(i) {
			w = min(w, text)
		}
		sum += 2 + w
	}
	return sum
}

// narrow drops columns until the table fits the console: the first ones for the
// sake of whole names, the others only where short names do not help either. It
// returns what it dropped.
func (p *printer) narrow(g *grid, first, then []string) string {
	var dropped []string
	for i, name := range append(append([]string{}, first...), then...) {
		text := leastText
		if i < len(first) {
			text = maxMessage
		}
		if p.width == 0 || g.need(text) <= p.width {
			continue
		}
		if g.index(name) >= 0 {
			g.drop(name)
			if !slices.Contains(dropped, name) {
				dropped = append(dropped, name)
			}
		}
	}
	return strings.Join(dropped, ", ")
}

// write prints the table in aligned columns, no line wider than the console.
func (p *printer) write(g *grid, colours []ink) {
	widths := g.widths()
	for _, least := range []int{leastText, leastCut} {
		p.shrink(g, widths, least)
	}
	p.row(faint, g, g.Heads, widths)
	for i, r := range g.Rows {
		colour := plain
		if colours != nil {
			colour = colours[i]
		}
		p.row(colour, g, r, widths)
	}
}

// shrink narrows columns of text until the table fits, none below the least.
func (p *printer) shrink(g *grid, widths []int, least int) {
	for p.width > 0 {
		sum, widest := 0, -1
		for i, w := range widths {
			sum += 2 + w
			if !g.figures(i) && w > least && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if sum <= p.width || widest < 0 {
			return
		}
		widths[widest]--
	}
}

func (p *printer) row(colour ink, g *grid, cells []string, widths []int) {
	var b strings.Builder
	for i, cell := range cells {
		if cell = CleanLine(cell); i > 0 && g.Heads[i] == "" { // a remark, told from its beginning
			cell = fit(cell, widths[i])
		}
		cell = middle(cell, widths[i])
		b.WriteString("  ")
		if g.figures(i) {
			b.WriteString(runewidth.FillLeft(cell, widths[i]))
		} else {
			b.WriteString(runewidth.FillRight(cell, widths[i]))
		}
	}
	text := strings.TrimRight(b.String(), " ")
	if p.width > 0 {
		text = fit(text, p.width)
	}
	p.line(colour, text)
}

// middle cuts text to so many columns in its middle: what tells names apart
// stands mostly at their end.
func middle(text string, columns int) string {
	if runewidth.StringWidth(text) <= columns {
		return text
	}
	if columns < 5 {
		return fit(text, columns)
	}
	head := runewidth.Truncate(text, (columns-1)*2/5, "")
	rest, room := []rune(text), columns-1-runewidth.StringWidth(head)
	at, used := len(rest), 0
	for at > 0 && used+runewidth.RuneWidth(rest[at-1]) <= room {
		at--
		used += runewidth.RuneWidth(rest[at])
	}
	for at < len(rest) && runewidth.RuneWidth(rest[at]) == 0 {
		at++ // no mark without its letter
	}
	return head + "…" + string(rest[at:])
}
