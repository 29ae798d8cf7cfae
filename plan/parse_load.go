package plan

import (
	"fmt"
	"strings"
	"time"

	"runner/plan/expr"
	"runner/plan/source"
)

// load reads the load of a group and refuses what cannot be combined.
func (p *parser) load(n *source.Node) Load {
	l := Load{Range: n.Range}
	duration := func(name string, to *expr.Duration) key {
		return on(name, func(v *source.Node) { *to = decode[time.Duration](p, v) })
	}
	count := func(name string, to *expr.Int) key {
		return on(name, func(v *source.Node) { *to = p.count(v, name) })
	}
	ok := p.object(n, "the load", []key{
		on("threads", func(v *source.Node) { p.threads(v, &l) }),
		on("rate", func(v *source.Node) { p.rate(v, &l) }),
		duration("ramp_up", &l.RampUp), duration("duration", &l.Duration),
		count("iterations", &l.Iterations), count("shared_iterations", &l.Shared), count("max_threads", &l.MaxThreads),
		on("arrivals", func(v *source.Node) { l.Poisson = p.word(v, "`arrivals`", "even", "poisson") == "poisson" }),
		duration("delay", &l.Delay),
		on("after", func(v *source.Node) { l.After, l.AfterRange = p.text(v, "`after`"), v.Range }),
		duration("warm_up", &l.WarmUp), duration("grace", &l.Grace), duration("ramp_down_grace", &l.RampDownGrace),
	}, func(word string) string {
		switch {
		case groupKeys[word] || word == "on_error" || word == "vars":
			return "it belongs to the thread group, beside `load:`"
		case word == "to" || word == "over" || word == "hold" || word == "at" || word == "for":
			return "it belongs into a stage: threads: [{to: 10, over: 1m}]"
		case word == "stages":
			return "write the stages under `threads:` or `rate:`: threads: [{to: 10, over: 1m}]"
		}
		return ""
	})
	if ok {
		p.loadRules(n)
	}
	return l
}

// count reads a number of threads or iterations, at least 1.
func (p *parser) count(n *source.Node, name string) expr.Int {
	v := decode[int64](p, n)
	if x, ok := v.Literal(); ok && x < 1 && n.Kind == source.Scalar && isInt(n.Text) {
		p.add(n.Range, "out-of-range", fmt.Sprintf("`%s` must be at least 1", name), "write 1 or more")
	}
	return v
}

func isInt(text string) bool { _, err := expr.ParseInt(text); return err == nil }

// isStaged reports whether a number of threads or a rate is given as stages.
func isStaged(n *source.Node) bool {
	return n != nil && (n.Kind == source.List || n.Kind == source.Map)
}

func (p *parser) threads(n *source.Node, l *Load) {
	if !isStaged(n) {
		l.Threads = p.count(n, "threads")
		return
	}
	l.ThreadStages = p.stages(n, "threads", func(v *source.Node, s *Stage) {
		s.Threads = decode[int64](p, v)
		if x, ok := s.Threads.Literal(); ok && x < 0 {
			p.add(v.Range, "out-of-range", "a stage cannot have less than 0 threads", "write 0 or more")
		}
	})
}

func (p *parser) rate(n *source.Node, l *Load) {
	if !isStaged(n) {
		l.Rate = decode[expr.Rate](p, n)
		if x, ok := l.Rate.Literal(); ok && x == 0 && strings.HasPrefix(n.Text, "0") && strings.Contains(n.Text, "/") {
			p.add(n.Range, "out-of-range", "`rate` must be more than 0", "write one like 500/s")
		}
		return
	}
	l.RateStages = p.stages(n, "rate", func(v *source.Node, s *Stage) { s.Rate = decode[expr.Rate](p, v) })
}

// stages reads {to, over}, {hold} and {at, for}.
func (p *parser) stages(n *source.Node, name string, target func(*source.Node, *Stage)) []Stage {
	var out []Stage
	items := p.list(n, "the stages of `"+name+"`", true)
	if n.Kind == source.List && len(items) == 0 {
		p.add(n.Range, "empty-value", "there is no stage", "write one like {to: 10, over: 1m}")
	}
	for i, item := range items {
		s := Stage{Range: item.Range}
		time := func(name string) key {
			return on(name, func(v *source.Node) { s.Time = decode[time.Duration](p, v) })
		}
		if !p.object(item, "a stage", []key{
			on("to", func(v *source.Node) { target(v, &s) }), time("over"),
			time("hold"),
			on("at", func(v *source.Node) { target(v, &s) }), time("for"),
		}, func(word string) string {
			if word == "duration" {
				return "write `over:` with `to:`, `for:` with `at:`, or `hold:` alone"
			}
			return ""
		}) {
			continue
		}
		p.stageForm(item, &s, i == 0)
		out = append(out, s)
	}
	return out
}

