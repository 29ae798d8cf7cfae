package engine

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/source"
)

// TestControllers compares what every thread did, and when, with an exact list.
func TestControllers(t *testing.T) {
	one := "{threads: 1, iterations: 1}"
	tests := []struct {
		name, load, steps string
		want              []string
	}{
		{"until is true at once", one, "- {until: status == 0, every: 1s, max: 3, fake: {say: A, take: 100ms}}", []string{"0s T1 A"}},
		{"until tries with its waits", one, "- {until: attempt == 3, every: 1s, max: 9, fake: {say: 'A${attempt}', take: 100ms}}\n- fake: B",
			[]string{"0s T1 A1", "1.1s T1 A2", "2.2s T1 A3", "2.3s T1 B"}},
		{"until ends after max", one, "- {until: status == 1, every: 1s, max: 2, fake: A}\n- fake: B", []string{"0s T1 A", "1s T1 A", "1s T1 B"}},
		{"no try begins after within", one, "- {until: status == 1, every: 1s, within: 2500ms, fake: A}\n- fake: B", []string{"0s T1 A", "1s T1 A", "2s T1 A", "2s T1 B"}},
		{"timers wait before the first try only", one, "- {until: attempt == 2, every: 1s, max: 9, fake: A, timers: {wait: 5s}}", []string{"5s T1 A", "6s T1 A"}},
		{"extractors run in every try, before the condition", one,
			"- {until: 'state == \"two\"', every: 1s, max: 9, fake: {say: A, reply: '${attempt == 2 ? \"two\" : \"one\"}'}, extract: {state: {word: 1}}}\n- fake: '${state}'",
			[]string{"0s T1 A", "1s T1 A", "1s T1 two"}},
		{"until of a block", one, "- until: attempt == 2\n  every: 1s\n  max: 5\n  steps: [{fake: 'A${attempt}'}, {fake: B}]", []string{"0s T1 A1", "0s T1 B", "1s T1 A2", "1s T1 B"}},
		{"until of a block sees the last response", one, "- until: status == 2\n  every: 1s\n  max: 5\n  steps: [{fake: {say: A, status: '${attempt}'}}]", []string{"0s T1 A", "1s T1 A"}},
		{"until of a parallel block sees the last response", one, "- until: status == 2\n  every: 1s\n  max: 5\n  steps: [{parallel: true, steps: [{fake: {say: A, status: '${attempt}'}}]}]", []string{"0s T1 A", "1s T1 A"}},
		{"until sees the sample of a failed control step", one, "- until: attempt == 2 && !ok\n  every: 1s\n  max: 5\n  steps: [{fake: A}, {loop: '${1/0}', steps: [{fake: B}]}]", []string{"0s T1 A", "1s T1 A"}},
		{"until in until gives its attempt back", one,
			"- until: attempt == 2\n  every: 1s\n  max: 5\n  steps: [{until: attempt == 2, every: 1s, max: 3, fake: 'in${attempt}'}, {fake: 'out${attempt}'}]",
			[]string{"0s T1 in1", "1s T1 in2", "1s T1 out1", "2s T1 in1", "3s T1 in2", "3s T1 out2"}},
		{"50 % of 10 is exactly 5", "{threads: 1, iterations: 10}", "- {percent: 50%, fake: '${thread.iteration}'}\n- pause: 1s",
			[]string{"0s T1 0", "2s T1 2", "4s T1 4", "6s T1 6", "8s T1 8"}},
		{"one iteration of many threads shows the share", "{threads: 8, ramp_up: 8s, iterations: 1}", "- {percent: 25%, fake: A}\n- pause: 1s", []string{"0s T1 A", "4s T5 A"}},
		{"percent of a block in a loop", one, "- loop: 4\n  steps: [{percent: 75%, fake: '${loop.index}'}, {pause: 1s}]", []string{"0s T1 0", "2s T1 2", "3s T1 3"}},
		{"0 % and 100 %", one, "- {percent: 0%, fake: A}\n- {percent: 100%, fake: B}", []string{"0s T1 B"}},
		{"interleave takes the next on each pass", "{threads: 2, ramp_up: 10s, iterations: 3}", "- interleave: [{fake: A}, {fake: B}]\n- pause: 1s",
			[]string{"0s T1 A", "1s T1 B", "2s T1 A", "5s T2 A", "6s T2 B", "7s T2 A"}},
		{"interleave in interleave", "{threads: 1, iterations: 4}", "- interleave: [{interleave: [{fake: A}, {fake: B}]}, {fake: C}]\n- pause: 1s",
			[]string{"0s T1 A", "1s T1 C", "2s T1 B", "3s T1 C"}},
		{"switch compares as text", "{threads: 3, ramp_up: 3s, iterations: 1}", "- switch: {on: thread.id, cases: {1: [{fake: one}], '2': [{fake: two}]}, default: [{fake: other}]}",
			[]string{"0s T1 one", "1s T2 two", "2s T3 other"}},
		{"switch without a default", one, "- switch: {on: '\"x\"', cases: {y: [{fake: A}]}}\n- fake: B", []string{"0s T1 B"}},
		{"runtime repeats, and no step begins later", one, "- runtime: 1s\n  steps: [{fake: {say: A, take: 300ms}}, {fake: {say: B, take: 300ms}}]\n- fake: C",
			[]string{"0s T1 A", "300ms T1 B", "600ms T1 A", "900ms T1 B", "1.2s T1 C"}},
		{"runtime of an empty pass does not spin", one, "- runtime: 1s\n  steps: [{if: false, fake: A}]\n- fake: B", []string{"1s T1 B"}},
		{"runtime in runtime", one, "- runtime: 1s\n  steps: [{runtime: 500ms, steps: [{fake: {say: A, take: 300ms}}]}, {fake: {say: B, take: 500ms}}]",
			[]string{"0s T1 A", "300ms T1 A", "600ms T1 B"}},
		{"loop around runtime", one, "- loop: 2\n  runtime: 500ms\n  steps: [{fake: {say: A, take: 300ms}}]", []string{"0s T1 A", "300ms T1 A", "600ms T1 A", "900ms T1 A"}},
		{"critical section", "{threads: 3, iterations: 1}", "- {critical_section: a, steps: [{fake: {say: '${thread.id > 0 ? \"A\" : \"\"}', take: 1s}}]}", nil},
		{"try runs finally after a stop", "{threads: 1, iterations: 2}", "- try: [{fake: A}, {if: thread.iteration == 0, stop: thread}, {fake: B}]\n  finally: [{fake: F}]\n- fake: C",
			[]string{"0s T1 A", "0s T1 F"}},
		{"try runs finally after on_error", "{threads: 1, iterations: 2}", "- {on_error: next_iteration, try: [{fake: {say: A, take: 1s, fail: reset}}, {fake: B}], finally: [{fake: F}]}\n- fake: C",
			[]string{"0s T1 A", "1s T1 F", "1s T1 A", "2s T1 F"}},
		{"try in try", one, "- try: [{try: [{stop: iteration}], finally: [{fake: F1}]}, {fake: A}]\n  finally: [{fake: F2}, {fake: F3}]", []string{"0s T1 F1", "0s T1 F2", "0s T1 F3"}},
		{"parallel", one, "- parallel: true\n  steps: [{fake: {say: A, take: 1s}}, {steps: [{fake: {say: B, take: 400ms}}, {fake: {say: C, take: 1s}}]}]\n- fake: D",
			[]string{"0s T1 A", "0s T1 B", "400ms T1 C", "1.4s T1 D"}},
		{"parallel merges variables in order", one,
			"- set: {a: '0', b: '0'}\n- parallel: true\n  steps:\n    - set: {a: '1', c: '1'}\n    - {loop: 2, steps: [{set: {b: '${a}${b}'}}]}\n    - set: {c: '3'}\n- fake: '${a} ${b} ${c}'",
			[]string{"0s T1 1 000 3"}},
		{"parallel in parallel, twice", one, "- loop: 2\n  steps:\n    - parallel: true\n      steps:\n        - {parallel: true, steps: [{set: {x: '${loop.index}'}}, {pause: 1s}]}\n        - {fake: {say: A, take: 2s}}\n    - fake: 'x${x}'",
			[]string{"0s T1 A", "2s T1 x0", "2s T1 A", "4s T1 x1"}},
		{"parallel ends with the furthest signal", "{threads: 1, iterations: 2}", "- parallel: true\n  steps: [{stop: iteration}, {steps: [{pause: 1s}, {fake: A}]}]\n- fake: B", []string{"1s T1 A", "2s T1 A"}},
		{"stop plan in parallel", "{threads: 1, iterations: 9}", "- parallel: true\n  steps: [{stop: plan}, {fake: {say: A, take: 1s}}]\n- fake: B", []string{"0s T1 A"}},
		{"else of everything", one, "- {if: false, parallel: true, steps: [{fake: A}], else: [{fake: B}]}\n- {if: false, steps: [{call: g}, {call: h, with: {p: a}, extract: [r]}], else: [{fake: C}]}", []string{"0s T1 B", "0s T1 C"}},
		{"call with params and outputs", one, "- set: {x: 'X', out: 'O'}\n- {call: f, with: {p: '${x}1'}, extract: [out]}\n- fake: '${x} ${out}'\n- {if: false, call: h, with: {p: a}, extract: [r]}", []string{"0s T1 f X1", "0s T1 X done X1"}},
		{"each call begins anew", one, "- {loop: 2, call: g}\n- {if: false, call: h, with: {p: a}, extract: [r]}", []string{"0s T1 g first", "0s T1 g first"}},
		{"a call in a call", one, "- {call: h, with: {p: Z}, extract: [r]}\n- fake: 'r ${r}'", []string{"0s T1 f hZ", "0s T1 r done hZ"}},
		{"pauses in other controllers", one, "- {percent: 100%, once: true, loop: 2, runtime: 1s, steps: [{pause: 600ms}, {fake: A}]}", []string{"600ms T1 A", "1.8s T1 A"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := play(t, withFragments(tt.load, tt.steps), nil)
			if tt.want == nil {
				tt.want = []string{"0s", "1s", "2s"}
				for i, line := range r.journal {
					r.journal[i], _, _ = strings.Cut(line, " ")
				}
			}
			if strings.Contains(tt.name, "parallel") { // what begins at one time has no order
				slices.Sort(tt.want)
				slices.Sort(r.journal)
			}
			if diff := cmp.Diff(tt.want, r.journal); diff != "" || r.err != nil {
				t.Errorf("%v (-want +got)\n%s", r.err, diff)
			}
			if i, s := r.ledger(t); i != 0 || s != 0 {
				t.Errorf("in flight: %d iterations, %d samples", i, s)
			}
		})
	}
}

