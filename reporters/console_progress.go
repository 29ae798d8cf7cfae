package reporters

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mattn/go-runewidth"
)

// Progress is the state of a run at one moment.
type Progress struct {
	Elapsed time.Duration
	Groups  []GroupProgress
	Phase   string // "setup" or "teardown" while that runs
	// Notes are sentences to show once; each call's notes are new ones.
	Notes []string
}

// GroupProgress is the state of one thread group.
type GroupProgress struct {
	Name            string
	Active, Planned int     // threads now; active are those of an open group that serve an iteration
	Open            bool    // it plans arrivals: the next two say how many per second, lately
	Due, Started    float64 // as planned, and begun
	Rate            float64 // samples per second, lately
	P95             *int64  // response time, lately, ns; nil without samples
	Samples         int64
	Errors          int64
	Dropped         int64
	Done            float64       // 0 to 1; negative if the end is not known
	Left            time.Duration // until the planned end; negative if not known
	Waiting         string        // what the group waits for, "" once it has begun
	Finishing       bool          // no more iterations begin
}

// Progress shows p: redrawn in place on a terminal, else as plain lines whenever
// the time between two of them has passed. Notes are shown at once.
func (c *Console) Progress(p Progress) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.opts.Quiet {
		return
	}
	var b strings.Builder
	if c.opts.Terminal {
		c.redraw(&b, p)
	} else {
		c.append(&b, p)
	}
	_, _ = io.WriteString(c.opts.Progress, b.String()) // a closed console must not end a run
}

// Note shows one sentence above the progress.
func (c *Console) Note(text string) {
	c.Progress(Progress{Elapsed: -1, Notes: []string{text}})
}

// Clear takes the progress off a terminal, so that something else can be printed.
func (c *Console) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, _ = io.WriteString(c.opts.Progress, c.erase())
}

// erase moves to the first progress line and clears to the end of the screen.
func (c *Console) erase() string {
	if c.drawn == 0 {
		return ""
	}
	n := c.drawn
	c.drawn = 0
	return "\x1b[" + strconv.Itoa(n) + "A\r\x1b[J"
}

func (c *Console) redraw(b *strings.Builder, p Progress) {
	b.WriteString(c.erase())
	writeNotes(b, p.Notes)
	if p.Phase == "setup" {
		p.Groups = nil // none has begun
	}
	width := c.width(80) - 1 // the last column would wrap on some terminals
	names := 0
	for i := range p.Groups {
		names = max(names, runewidth.StringWidth(CleanLine(p.Groups[i].Name)))
	}
	names = min(names, max(8, width/4))
	figures := make([]string, len(p.Groups))
	cells := 24
	for i := range p.Groups {
		figures[i] = fitting(groupFigures(&p.Groups[i]), width-names-2)
		cells = min(cells, width-names-runewidth.StringWidth(figures[i])-9)
	}
	for i := range p.Groups {
		b.WriteString(fit(groupLine(&p.Groups[i], names, cells, figures[i]), width) + "\n")
	}
	c.drawn = len(p.Groups)
	if p.Phase != "" {
		b.WriteString(fit(phaseLine(p), width) + "\n")
		c.drawn++
	}
}

func (c *Console) append(b *strings.Builder, p Progress) {
	writeNotes(b, p.Notes)
	if p.Elapsed < c.last+c.opts.Every {
		return
	}
	c.last = p.Elapsed - p.Elapsed%c.opts.Every
	if p.Phase != "" {
		b.WriteString(clock(p.Elapsed) + "  " + guardLine(p.Phase+"…") + "\n")
		return
	}
	for i := range p.Groups {
		g := &p.Groups[i]
		text := clock(p.Elapsed) + "  " + CleanLine(g.Name) + ": " + joined(groupFigures(g), ", ")
		b.WriteString(guardLine(text) + "\n")
	}
}

// phaseLine says that setup or teardown runs.
func phaseLine(p Progress) string { return p.Phase + "…  " + clock(p.Elapsed) }

func writeNotes(b *strings.Builder, notes []string) {
	for _, n := range notes {
		b.WriteString(guardLine(CleanLine(n)) + "\n")
	}
}

// groupLine is one group's line on a terminal: name, bar of so many cells unless
// they are too few to show anything, figures.
func groupLine(g *GroupProgress, names, cells int, figures string) string {
	name := runewidth.FillRight(runewidth.Truncate(CleanLine(g.Name), names, "…"), names)
	if cells < 4 {
		return name + "  " + figures
	}
	return name + "  " + bar(g.Done, cells) + "  " + figures
}

// item is one figure of a group's progress. Where the line is too long those
// with a rank are left out, the highest first.
type item struct {
	text string
	rank int
}

func joined(figures []item, by string) string {
	texts := make([]string, len(figures))
	for i, f := range figures {
		texts[i] = f.text
	}
	return strings.Join(texts, by)
}

// fitting joins the figures that have room in so many columns.
func fitting(figures []item, columns int) string {
	for rank := 2; rank > 0 && runewidth.StringWidth(joined(figures, "  ")) > columns; rank-- {
		figures = slices.DeleteFunc(figures, func(f item) bool { return f.rank == rank })
	}
	return joined(figures, "  ")
}

// groupFigures are the figures of a group's progress, the most important first.
func groupFigures(g *GroupProgress) []item {
	if g.Waiting != "" {
		return []item{{text: "waiting " + g.Waiting}}
	}
	out := append(loadFigures(g), item{text: "p95 " + durationPtr(g.P95)}, item{text: plural(g.Errors, "error")})
	if g.Dropped > 0 {
		out = append(out, item{text: count(g.Dropped) + " dropped"})
	}
	switch {
	case g.Finishing:
		out = append(out, item{text: "finishing"})
	case g.Done >= 1:
		out = append(out, item{text: "done"})
	case g.Left >= 0:
		out = append(out, item{text: clock(g.Left) + " left"})
	}
	return out
}

// loadFigures are the load of a group beside what is planned of it.
func loadFigures(g *GroupProgress) []item {
	threads := strconv.Itoa(g.Active) + "/" + strconv.Itoa(g.Planned) + " threads"
	if g.Finishing || g.Planned == 0 {
		threads = plural(int64(g.Active), "thread")
	}
	if g.Open {
		threads += " busy"
	}
	if !g.Open || g.Finishing || g.Done >= 1 || g.Due <= 0 {
		return []item{{text: threads}, {text: rate(g.Rate)}}
	}
	return []item{
		{text: significant(g.Started, 3) + " of " + significant(g.Due, 3) + "/s planned"},
		{threads, 1},
		{significant(g.Rate, 3) + " samples/s", 2},
	}
}

// bar draws a share over so many cells, in eighths; the percentage follows.
func bar(done float64, cells int) string {
	if done < 0 || math.IsNaN(done) {
		return strings.Repeat("·", cells) + "     "
	}
	done = min(done, 1)
	eighths := int(done * float64(cells) * 8)
	b := strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 {
		b += string([]rune(" ▏▎▍▌▋▊▉")[part])
	}
	b = runewidth.FillRight(b, cells)
	percent := strconv.Itoa(int(done * 100))
	return b + strings.Repeat(" ", 4-len(percent)) + percent + "%"
}

// fit cuts text to so many columns.
func fit(text string, columns int) string {
	return runewidth.Truncate(text, columns, "…")
}
