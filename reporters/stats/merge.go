package stats

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"runner/plan/element"
)

// Part is one run's results, ready to be merged with others of the same plan.
type Part struct {
	name  string
	state *state
	end   *EndInfo
}

// ReadPart reads a run's results from its journal; name says in messages where it
// comes from.
func ReadPart(name string, journal io.Reader) (Part, error) {
	s, end, err := readState(journal)
	if err != nil {
		return Part{}, fmt.Errorf("read journal %s: %w", name, err)
	}
	return Part{name: cut(name, maxText), state: s, end: end}, nil
}

// Merge makes one summary of the results of several machines or runs. Counts,
// histograms and ledgers are those of all samples together, bit for bit. Parts that
// ran at the same time are aligned by the wall clock, and their rates add up; those
// that did not are laid one after the other, and a rate is their samples over the
// sum of their spans. Thresholds are judged again over the merged figures; one with
// `window`, `for` or `stop` that was broken in a part stays broken. Parts of
// different plans are an error. The parts are left as they are.
func Merge(parts []Part) (*Summary, error) {
	if len(parts) == 0 {
		return nil, errors.New("merge results: there are none")
	}
	first := parts[0].state.out
	for _, p := range parts[1:] {
		if err := samePlan(first, p.state.out); err != nil {
			return nil, fmt.Errorf("merge %s with %s: %w", p.name, parts[0].name, err)
		}
	}
	turns, err := turnsOf(parts)
	if err != nil {
		return nil, fmt.Errorf("merge results: %w", err)
	}
	out := mergedOutline(parts, turns)
	s := newState(out)
	if len(turns) == 1 {
		s.beside(parts, turns[0])
	} else {
		for _, t := range turns {
			own := *out
			own.Series = slices.Clone(out.Series)
			c := newState(&own)
			c.beside(parts, t)
			s.follow(c)
		}
	}
	for _, p := range parts {
		g := p.generator()
		s.gen.others = append(s.gen.others, g)
		law := p.state.check(p.end == nil || p.end.Aborted, &g)
		law.name = p.name
		s.laws = append(s.laws, law)
	}
	s.killed = killed(parts)
	return s.summary(mergedEnd(parts)), nil
}

// samePlan reports why two results cannot be merged.
func samePlan(a, b *outline) error {
	switch {
	case a.Info.PlanSHA256 != b.Info.PlanSHA256:
		return errors.New("they are results of different plans")
	case a.Apdex != b.Apdex:
		return errors.New("they were made with different apdex limits")
	case !slices.EqualFunc(a.Groups, b.Groups, func(x, y groupOutline) bool { return x.Name == y.Name && x.Open == y.Open }),
		!slices.EqualFunc(a.Series, b.Series, func(x, y seriesOutline) bool {
			return (x.Name == y.Name || x.Reserved && y.Reserved) && x.Group == y.Group && x.Kind == y.Kind && x.Phase == y.Phase && len(x.Assertions) == len(y.Assertions)
		}),
		!slices.EqualFunc(a.Thresholds, b.Thresholds, func(x, y thresholdOutline) bool {
			return x.Scope == y.Scope && x.Figure == y.Figure && x.Op == y.Op && x.Limit == y.Limit && slices.Equal(x.Series, y.Series)
		}),
		!slices.Equal(a.Metrics, b.Metrics):
		return errors.New("the plan was run with other values or another version: groups, steps, thresholds or metrics differ")
	}
	return nil
}

func (p *Part) started() time.Time { return p.state.out.Info.Started }

// generator judges the part's own load generator, and names it.
func (p *Part) generator() Generator {
	total := cell{}
	for i := range p.state.width() {
		if c := p.state.total.cells[i]; c != nil && p.state.load(i) {
			total.merge(c, nil)
		}
	}
	var all Histogram
	all.merge(&total.success, nil)
	all.merge(&total.failure, nil)
	g := p.state.judged(all.supported(50))
	for i := range g.Reasons {
		g.Reasons[i] = p.name + ": " + g.Reasons[i]
	}
	return g
}

