package engine

import (
	"fmt"
	"strings"
	"time"

	"runner/plan"
	"runner/plan/expr"
	"runner/plan/source"
)

const (
	defaultGrace = 30 * time.Second
	// maxTime keeps sums of times far from overflow.
	maxTime = 10 * 365 * 24 * time.Hour
)

// loads evaluates the load of a group.
type loads struct {
	scope expr.Scope
	ds    *source.Diagnostics
	where source.Range // of the load, for values without a place
}

// value evaluates v, or reports why it cannot.
func value[T any](l *loads, v *expr.Value[T]) (out T, ok bool) {
	if !v.IsSet() {
		return out, false
	}
	out, err := v.Eval(l.scope)
	if err != nil {
		l.bad(v.Range(), "bad-load", "this value cannot be evaluated before the run: "+err.Error(),
			"a load may depend on the plan's vars only")
		return out, false
	}
	return out, true
}

func (l *loads) bad(r source.Range, code, summary, detail string) {
	if r.IsZero() {
		r = l.where
	}
	l.ds.Add(r, code, summary, detail)
}

// count evaluates a number that must lie in [least, most].
func (l *loads) count(v *expr.Int, what string, least, most int64) int64 {
	n, ok := value(l, v)
	if ok && (n < least || n > most) {
		l.bad(v.Range(), "out-of-range", fmt.Sprintf("%s is %d", what, n), fmt.Sprintf("write a number from %d to %d", least, most))
		return least
	}
	return n
}

// time evaluates a duration that must be at least least.
func (l *loads) time(v *expr.Duration, what string, least time.Duration) time.Duration {
	d, ok := value(l, v)
	switch {
	case ok && d < least && least <= 1:
		l.bad(v.Range(), "out-of-range", fmt.Sprintf("%s is %v", what, d), positive(least))
		return least
	case ok && d > maxTime:
		l.bad(v.Range(), "out-of-range", fmt.Sprintf("%s is %v", what, d), "write ten years or less")
		return maxTime
	}
	return d
}

func positive(least time.Duration) string {
	if least > 0 {
		return "write a time of more than 0s"
	}
	return "write a time of 0s or more"
}

// rate evaluates a rate that must be above zero, or at least zero in a stage.
func (l *loads) rate(v *expr.RateValue, what string, zero bool) float64 {
	r, ok := value(l, v)
	switch {
	case !ok:
		return 0
	case r < 0 || r == 0 && !zero || r != r:
		l.bad(v.Range(), "out-of-range", fmt.Sprintf("%s is %v", what, r), "write a rate of more than 0/s")
		return 1
	case r > MaxRate:
		l.bad(v.Range(), "out-of-range", fmt.Sprintf("%s is %v", what, r), fmt.Sprintf("write at most %d/s", MaxRate))
		return 1
	case r > 0 && rateUnits(float64(r)) == 0:
		l.bad(v.Range(), "out-of-range", fmt.Sprintf("%s is %v, less than once in a hundred years", what, r), "write a higher rate")
	}
	return float64(r)
}

// load fills the shape of g from what the plan says.
func (l *loads) load(g *group, load *plan.Load) {
	g.delay = l.time(&load.Delay, "delay", 0)
	g.warmUp = l.time(&load.WarmUp, "warm_up", 0)
	g.grace, g.rampDownGrace = defaultGrace, 0
	if load.Grace.IsSet() {
		g.grace = l.time(&load.Grace, "grace", 0)
	}
	g.rampDownGrace = g.grace
	if load.RampDownGrace.IsSet() {
		g.rampDownGrace = l.time(&load.RampDownGrace, "ramp_down_grace", 0)
	}
	duration := l.time(&load.Duration, "duration", 1)
	g.iterations = l.count(&load.Iterations, "iterations", 1, 1<<53)
	switch {
	case load.Rate.IsSet() || len(load.RateStages) > 0:
		l.open(g, load, duration)
	case len(load.ThreadStages) > 0:
		g.staged = true
		g.threads = l.stagedThreads(load)
		g.maxThreads = g.threads.Max()
	default:
		l.closed(g, load, duration)
	}
	if length := g.length(); g.warmUp > 0 && length > 0 && g.warmUp >= length {
		l.bad(load.WarmUp.Range(), "all-warm-up", fmt.Sprintf("the load is over after %v, and its first %v are warm-up: no sample counts", length, g.warmUp),
			"write a warm_up shorter than the load")
	}
}

func (l *loads) closed(g *group, load *plan.Load, duration time.Duration) {
	g.shared = l.count(&load.Shared, "shared_iterations", 1, 1<<53)
	n := int(l.count(&load.Threads, "threads", 1, MaxThreads))
	ramp := l.time(&load.RampUp, "ramp_up", 0)
	if duration > 0 && ramp > duration {
		l.ds.Warn(load.RampUp.Range(), "ramp-up-too-long", "the load ends before all threads have started",
			fmt.Sprintf("ramp_up (%v) is part of duration (%v): make ramp_up shorter", ramp, duration))
	}
	if !load.Threads.IsSet() {
		n = 1
		l.bad(load.Range, "missing-key", "the load says neither threads nor rate", "write {threads: 10, duration: 1m} or {rate: 50/s, duration: 1m, max_threads: 100}")
	}
	if !load.Duration.IsSet() && !load.Iterations.IsSet() && !load.Shared.IsSet() {
		l.bad(load.Range, "missing-key", "the load has no end", "add duration: 1m, iterations: 10 or shared_iterations: 100")
	}
	g.threads, g.maxThreads = Ramp(n, ramp, duration), n
}

