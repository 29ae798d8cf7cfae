package stats

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"runner/plan/element"
)

// summary freezes the state. A nil end is a run whose end is not known.
func (s *state) summary(end *EndInfo) *Summary {
	partial := end == nil
	if partial {
		end = &EndInfo{}
	}
	info := &s.out.Info
	out := &Summary{
		Schema: SummarySchema, Plan: info.Plan, PlanSHA256: info.PlanSHA256, Description: info.Description,
		Sources: orEmpty(info.Sources), RunnerVersion: info.RunnerVersion, RunID: info.RunID, Seed: info.Seed,
		Started: info.Started, DurationNS: int64(s.at), Partial: partial, Environment: info.Environment,
		Metrics: s.metricRows(), Skipped: orEmpty(s.out.Skipped), Series: []Series{}, Transactions: []Series{},
	}
	enc := &v2Encoder{}
	loads, ids, total, setupFailed := s.rows(out, enc)
	out.Total = s.series(enc, total, seriesOutline{ID: -1, Group: -1, Name: "total", Kind: "total", Phase: string(element.Load)}, s.timeline.blocksOf(loads))
	out.Total.SteadyPS, out.Total.DroppedShare = s.totalRate(), s.droppedShare(-1)
	cut := partial || end.Aborted
	out.Ledger = s.ledger(cut)
	out.Groups = s.groupRows(end.SkippedGroups)
	out.Thresholds = s.results(end.SkippedGroups)
	out.Timeline = s.timeline.summary(loads, ids)
	closed, open := s.out.kinds()
	s.timeline.loads(&out.Timeline, closed, open)
	out.Timeline.Metrics = s.timeline.metricColumns(s.out.Metrics)
	out.Generator = s.judged(p50Of(&out.Total))
	out.Generator.Floor = s.out.Info.Floor
	out.Generator.NearFloor = out.nearFloor()
	in := verdictInput{
		partial: partial, killed: s.killed, signal: end.Signal, setupError: end.SetupError, setupFailed: setupFailed, samples: total.count,
		generator: out.Generator, reportErrors: end.ReportErrors, errors: end.Errors, thresholds: out.Thresholds,
	}
	if !partial {
		in.ledger = out.Ledger.Check()
	}
	var doubts []string
	out.Concurrency, in.law, doubts = s.law(cut, &out.Generator)
	out.Verdict, out.ExitCode, out.Reasons = in.verdict()
	out.Notes = s.summaryNotes(end, out, doubts)
	return out
}

func orEmpty[T any](list []T) []T {
	if list == nil {
		return []T{}
	}
	return list
}

func p50Of(s *Series) *int64 {
	if s.ResponseNS == nil {
		return nil
	}
	return s.ResponseNS.P50
}

// rows fills in series and transactions, and returns which rows count in the
// total, the rows shown, the total's cell and the failed samples of setup.
func (s *state) rows(out *Summary, enc *v2Encoder) (loads map[int]bool, ids []int, total *cell, setupFailed int64) {
	loads, total = map[int]bool{}, &cell{}
	blocks := s.timeline.blocks(s.width())
	for i := range s.out.Series {
		o, c := &s.out.Series[i], s.total.cells[i]
		if c == nil {
			c = &cell{}
		}
		if o.quiet() && c.count == 0 {
			continue
		}
		ids = append(ids, i)
		row := s.series(enc, c, *o, blocks[i])
		if o.Transaction {
			out.Transactions = append(out.Transactions, row)
			continue
		}
		out.Series = append(out.Series, row)
		if o.Phase == string(element.Setup) {
			setupFailed += c.failed
		}
		if s.load(i) {
			loads[i] = true
			total.merge(c, nil)
		}
	}
	if last := len(s.out.Series); s.total.cells[last] != nil {
		ids, loads[last] = append(ids, last), true
		out.Series = append(out.Series, s.series(enc, s.total.cells[last], s.otherRow(), blocks[last]))
		total.merge(s.total.cells[last], nil)
	}
	total.assertions = nil
	return loads, ids, total, setupFailed
}

// otherRow describes the row of the series beyond the limit.
func (s *state) otherRow() seriesOutline {
	return seriesOutline{ID: len(s.out.Series), Group: -1, Name: otherKind, Kind: otherKind, Phase: string(element.Load)}
}

