package reporters

import (
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"

	"runner/reporters/stats"
)

// maxConsoleErrors is the most lines that the errors take on the console.
const maxConsoleErrors = 10

// result prints the whole result, verdict first. Quiet leaves the verdict, its
// reasons and the thresholds that did not hold.
func (p *printer) result(s *stats.Summary, paths []string, quiet bool) {
	p.verdict(s)
	p.thresholds(s, quiet)
	if quiet {
		return
	}
	p.series("Samples", s.Series, &s.Total)
	p.series("Transactions", s.Transactions, nil)
	p.times(s)
	p.metrics(s.Metrics)
	p.errors(s)
	p.status(s)
	p.generator(s)
	p.notes(s)
	p.reports(paths)
}

func (p *printer) head(text string) {
	p.line(plain, "")
	p.line(bold, text)
}

func (p *printer) verdict(s *stats.Summary) {
	mark, colour := "✗", wrong
	switch s.Verdict {
	case stats.Passed:
		mark, colour = "✓", good
	case stats.Interrupted:
		mark, colour = "■", warn
	case stats.Invalid:
		mark = "!"
	}
	p.line(colour, mark+" "+strings.ToUpper(string(s.Verdict))+"  "+s.Plan)
	if s.Partial {
		p.line(warn, "  PARTIAL: made from the journal of a run that did not end; its last second may be missing")
	}
	for _, r := range summaryReasons(s) {
		p.wrap(plain, "  ", r)
	}
	for _, r := range accusations(s) {
		p.wrap(warn, "  ", r)
	}
}

func (p *printer) thresholds(s *stats.Summary, quiet bool) {
	rows := make([][]string, 0, len(s.Thresholds))
	colours := make([]ink, 0, len(s.Thresholds))
	for _, t := range ranked(s.Thresholds) {
		o := outcomeOf(&t)
		if quiet && !o.bad() {
			continue
		}
		mark, colour := outcomeMark(o)
		value, _ := measured(&t)
		remark := flags(&t)
		switch {
		case o == notJudged:
			value, remark = "-", append([]string{"not judged: " + t.NotJudged}, remark...)
		case o == few:
			remark = append([]string{"few samples"}, remark...)
		}
		rows = append(rows, []string{mark, t.Scope, t.Figure, value, opLimit(&t), place(t.File, t.Line), strings.Join(remark, ", ")})
		colours = append(colours, colour)
	}
	if len(rows) == 0 {
		return
	}
	p.head("Thresholds")
	p.table([]string{"", "scope", "figure", "measured", "limit", "plan", ""}, rows, 3, 5, colours)
}

// outcomeMark is the mark of a threshold: a tick only for one that held.
func outcomeMark(o outcome) (string, ink) {
	switch o {
	case held, few:
		return "✓", good
	case broken:
		return "✗", wrong
	case noData:
		return "?", wrong
	}
	return "-", faint
}

func (p *printer) series(head string, rows []stats.Series, total *stats.Series) {
	if len(rows) == 0 {
		return
	}
	all := rows
	if total != nil {
		all = append(append([]stats.Series{}, rows...), *total)
	}
	t, _ := figuresOf(all)
	omitted := p.narrow(&t)
	lines := make([][]string, len(all))
	colours := make([]ink, len(all))
	for i := range all {
		name := title(&all[i])
		if total != nil && i == len(all)-1 {
			name, colours[i] = "total", bold
		}
		if all[i].Failed > 0 && colours[i] == plain {
			colours[i] = warn
		}
		lines[i] = append([]string{name}, t.Rows[i]...)
	}
	p.head(head)
	p.table(append([]string{""}, t.Heads...), lines, 1, len(t.Heads)+1, colours)
	if omitted != "" {
		p.wrap(faint, "  ", "not shown for want of width: "+omitted)
	}
}

// narrow takes columns out of the series table until it fits the console with
// names of 20 columns, and returns what it took.
func (p *printer) narrow(t *table) string {
	var omitted []string
	for _, name := range []string{"min", "p90", "mean", "error rate", "rate"} {
		need := 24
		for _, w := range columnWidths(t.Heads, t.Rows) {
			need += w + 2
		}
		if p.width == 0 || need <= p.width {
			break
		}
		t.drop(name)
		omitted = append(omitted, name)
	}
	return strings.Join(omitted, ", ")
}

// times prints response beside service time, with confidence intervals.
func (p *printer) times(s *stats.Summary) {
	lines := briefTimes(s)
	if len(lines) == 0 {
		return
	}
	t := timeTable(lines)
	colours := make([]ink, len(lines))
	for i := range lines {
		if lines[i].D != lines[i].Series.ResponseNS {
			colours[i] = faint
		}
		t.Rows[i][1] = strings.TrimSuffix(strings.TrimPrefix(t.Rows[i][1], "response, "), " time")
		if i > 0 && lines[i].Series == lines[i-1].Series {
			t.Rows[i][0] = ""
		}
	}
	omitted := p.narrowTimes(&t)
	p.head("Response and service time")
	p.table(append([]string{""}, t.Heads[1:]...), t.Rows, 2, len(t.Heads), colours)
	if omitted {
		p.wrap(faint, "  ", "not shown for want of width: 95% intervals")
	}
}

