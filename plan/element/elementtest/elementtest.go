// Package elementtest is the acceptance suite that every element must pass: its
// documentation is whole, its examples are legal plans, mistakes in it are
// reported at the right place, and it may be shared by threads.
//
// Elements outside this module are tested with it in the same way.
package elementtest

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"sort"
	"strings"
	"testing"
	"time"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
)

// Config says what the examples of an element need.
type Config struct {
	Vars      map[string]string      // variables that they use, as text of `vars:`
	Sample    func() *element.Sample // what assertions and extractors look at; an empty sample if nil
	Functions []expr.Function        // response functions that they use
	Plan      string                 // name of the plan file, for paths in the examples; "plan.yaml" if empty
}

// Run tests the element that d defines.
func Run(t *testing.T, d element.Definition, c Config) {
	t.Helper()
	t.Run(d.Kind.String()+" "+d.Name, func(t *testing.T) {
		report(t, "documentation", func() []string { return documentation(d) })
		report(t, "examples", func() []string { return examples(t, d, c) })
		report(t, "mistakes", func() []string { return mistakes(t, d, c) })
		report(t, "threads", func() []string { return threads(t, d, c) })
		if d.Kind == element.SamplerKind {
			report(t, "cancelled", func() []string { return cancelled(t, d, c) })
		}
	})
}

func report(t *testing.T, name string, check func() []string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		for _, p := range check() {
			t.Error(p)
		}
	})
}

// Bound is an element decoded from text and bound, as the engine would have it.
type Bound struct {
	Element   any
	Pick      element.Pick // of an extractor
	functions *expr.Functions
	vars      map[string]string
}

// Bind decodes and binds text, which stands in a plan where the examples of d
// stand. Problems fail the test.
func Bind(t testing.TB, d element.Definition, text string, c Config) *Bound {
	t.Helper()
	b, _, ds := decode(t, d, text, c)
	if ds.HasErrors() || b == nil {
		t.Fatalf("%s: %v", text, ds)
	}
	return b
}

// Open opens the element as the engine does before a run, and closes it at the
// test's end.
func (b *Bound) Open(t testing.TB) {
	t.Helper()
	if c, ok := b.Element.(element.Closer); ok {
		t.Cleanup(func() { _ = c.Close() })
	}
	if o, ok := b.Element.(element.Opener); ok {
		if err := o.Open(context.Background()); err != nil {
			t.Fatalf("open: %v", err)
		}
	}
}

// Problems returns the diagnostics of text as "column: summary", columns counted
// from the start of text.
func Problems(t testing.TB, d element.Definition, text string, c Config) []string {
	t.Helper()
	_, start, ds := decode(t, d, text, c)
	var out []string
	for _, p := range ds.Sorted() {
		if p.Severity == source.Error {
			out = append(out, fmt.Sprintf("%d: %s", p.Range.Start.Offset-start+1, p.Summary))
		}
	}
	return out
}

// Thread returns a new thread that knows the variables of the Config, on a clock
// that stands still.
func (b *Bound) Thread(id int) *element.Thread {
	th := element.NewThread(id, "g", expr.NewMachine(b.functions, uint64(id)), nil)
	th.Rand = rand.New(rand.NewPCG(7, uint64(id)))
	th.Clock, th.Plan, th.Members = still{}, &element.Shared{}, &element.Shared{}
	for name, text := range b.vars {
		if bare := strings.Trim(text, `"'`); bare != text {
			th.Set(name, bare)
			continue
		}
		th.Set(name, expr.Infer(text))
	}
	return th
}

type still struct{}

func (still) Now() time.Duration { return 0 }

// decode returns the bound element, the offset at which text starts in the plan,
// and the problems of the plan.
func decode(t testing.TB, d element.Definition, text string, c Config) (*Bound, int, source.Diagnostics) {
	t.Helper()
	reg, err := element.NewRegistry(c.Functions, []element.Definition{d, element.DefineSampler[idle]("idle", element.Doc{})})
	if err != nil {
		t.Fatal(err)
	}
	whole, start := planText(d, text, c.Vars)
	p, ds := plan.Parse(source.New(cmp.Or(c.Plan, "plan.yaml"), []byte(whole)), reg)
	if ds.HasErrors() || p == nil {
		return nil, start, ds
	}
	ds = append(ds, plan.Validate(p, reg, plan.Options{})...)
	b := &Bound{functions: p.Functions, vars: c.Vars}
	step := p.Groups[0].Steps[0]
	switch scope := step.Scope; d.Kind {
	case element.TimerKind:
		b.Element = scope.Timers[0].Element
	case element.AssertionKind:
		b.Element = scope.Assertions[0].Element
	case element.ExtractorKind:
		b.Element, b.Pick = scope.Extract[0].Element, scope.Extract[0].Pick
	default:
		b.Element = step.Action.(*plan.SamplerAction).Element
	}
	return b, start, ds
}

// planText returns a plan around text and the offset of text in it.
func planText(d element.Definition, text string, vars map[string]string) (string, int) {
	var b strings.Builder
	b.WriteString("plan: test\n")
	names := make([]string, 0, len(vars))
	for name := range vars {
		names = append(names, name)
	}
	sort.Strings(names)
	for i, name := range names {
		if i == 0 {
			b.WriteString("vars:\n")
		}
		fmt.Fprintf(&b, "  %s: %s\n", name, vars[name])
	}
	b.WriteString("thread_groups:\n  g:\n    load: {threads: 1, iterations: 1}\n    steps:\n      - ")
	indent := "        "
	switch d.Kind {
	case element.TimerKind:
		b.WriteString("idle: {}\n        timers:\n          - ")
		indent = "            "
	case element.AssertionKind:
		b.WriteString("idle: {}\n        assertions:\n          - ")
		indent = "            "
	case element.ExtractorKind:
		b.WriteString("idle: {}\n        extract:\n          value: ")
		indent = "            "
		if strings.Contains(text, "\n") {
			b.WriteString("\n" + indent)
		}
	}
	start := b.Len()
	b.WriteString(strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+indent) + "\n")
	return b.String(), start
}
