package reporters

import (
	"io"
	"slices"
	"strings"

	"runner/reporters/stats"
)

// writeMarkdown writes the summary that a CI shows on a job's page.
func writeMarkdown(w io.Writer, s *stats.Summary) error {
	m := &markdown{}
	m.verdict(s)
	m.thresholds(s)
	m.series("Samples", s.Series, &s.Total)
	m.series("Transactions", s.Transactions, nil)
	m.times(s)
	m.metrics(s.Metrics)
	m.errors(s)
	m.foot(s)
	_, err := io.WriteString(w, m.String())
	return err
}

// markdown builds a document from escaped text only.
type markdown struct{ strings.Builder }

// md escapes text so that nothing in it is markup, a mention, a link or the end
// of a table's cell.
func md(text string) string {
	text = guardLine(CleanLine(text))
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '<':
			b.WriteString("&lt;")
		case r == '>':
			b.WriteString("&gt;")
		case r == '&':
			b.WriteString("&amp;")
		case r == '@':
			b.WriteString("@\u2060") // a word joiner, so that nobody is mentioned
		case r == '|':
			b.WriteString("&#124;")
		case strings.ContainsRune("\\`*_[]#~!", r):
			b.WriteByte('\\')
			b.WriteRune(r)
		default:
			b.WriteRune(r)
		}
	}
	return strings.ReplaceAll(b.String(), "://", ":\u2060//")
}

func (m *markdown) line(parts ...string) {
	m.WriteString(strings.Join(parts, "") + "\n")
}

func (m *markdown) row(cells ...string) {
	m.line("| ", strings.Join(cells, " | "), " |")
}

func (m *markdown) verdict(s *stats.Summary) {
	mark := map[stats.Verdict]string{stats.Passed: "✅", stats.Failed: "❌", stats.Invalid: "⚠️", stats.Interrupted: "⏹️"}[s.Verdict]
	m.line("## ", mark, " ", md(s.Plan), ": ", md(string(s.Verdict)))
	m.line()
	if s.Partial {
		m.line("**PARTIAL**: made from a journal without the run's end.")
		m.line()
	}
	for _, r := range summaryReasons(s) {
		m.line("- ", md(r))
	}
	for _, r := range accusations(s) {
		m.line("- ", md(r))
	}
	m.line()
	m.line(plural(s.Total.Count, "sample"), " in ", runSpan(s), ", ", sharePtr(s.Total.ErrorRate), " failed, ", ratePtr(s.Total.ThroughputPS))
}

func (m *markdown) thresholds(s *stats.Summary) {
	if len(s.Thresholds) == 0 {
		return
	}
	m.line()
	m.line("### Thresholds")
	m.line()
	m.row("", "scope", "figure", "measured", "limit", "plan")
	m.row("---", "---", "---", "---:", "---:", "---")
	marks := map[outcome]string{held: "✅", few: "✅", broken: "❌", noData: "❓", notJudged: "➖"}
	for _, t := range ranked(s.Thresholds) {
		o := outcomeOf(&t)
		value, _ := measured(&t)
		word := string(o)
		if o == notJudged {
			value = "–"
		}
		if f := flags(&t); len(f) > 0 {
			word += ", " + strings.Join(f, ", ")
		}
		m.row(marks[o]+" "+word, md(cut(t.Scope, 120)), md(qualified(t.Figure, &t)), md(value), md(opLimit(&t)), md(place(t.File, t.Line)))
	}
}

func (m *markdown) series(head string, rows []stats.Series, total *stats.Series) {
	if len(rows) == 0 {
		return
	}
	all := append([]stats.Series{}, rows...)
	if total != nil {
		all = append(all, *total)
	}
	t, _ := figuresOf(all)
	m.line()
	m.line("### ", head)
	m.line()
	m.row(append([]string{"name"}, t.Heads...)...)
	m.row(append([]string{"---"}, strings.Split(strings.Repeat("---: ", len(t.Heads)-1)+"---:", " ")...)...)
	for i := range all {
		name := md(cut(title(&all[i]), 120))
		if i == len(rows) {
			name = "**total**"
		}
		cells := []string{name}
		for _, c := range t.Rows[i] {
			cells = append(cells, md(c))
		}
		m.row(cells...)
	}
}

func (m *markdown) times(s *stats.Summary) {
	lines := briefTimes(s)
	if len(lines) == 0 {
		return
	}
	t := timeTable(lines)
	m.line()
	m.line("### Response and service time")
	m.line()
	m.row(t.Heads...)
	m.row(append([]string{"---", "---"}, slices.Repeat([]string{"---:"}, len(t.Heads)-2)...)...)
	for _, r := range t.Rows {
		for i := range r {
			r[i] = md(cut(r[i], 120))
		}
		m.row(r...)
	}
}

func (m *markdown) metrics(ms []stats.Metric) {
	if len(ms) == 0 {
		return
	}
	t := metricTable(ms)
	m.line()
	m.line("### Metrics")
	m.line()
	m.row(t.Heads...)
	m.row("---", "---", "---:", "---:", "---:", "---:", "---:", "---:", "---:", "---:")
	for _, r := range t.Rows {
		for i := range r {
			r[i] = md(cut(r[i], 120))
		}
		m.row(r...)
	}
}

func (m *markdown) errors(s *stats.Summary) {
	lines := groupedErrors(errorLines(s), maxConsoleErrors)
	if len(lines) == 0 {
		return
	}
	m.line()
	m.line("### Errors")
	m.line()
	m.row("count", "class", "sample", "message")
	m.row("---:", "---", "---", "---")
	for _, e := range lines[:min(len(lines), maxConsoleErrors)] {
		m.row(count(e.Count), md(e.Class), md(cut(e.where(), 120)), md(cut(e.said(), 200)))
	}
	if rest := len(lines) - maxConsoleErrors; rest > 0 {
		m.line()
		m.line(plural(int64(rest), "other kind"), " in the reports.")
	}
}

func (m *markdown) foot(s *stats.Summary) {
	m.line()
	m.line("Generator: ", md(generatorLine(&s.Generator)))
	if uneven(&s.Ledger) {
		m.line()
		for _, l := range ledgerLines(&s.Ledger) {
			m.line("- ", md(l))
		}
	}
	for _, n := range s.Notes {
		m.line()
		m.line("Note: ", md(n))
	}
}

// cut shortens text to so many characters.
func cut(text string, n int) string {
	if r := []rune(text); len(r) > n {
		return string(r[:n-1]) + "…"
	}
	return text
}
