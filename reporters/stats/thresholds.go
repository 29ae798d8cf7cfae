package stats

import (
	"slices"
	"strings"
	"time"
)

// judge is one threshold with what is known of it while the run goes on. One
// with `window`, `for` or `stop` is judged at each tick; once broken it stays so.
//
//	quiet   → not due: before `after`, or while the window is not full
//	holding → the comparison holds, or there is no data
//	doubted → it does not hold, for less than `for`
//	broken  → it did not hold for `for`; final
type judge struct {
	t       *thresholdOutline
	fig     figure
	known   bool
	slices  []windowSlice // of the sliding window, oldest first
	judged  bool          // at least once live
	doubted bool
	since   time.Duration
	broken  bool
	value   float64 // at the last live judgement; of a broken one, when it broke
	when    time.Duration
}

type windowSlice struct {
	from, to time.Duration
	m        measure // without its histogram
	hist     sparse
}

func (w *windowSlice) length() time.Duration { return w.to - w.from }

// join adds the next slice.
func (w *windowSlice) join(next *windowSlice) {
	w.to = next.to
	w.m.join(&next.m)
	w.hist = joined(&w.hist, &next.hist)
}

// window is a threshold's window in whole seconds, at least one.
func (t *thresholdOutline) window() time.Duration { return max(tickEvery, ticks(t.Window)) }

func newJudge(t *thresholdOutline, metrics []metricOutline) *judge {
	j := &judge{t: t}
	j.fig, j.known = parseFigure(t.Figure, metrics)
	return j
}

func (j *judge) live() bool { return j.known && (j.t.Stop || j.t.Window > 0 || j.t.For > 0) }

// judge brings the live thresholds up to the end of a delta.
func (s *state) judge(d *delta) {
	for i, j := range s.judges {
		if !j.live() || j.broken || s.partial(j) {
			continue
		}
		s.step(j, d)
		if j.broken && j.t.Stop && s.stopper < 0 {
			s.stopper = i
		}
	}
}

// step judges one live threshold after a delta.
func (s *state) step(j *judge, d *delta) {
	var m *measure
	begun, ok := s.begunOf(j.t.Group)
	needs := time.Duration(0) // of figures, which begin after the warm-up
	if j.t.Window > 0 {
		m, needs = s.slide(j, d), j.t.window()
	}
	since := d.to - begun
	if !ok || since+lateTick < j.t.After || since-s.warmUp(j.t.Group) < needs-tickSlack || m != nil && d.to-d.from < tickEvery-tickSlack {
		return
	}
	if m == nil {
		m = s.whole(j)
	}
	v, found := j.fig.value(m, s)
	if !found {
		j.doubted = false
		return
	}
	j.judged, j.value, j.when = true, v, d.to
	if holds(v, j.t.Op, j.t.Limit) {
		j.doubted = false
		return
	}
	if !j.doubted {
		j.doubted, j.since = true, d.to
	}
	j.broken = ticks(d.to-j.since) >= j.t.For
}

// ticks rounds a time between ticks to whole seconds: ticks come a little late.
func ticks(d time.Duration) time.Duration { return d.Round(tickEvery) }

const (
	// lateTick is by how much a tick may come late.
	lateTick = tickEvery / 20
	// tickSlack is by how much an interval may be short of a second to end a window:
	// what the end of a run or a late tick leaves over is not judged by itself.
	tickSlack = tickEvery / 4
)

