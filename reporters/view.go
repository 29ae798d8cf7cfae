package reporters

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"runner/reporters/stats"
)

// outcome is what became of a threshold.
type outcome string

const (
	held      outcome = "passed"
	broken    outcome = "broken"
	noData    outcome = "no data"
	few       outcome = "few samples"
	notJudged outcome = "not judged"
)

// outcomeOf puts a threshold's flags into one word.
func outcomeOf(t *stats.ThresholdResult) outcome {
	switch {
	case t.NotJudged != "":
		return notJudged
	case t.NoData:
		return noData
	case !t.Passed:
		return broken
	case t.FewSamples:
		return few
	}
	return held
}

// bad reports whether the outcome speaks against the run.
func (o outcome) bad() bool { return o == broken || o == noData }

// ranked returns the thresholds with what went wrong first, else as they were.
func ranked(ts []stats.ThresholdResult) []stats.ThresholdResult {
	rank := map[outcome]int{broken: 0, noData: 1, few: 2, held: 3, notJudged: 4}
	out := slices.Clone(ts)
	slices.SortStableFunc(out, func(a, b stats.ThresholdResult) int {
		return cmp.Compare(rank[outcomeOf(&a)], rank[outcomeOf(&b)])
	})
	return out
}

// sentence tells a threshold's measured value against its limit.
func sentence(t *stats.ThresholdResult) string {
	switch outcomeOf(t) {
	case notJudged:
		return "not judged: " + t.NotJudged
	case noData:
		return qualified(t.Figure, t) + " has no data, limit " + opLimit(t) + because(t)
	}
	value, _ := measured(t)
	return qualified(t.Figure, t) + " is " + value + ", limit " + opLimit(t)
}

// qualified adds to a threshold's figure or expression when it is judged, as far as
// that is not over the whole run: "p95 (over 2s, for 1m)", with times as in a plan.
func qualified(text string, t *stats.ThresholdResult) string {
	var when []string
	for _, q := range []struct {
		word string
		ns   int64
	}{{"over", t.WindowNS}, {"for", t.ForNS}, {"after", t.AfterNS}} {
		if q.ns > 0 {
			when = append(when, q.word+" "+stats.FormatDuration(time.Duration(q.ns)))
		}
	}
	if len(when) == 0 {
		return text
	}
	return text + " (" + strings.Join(when, ", ") + ")"
}

// because tells why a threshold has no data, after a colon; "" where it is not known.
func because(t *stats.ThresholdResult) string {
	if _, why, ok := strings.Cut(t.Message, " has no data: "); ok {
		return ": " + why
	}
	return ""
}

// opLimit writes the limit with its operator: "< 500 ms".
func opLimit(t *stats.ThresholdResult) string {
	_, limit := measured(t)
	return strings.TrimSpace(t.Op + " " + limit)
}

// flags are the remarks on a threshold beside its outcome.
func flags(t *stats.ThresholdResult) []string {
	var out []string
	if t.Implied {
		out = append(out, "implied")
	}
	if t.Stopped {
		out = append(out, "stopped the run")
	}
	return out
}

// maxReasons bounds the sentences beside the verdict; each broken threshold has
// its own line in the table of thresholds.
const maxReasons = 5

// summaryReasons are the sentences that explain the verdict; never empty unless
// the run passed.
func summaryReasons(s *stats.Summary) []string {
	if n := len(s.Reasons); n > maxReasons {
		where := "see summary.json"
		if slices.ContainsFunc(s.Thresholds, func(t stats.ThresholdResult) bool { return outcomeOf(&t).bad() }) {
			where = "see Thresholds"
		}
		return append(slices.Clone(s.Reasons[:maxReasons]), "and "+count(int64(n-maxReasons))+" more ("+where+")")
	}
	if len(s.Reasons) > 0 || s.Verdict == stats.Passed {
		return s.Reasons
	}
	return []string{"the run ended as " + string(s.Verdict) + " (exit code " + strconv.Itoa(s.ExitCode) + ")"}
}

// place writes file:line, or "" when it is not known.
func place(file string, line int) string {
	if file == "" || line <= 0 {
		return file
	}
	return file + ":" + strconv.Itoa(line)
}

// title is the name of a row as shown alone.
func title(s *stats.Series) string {
	if s.Group == "" {
		return s.Name
	}
	return s.Group + " / " + s.Name
}