// narrowTimes takes the intervals out of the table of times where it is too wide.
func (p *printer) narrowTimes(t *table) bool {
	need := 24
	for _, w := range columnWidths(t.Heads[1:], tails(t.Rows)) {
		need += w + 2
	}
	if p.width == 0 || need <= p.width {
		return false
	}
	t.drop("95% interval")
	t.drop("95% interval")
	return true
}

// tails are the rows without their first cells.
func tails(rows [][]string) [][]string {
	out := make([][]string, len(rows))
	for i, r := range rows {
		out[i] = r[1:]
	}
	return out
}

func (p *printer) metrics(ms []stats.Metric) {
	if len(ms) == 0 {
		return
	}
	t := metricTable(ms)
	p.head("Metrics")
	p.table(append([]string{""}, t.Heads[1:]...), t.Rows, 2, len(t.Heads), nil)
}

func (p *printer) errors(s *stats.Summary) {
	lines := errorLines(s)
	if len(lines) == 0 {
		return
	}
	shown := lines
	if len(lines) > maxConsoleErrors {
		shown = lines[:maxConsoleErrors-1]
	}
	rows := make([][]string, len(shown))
	for i, e := range shown {
		rows[i] = []string{count(e.Count), e.Class, title(e.Series), e.Message}
	}
	p.head("Errors")
	p.table([]string{"count", "class", "sample", "message"}, rows, 0, 1, nil)
	if rest := lines[len(shown):]; len(rest) > 0 {
		n := int64(0)
		for _, e := range rest {
			n += e.Count
		}
		p.line(plain, "  and "+plural(n, "error")+" of "+plural(int64(len(rest)), "other kind")+", in the reports")
	}
}

func (p *printer) status(s *stats.Summary) {
	var parts []string
	for _, n := range statuses(s) {
		parts = append(parts, n.Name+": "+count(n.N))
	}
	if len(parts) > 0 {
		p.head("Status codes")
		p.wrap(plain, "  ", strings.Join(parts, "   "))
	}
}

func (p *printer) generator(s *stats.Summary) {
	colour := plain
	if v := s.Generator.Verdict; v == "limited" || v == "invalid" {
		colour = warn
	}
	p.line(plain, "")
	p.wrap(colour, "", "Generator: "+generatorLine(&s.Generator))
	if uneven(&s.Ledger) {
		for i, l := range ledgerLines(&s.Ledger) {
			p.wrap(plain, "", []string{"Ledger: ", "        ", "        "}[i]+l)
		}
	}
	p.line(plain, "Run: "+runSpan(s)+", "+plural(s.Ledger.Requests, "request")+" on the wire, "+
		plural(s.Ledger.Reconnects, "reconnect")+", seed "+strconv.FormatUint(s.Seed, 10))
}

func (p *printer) notes(s *stats.Summary) {
	for _, n := range s.Notes {
		p.wrap(faint, "", "Note: "+n)
	}
	for _, k := range s.Skipped {
		p.wrap(faint, "", "Skipped: "+skippedName(&k)+": "+k.Reason)
	}
}

// skippedName names what a skip left out.
func skippedName(k *stats.Skipped) string {
	if k.Name == "" {
		return "thread group " + k.Group
	}
	if k.Group == "" {
		return k.Name
	}
	return k.Group + " / " + k.Name
}

func (p *printer) reports(paths []string) {
	if len(paths) == 0 {
		return
	}
	p.head("Reports")
	for _, path := range paths {
		p.line(plain, "  "+path)
	}
}

// wrap writes text over several lines, each with the indent.
func (p *printer) wrap(colour ink, indent, text string) {
	text = CleanLine(text)
	if p.width == 0 {
		p.line(colour, indent+text)
		return
	}
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && runewidth.StringWidth(indent+line+" "+word) > p.width {
			p.line(colour, indent+line)
			line = ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	p.line(colour, indent+line)
}

// table writes aligned columns: those from right to end (exclusive) to the right.
// Too wide for the console, the widest text column is cut.
func (p *printer) table(heads []string, rows [][]string, right, end int, colours []ink) {
	widths := columnWidths(heads, rows)
	p.shrink(widths, right, end)
	p.row(faint, heads, widths, right, end)
	for i, r := range rows {
		colour := plain
		if colours != nil {
			colour = colours[i]
		}
		p.row(colour, r, widths, right, end)
	}
}

func columnWidths(heads []string, rows [][]string) []int {
	widths := make([]int, len(heads))
	for i, h := range heads {
		widths[i] = runewidth.StringWidth(h)
	}
	for _, r := range rows {
		for i, cell := range r {
			widths[i] = max(widths[i], min(60, runewidth.StringWidth(CleanLine(cell))))
		}
	}
	return widths
}

// shrink narrows text columns until the table fits, none below 12 columns.
func (p *printer) shrink(widths []int, right, end int) {
	for p.width > 0 {
		sum, widest := 2*len(widths), -1
		for i, w := range widths {
			sum += w
			text := i < right || i >= end
			if text && w > 12 && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if sum <= p.width || widest < 0 {
			return
		}
		widths[widest]--
	}
}

func (p *printer) row(colour ink, cells []string, widths []int, right, end int) {
	var b strings.Builder
	for i, cell := range cells {
		cell = runewidth.Truncate(CleanLine(cell), widths[i], "…")
		b.WriteString("  ")
		if i >= right && i < end {
			b.WriteString(runewidth.FillLeft(cell, widths[i]))
		} else {
			b.WriteString(runewidth.FillRight(cell, widths[i]))
		}
	}
	p.line(colour, b.String())
}