// series makes a row of the result; blocks are its part of the timeline.
func (s *state) series(enc *v2Encoder, c *cell, o seriesOutline, blocks []block) Series {
	out := Series{
		ID: o.ID, Name: o.Name, Kind: o.Kind, Phase: o.Phase, File: o.File, Line: o.Line,
		Count: c.count, Failed: c.failed, Unsent: c.unsent, Aborted: c.aborted, Requests: c.requests, BytesSent: c.sent, BytesReceived: c.received,
		Status: map[string]int64{}, Assertions: []AssertionCount{}, Errors: []ErrorCount{}, Histograms: map[string]string{},
	}
	if g := o.Group; g >= 0 && g < len(s.out.Groups) {
		out.Group = s.out.Groups[g].Name
		out.DroppedShare = s.droppedShare(g)
		out.SteadyPS = s.steady.rate(o.ID, g)
	}
	if c.count > 0 {
		rate := float64(c.failed) / float64(c.count)
		out.ErrorRate = &rate
	}
	if v, ok := s.rowThroughput(c, o.ID); ok {
		out.ThroughputPS = &v
	}
	if v, ok := apdexOf(c.satisfied, c.tolerating, c.count); ok {
		out.Apdex, out.ApdexNS = &v, int64(s.out.Apdex)
	}
	out.times(enc, c, blocks)
	for _, st := range c.statuses {
		name := strconv.Itoa(st.code)
		if st.code == otherStatus {
			name = otherKind
		}
		out.Status[name] = st.n
	}
	out.Assertions = append(out.Assertions, assertionRows(c, &o)...)
	out.Errors = append(out.Errors, errorRows(c)...)
	return out
}

func (s *Series) times(enc *v2Encoder, c *cell, blocks []block) {
	var all Histogram
	all.merge(&c.success, nil)
	all.merge(&c.failure, nil)
	e := effectsOf(blocks, all.Percentile(95), all.Percentile(99))
	s.ResponseNS = all.describe(e)
	s.ServiceNS = c.service.describe(e)
	s.LatencyNS = c.latency.describe(e)
	s.SuccessNS = c.success.describe(e)
	s.FailureNS = c.failure.describe(e)
	for kind, h := range map[string]*Histogram{"response": &all, "service": &c.service, "latency": &c.latency,
		"success": &c.success, "failure": &c.failure} {
		if h.n == 0 {
			continue
		}
		if text, err := enc.encode(h); err == nil {
			s.Histograms[kind] = text
		}
	}
	if c.phased > 0 {
		p := func(i int) MeanMax {
			return MeanMax{Mean: float64(c.phases[i].sum) / float64(c.phased), Max: c.phases[i].max}
		}
		s.PhasesNS = &Phases{DNS: p(0), Connect: p(1), TLS: p(2), Send: p(3), Wait: p(4), Receive: p(5)}
	}
}

func assertionRows(c *cell, o *seriesOutline) []AssertionCount {
	var out []AssertionCount
	for i := range max(len(o.Assertions), len(c.assertions)) {
		row := AssertionCount{Name: "assertion " + strconv.Itoa(i+1), Examples: []Example{}}
		if i < len(o.Assertions) {
			a := &o.Assertions[i]
			row.Name, row.File, row.Line = a.Name, a.File, a.Line
		}
		if i < len(c.assertions) {
			t := &c.assertions[i]
			row.Passed, row.Failed = t.passed, t.failed
			row.Examples = append(row.Examples, t.examples...)
		}
		out = append(out, row)
	}
	return out
}

func errorRows(c *cell) []ErrorCount {
	var out []ErrorCount
	for i := range c.errors {
		t := &c.errors[i]
		out = append(out, ErrorCount{Class: t.class, Message: t.message, Count: t.count,
			FirstS: t.first.Seconds(), LastS: t.last.Seconds(), Examples: append([]string{}, t.examples...)})
	}
	slices.SortStableFunc(out, func(a, b ErrorCount) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Class, b.Class), cmp.Compare(a.Message, b.Message))
	})
	return out
}

func (s *state) groupRows(skipped map[int]string) []Group {
	out := []Group{}
	for g := range s.out.Groups {
		o, n := &s.out.Groups[g], &s.total.groups[g+1]
		row := Group{Name: o.Name, Load: o.Load, Model: "closed", MaxThreads: o.MaxThreads, DurationNS: int64(o.Duration),
			Skipped: o.Skipped, Iterations: n[element.IterationsStarted], Dropped: s.total.dropped(g), File: o.File, Line: o.Line,
			ScheduledRate: o.ScheduledRate}
		if o.Open {
			row.Model, row.Scheduled = "open", n[element.IterationsScheduled]
		}
		if reason, ok := skipped[g]; ok && row.Skipped == "" {
			row.Skipped = cmp.Or(reason, "skipped")
		}
		row.SteadyPS = s.groupRate(g)
		if v, ok := s.groupThroughput(g); ok {
			row.ThroughputPS = v
		}
		out = append(out, row)
	}
	return out
}

