package reporters

import (
	"strconv"
	"strings"
	"time"

	"runner/reporters/stats"
)

// maxErrorRows bounds the error and assertion tables of the page.
const maxErrorRows = 200

type (
	phaseView struct {
		Name  string
		Parts []phasePart
		Sum   string
	}
	phasePart struct {
		Name, Mean, Max string
		X, Width        float64 // of 100
	}
	errorView struct {
		Series, Class, Message, Count, When, Place string
		Examples                                   []string
	}
	assertionView struct {
		Series, Name, Failed, Of, Place string
		Examples                        []stats.Example
	}
	equation struct {
		Whole string
		Terms []pair
	}
)

// details fills everything below the tables.
func (p *page) details(s *stats.Summary) {
	p.phases(s)
	p.errorTables(s)
	p.generator(&s.Generator)
	p.ledger(&s.Ledger)
	for _, r := range environmentRows(s) {
		if r[1] != "" {
			p.Environment = append(p.Environment, pair{r[0], CleanLine(r[1])})
		}
	}
	p.Notes = s.Notes
	for i := range s.Skipped {
		p.Skipped = append(p.Skipped, pair{skippedName(&s.Skipped[i]), s.Skipped[i].Reason})
	}
	if len(s.Metrics) > 0 {
		t := metricTable(s.Metrics)
		for _, r := range t.Rows {
			r[0] = CleanLine(r[0])
		}
		p.Metrics = &t
	}
	for i, m := range islandMetrics(s) {
		p.MetricOptions = append(p.MetricOptions, option{i, m.Name})
	}
}

// phases fills the breakdown: bars on one scale, so that rows can be compared.
func (p *page) phases(s *stats.Summary) {
	p.PhaseNames = []string{"dns", "connect", "tls", "send", "wait", "receive"}
	longest := 0.0
	for i := range s.Series {
		if ph := s.Series[i].PhasesNS; ph != nil {
			longest = max(longest, phaseSum(ph))
		}
	}
	for i := range s.Series {
		ph := s.Series[i].PhasesNS
		if ph == nil || longest == 0 {
			continue
		}
		v := phaseView{Name: CleanLine(title(&s.Series[i])), Sum: duration(phaseSum(ph))}
		x := 0.0
		for k, m := range phaseList(ph) {
			w := 100 * max(0, m.Mean) / longest
			v.Parts = append(v.Parts, phasePart{p.PhaseNames[k], duration(m.Mean), duration(float64(m.Max)), roundTo(x, 100), roundTo(w, 100)})
			x += w
		}
		p.Phases = append(p.Phases, v)
	}
}

func phaseList(p *stats.Phases) []stats.MeanMax {
	return []stats.MeanMax{p.DNS, p.Connect, p.TLS, p.Send, p.Wait, p.Receive}
}

func phaseSum(p *stats.Phases) float64 {
	sum := 0.0
	for _, m := range phaseList(p) {
		sum += max(0, m.Mean)
	}
	return sum
}

func (p *page) errorTables(s *stats.Summary) {
	p.Classes, p.Status = chips(classCounts(s.Ledger.Samples.Errors)), chips(statuses(s))
	lines := errorLines(s)
	p.ErrorsMore = max(0, len(lines)-maxErrorRows)
	for _, e := range lines[:min(len(lines), maxErrorRows)] {
		p.Errors = append(p.Errors, errorView{Series: CleanLine(title(e.Series)), Class: e.Class, Message: e.Message, Count: count(e.Count),
			When: when(e.FirstS) + " – " + when(e.LastS), Place: place(e.Series.File, e.Series.Line), Examples: distinct(e.Examples)})
	}
	for i := range s.Series {
		for _, a := range s.Series[i].Assertions {
			if a.Failed == 0 || len(p.Assertions) == maxErrorRows {
				continue
			}
			p.Assertions = append(p.Assertions, assertionView{Series: CleanLine(title(&s.Series[i])), Name: a.Name, Failed: count(a.Failed),
				Of: count(a.Failed + a.Passed), Place: place(a.File, a.Line), Examples: distinct(a.Examples)})
		}
	}
}

