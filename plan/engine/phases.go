package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
)

var errTimeLimit = errors.New("time limit")

// runSetup runs setup on one thread; what it set and extracted becomes plan-wide.
func (x *run) runSetup(ctx context.Context) error {
	if x.setup == nil || x.stopped() != "" {
		return nil
	}
	x.phase.Store(x.setup)
	defer x.phase.Store(nil)
	limited, cancel := x.timeout(ctx, x.setup.timeout)
	defer cancel()
	stoppable, abandon := context.WithCancel(limited)
	defer abandon()
	x.mu.Lock()
	x.abandon = abandon
	x.mu.Unlock()
	th := x.phaseThread(x.setup)
	defer th.close()
	th.setup = true
	x.phaseRows(stoppable, th, x.setup)
	sig := x.setup.body.run(stoppable, th)
	x.mu.Lock()
	x.abandon = nil
	x.mu.Unlock()
	switch {
	case sig == interrupted && errors.Is(context.Cause(limited), errTimeLimit):
		return &SetupError{Reason: fmt.Sprintf("it took longer than its setup_timeout of %s", expr.FormatDuration(x.setup.timeout))}
	case th.failure != nil && x.stopped() == "":
		return &SetupError{Step: th.failure.step, Reason: th.failure.reason, Range: th.failure.where}
	case sig == stopPlan:
		x.stop("", "a step of setup stopped the plan")
	}
	set := map[string]any{}
	for _, name := range x.setup.results {
		if v, ok := th.Lookup(name); ok {
			set[name] = v
		}
	}
	x.values.set = set
	return nil
}

// runTeardown runs every step of teardown, whatever fails in it.
func (x *run) runTeardown(ctx context.Context) {
	if x.teardown == nil {
		return
	}
	x.phase.Store(x.teardown)
	defer x.phase.Store(nil)
	limited, cancel := x.timeout(ctx, x.teardown.timeout)
	defer cancel()
	th := x.phaseThread(x.teardown)
	defer th.close()
	x.phaseRows(limited, th, x.teardown)
	if x.teardown.body.run(limited, th) == interrupted && ctx.Err() == nil {
		x.recorder.Note(fmt.Sprintf("teardown took longer than its teardown_timeout of %s and was cut off", expr.FormatDuration(x.teardown.timeout)))
	}
}

func (x *run) phaseThread(p *phase) *thread {
	th := x.newThread(nil, 0, p.id, p.name, p.slots)
	th.begun = true
	return th
}

func (x *run) phaseRows(ctx context.Context, th *thread, p *phase) {
	th.advance(p.counters)
	for _, f := range p.feeds {
		_ = th.take(ctx, f) // a failure has been recorded as a sample of its own
	}
}

func (x *run) machine(seed uint64) *expr.Machine { return expr.NewMachine(x.functions, x.seed^seed) }

// panicked turns a panic into an error; the stack is logged once per element.
func (x *run) panicked(key any, kind string, v any) error {
	if _, seen := x.panics.LoadOrStore(key, true); !seen {
		x.log.Error("panic in "+kind, "panic", fmt.Sprint(v), "stack", string(debug.Stack()))
	}
	return &element.Error{Class: element.Protocol, Message: "panic in " + kind}
}

func isStop(err error) bool { return errors.Is(err, ErrStopThread) }

// listOf returns the items of a list for foreach.
func listOf(v any) ([]any, error) {
	switch v := v.(type) {
	case []any:
		return v, nil
	case []string:
		return boxed(v), nil
	case []int:
		return boxed(v), nil
	case []int64:
		return boxed(v), nil
	case []float64:
		return boxed(v), nil
	case []map[string]any:
		return boxed(v), nil
	}
	return nil, fmt.Errorf("foreach: %s is not a list", expr.TypeOf(v))
}

func boxed[T any](list []T) []any {
	out := make([]any, len(list))
	for i, v := range list {
		out[i] = v
	}
	return out
}

// place names a range as file:line:column.
func place(r source.Range) string {
	if r.IsZero() {
		return "plan"
	}
	return fmt.Sprintf("%s:%d:%d", r.File.Name, r.Start.Line, r.Start.Column)
}

// written returns what stands behind the name at r in the plan, in one line of
// at most 60 runes: "css: .price" of "price: {css: .price}".
func written(r source.Range) string {
	if r.IsZero() {
		return "its extractor"
	}
	line := r.File.Line(r.Start.Line)
	runes := []rune(line)
	text := strings.TrimLeft(string(runes[min(len(runes), max(0, r.End.Column-1)):]), "\"': ")
	if text == "" {
		text = strings.TrimSpace(r.File.Line(r.Start.Line + 1))
	}
	if inner, ok := strings.CutPrefix(text, "{"); ok {
		text, _, _ = strings.Cut(inner, "}")
	}
	text, _, _ = strings.Cut(text, " #")
	if runes := []rune(text); len(runes) > 60 {
		text = string(runes[:59]) + "…"
	}
	return strings.TrimSpace(text)
}
