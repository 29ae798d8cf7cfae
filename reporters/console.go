package reporters

import (
	"io"
	"strings"
	"sync"
	"time"

	"runner/reporters/stats"
)

// ConsoleOptions says what kind of console it is; nothing is guessed here.
type ConsoleOptions struct {
	// Progress is where lines go while the run goes on, Result where the final
	// result goes: standard error and standard output. Nil discards.
	Progress, Result io.Writer
	// Terminal says that Progress may be redrawn in place. It must be false with
	// CI=true.
	Terminal bool
	// Width returns the columns of the terminal; nil or a result under 20 means 80
	// for progress and no limit for the result.
	Width func() int
	// Quiet leaves out the progress and everything after the verdict and what is
	// wrong.
	Quiet bool
	// Colour allows colours in the result.
	Colour bool
	// Every is the time between two lines without a terminal; 0 means 10 s.
	Every time.Duration
}

// Console shows a run to whoever started it. Its methods may be called from
// several goroutines.
type Console struct {
	opts ConsoleOptions
	mu   sync.Mutex
	// drawn is the number of lines to redraw, last when the last plain line was
	// due; both guarded by mu.
	drawn int
	last  time.Duration
}

// NewConsole returns a console with the given options.
func NewConsole(o ConsoleOptions) *Console {
	if o.Progress == nil {
		o.Progress = io.Discard
	}
	if o.Result == nil {
		o.Result = io.Discard
	}
	if o.Every <= 0 {
		o.Every = 10 * time.Second
	}
	return &Console{opts: o}
}

// Finish ends the progress and prints the result with the paths of the reports.
func (c *Console) Finish(s *stats.Summary, paths []string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drawn = 0 // the last progress stays on the screen
	p := &printer{colour: c.opts.Colour, width: c.width(0)}
	p.result(cleaned(s), paths, c.opts.Quiet)
	_, err := io.WriteString(c.opts.Result, p.String())
	return err
}

// width asks for the terminal's columns; fallback if it cannot be known.
func (c *Console) width(fallback int) int {
	if c.opts.Width == nil {
		return fallback
	}
	if w := c.opts.Width(); w >= 20 {
		return w
	}
	return fallback
}

// printer builds console output line by line. Every line passes through line, so
// no text of a target reaches the terminal unchecked.
type printer struct {
	strings.Builder
	colour bool
	width  int // 0: unlimited
}

// ink is a colour of the console.
type ink string

const (
	plain ink = ""
	good  ink = "32"
	wrong ink = "31"
	warn  ink = "33"
	faint ink = "2"
	bold  ink = "1"
)

// line writes one line of text in one colour.
func (p *printer) line(colour ink, text string) {
	text = strings.TrimRight(guardLine(CleanLine(text)), " ")
	if p.colour && colour != plain && text != "" {
		text = "\x1b[" + string(colour) + "m" + text + "\x1b[0m"
	}
	p.WriteString(text)
	p.WriteByte('\n')
}

// guardLine keeps a line from being taken for a command by the log of a CI
// (GitHub Actions obeys "::name::" at a line's start and "##[name]" anywhere).
func guardLine(text string) string {
	text = strings.ReplaceAll(text, "##[", "# #[")
	text = strings.ReplaceAll(text, "##vso[", "# #vso[")
	if trimmed := strings.TrimLeft(text, " \u00a0\u3000"); strings.HasPrefix(trimmed, "::") {
		return text[:len(text)-len(trimmed)] + ": :" + trimmed[2:]
	}
	return text
}