// runSpan is the run's duration in words.
func runSpan(s *stats.Summary) string { return span(time.Duration(s.DurationNS)) }

// peakThreads is the most threads seen active at once.
func peakThreads(t *stats.Timeline) int {
	if len(t.ActiveThreads) == 0 {
		return 0
	}
	return slices.Max(t.ActiveThreads)
}

// table is a rectangle of text whose columns each have one unit.
type table struct {
	Heads []string
	Rows  [][]string
}

// drop takes out the column whose head is name or begins with it and a unit.
func (t *table) drop(name string) {
	i := t.index(name)
	if i < 0 {
		return
	}
	t.Heads = slices.Delete(t.Heads, i, i+1)
	for r := range t.Rows {
		t.Rows[r] = slices.Delete(t.Rows[r], i, i+1)
	}
}

// index finds the column whose head is name or begins with it and a unit.
func (t *table) index(name string) int {
	return slices.IndexFunc(t.Heads, func(h string) bool { return h == name || strings.HasPrefix(h, name+" ") })
}

// statColumn is a column of times in the series table.
type statColumn struct {
	name string
	get  func(*stats.Distribution) (float64, bool)
}

func statColumns() []statColumn {
	ptr := func(f func(*stats.Distribution) *int64) func(*stats.Distribution) (float64, bool) {
		return func(d *stats.Distribution) (float64, bool) {
			if v := f(d); v != nil {
				return float64(*v), true
			}
			return 0, false
		}
	}
	return []statColumn{
		{"min", func(d *stats.Distribution) (float64, bool) { return float64(d.Min), true }},
		{"mean", func(d *stats.Distribution) (float64, bool) { return d.Mean, true }},
		{"p50", ptr(func(d *stats.Distribution) *int64 { return d.P50 })},
		{"p90", ptr(func(d *stats.Distribution) *int64 { return d.P90 })},
		{"p95", ptr(func(d *stats.Distribution) *int64 { return d.P95 })},
		{"p99", ptr(func(d *stats.Distribution) *int64 { return d.P99 })},
		{"max", func(d *stats.Distribution) (float64, bool) { return float64(d.Max), true }},
	}
}

// figuresOf makes the table of count, errors, rate and response times. All times
// have one unit, so that columns and rows can be compared. What open groups
// dropped stands beside their percentiles.
func figuresOf(rows []stats.Series) (table, [][]float64) {
	t := table{Heads: []string{"count", "errors", "error rate", "rate /s"}, Rows: make([][]string, len(rows))}
	values := make([][]float64, len(rows))
	for i := range rows {
		r := &rows[i]
		t.Rows[i] = []string{count(r.Count), count(r.Failed), sharePtr(r.ErrorRate), notMeasured}
		values[i] = []float64{float64(r.Count), float64(r.Failed), orMinus(r.ErrorRate), orMinus(r.ThroughputPS)}
		if r.ThroughputPS != nil {
			t.Rows[i][3] = rateNumber(*r.ThroughputPS)
		}
	}
	unit := unitOf(responses(rows))
	for _, c := range statColumns() {
		t.Heads = append(t.Heads, c.name+" "+unit.Name)
		for i := range rows {
			text, v := notMeasured, -1.0
			if d := rows[i].ResponseNS; d != nil {
				if ns, ok := c.get(d); ok {
					text, v = unit.in(ns), ns
				}
			}
			t.Rows[i], values[i] = append(t.Rows[i], text), append(values[i], v)
		}
	}
	if slices.ContainsFunc(rows, func(r stats.Series) bool { return r.DroppedShare != nil && *r.DroppedShare > 0 }) {
		t.Heads = append(t.Heads, "dropped")
		for i := range rows {
			t.Rows[i], values[i] = append(t.Rows[i], droppedShare(&rows[i])), append(values[i], orMinus(rows[i].DroppedShare))
		}
	}
	return t, values
}

func orMinus(p *float64) float64 {
	if p == nil {
		return -1
	}
	return *p
}

// errorLine is one kind of error over all series.
type errorLine struct {
	Series *stats.Series
	stats.ErrorCount
	More int // other series with the same error, counted here
}