// chips writes counts beside their names.
func chips(ns []named) []pair {
	out := make([]pair, len(ns))
	for i, n := range ns {
		out[i] = pair{n.Name, count(n.N)}
	}
	return out
}

// when writes a moment given in seconds since the start.
func when(s float64) string { return clock(time.Duration(min(max(s, 0), 1e9) * 1e9)) }

func (p *page) generator(g *stats.Generator) {
	p.GeneratorState, p.GeneratorWhy = g.Verdict, g.Reasons
	if g.Verdict == "" {
		p.GeneratorState = "not judged"
	}
	for _, r := range generatorRows(g) {
		p.Generator = append(p.Generator, pair{r[0], r[1]})
	}
}

func (p *page) ledger(l *stats.Ledger) {
	i, m := &l.Iterations, &l.Samples
	term := func(n int64, name string) pair { return pair{name, count(n)} }
	failed := []pair{term(m.Passed, "passed")}
	for _, c := range classCounts(m.Errors) {
		failed = append(failed, term(c.N, c.Name))
	}
	p.Ledger = []equation{
		{count(i.Scheduled) + " iterations scheduled", []pair{term(i.Started, "started"), term(i.DroppedNoThread, "dropped, no free thread"),
			term(i.DroppedEnd, "dropped, past the end"), term(i.DroppedAbort, "left over by a stop")}},
		{count(i.Started) + " iterations started", []pair{term(i.Completed, "completed"), term(i.Interrupted, "interrupted"), term(i.InFlight, "in flight")}},
		{count(m.Started) + " samples started", append(failed, term(m.InFlight, "in flight"))},
	}
	p.LedgerPairs = []pair{{"requests on the wire", count(l.Requests)}, {"reconnects", count(l.Reconnects)}}
}

// sourceView is one file of the plan, line by line.
type sourceView struct {
	File  string
	Lines []sourceLine
	More  string
	Open  bool
}

type sourceLine struct {
	N     string
	Text  string
	State string
	Notes []string
}

// maxSourceLines bounds the lines that the page shows of each file.
const maxSourceLines = 3000

func sourceViews(s *stats.Summary) []sourceView {
	marks := sourceMarks(s)
	out := make([]sourceView, 0, len(s.Sources))
	for _, src := range s.Sources {
		v := sourceView{File: CleanLine(src.File), Open: len(s.Sources) == 1 || len(marks[src.File]) > 0}
		lines := strings.Split(strings.TrimSuffix(src.Text, "\n"), "\n")
		if len(lines) > maxSourceLines {
			v.More = "and " + plural(int64(len(lines)-maxSourceLines), "line") + " more in summary.json"
			lines = lines[:maxSourceLines]
		}
		for n, text := range lines {
			line := sourceLine{N: strconv.Itoa(n + 1), Text: cut(text, 2000)}
			for _, m := range marks[src.File][n+1] {
				line.Notes = append(line.Notes, m.text)
				if line.State != "bad" {
					line.State = m.state
				}
			}
			v.Lines = append(v.Lines, line)
		}
		out = append(out, v)
	}
	return out
}

type mark struct{ state, text string }

// sourceMarks collects what went wrong by file and line.
func sourceMarks(s *stats.Summary) map[string]map[int][]mark {
	out := map[string]map[int][]mark{}
	add := func(file string, line int, m mark) {
		if out[file] == nil {
			out[file] = map[int][]mark{}
		}
		if len(out[file][line]) < 4 {
			out[file][line] = append(out[file][line], m)
		}
	}
	for i := range s.Thresholds {
		if t := &s.Thresholds[i]; outcomeOf(t).bad() {
			add(t.File, t.Line, mark{"bad", t.Scope + ": " + sentence(t)})
		}
	}
	for i := range s.Series {
		r := &s.Series[i]
		for _, a := range r.Assertions {
			if a.Failed > 0 {
				add(a.File, a.Line, mark{"warn", title(r) + ": " + count(a.Failed) + " of " + count(a.Failed+a.Passed) + " failed"})
			}
		}
		if r.Failed > 0 {
			add(r.File, r.Line, mark{"warn", count(r.Failed) + " of " + plural(r.Count, "sample") + " failed"})
		}
	}
	return out
}