// mergedOutline describes the merged run.
func mergedOutline(parts []Part, turns []turn) *outline {
	out := *parts[0].state.out
	out.Groups, out.Series, out.Notes = slices.Clone(out.Groups), slices.Clone(out.Series), nil
	var names, hosts, runs []string
	cpus := 0
	for i := range parts {
		p, info := &parts[i], &parts[i].state.out.Info
		if info.Started.Before(out.Info.Started) {
			out.Info.Started = info.Started
		}
		names = append(names, p.name+" (started "+info.Started.Format(time.RFC3339)+")")
		runs = append(runs, info.RunID)
		if !slices.Contains(hosts, info.Environment.Host) {
			hosts, cpus = append(hosts, info.Environment.Host), cpus+info.Environment.CPUs
		}
		out.Info.Floor = largest(out.Info.Floor, info.Floor)
		out.Notes = append(out.Notes, p.notes()...)
		for g := range out.Groups {
			out.Groups[g].Duration = max(out.Groups[g].Duration, p.state.out.Groups[g].Duration)
		}
	}
	for g := range out.Groups {
		out.Groups[g].MaxThreads = mostThreads(parts, turns, g)
	}
	out.Info.RunID = cut(strings.Join(runs, "+"), maxText)
	out.Info.Environment.Host, out.Info.Environment.CPUs = cut(strings.Join(hosts, ", "), maxText), cpus
	note := cut("merged from "+counted(int64(len(parts)), "result", "results")+": "+strings.Join(names, ", "), 4*maxText)
	out.Notes = append(out.Notes, note+"; "+laid(turns, len(parts), out.Info.Segment != ""))
	if out.Info.Segment != "" {
		out.Info.Segment = mergedSegments
		if phases := out.phases(); phases != "" {
			out.Notes = append(out.Notes, phases+" ran in each segment")
		}
	}
	return &out
}

// laid says how the parts were put together.
func laid(turns []turn, parts int, segments bool) string {
	const after = "a rate is the samples over the sum of their times"
	text := "they did not run at the same time, so they are laid one after the other: " + after
	switch {
	case len(turns) == 1:
		return "intervals are aligned by the wall clocks"
	case len(turns) < parts:
		text = "not all of them ran at the same time: those that did are aligned by the wall clocks and their rates add up, " +
			"and these stretches are laid one after the other: " + after
	}
	if segments {
		text += "; the whole load was never there at once"
	}
	return text
}

// notes returns the part's notes without the one that says which segment it is.
func (p *Part) notes() []string {
	k, n, ok := p.segment()
	prefix := fmt.Sprintf("segment %d of %d:", k, n)
	return slices.DeleteFunc(slices.Clone(p.state.out.Notes), func(text string) bool { return ok && strings.HasPrefix(text, prefix) })
}

// phases names the phases beside the load, "" if there are none.
func (o *outline) phases() string {
	var out []string
	for _, phase := range []element.Phase{element.Setup, element.Teardown} {
		if slices.ContainsFunc(o.Series, func(s seriesOutline) bool { return s.Phase == string(phase) }) {
			out = append(out, string(phase))
		}
	}
	return strings.Join(out, " and ")
}

// killed says which parts have no end and how far they came, "" if all have one.
func killed(parts []Part) string {
	var cut []string
	longest := time.Duration(0)
	for i := range parts {
		p := &parts[i]
		if p.end != nil {
			longest = max(longest, p.state.at)
		} else {
			cut = append(cut, p.name+" ends after "+formatTime(float64(p.state.at), 3))
		}
	}
	if len(cut) == 0 {
		return ""
	}
	text := strings.Join(shortened(cut), ", ") + " without its end being written down (killed?)"
	if longest > 0 {
		text += "; the others ran " + formatTime(float64(longest), 3)
	}
	return text
}

// mergedEnd tells how the parts ended, nil if one has no end.
func mergedEnd(parts []Part) *EndInfo {
	end := &EndInfo{SkippedGroups: map[int]string{}}
	for _, p := range parts {
		e := p.end
		if e == nil {
			return nil
		}
		end.Signal = cmp.Or(end.Signal, e.Signal)
		end.Aborted = end.Aborted || e.Aborted
		end.SetupError = cmp.Or(end.SetupError, prefixed(p.name, e.SetupError))
		end.Stopped = cmp.Or(end.Stopped, prefixed(p.name, e.Stopped))
		for _, text := range e.ReportErrors {
			end.ReportErrors = append(end.ReportErrors, prefixed(p.name, text))
		}
		for _, text := range e.Errors {
			end.Errors = append(end.Errors, prefixed(p.name, text))
		}
		for g, reason := range e.SkippedGroups {
			end.SkippedGroups[g] = reason
		}
	}
	return end
}

func prefixed(name, text string) string {
	if text == "" {
		return ""
	}
	return name + ": " + text
}