func (p *parser) stageForm(n *source.Node, s *Stage, first bool) {
	to, over, hold, at, stay := n.Field("to"), n.Field("over"), n.Field("hold"), n.Field("at"), n.Field("for")
	pair := func(kind StageKind, a, b *source.Field, nameA, nameB, example string) {
		s.Kind = kind
		if a == nil {
			p.lacks(n, n.Range, "bad-stage", fmt.Sprintf("a stage with `%s` needs `%s`", nameB, nameA), "write "+example)
		} else if b == nil {
			p.lacks(n, n.Range, "bad-stage", fmt.Sprintf("a stage with `%s` needs `%s`", nameA, nameB), "write "+example)
		}
	}
	forms := 0
	for _, given := range []bool{to != nil || over != nil, hold != nil, at != nil || stay != nil} {
		if given {
			forms++
		}
	}
	switch {
	case forms != 1:
		p.lacks(n, n.Range, "bad-stage", "a stage is one of {to, over}, {hold} and {at, for}", "write {to: 10, over: 1m}, {hold: 5m} or {at: 10, for: 1m}")
	case hold != nil:
		s.Kind = StageHold
		if first {
			p.add(n.Range, "hold-first", "the first stage cannot be `hold`: there is nothing to stay at yet", "begin with {to: 10, over: 1m}, or {at: 10, for: 1m}")
		}
	case to != nil || over != nil:
		pair(StageTo, to, over, "to", "over", "{to: 10, over: 1m}")
	default:
		pair(StageAt, at, stay, "at", "for", "{at: 10, for: 1m}")
	}
}

// loadRules refuses the combinations that have no meaning.
func (p *parser) loadRules(n *source.Node) {
	has := func(k string) bool { return n.Field(k) != nil }
	refuse := func(k, summary, detail string) {
		if has(k) {
			p.add(n.Field(k).Key.Range, "bad-load", summary, detail)
		}
	}
	switch {
	case has("threads") && has("rate"):
		p.clash(n.Field("threads").Key, n.Field("rate").Key, "keep `threads` for a fixed number of threads, or `rate` for a fixed number of iterations a second (with max_threads)")
		return
	case !has("threads") && !has("rate"):
		p.lacks(n, n.Range, "bad-load", "the load says neither `threads` nor `rate`", "write load: {threads: 10, duration: 1m}, or load: {rate: 10/s, duration: 1m, max_threads: 100}")
		return
	}
	p.exclusive(n, "keep `iterations` for a count per thread, or `shared_iterations` for the total", "iterations", "shared_iterations")
	staged := isStaged(n.Get("threads")) || isStaged(n.Get("rate"))
	if staged {
		for _, k := range []string{"duration", "ramp_up", "iterations", "shared_iterations"} {
			refuse(k, fmt.Sprintf("`%s` cannot stand beside stages: the stages say how long the load lasts", k), "remove it")
		}
	}
	if has("rate") {
		p.openRules(n, refuse, staged)
		return
	}
	refuse("max_threads", "`max_threads` belongs to `rate`; with `threads` the number is fixed", "remove it, or write rate: 10/s instead of threads")
	refuse("arrivals", "`arrivals` belongs to `rate`; threads start their next iteration when they are ready", "remove it")
	if !staged && !has("duration") && !has("iterations") && !has("shared_iterations") {
		p.lacks(n, n.Range, "bad-load", "the load does not say when it ends", "add duration: 10m, or iterations: 1")
	}
}

func (p *parser) openRules(n *source.Node, refuse func(k, summary, detail string), staged bool) {
	refuse("ramp_up", "`ramp_up` belongs to `threads`; a rate rises in stages", "write rate: [{to: 100/s, over: 30s}, {hold: 5m}]")
	refuse("shared_iterations", "`shared_iterations` belongs to `threads`; the iterations of a rate are shared already", "write iterations:")
	if n.Field("max_threads") == nil {
		p.lacks(n, n.Field("rate").Key.Range, "bad-load", "`rate` needs `max_threads`: how many threads may be busy at once", "add max_threads: 100")
	}
	if !staged && n.Field("duration") == nil && n.Field("iterations") == nil {
		p.lacks(n, n.Range, "bad-load", "the load does not say when it ends", "add duration: 10m, or iterations: 1000")
	}
	if !staged {
		p.exclusive(n, "a rate ends after one of them; keep one", "duration", "iterations")
	}
}