// begunOf returns when a group, or for −1 the first group, began.
func (s *state) begunOf(group int) (time.Duration, bool) {
	if group >= 0 && group < len(s.begun) {
		return s.begun[group], s.begun[group] >= 0
	}
	first := time.Duration(-1)
	for _, at := range s.begun {
		if at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first, first >= 0
}

// warmUp returns how long after a group's begin, or for −1 after the first
// group's, there are no figures yet.
func (s *state) warmUp(group int) time.Duration {
	if group >= 0 && group < len(s.out.Groups) {
		return s.out.Groups[group].WarmUp
	}
	first, _ := s.begunOf(-1)
	least := time.Duration(-1)
	for g := range s.out.Groups {
		if begun := s.begun[g]; begun >= 0 {
			if warm := begun - first + s.out.Groups[g].WarmUp; least < 0 || warm < least {
				least = warm
			}
		}
	}
	return max(0, least)
}

// slide adds a delta to the window and returns the window's measure. A window is
// whole intervals: as few of the last ones as cover it, rounded to whole seconds,
// but for a quarter of a second, since ticks come a little late. So each interval of
// a second is in as many windows as a window has seconds. One that a late tick made
// longer is not cut, and one too short to stand alone is counted with the next.
func (s *state) slide(j *judge, d *delta) *measure {
	m := s.measure(&d.batch, j)
	m.span = d.to - d.from
	slice := windowSlice{from: d.from, to: d.to, m: *m, hist: m.hist.sparse()}
	slice.m.hist = Histogram{}
	if last := len(j.slices) - 1; last >= 0 && j.slices[last].length() < tickEvery-tickSlack {
		j.slices[last].join(&slice)
	} else {
		j.slices = append(j.slices, slice)
	}
	first := len(j.slices) - 1
	wanted := j.t.window() - tickSlack
	for covered := j.slices[first].length(); covered < wanted && first > 0; first-- {
		covered += j.slices[first-1].length()
	}
	j.slices = slices.Delete(j.slices, 0, first)
	sum := &measure{}
	for i := range j.slices {
		sum.join(&j.slices[i].m)
		j.slices[i].hist.addTo(&sum.hist, nil)
	}
	return sum
}

// whole returns what a threshold is judged over at the end.
func (s *state) whole(j *judge) *measure {
	m := s.measure(s.total, j)
	if span, ok := s.loaded(); ok {
		m.span = span
	}
	if len(s.turns) > 0 && j.fig.stat == "throughput" {
		m.inTurn = true
		m.pace, _ = s.paceInTurn(s.judgedRows(j))
	}
	return m
}

// measure merges the cells of a threshold's series, or takes its custom metric.
func (s *state) measure(b *batch, j *judge) *measure {
	m := &measure{dropped: b.dropped(j.t.Group), ran: len(b.touched) > 0}
	if i := j.fig.metric; i > 0 {
		m.metric.merge(&b.metrics[i-1])
	}
	cells := &b.cells
	other := false
	for _, i := range j.t.Series {
		if i < 0 || i >= len(s.out.Series) {
			other = true
			continue
		}
		if c := (*cells)[i]; c != nil {
			m.add(c, &j.fig, nil)
		}
	}
	if c := (*cells)[len(*cells)-1]; other && c != nil {
		m.add(c, &j.fig, nil)
	}
	return m
}

func holds(v float64, op string, limit float64) bool {
	switch op {
	case "<":
		return v < limit
	case "<=":
		return v <= limit
	case ">":
		return v > limit
	case ">=":
		return v >= limit
	case "==":
		return v == limit
	case "!=":
		return v != limit
	}
	return false
}

// stopping returns the threshold that ends the run and why, or −1.
func (s *state) stopping() (int, string) {
	if s.stopper < 0 {
		return -1, ""
	}
	j := s.judges[s.stopper]
	return s.stopper, "the threshold " + j.t.Source + " of " + scopeName(j.t.Scope) + " is broken: " +
		sentence(&j.fig, j.t, j.value) + ", " + formatTime(float64(j.when), 3) + " after the start"
}

// results judges every threshold over the whole run. skipped names groups that
// were left out while running.
func (s *state) results(skipped map[int]string) []ThresholdResult {
	out := []ThresholdResult{}
	for i, j := range s.judges {
		r := s.result(j, skipped)
		if r.NotJudged != "" && s.controls(j) {
			continue // of interest only if one of them failed
		}
		r.Stopped = i == s.stopper
		out = append(out, r)
	}
	return out
}

func (s *state) result(j *judge, skipped map[int]string) ThresholdResult {
	t := j.t
	r := ThresholdResult{Scope: t.Scope, Expression: t.Source, Figure: t.Figure, Op: t.Op, Limit: t.Limit, Unit: j.fig.unit,
		Implied: t.Implied, AfterNS: int64(t.After), WindowNS: int64(t.Window), ForNS: int64(t.For), File: t.File, Line: t.Line}
	if t.Group >= 0 && t.Group < len(s.out.Groups) {
		r.Group = s.out.Groups[t.Group].Name
	}
	if t.Single >= 0 && t.Single < len(s.out.Series) {
		id := t.Single
		r.SeriesID = &id
	}
	if r.NotJudged = s.unjudged(j, skipped); r.NotJudged != "" {
		r.Passed = true
		r.Message = "not judged: " + r.NotJudged
		return r
	}
	if s.tooShort(t) && !t.Stop {
		r.NoData, r.Message = true, t.Figure+" has no data: "+s.within(t)+", before which it is not judged"
		return r
	}
	if reason := s.unseen(j); reason != "" {
		r.NoData, r.Message = true, t.Figure+" has no data: "+reason
		return r
	}
	if j.broken || j.judged && (t.Window > 0 || t.For > 0) {
		v := j.value
		r.Value, r.Passed = &v, !j.broken
		r.Message = sentence(&j.fig, t, v) + live(j)
	} else {
		s.final(&r, j, s.whole(j))
	}
	if !r.Passed && !r.NoData && j.fig.stat == "dropped" {
		r.Message += s.tooFewThreads(t.Group)
	}
	return r
}

// mergedSegments is the Info's segment of a whole made of segments.
const mergedSegments = "all"

// partial reports that a threshold wants an amount of load of which no more than a
// segment was there. What is too much in a segment is too much in the whole.
func (s *state) partial(j *judge) bool {
	return s.out.Info.Segment != "" && s.out.Info.Segment != mergedSegments && j.amount() &&
		!strings.HasPrefix(j.t.Op, "<") && !(j.t.Op == "==" && j.t.Limit == 0)
}

// amount reports whether a figure grows with the load.
func (j *judge) amount() bool {
	switch j.fig.stat {
	case "samples", "throughput", "error_count", "dropped", "received", "sent":
		return true
	}
	return false
}

// unseen returns why a threshold that is judged while the run goes on never was,
// or "".
func (s *state) unseen(j *judge) string {
	switch {
	case j.broken || j.t.Window <= 0 && j.t.For <= 0:
		return ""
	case s.out.Info.Segment == mergedSegments && j.amount():
		return "each segment saw only its own part of it; write it without window and for, or run the plan in one piece"
	case j.t.Window > 0 && !j.judged && j.known:
		return "no window of " + formatTime(float64(j.t.window()), 3) + " had enough of it"
	}
	return ""
}

// live tells when a threshold was judged.
func live(j *judge) string {
	text := ""
	if j.t.Window > 0 {
		text = " over " + formatTime(float64(j.t.Window), 3)
	}
	switch {
	case j.broken && j.t.For > 0:
		return text + ", for " + formatTime(float64(j.t.For), 3) + ", " + formatTime(float64(j.when), 3) + " after the start"
	case j.broken:
		return text + ", " + formatTime(float64(j.when), 3) + " after the start"
	case j.t.Window > 0:
		return text + " at the end, and was not broken before"
	}
	return " at the end, and was not broken for " + formatTime(float64(j.t.For), 3)
}

// unjudged returns why a threshold is left out, or "".
func (s *state) unjudged(j *judge, skipped map[int]string) string {
	t := j.t
	if g := t.Group; g >= 0 && g < len(s.out.Groups) {
		reason, left := skipped[g]
		if r := s.out.Groups[g].Skipped; r != "" {
			reason, left = r, true
		}
		if left {
			return "the group " + s.out.Groups[g].Name + " is skipped" + because(reason)
		}
	}
	if s.partial(j) {
		return "an amount cannot be judged in one segment of the load; runner merge judges the whole"
	}
	if t.Single >= len(s.out.Series) {
		return "its row was counted in " + otherKind
	}
	if j.impliedErrors() && s.measure(s.total, j).count == 0 {
		return "it never ran"
	}
	if t.Stop && s.tooShort(t) {
		return s.within(t)
	}
	return ""
}

// tooShort reports that the run, or each that took turns, ended before the
// threshold's `after`.
func (s *state) tooShort(t *thresholdOutline) bool {
	for i := range s.turns {
		if !s.turns[i].state.tooShort(t) {
			return false
		}
	}
	if len(s.turns) > 0 {
		return true
	}
	begun, ok := s.begunOf(t.Group)
	return ok && t.After > 0 && s.at-begun+lateTick < t.After
}

func (s *state) within(t *thresholdOutline) string {
	return "the run ended within the first " + formatTime(float64(t.After), 3)
}

// controls reports whether a threshold judges only rows that are left out of
// reports while they have no samples: steps that are no samplers, reserved rows.
func (s *state) controls(j *judge) bool {
	for _, i := range j.t.Series {
		if i < 0 || i >= len(s.out.Series) || !s.out.Series[i].quiet() {
			return false
		}
	}
	return len(j.t.Series) > 0
}

// impliedErrors reports whether this is the implied rule errors == 0%.
func (j *judge) impliedErrors() bool { return j.t.Implied && j.known && j.fig.stat == "errors" }

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// final judges over the whole run. A percentile with few samples is broken if it
// breaks the limit, passes if even the extreme value is within it, and has no
// data otherwise.
func (s *state) final(r *ThresholdResult, j *judge, m *measure) {
	v, ok := j.fig.value(m, s)
	ok = ok && j.known && finite(v) == v
	if !ok {
		r.NoData, r.Message = true, s.noData(j, m)
		return
	}
	r.Value, r.Passed = &v, holds(v, j.t.Op, j.t.Limit)
	r.Message = sentence(&j.fig, j.t, v)
	e := j.fig.evidence(m, &s.gen)
	if j.fig.stat != "p" || e.n >= e.need {
		return
	}
	extreme, name := e.max, "maximum"
	if j.t.Op == ">" || j.t.Op == ">=" {
		extreme, name = e.min, "minimum"
	}
	need := formatCount(e.need)
	switch {
	case !r.Passed:
		r.FewSamples = true
		r.Message += " (" + formatCount(e.n) + " samples, " + need + " are needed to be sure)"
	case holds(extreme, j.t.Op, j.t.Limit):
		r.FewSamples = true
		r.Message += " (few samples: " + formatCount(e.n) + " of " + need + ", but even the " + name + " of " + formatValue(extreme, j.fig.unit, 3) + " is within the limit)"
	default:
		r.Value, r.Passed, r.NoData, r.FewSamples = nil, false, true, true
		r.Message = j.t.Figure + " has no data: it needs " + need + " samples, there were " + formatCount(e.n)
	}
}

func (s *state) noData(j *judge, m *measure) string {
	switch {
	case !j.known:
		return j.t.Figure + " has no data: it was not measured"
	case j.fig.metric > 0 && m.metric.n == 0:
		return j.t.Figure + " has no data: the metric was given no value"
	case j.fig.from == lagTimes && !s.hasSchedule():
		return j.t.Figure + " has no data: the plan has no schedule, so no sample can leave late; it needs rate, pacing or a throughput timer"
	case j.fig.from == lagTimes:
		return j.t.Figure + " has no data: no sample was due while a thread was free for it"
	case m.count == 0 && j.fig.stat != "generator.cpu":
		return j.t.Figure + " has no data: no sample was taken"
	case m.timed() == 0 && j.fig.stat != "generator.cpu":
		return j.t.Figure + " has no data: no sample was sent, " + counted(m.count, "sample", "samples") + " failed before that"
	}
	return j.t.Figure + " has no data: too little was measured"
}

// hasSchedule reports whether any sample had a due time of its own.
func (s *state) hasSchedule() bool {
	for g := range s.out.Groups {
		if s.out.Groups[g].Open {
			return true
		}
	}
	for _, i := range s.total.touched {
		if s.total.cells[i].scheduled > 0 {
			return true
		}
	}
	return false
}

func scopeName(scope string) string {
	if scope == "plan" || scope == "" {
		return "the plan"
	}
	return scope
}
