package stats

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
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
// histograms and ledgers are those of all samples together, bit for bit; intervals
// are aligned by the wall clock where the runs overlap, else by each run's start.
// Thresholds are judged again over the merged figures; one with `window`, `for` or
// `stop` that was broken in a part stays broken. Parts of different plans are an
// error. The parts are left as they are.
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
	offsets, together := align(parts)
	out := mergedOutline(parts, together)
	s := newState(out)
	for i, p := range parts {
		s.absorb(p.state, offsets[i])
		g := p.generator()
		s.gen.others = append(s.gen.others, g)
		law := p.state.check(p.end == nil || p.end.Aborted, &g)
		law.name = p.name
		s.laws = append(s.laws, law)
	}
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

// align returns how much later than the first each part began, and whether they
// ran together; parts that did not all begin at 0.
func align(parts []Part) (offsets []time.Duration, together bool) {
	byStart := slices.Clone(parts)
	slices.SortStableFunc(byStart, func(a, b Part) int { return a.started().Compare(b.started()) })
	first, end := byStart[0].started(), byStart[0].started()
	for _, p := range byStart {
		if p.started().After(end) {
			return make([]time.Duration, len(parts)), false
		}
		if last := p.started().Add(p.state.at); last.After(end) {
			end = last
		}
	}
	for _, p := range parts {
		offsets = append(offsets, p.started().Sub(first))
	}
	return offsets, true
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
func mergedOutline(parts []Part, together bool) *outline {
	out := *parts[0].state.out
	out.Groups, out.Series, out.Notes = slices.Clone(out.Groups), slices.Clone(out.Series), slices.Clone(out.Notes)
	var names, hosts, runs []string
	cpus := 0
	for i, p := range parts {
		info := &p.state.out.Info
		if info.Started.Before(out.Info.Started) {
			out.Info.Started = info.Started
		}
		names = append(names, p.name+" (started "+info.Started.Format(time.RFC3339)+")")
		runs = append(runs, info.RunID)
		if !slices.Contains(hosts, info.Environment.Host) {
			hosts, cpus = append(hosts, info.Environment.Host), cpus+info.Environment.CPUs
		}
		out.Info.Floor = largest(out.Info.Floor, info.Floor)
		if i == 0 {
			continue
		}
		out.Notes = append(out.Notes, p.state.out.Notes...)
		for g := range out.Groups {
			from := &p.state.out.Groups[g]
			out.Groups[g].Duration = max(out.Groups[g].Duration, from.Duration)
			out.Groups[g].MaxThreads = merged(out.Groups[g].MaxThreads, from.MaxThreads, together)
		}
	}
	out.Info.RunID = cut(strings.Join(runs, "+"), maxText)
	out.Info.Environment.Host, out.Info.Environment.CPUs = cut(strings.Join(hosts, ", "), maxText), cpus
	note := "merged from " + counted(int64(len(parts)), "result", "results") + ": " + strings.Join(names, ", ")
	if together {
		note += "; intervals are aligned by the wall clocks"
	} else {
		note += "; they did not run at the same time, so each is counted from its own start and rates are those of all together"
	}
	out.Notes = append(out.Notes, cut(note, 4*maxText))
	if out.Info.Segment != "" {
		out.Info.Segment = mergedSegments
	}
	return &out
}

// merged adds what ran together, or keeps the larger.
func merged(a, b int, together bool) int {
	if together {
		return a + b
	}
	return max(a, b)
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
