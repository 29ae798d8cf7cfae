package reporters

import (
	"slices"
	"strconv"
	"strings"

	"github.com/mattn/go-runewidth"

	"runner/reporters/stats"
)

// maxConsoleErrors is the most lines that the errors take on the console.
const maxConsoleErrors = 10

// result prints the whole result, verdict first. Quiet leaves the verdict, its
// reasons, the thresholds that did not hold and, unless the run passed, the errors.
func (p *printer) result(s *stats.Summary, paths []string, quiet bool) {
	p.verdict(s)
	p.thresholds(s, quiet)
	if quiet {
		if s.Verdict != stats.Passed {
			p.errors(s)
		}
		return
	}
	p.series("Samples", s.Series, &s.Total)
	p.series("Transactions", s.Transactions, nil)
	p.arrivals(s.Groups)
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
		p.wrap(warn, "  ", "PARTIAL: made from a journal without the run's end; its last second or more may be missing")
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
		case o == noData:
			if why := because(&t); why != "" {
				remark = append([]string{why[2:]}, remark...)
			}
		case o == few:
			remark = append([]string{"few samples"}, remark...)
		}
		rows = append(rows, []string{mark, t.Scope, qualified(t.Figure, &t), value, opLimit(&t), place(t.File, t.Line), strings.Join(remark, ", ")})
		colours = append(colours, colour)
	}
	if len(rows) == 0 {
		return
	}
	p.head("Thresholds")
	g := &grid{table{Heads: []string{"", "scope", "figure", "measured", "limit", "plan", "remark"}, Rows: rows}, 3, 5}
	if !slices.ContainsFunc(rows, func(r []string) bool { return r[6] != "" }) {
		g.drop("remark")
	}
	p.narrow(g, nil, []string{"plan", "remark"})
	if i := g.index("remark"); i >= 0 {
		g.Heads[i] = ""
	}
	p.write(g, colours)
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
	colours := make([]ink, len(all))
	for i := range all {
		name := title(&all[i])
		if total != nil && i == len(all)-1 {
			name, colours[i] = "total", bold
		}
		if all[i].Failed > 0 && colours[i] == plain {
			colours[i] = warn
		}
		t.Rows[i] = append([]string{name}, t.Rows[i]...)
	}
	t.Heads = append([]string{""}, t.Heads...)
	p.print(head, &grid{t, 1, len(t.Heads)}, colours, []string{"min", "p90", "mean", "rate"}, []string{"error rate", "p50", "dropped", "p99", "max", "p95"})
}

// arrivals prints what became of the arrivals that the open groups planned.
func (p *printer) arrivals(groups []stats.Group) {
	var rows [][]string
	var colours []ink
	rest := false
	for i := range groups {
		g := &groups[i]
		if g.Model != "open" || g.Skipped != "" {
			continue
		}
		colour := plain
		if g.Iterations < g.Scheduled {
			colour = warn
		}
		left := cutOff(g)
		rest = rest || left > 0
		rows = append(rows, []string{g.Name, g.ScheduledRate, count(g.Scheduled), count(g.Iterations), count(g.Dropped), count(left)})
		colours = append(colours, colour)
	}
	if len(rows) == 0 {
		return
	}
	g := &grid{table{Heads: []string{"", "top rate", "scheduled", "started", "dropped", "cut off"}, Rows: rows}, 2, 6}
	if !rest {
		g.drop("cut off")
	}
	p.print("Arrivals", g, colours, []string{"top rate"}, nil)
}

// cutOff is how many arrivals of an open group a stop left over.
func cutOff(g *stats.Group) int64 { return max(0, g.Scheduled-g.Iterations-g.Dropped) }

// print writes a table under its head and says which columns had no room.
func (p *printer) print(head string, g *grid, colours []ink, first, then []string) {
	omitted := p.narrow(g, first, then)
	p.head(head)
	p.write(g, colours)
	if omitted != "" {
		p.wrap(faint, "  ", "not shown for want of width: "+omitted)
	}
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
	t.Heads[0] = ""
	p.print("Response and service time", &grid{t, 2, len(t.Heads)}, colours, []string{"95% interval", "95% interval", "mean"}, []string{"p50", "dropped", "p99", "max"})
}

func (p *printer) metrics(ms []stats.Metric) {
	if len(ms) == 0 {
		return
	}
	t := metricTable(ms)
	t.Heads[0] = ""
	p.print("Metrics", &grid{t, 2, len(t.Heads)}, nil, []string{"min", "mean", "values"}, []string{"p50", "p99", "type", "max"})
}

func (p *printer) errors(s *stats.Summary) {
	lines := groupedErrors(errorLines(s), maxConsoleErrors)
	if len(lines) == 0 {
		return
	}
	shown := lines
	if len(lines) > maxConsoleErrors {
		shown = lines[:maxConsoleErrors-1]
	}
	rows := make([][]string, len(shown))
	for i, e := range shown {
		rows[i] = []string{count(e.Count), e.Class, e.where(), e.said()}
	}
	p.head("Errors")
	p.write(&grid{table{Heads: []string{"count", "class", "sample", "message"}, Rows: rows}, 0, 1}, nil)
	if rest := lines[len(shown):]; len(rest) > 0 {
		n := int64(0)
		for _, e := range rest {
			n += e.Count
		}
		p.wrap(plain, "  ", "and "+plural(n, "error")+" of "+plural(int64(len(rest)), "other kind")+", in the reports")
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
	p.wrap(plain, "", "Run: "+runSpan(s)+", "+plural(s.Ledger.Requests, "request")+" on the wire, "+
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