// rowThroughput is that of a row's cell, or for −1 of the total's.
func (s *state) rowThroughput(c *cell, row int) (float64, bool) {
	switch {
	case len(s.turns) == 0:
		return throughput(c.timed(), c.firstDue, c.lastDue)
	case row < 0:
		return s.paceInTurn(s.rowsWhere(s.load))
	}
	return s.paceInTurn([]int{min(row, len(s.out.Series))})
}

func (s *state) groupThroughput(g int) (float64, bool) {
	if len(s.turns) > 0 {
		return s.paceInTurn(s.rowsWhere(func(i int) bool { return s.load(i) && s.groupOf(i) == g }))
	}
	count, first, last := int64(0), time.Duration(0), time.Duration(0)
	for i := range s.out.Series {
		c := s.total.cells[i]
		if c == nil || c.timed() == 0 || !s.load(i) || s.groupOf(i) != g {
			continue
		}
		if count == 0 {
			first, last = c.firstDue, c.lastDue
		}
		first, last = min(first, c.firstDue), max(last, c.lastDue)
		count += c.timed()
	}
	return throughput(count, first, last)
}

// summaryNotes lists what the reports must say beside the figures.
func (s *state) summaryNotes(end *EndInfo, sum *Summary, doubts []string) []string {
	out := append([]string{}, s.out.Notes...)
	out = append(out, s.notes...)
	if s.unread != "" {
		out = append(out, s.unread)
	}
	if end.Stopped != "" {
		out = append(out, "the run ended early: "+end.Stopped)
	}
	if i, reason := s.stopping(); i >= 0 {
		out = append(out, "the run was ended by a threshold with stop: "+reason)
	}
	if n := s.leftBehind(); n > 0 && !sum.Partial {
		out = append(out, counted(n, "thread", "threads")+" did not end when cancelled; what was running then is counted as in flight")
	}
	if n := sum.Total.Unsent; n > 0 {
		out = append(out, counted(n, "sample", "samples")+" failed before anything was sent: counted as failed, but in no time and no throughput")
	}
	if n := s.total.tally.warmUp; n > 0 {
		out = append(out, "the warm-up sent "+counted(n, "sample", "samples")+", counted in the ledger and in requests, not in the figures")
	}
	if s.out.More > 0 {
		out = append(out, "the plan has more than "+formatCount(maxSeries)+" series; "+formatCount(int64(s.out.More))+" of them share the row "+otherKind)
	}
	out = append(out, doubts...)
	if note := s.closedNote(); note != "" {
		out = append(out, note)
	}
	for i := range sum.Thresholds {
		if t := &sum.Thresholds[i]; t.NotJudged != "" {
			out = append(out, scopeName(t.Scope)+": "+t.Expression+" was not judged: "+t.NotJudged)
		}
	}
	if n := s.clamped(); n > 0 {
		out = append(out, counted(n, "time was", "times were")+" longer than 1 h; percentiles show 1 h or the exact maximum instead")
	}
	return unique(out)
}

// maxNamed bounds the names in one sentence.
const maxNamed = 5

// closedNote says which groups cannot show stalls in full.
func (s *state) closedNote() string {
	var names []string
	for g := range s.out.Groups {
		count, scheduled := int64(0), int64(0)
		for i := range s.out.Series {
			if c := s.total.cells[i]; c != nil && s.load(i) && s.groupOf(i) == g {
				count, scheduled = count+c.count, scheduled+c.scheduled
			}
		}
		if !s.out.Groups[g].Open && count > 0 && scheduled == 0 {
			names = append(names, s.out.Groups[g].Name)
		}
	}
	const rest = ": while the target stalls it takes fewer samples, so stalls are under-represented in its percentiles"
	const each = ": while the target stalls they take fewer samples, so stalls are under-represented in their percentiles"
	switch n := len(names); {
	case n == 0:
		return ""
	case n == 1:
		return "the group " + names[0] + " is a closed model without a schedule" + rest
	case n <= maxNamed:
		return "the groups " + strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " are closed models without a schedule" + each
	default:
		return "the groups " + strings.Join(names[:maxNamed], ", ") + " and " + num(int64(n-maxNamed)) + " more are closed models without a schedule" + each
	}
}

func (s *state) clamped() int64 {
	n := int64(0)
	for _, i := range s.total.touched {
		n += s.total.cells[i].success.clamped + s.total.cells[i].failure.clamped
	}
	return n
}

func unique(list []string) []string {
	out := []string{}
	for _, text := range list {
		if !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	return out
}