// where names the series of an error.
func (e *errorLine) where() string {
	if e.More == 0 {
		return title(e.Series)
	}
	return title(e.Series) + " and " + count(int64(e.More)) + " more"
}

// said is an error's message with what the first example expected and got.
func (e *errorLine) said() string {
	for _, a := range e.Series.Assertions {
		for _, x := range a.Examples {
			if (x.Message == e.Message || a.Name == e.Message) && (x.Expected != "" || x.Actual != "") {
				return e.Message + ": expected " + x.Expected + ", was " + x.Actual
			}
		}
	}
	if len(e.Examples) > 0 {
		if i := strings.Index(e.Examples[0], "expected "); i >= 0 && strings.Contains(e.Examples[0][i:], ", was ") {
			return e.Message + ": " + e.Examples[0][i:]
		}
	}
	return e.Message
}

// groupedErrors joins the lines of several series with the same error where there
// are more lines than limit; the most frequent come first.
func groupedErrors(lines []errorLine, limit int) []errorLine {
	if len(lines) <= limit {
		return lines
	}
	var out []errorLine
	where := map[[2]string]int{}
	for _, e := range lines {
		key := [2]string{e.Class, e.Message}
		i, seen := where[key]
		if !seen {
			where[key] = len(out)
			out = append(out, e)
			continue
		}
		out[i].Count += e.Count
		out[i].More++
	}
	slices.SortStableFunc(out, func(a, b errorLine) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// errorLines lists the errors of all samplers, the most frequent first.
func errorLines(s *stats.Summary) []errorLine {
	var out []errorLine
	for i := range s.Series {
		for _, e := range s.Series[i].Errors {
			out = append(out, errorLine{Series: &s.Series[i], ErrorCount: e})
		}
	}
	slices.SortStableFunc(out, func(a, b errorLine) int { return cmp.Compare(b.Count, a.Count) })
	return out
}

// classCounts lists the ledger's error classes, the most frequent first.
func classCounts(m map[string]int64) []named {
	var out []named
	for _, k := range slices.Sorted(maps.Keys(m)) {
		if m[k] > 0 {
			out = append(out, named{k, m[k]})
		}
	}
	slices.SortStableFunc(out, func(a, b named) int { return cmp.Compare(b.N, a.N) })
	return out
}

// named is a count with its name.
type named struct {
	Name string
	N    int64
}

// statuses adds up status codes over all samplers, in order of the code.
func statuses(s *stats.Summary) []named {
	sum := s.Total.Status
	if len(sum) == 0 {
		sum = map[string]int64{}
		for i := range s.Series {
			for k, n := range s.Series[i].Status {
				sum[k] += n
			}
		}
	}
	var out []named
	for _, k := range slices.Sorted(maps.Keys(sum)) {
		out = append(out, named{k, sum[k]})
	}
	return out
}

// generatorLine tells in one line how the load generator did.
func generatorLine(g *stats.Generator) string {
	var parts []string
	switch g.Verdict {
	case "":
		parts = append(parts, "not judged")
	default:
		parts = append(parts, g.Verdict)
	}
	if g.CPUShare != nil {
		parts = append(parts, "CPU "+share(*g.CPUShare))
	}
	if g.RSSBytes != nil {
		parts = append(parts, "memory "+size(float64(*g.RSSBytes)))
	}
	if d := g.DispatchDelayNS; d != nil {
		parts = append(parts, "dispatch delay p99 "+durationPtr(d.P99)+", max "+duration(float64(d.Max)))
	}
	if g.SentShare != nil && *g.SentShare < 1 {
		parts = append(parts, "sent "+share(*g.SentShare)+" of what was due")
	}
	if g.ThrottledNS != nil && *g.ThrottledNS > 0 {
		parts = append(parts, "throttled "+duration(float64(*g.ThrottledNS)))
	}
	if p := g.GCPauseNS; p != nil {
		parts = append(parts, "GC pause max "+duration(float64(p.Max)))
	}
	if f := g.Floor; f != nil {
		parts = append(parts, "floor of this machine: "+duration(float64(f.P50))+", p99 "+duration(float64(f.P99)))
	}
	return strings.Join(parts, " · ")
}

// accusations are the sentences with which the generator accuses itself, without
// those that explain the verdict already, and of which times it is a large part.
func accusations(s *stats.Summary) []string {
	g := &s.Generator
	var out []string
	for _, r := range g.Reasons {
		if (g.Verdict == "limited" || g.Verdict == "invalid") && !slices.ContainsFunc(s.Reasons, func(told string) bool { return strings.Contains(told, r) }) {
			out = append(out, "generator "+g.Verdict+": "+r)
		}
	}
	if g.NearFloor != "" {
		out = append(out, g.NearFloor)
	}
	return out
}

// generatorRows tells what the load generator measured of itself, name and value.
func generatorRows(g *stats.Generator) [][2]string {
	var out [][2]string
	add := func(name, value string) { out = append(out, [2]string{name, value}) }
	span := func(name string, ns int64) { add(name, duration(float64(ns))) }
	if g.SentShare != nil {
		add("sent within a second of its time", share(*g.SentShare)+" of "+count(g.Due))
	}
	if g.LateShare != nil {
		add("more than 1 ms late", share(*g.LateShare))
	}
	if d := g.DispatchDelayNS; d != nil {
		add("dispatch delay p50", durationPtr(d.P50))
		add("dispatch delay p99", durationPtr(d.P99))
		span("dispatch delay max", d.Max)
	}
	add("CPU, of the whole machine", sharePtr(g.CPUShare))
	if g.CPUsAllowed != nil {
		add("CPUs that it may use", significant(*g.CPUsAllowed, 3))
	}
	if g.ThrottledNS != nil {
		span("throttled by its quota", *g.ThrottledNS)
	}
	if g.StealShare != nil {
		add("CPU time taken by other virtual machines", share(*g.StealShare))
	}
	if s := g.SchedulerNS; s != nil {
		span("wait for a CPU, p99 of the worst second", s.P99)
	}
	if c := g.GCPauseNS; c != nil {
		span("GC pause p99", c.P99)
		span("GC pause max", c.Max)
	}
	if f := g.Floor; f != nil {
		span("floor of this machine: the simplest request on loopback, p50", f.P50)
		span("floor of this machine, p99", f.P99)
	}
	if g.RSSBytes != nil {
		add("memory", size(float64(*g.RSSBytes)))
	}
	if g.OpenFiles != nil {
		add("open files, at most", count(*g.OpenFiles))
	}
	return out
}

// ledgerLines are the ledger's two sums written out.
func ledgerLines(l *stats.Ledger) []string {
	i, m := &l.Iterations, &l.Samples
	failed := int64(0)
	for _, n := range m.Errors {
		failed += n
	}
	return []string{
		"iterations: " + count(i.Scheduled) + " scheduled = " + count(i.Started) + " started + " + count(i.DroppedNoThread) +
			" dropped (no free thread) + " + count(i.DroppedEnd) + " dropped (past the end) + " + count(i.DroppedAbort) + " left over by a stop",
		"started: " + count(i.Started) + " = " + count(i.Completed) + " completed + " + count(i.Interrupted) + " interrupted + " + count(i.InFlight) + " in flight",
		"samples: " + count(m.Started) + " started = " + count(m.Passed) + " passed + " + count(failed) + " failed + " + count(m.InFlight) + " in flight",
	}
}

// uneven reports whether something was dropped, interrupted or left in flight.
func uneven(l *stats.Ledger) bool {
	i := &l.Iterations
	return i.DroppedNoThread+i.DroppedEnd+i.DroppedAbort+i.Interrupted+i.InFlight+l.Samples.InFlight > 0
}

// environmentRows tells where and with what the run was made, name and value.
func environmentRows(s *stats.Summary) [][2]string {
	e := &s.Environment
	return [][2]string{
		{"host", e.Host},
		{"system", strings.TrimPrefix(e.OS+"/"+e.Arch, "/")},
		{"CPUs", strconv.Itoa(e.CPUs)},
		{"open files limit", strconv.FormatUint(e.OpenFilesLimit, 10)},
		{"Go", e.Go},
		{"runner", s.RunnerVersion},
		{"run", s.RunID},
		{"seed", strconv.FormatUint(s.Seed, 10)},
		{"started", s.Started.UTC().Format(time.RFC3339)},
		{"duration", runSpan(s)},
		{"exit code", strconv.Itoa(s.ExitCode)},
		{"plan SHA-256", s.PlanSHA256},
	}
}