func (l *loads) stagedThreads(load *plan.Load) *ThreadShape {
	var stages []ThreadStage
	level := 0
	for i := range load.ThreadStages {
		st := &load.ThreadStages[i]
		over := l.time(&st.Time, "the stage's time", 0)
		switch st.Kind {
		case plan.StageHold:
			stages = append(stages, ThreadStage{level, over})
			continue
		case plan.StageAt:
			level = int(l.count(&st.Threads, "threads", 0, MaxThreads))
			stages = append(stages, ThreadStage{level, 0}, ThreadStage{level, over})
			continue
		}
		level = int(l.count(&st.Threads, "threads", 0, MaxThreads))
		stages = append(stages, ThreadStage{level, over})
	}
	s := StagedThreads(stages)
	if s.Max() == 0 || s.Length() == 0 {
		l.bad(load.Range, "out-of-range", "the stages start no thread for any time", "write stages like {to: 10, over: 1m}")
	}
	return s
}

func (l *loads) open(g *group, load *plan.Load, duration time.Duration) {
	g.maxThreads = int(l.count(&load.MaxThreads, "max_threads", 1, MaxThreads))
	if !load.MaxThreads.IsSet() {
		g.maxThreads = 1
		l.bad(load.Range, "missing-key", "a load with rate needs max_threads", "add max_threads: 100, the most threads that may run at once")
	}
	limit := int64(-1)
	if g.iterations > 0 {
		limit = g.iterations
	}
	var stages []ArrivalStage
	if load.Rate.IsSet() {
		r := l.rate(&load.Rate, "rate", false)
		stages = []ArrivalStage{{r, r, duration}}
		if duration == 0 && limit < 0 {
			l.bad(load.Range, "missing-key", "the load has no end", "add duration: 1m or iterations: 1000")
			limit = 1
		}
	} else {
		stages = l.rateStages(load)
	}
	g.arrivals = Arrivals(stages, limit, load.Poisson)
	if g.arrivals.Count() == 0 {
		l.bad(load.Range, "out-of-range", "the stages start no iteration", "write stages like {to: 100/s, over: 1m}")
	}
}

func (l *loads) rateStages(load *plan.Load) []ArrivalStage {
	var stages []ArrivalStage
	level := 0.0
	for i := range load.RateStages {
		st := &load.RateStages[i]
		over := l.time(&st.Time, "the stage's time", 0)
		from := level
		switch st.Kind {
		case plan.StageHold:
		case plan.StageAt:
			level = l.rate(&st.Rate, "rate", true)
			from = level
		default:
			level = l.rate(&st.Rate, "rate", true)
		}
		if over > 0 {
			stages = append(stages, ArrivalStage{from, level, over})
		}
	}
	if len(stages) == 0 {
		l.bad(load.Range, "out-of-range", "the stages take no time", "write stages like {to: 100/s, over: 1m}")
		stages = []ArrivalStage{{1, 1, time.Second}}
	}
	return stages
}

// pacing evaluates the pacing of a group, nil if there is none.
func (l *loads) pacing(p *plan.Pacing, open bool) *pacing {
	if !p.From.IsSet() && !p.Rate.IsSet() {
		return nil
	}
	if open {
		l.bad(p.Range, "pacing-with-rate", "pacing does not go with a load of rate", "remove pacing: the rate starts the iterations")
		return nil
	}
	if p.Rate.IsSet() {
		return &pacing{rate: l.rate(&p.Rate, "pacing", false)}
	}
	out := &pacing{from: l.time(&p.From, "pacing", 1)}
	out.to = out.from
	if p.To.IsSet() {
		out.to = l.time(&p.To, "pacing", 1)
	}
	return out
}

// sentence says the load in words, for reports.
func (g *group) sentence(load *plan.Load) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }
	switch {
	case g.arrivals != nil:
		if load.Rate.IsSet() {
			add("%s", g.scheduledRate())
		} else {
			add("rate in %d stages up to %s", len(load.RateStages), g.scheduledRate())
		}
		if load.Poisson {
			add("poisson arrivals")
		}
		if g.iterations > 0 {
			add("%d iterations", g.iterations)
		}
		add("at most %s", threads(g.maxThreads))
	case g.staged:
		add("up to %s in %d stages", threads(g.maxThreads), len(load.ThreadStages))
	default:
		add("%s", threads(g.maxThreads))
		if g.threads.rampUp > 0 {
			add("ramp-up %v", expr.FormatDuration(g.threads.rampUp))
		}
		if g.iterations > 0 {
			add("%d iterations each", g.iterations)
		}
		if g.shared > 0 {
			add("%d iterations shared", g.shared)
		}
	}
	if d := g.length(); d > 0 {
		add("for %s", expr.FormatDuration(d))
	}
	return strings.Join(parts, ", ")
}

// scheduledRate is the highest rate of an open load, as in a plan.
func (g *group) scheduledRate() string {
	if g.arrivals == nil {
		return ""
	}
	top := 0.0
	for _, st := range g.arrivals.stages {
		top = max(top, float64(st.from)/ratePerSecond, float64(st.to)/ratePerSecond)
	}
	return expr.Rate(top).String()
}

func threads(n int) string {
	if n == 1 {
		return "1 thread"
	}
	return fmt.Sprintf("%d threads", n)
}