// withFragments is group1 with fragments, as far as the steps call them.
func withFragments(load, steps string) string {
	head := "plan: test\n"
	if strings.Contains(steps, "call: ") {
		head += `fragments:
  f:
    params: [p]
    outputs: [out]
    steps:
      - fake: f ${p}
      - set: {x: "own", out: "done ${p}"}
  g:
    steps:
      - fake: g ${seen ?? "first"}
      - set: {seen: again}
  h:
    params: [p]
    outputs: [r]
    steps:
      - {call: f, with: {p: "h${p}"}, extract: [out]}
      - set: {r: "${out}"}
`
	}
	return head + strings.TrimPrefix(group1(load, steps), "plan: test\n")
}

// TestUntilSamples looks at the one sample that all tries of a sampler make.
func TestUntilSamples(t *testing.T) {
	tests := []struct{ name, step, want string }{
		{"the last try counts", "until: attempt == 3\nfake: {say: A, take: 100ms, status: '${attempt < 3 ? 500 : 200}'}", "due 2.2s done 2.3s requests 3 "},
		{"assertions judge the last try", "until: attempt == 2\nfake: {say: A, status: '${attempt}'}\nassertions: {status: 2}", "due 1s done 1s requests 2 "},
		{"errors before the last try do not count", "until: attempt == 2\nfake: {say: A, fail: '${attempt == 1 ? \"reset\" : \"\"}'}", "due 1s done 1s requests 2 "},
		{"an error of the last try counts", "until: status == 1\nfake: {say: A, fail: reset}", "due 3s done 3s requests 4 reset: reset happened"},
		{"not true in the end", "until: status == 1\nfake: {say: A, status: 7}", "due 3s done 3s requests 4 assertion: until: not true after its last try, expected status == 1 within 4 tries, was 7"},
		{"the implied rule judges the last try", "until: status == 404\nfake: {say: A, status: 404}", "due 0s done 0s requests 1 status: status 404, expected a status below 400, was 404"},
		{"on_max: continue", "until: status == 1\non_max: continue\nfake: A", "due 3s done 3s requests 4 "},
		{"an extractor that fails in the last try", "until: attempt == 2\nfake: {say: A, reply: '${attempt == 1 ? \"x\" : \"\"}'}\nextract: {x: {word: 1}}", "due 1s done 1s requests 2 extract: x: nothing found by word: 1"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := play(t, group1("{threads: 1, iterations: 1}", "- "+strings.TrimLeft(indent(tt.step+"\nevery: 1s\nmax: 4", 2), " ")), nil)
			if len(r.samples) != 1 {
				t.Fatalf("%d samples", len(r.samples))
			}
			s := r.samples[0]
			got := fmt.Sprintf("due %v done %v requests %d ", s.Due, s.Done, s.Requests)
			for _, p := range s.Problems {
				got += fmt.Sprintf("%s: %s", p.Class, p.Message)
				if p.Expected != "" {
					got += ", expected " + p.Expected + ", was " + p.Actual
				}
			}
			if got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

func TestUntilOfABlockFails(t *testing.T) {
	r := play(t, group1("{threads: 1, iterations: 2}", "- name: Poll\n  until: status == 1\n  every: 1s\n  max: 2\n  on_error: stop_thread\n  steps: [{fake: A}]"), nil)
	want := []string{"fake A:", "fake A:", "Poll: until status == 1:assertion"}
	if diff := cmp.Diff(want, r.classes()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if p := r.samples[2].Problems[0]; !r.samples[2].Unsent || p.Expected != "status == 1 within 2 tries" || p.Actual != "0" {
		t.Errorf("%+v", p)
	}
	if len(r.transactions) != 2 {
		t.Errorf("%d transactions", len(r.transactions))
	}
}

// TestFinallyInTheGrace runs finally although the load is over.
func TestFinallyInTheGrace(t *testing.T) {
	steps := "- try: [{fake: {say: A, take: 900ms}}, {pause: 300ms}]\n  finally: [{fake: {say: F, take: 1s}}]"
	for load, want := range map[string]string{
		"{threads: 1, duration: 1s}":               "0s T1 A, 1.2s T1 F",
		"{threads: 1, duration: 1s, grace: 100ms}": "0s T1 A", // cancelled in the pause: nothing can be sent any more
	} {
		if got := strings.Join(play(t, group1(load, steps), nil).journal, ", "); got != want {
			t.Errorf("%s: %s, want %s", load, got, want)
		}
	}
	got := play(t, group1("{threads: 1, duration: 1m}", steps), func(r *Runner, _ context.CancelFunc) {
		time.Sleep(500 * time.Millisecond)
		r.Drain()
	})
	if diff := cmp.Diff([]string{"0s T1 A", "1.2s T1 F"}, got.journal); diff != "" {
		t.Errorf("drain (-want +got)\n%s", diff)
	}
}

// TestTransactionsOfBlocks looks at the times of transactions with controls.
func TestTransactionsOfBlocks(t *testing.T) {
	tests := []struct{ name, step, want string }{
		{"parallel is as long as its longest branch", "parallel: true\nsteps: [{fake: {say: A, take: 1s}}, {steps: [{fake: {say: B, take: 400ms}}, {fake: {say: C, take: 700ms}}]}]", "0s 1.1s"},
		{"timers do not count", "steps: [{fake: {say: A, take: 1s}, timers: {wait: 3s}}, {pause: 1s}]", "3s 1s"},
		{"include_timers", "include_timers: true\nsteps: [{fake: {say: A, take: 1s}, timers: {wait: 3s}}, {pause: 1s}]", "3s 5s"},
		{"one for each pass of a runtime, the last cut off", "runtime: 1s\nsteps: [{fake: {say: A, take: 400ms}}, {fake: {say: B, take: 200ms}}, {pause: 10ms}]", "0s 600ms, 610ms 400ms aborted"},
		{"a stop cuts it off", "steps: [{fake: {say: A, take: 1s}}, {stop: iteration}]", "0s 1s aborted"},
		{"a failed last sampler does not", "on_error: next_iteration\nsteps: [{fake: {say: A, take: 1s, fail: reset}}]", "0s 1s failed"},
		{"nor within a runtime", "runtime: 5s\non_error: next_iteration\nsteps: [{fake: {say: A, take: 1s, fail: reset}}]", "0s 1s failed"},
		{"finally belongs to it", "try: [{fake: {say: A, take: 1s}}]\nfinally: [{fake: {say: B, take: 1s}}]", "0s 2s"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := play(t, group1("{threads: 1, iterations: 1}", "- "+strings.TrimLeft(indent("name: T\n"+tt.step, 2), " ")), nil)
			var got []string
			for _, x := range r.transactions {
				text := fmt.Sprintf("%v %v", x.Due, x.Time)
				if x.Aborted {
					text += " aborted"
				}
				if x.Failed {
					text += " failed"
				}
				got = append(got, text)
			}
			if text := strings.Join(got, ", "); text != tt.want {
				t.Errorf("got %s, want %s", text, tt.want)
			}
		})
	}
}

func TestCounters(t *testing.T) {
	text := `
plan: t
vars: {most: 3}
counters:
  a: {from: 1, to: "${most}"}
  b: {from: 10, step: -5, per: thread, format: n-000}
  unused: {from: 1}
thread_groups:
  g:
    load: {threads: 2, ramp_up: 10s, iterations: 3}
    steps:
      - fake: ${a} ${a + 1} ${b}
      - pause: 1s
`
	want := []string{"0s T1 1 2 n-010", "1s T1 2 3 n-005", "2s T1 3 4 n-000", "5s T2 1 2 n-010", "6s T2 2 3 n-005", "7s T2 3 4 n-000"}
	if diff := cmp.Diff(want, play(t, text, nil).journal); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	c := tally{from: -2, step: 1}
	c.shape("<00>")
	if got := fmt.Sprintf("%v %v %v", c.value(0), c.value(1), c.value(102)); got != "<-02> <-01> <100>" {
		t.Error(got)
	}
}

// numbered hands out numbered rows, so many.
type numbered struct{ next, last int }

func (r *numbered) Next(*element.Thread) (map[string]any, error) {
	if r.next++; r.next > r.last {
		return nil, ErrStopThread
	}
	return map[string]any{"n": int64(r.next)}, nil
}

func TestNextRow(t *testing.T) {
	text := "plan: t\ndata: {row: {file: rows.csv, columns: [n]}}\n" + strings.TrimPrefix(group1("{threads: 1, iterations: 9}", "- fake: ${row.n}\n- loop: 2\n  steps: [{next_row: row}, {fake: 'next ${row.n}'}]\n- pause: 1s"), "plan: test\n")
	r := playProgram(t, compiled(t, text, Options{Data: map[string]Feeder{"row": &numbered{last: 5}}, Masker: &element.Masker{}}), nil)
	want := []string{"0s T1 1", "0s T1 next 2", "0s T1 next 3", "1s T1 4", "1s T1 next 5"}
	if diff := cmp.Diff(want, r.journal); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	r.ledger(t)
}

func TestTimerFactor(t *testing.T) {
	steps := "- {fake: A, timers: [{wait: 1s}, {slots: 4s}]}\n- pause: 2s\n- {fake: B, until: attempt == 2, every: 1s, max: 2}"
	for factor, want := range map[float64]string{0.5: "500ms T1 A, 1.5s T1 B, 2.5s T1 B, 4.5s T1 A, 5.5s T1 B, 6.5s T1 B", -1: "0s T1 A, 0s T1 B, 1s T1 B, 4s T1 A, 4s T1 B, 5s T1 B"} {
		r := playProgram(t, compiled(t, group1("{threads: 1, iterations: 2}", steps), Options{TimerFactor: factor}), nil)
		if got := strings.Join(r.journal, ", "); got != want {
			t.Errorf("%g: %s\nwant %s", factor, got, want)
		}
		if len(r.program.layout.Notes) == 0 {
			t.Error("the reports do not say it")
		}
	}
}

func TestMetrics(t *testing.T) {
	text := `
plan: t
metrics: {time: trend, sold: counter, good: rate}
thread_groups:
  g:
    load: {threads: 1, iterations: 2, warm_up: 500ms}
    steps:
      - fake: {say: A, take: 1s}
        record: {time: duration, good: status == 0}
      - set: {n: 3}
        record: {sold: n}
      - fake: {say: B, reply: word}
        record: {sold: message}
      - fake: {say: C, fail: reset}
        record: {sold: 1}
thresholds: [sold.count > 1]
`
	r := play(t, text, nil)
	want := []string{"0 1000", "2 1", "1 3", "0 1000", "2 1", "1 3"}
	if diff := cmp.Diff(want, r.metrics); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"fake A:", "fake B:expression", "fake C:reset", "fake A:", "fake B:expression", "fake C:reset"}, r.classes()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	layout := r.program.layout
	if diff := cmp.Diff([]element.Metric{{Name: "time", Type: "trend"}, {Name: "sold", Type: "counter"}, {Name: "good", Type: "rate"}}, layout.Metrics); diff != "" {
		t.Error(diff)
	}
	if th := layout.Thresholds[0]; th.Metric != "sold" || th.Comparison.Figure != "sold.count" || len(th.Series) != 0 {
		t.Errorf("%+v", th)
	}
}

func TestTagsOfThresholds(t *testing.T) {
	text := `
plan: t
thresholds: [{that: errors < 1%, tag: read}, p95 < 1s]
thread_groups:
  g:
    load: {threads: 1, iterations: 1}
    steps:
      - {fake: A, tags: read}
      - tags: [read, page]
        steps: [{fake: B}, {fake: C, tags: other}]
      - {fake: D, tags: other}
      - fake: E
        tags: page
        thresholds: {that: p90 < 1s, tag: page}
`
	var got []string
	layout := compiled(t, text, Options{}).Layout()
	for _, th := range layout.Thresholds {
		var names []string
		for _, id := range th.Series {
			names = append(names, strings.TrimPrefix(layout.Series[id].Name, "fake "))
		}
		got = append(got, fmt.Sprintf("%s: %s over %v implied %v", th.Scope, th.Comparison.Source, names, th.Implied))
	}
	want := []string{"plan, tag read: errors < 1% over [A B C] implied false", "plan: p95 < 1s over [A B C D E] implied false",
		"g / fake E, tag page: p90 < 1s over [E] implied false",
		"g / fake D: errors == 0% over [D] implied true", "g / fake E: errors == 0% over [E] implied true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestSplitBy(t *testing.T) {
	r := play(t, group1("{threads: 1, iterations: 60}", "- {fake: A, name: Item, split_by: thread.iteration % 55, assertions: {status: 0}, thresholds: p95 < 1s}"), nil)
	counts := map[string]int{}
	for _, s := range r.samples {
		name := r.named[s.Series]
		if name == "" {
			name = r.name(s.Series)
		}
		counts[name]++
		if len(s.Assertions) != 1 || len(r.program.layout.Series[s.Series].Assertions) != 1 {
			t.Fatal("a row without its assertion")
		}
	}
	if counts["Item: 0"] != 2 || counts["Item: 49"] != 1 || counts["Item: (other)"] != 5 || len(counts) != 51 {
		t.Errorf("%v", counts)
	}
	th := r.program.layout.Thresholds
	if len(th) != 2 || len(th[0].Series) != 51 || len(th[1].Series) != 51 || th[0].Single != -1 {
		t.Errorf("%+v", th)
	}
}

// TestDrawsAreSpread checks the controllers that draw.
func TestDrawsAreSpread(t *testing.T) {
	r := play(t, group1("{threads: 1, iterations: 3000}", "- random: [{fake: A}, {fake: B}, {fake: C}]\n- {percent: {value: 20%, random: true}, fake: P}\n- shuffle: [{fake: X}, {fake: Y}]\n- pause: 1ms"), nil)
	counts, first := map[string]int{}, map[string]int{}
	for i, s := range r.samples {
		name := strings.TrimPrefix(r.name(s.Series), "fake ")
		counts[name]++
		if name == "Y" && strings.HasSuffix(r.name(r.samples[i-1].Series), "X") {
			first["X"]++
		}
	}
	for name, want := range map[string]int{"A": 1000, "B": 1000, "C": 1000, "P": 600} {
		if d := counts[name] - want; d < -120 || d > 120 {
			t.Errorf("%s ran %d times, want about %d", name, counts[name], want)
		}
	}
	if counts["X"] != 3000 || counts["Y"] != 3000 || first["X"] < 1350 || first["X"] > 1650 {
		t.Errorf("shuffle: %v, X first %d times", counts, first["X"])
	}
}

// TestFragmentsKeepNamesApart calls a library's fragment with inherited values of
// the caller, whose names it has too.
func TestFragmentsKeepNamesApart(t *testing.T) {
	files := map[string]string{"lib/a.yaml": `
library: A
fragments:
  greet:
    params: [who]
    outputs: [said]
    steps:
      - name: Greet ${who}
        fake: {reply: "hello ${who}"}
        extract: {said: {word: 2}, word: {word: 1}}
`}
	text := `
plan: t
vars: {base: B}
include: {lib: lib/a.yaml}
defaults: {fake: {say: "${base}-${who}"}}
thread_groups:
  g:
    load: {threads: 1, iterations: 1}
    steps:
      - set: {who: outer, word: mine}
      - {call: lib.greet, with: {who: "${base}x"}, extract: [said]}
      - {call: lib.greet, with: {who: second}, assertions: {reply: "hello ${word}"}}
      - fake: {say: "${who} ${word} ${said}"}
`
	reg := registry(t)
	p, ds := plan.Parse(source.New("plan.yaml", []byte(text)), reg)
	ds = append(ds, plan.Validate(p, reg, plan.Options{Open: func(path string) (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(files[path])), nil
	}})...)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	values, ds := p.Evaluate(plan.EvalOptions{})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	program, ds := Compile(p, values, reg, Options{})
	if ds.HasErrors() || len(p.Files) != 2 {
		t.Fatal(ds, p.Files)
	}
	r := playProgram(t, program, nil)
	if diff := cmp.Diff([]string{"0s T1 B-outer", "0s T1 B-outer", "0s T1 outer mine Bx"}, r.journal); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if diff := cmp.Diff([]string{"Greet Bx:", "Greet second:assertion"}, r.classes()[:2]); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if p := r.samples[1].Problems; len(p) != 1 || p[0].Expected != "hello mine" {
		t.Errorf("%+v", p)
	}
	if !slices.ContainsFunc(program.layout.Series, func(s element.Series) bool { return s.Name == "Greet second" }) {
		t.Error("the param is not in the name")
	}
}

// A thread holds a sample while a sampler runs, and as long as the condition of an
// until may look at it.
func TestSamplesAreGivenBack(t *testing.T) {
	for _, steps := range []string{
		"- noop: A", "- {noop: A, until: attempt == 2, every: 0s, max: 3}",
		"- {until: attempt == 2, every: 0s, max: 3, steps: [{noop: A}, {parallel: true, steps: [{noop: B}, {noop: C}]}]}",
		"- {parallel: true, steps: [{noop: B}, {noop: C}]}", "- {loop: '${1/0}', steps: [{noop: A}]}",
	} {
		th, iterate := soloist(t, steps)
		iterate()
		if th.sample != nil || th.Sample != nil {
			t.Errorf("%s: the thread holds a sample", steps)
		}
	}
	th, _ := soloist(t, "- noop: A")
	th.setAttempt(1)
	s := th.newSample()
	if th.returnSample(); th.Sample != s {
		t.Error("the condition of an until does not see the sample")
	}
	if th.endBlock(0); th.Sample != nil || th.sample != nil {
		t.Error("the thread holds the sample of an until that is over")
	}
}
