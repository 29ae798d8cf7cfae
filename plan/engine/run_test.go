package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

// TestOrder compares what every thread did, and when, with an exact list.
func TestOrder(t *testing.T) {
	tests := []struct {
		name, load, steps string
		want              []string
	}{
		{"ramp-up and iterations", "{threads: 2, ramp_up: 2s, iterations: 2}", "- fake: {say: A, take: 300ms}",
			[]string{"0s T1 A", "300ms T1 A", "1s T2 A", "1.3s T2 A"}},
		{"the duration ends between iterations", "{threads: 1, duration: 1s}", "- fake: {say: A, take: 400ms}",
			[]string{"0s T1 A", "400ms T1 A", "800ms T1 A"}},
		{"iterations before the duration", "{threads: 1, iterations: 1, duration: 1s}", "- fake: {say: A, take: 400ms}", []string{"0s T1 A"}},
		{"shared iterations", "{threads: 2, ramp_up: 200ms, shared_iterations: 3}", "- fake: {say: A, take: 300ms}",
			[]string{"0s T1 A", "100ms T2 A", "300ms T1 A"}},
		{"fewer shared iterations than threads", "{threads: 5, ramp_up: 5s, shared_iterations: 2}", "- fake: {say: A}",
			[]string{"0s T1 A", "0s T1 A"}},
		{"the delay shifts all", "{threads: 1, iterations: 1, delay: 3s}", "- fake: A", []string{"3s T1 A"}},
		{"staged", "{threads: [{to: 2, over: 2s}, {to: 0, over: 2s}]}", "- fake: {say: A, take: 900ms}",
			[]string{"1s T1 A", "1.9s T1 A", "2s T2 A", "2.8s T1 A", "2.9s T2 A", "3.7s T1 A"}},
		{"a thread is used again", "{threads: [{at: 1, for: 1s}, {at: 0, for: 1s}, {at: 1, for: 1s}]}",
			"- fake: {say: '${thread.iteration}', take: 600ms}", []string{"0s T1 0", "600ms T1 1", "2s T1 2", "2.6s T1 3"}},
		{"arrivals", "{rate: 0.5/s, duration: 10s, max_threads: 1}", "- fake: A",
			[]string{"0s T1 A", "2s T1 A", "4s T1 A", "6s T1 A", "8s T1 A"}},
		{"the lowest free thread takes the arrival", "{rate: 10/s, iterations: 4, max_threads: 3}", "- fake: {say: A, take: 150ms}",
			[]string{"0s T1 A", "100ms T2 A", "200ms T1 A", "300ms T2 A"}},
		{"arrivals without a free thread are dropped", "{rate: 10/s, iterations: 5, max_threads: 1}", "- fake: {say: A, take: 250ms}",
			[]string{"0s T1 A", "300ms T1 A"}},
		{"think time before each sampler", "{threads: 1, iterations: 1}", "- {fake: A, timers: [{wait: 1s}, {wait: 500ms}]}\n- {fake: B, timers: {wait: 1s}}",
			[]string{"1.5s T1 A", "2.5s T1 B"}},
		{"slots are shared", "{threads: 2, iterations: 2}", "- {fake: '${thread.id > 0 ? \"A\" : \"\"}', timers: {slots: 1s}}", nil},
		{"pause", "{threads: 1, iterations: 2}", "- fake: A\n- pause: 2s", []string{"0s T1 A", "2s T1 A"}},
		{"if and else", "{threads: 2, ramp_up: 2s, iterations: 1}", "- {if: thread.id == 1, fake: A, else: [{fake: B}]}", []string{"0s T1 A", "1s T2 B"}},
		{"once", "{threads: 1, iterations: 3}", "- {once: true, fake: A}\n- {fake: {say: B, take: 1s}}", []string{"0s T1 A", "0s T1 B", "1s T1 B", "2s T1 B"}},
		{"loops and their index", "{threads: 1, iterations: 1}",
			"- loop: 2\n  steps:\n    - {loop: 2, fake: {say: 'in ${loop.index}', take: 1s}}\n    - fake: {say: 'out ${loop.index}', take: 1s}",
			[]string{"0s T1 in 0", "1s T1 in 1", "2s T1 out 0", "3s T1 in 0", "4s T1 in 1", "5s T1 out 1"}},
		{"while with its limit", "{threads: 1, iterations: 1}", "- {while: loop.index < 10, max: 2, fake: {say: A, take: 1s}}", []string{"0s T1 A", "1s T1 A"}},
		{"while", "{threads: 1, iterations: 1}", "- {while: loop.index < 3, fake: {say: A, take: 1s}}", []string{"0s T1 A", "1s T1 A", "2s T1 A"}},
		{"foreach", "{threads: 1, iterations: 1}", "- {foreach: '[\"x\", \"y\"]', as: item, fake: {say: '${item}', take: 1s}}", []string{"0s T1 x", "1s T1 y"}},
		{"choose keeps its quota", "{threads: 1, iterations: 5}", "- choose:\n    - {weight: 3, steps: [{fake: {say: A, take: 1s}}]}\n    - {weight: 2, steps: [{fake: {say: B, take: 1s}}]}",
			[]string{"0s T1 A", "1s T1 B", "2s T1 A", "3s T1 B", "4s T1 A"}},
		{"choose shows its mix over threads", "{threads: 4, ramp_up: 4s, iterations: 1}", "- choose:\n    - {weight: 1, steps: [{fake: A}]}\n    - {weight: 1, steps: [{fake: B}]}",
			[]string{"0s T1 A", "1s T2 B", "2s T3 A", "3s T4 B"}},
		{"stop iteration", "{threads: 1, iterations: 2}", "- fake: {say: A, take: 1s}\n- {if: thread.iteration == 0, stop: iteration}\n- fake: B",
			[]string{"0s T1 A", "1s T1 A", "2s T1 B"}},
		{"stop thread", "{threads: 2, ramp_up: 10s, iterations: 3}", "- fake: {say: A, take: 1s}\n- {if: thread.id == 1, stop: thread}",
			[]string{"0s T1 A", "5s T2 A", "6s T2 A", "7s T2 A"}},
		{"stop group", "{threads: 2, ramp_up: 4s, iterations: 9}", "- fake: {say: A, take: 1500ms}\n- {if: thread.id == 2, stop: group}",
			[]string{"0s T1 A", "1.5s T1 A", "2s T2 A", "3s T1 A"}},
		{"on_error: next_iteration", "{threads: 1, iterations: 2}", "- {fake: {say: A, take: 1s, fail: reset}, on_error: next_iteration}\n- fake: B",
			[]string{"0s T1 A", "1s T1 A"}},
		{"on_error of a block, the nearest wins", "{threads: 1, iterations: 2}",
			"- on_error: stop_thread\n  steps:\n    - {fake: {say: A, take: 1s, fail: reset}, on_error: continue}\n    - {fake: {say: B, fail: reset}}",
			[]string{"0s T1 A", "1s T1 B"}},
		{"on_failure of an assertion", "{threads: 1, iterations: 2}", "- {fake: {say: A, status: 200}, assertions: [{status: 201, on_failure: stop_thread}]}", []string{"0s T1 A"}},
		{"an iteration that does nothing", "{threads: 1, duration: 1s}", "- {if: thread.iteration == 500, fake: A}", []string{"500ms T1 A"}},
		{"set and use", "{threads: 1, iterations: 1}", "- set: {x: 'v${thread.id}'}\n- fake: '${x}'", []string{"0s T1 v1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := play(t, group1(tt.load, tt.steps), nil)
			if tt.want == nil {
				tt.want = []string{"0s", "1s", "2s", "3s"}
				for i, line := range r.journal {
					r.journal[i], _, _ = strings.Cut(line, " ")
				}
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

func TestArrivalStamps(t *testing.T) {
	r := play(t, group1("{rate: 4/s, iterations: 3, max_threads: 5}", "- {fake: {say: A, take: 10ms}, timers: {wait: 100ms}}\n- fake: {say: B, take: 10ms}"), nil)
	var got []string
	for _, s := range r.samples {
		got = append(got, fmt.Sprintf("%s due %v dispatched %v response %v", r.name(s.Series), s.Due, s.Dispatched, s.Response()))
	}
	want := []string{
		"fake due 100ms dispatched 100ms response 10ms", "fake due 110ms dispatched 110ms response 10ms",
		"fake due 350ms dispatched 350ms response 10ms", "fake due 360ms dispatched 360ms response 10ms",
		"fake due 600ms dispatched 600ms response 10ms", "fake due 610ms dispatched 610ms response 10ms",
	}
	for i := range got {
		_, rest, _ := strings.Cut(got[i], " due")
		got[i] = "fake due" + rest
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestPacingStamps(t *testing.T) {
	text := "plan: t\nthread_groups:\n  g:\n    load: {threads: 1, iterations: 4}\n    pacing: 1s\n    steps:\n" +
		"      - fake: {say: A, take: '${thread.iteration == 1 ? \"1.5s\" : \"200ms\"}'}\n"
	r := play(t, text, nil)
	var got []string
	for _, s := range r.samples {
		got = append(got, fmt.Sprintf("due %v free %v dispatched %v", s.Due, s.FreeSince, s.Dispatched))
	}
	want := []string{"due 0s free 0s dispatched 0s", "due 1s free 200ms dispatched 1s", "due 2s free 2.5s dispatched 2.5s", "due 3s free 2.7s dispatched 3s"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestScheduledTimerStamps(t *testing.T) {
	r := play(t, group1("{threads: 1, iterations: 3}", "- {fake: {say: A, take: 300ms}, timers: [{slots: 1s}, {wait: 100ms}]}"), nil)
	for i, s := range r.samples {
		at := time.Duration(i)*time.Second + 100*time.Millisecond
		if s.Due != at || s.Dispatched != at || s.FreeSince > s.Due || s.Response() != 300*time.Millisecond {
			t.Errorf("sample %d: due %v, free %v, dispatched %v, response %v", i, s.Due, s.FreeSince, s.Dispatched, s.Response())
		}
	}
}

func TestAfterAndDelay(t *testing.T) {
	r := play(t, `
plan: t
thread_groups:
  first: {load: {threads: 1, iterations: 2}, steps: [{fake: {say: A, take: 1s}}]}
  second: {load: {threads: 1, iterations: 1, after: first, delay: 3s}, steps: [{fake: B}]}
  third: {load: {threads: 1, iterations: 1, delay: 500ms}, steps: [{fake: C}]}
`, nil)
	want := []string{"0s T1 A", "500ms T3 C", "1s T1 A", "5s T2 B"}
	if diff := cmp.Diff(want, r.journal); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestClassesAndProblems(t *testing.T) {
	tests := []struct{ name, step, want string }{
		{"passed", "fake: {say: A, status: 200}", ""},
		{"implied status", "fake: {say: A, status: 500}", "status: status 500"},
		{"explicit status lifts the implied rule", "fake: {say: A, status: 404}\nassertions: {status: 404}", ""},
		{"explicit status fails", "fake: {say: A, status: 200}\nassertions: {status: 404}", "status#0: other status 404/200"},
		{"transport error skips the rest", "fake: {say: A, fail: reset}\nassertions: {status: 200}\nextract: {x: {word: 1}}", "reset: reset happened"},
		{"nothing extracted", "fake: {say: A, reply: one}\nextract: {x: {word: 2}}", "extract: x: nothing found by word: 2"},
		{"a default is enough", "fake: {say: A, reply: one}\nextract: {x: {word: 2, default: none}}", ""},
		{"status before extract before assertions", "fake: {say: A, status: 200, reply: one}\nextract: {x: {word: 2}}\nassertions: [{reply: two}, {status: 201}]",
			"status#1: other status 201/200; extract: x: nothing found by word: 2; assertion#0: other reply two/one"},
		{"a message of its own", "fake: {say: A, reply: one}\nassertions: {reply: two, message: wrong shop}", "assertion#0: wrong shop two/one"},
		{"a panic of the sampler", "fake: {say: A, panic: true}", "protocol: panic in fake"},
		{"a panic of an assertion", "fake: A\nassertions: {reply: {want: x, panic: true}}", "assertion#0: panic in assertion"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := play(t, group1("{threads: 1, iterations: 1}", "- "+strings.TrimLeft(indent(tt.step, 2), " ")), nil)
			var got []string
			for _, p := range r.samples[0].Problems {
				text := string(p.Class)
				if p.Assertion >= 0 {
					text += fmt.Sprintf("#%d", p.Assertion)
				}
				if text += ": " + p.Message; p.Assertion >= 0 && (p.Expected != "" || p.Actual != "") {
					text += " " + p.Expected + "/" + p.Actual
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, "; ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if s := r.samples[0]; s.Class != "" && s.Request != "FAKE A" {
				t.Errorf("request %q", s.Request)
			}
			if strings.Contains(tt.name, "panic") && strings.Count(r.log, " stack=") != 1 {
				t.Errorf("log: %s", r.log)
			}
		})
	}
}

func TestUnsetVariables(t *testing.T) {
	r := play(t, group1("{threads: 1, iterations: 2}", `
- fake: {say: A, reply: "${thread.iteration == 0 ? \"tok\" : \"\"}"}
  name: A
  extract: {token: {word: 1}}
- fake: "use ${token}"
  name: B
- set: {copy: "${token}"}
  name: C
- if: token == "tok"
  fake: D
  name: D`), nil)
	if diff := cmp.Diff([]string{"0s T1 A", "0s T1 use tok", "0s T1 D", "0s T1 A"}, r.journal); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	want := []string{"A:", "B:", "D:", "A:extract", "B:expression", "C:expression", `D: if token == "tok":expression`}
	if diff := cmp.Diff(want, r.classes()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, s := range r.samples[4:] {
		if !s.Unsent || s.Sent != 0 {
			t.Errorf("%s was sent", r.name(s.Series))
		}
	}
	if _, n := r.ledger(t); n != 0 {
		t.Error("in flight")
	}
}

func TestTransportErrorUnsetsExtracts(t *testing.T) {
	r := play(t, group1("{threads: 1, iterations: 2}", `
- fake: {say: A, reply: tok, errors: 1}
  extract: {token: {word: 1}}
- fake: {say: "${token}"}
  name: B`), nil)
	if diff := cmp.Diff([]string{"", "", "timeout", "expression"}, classesOnly(r)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func classesOnly(r *result) (out []string) {
	for _, s := range r.samples {
		out = append(out, string(s.Class))
	}
	return out
}

func TestNewUser(t *testing.T) {
	steps := "- {once: true, set: {seen: yes}}\n- fake: '${seen ?? \"none\"} ${kept}'"
	text := func(load, more string) string {
		return strings.Replace(group1(load, steps), "    steps:", "    vars: {kept: 'k${thread.id}'}\n"+more+"    steps:", 1)
	}
	tests := []struct {
		load, more string
		want       []string
	}{
		{"{threads: 1, iterations: 2}", "", []string{"0s T1 yes k1", "0s T1 yes k1"}},
		{"{threads: 1, iterations: 2}", "    new_user_each_iteration: true\n", []string{"0s T1 yes k1", "0s T1 none k1"}},
		{"{rate: 1/s, iterations: 2, max_threads: 1}", "", []string{"0s T1 yes k1", "1s T1 none k1"}},
	}
	for _, tt := range tests {
		r := play(t, text(tt.load, tt.more), nil)
		if diff := cmp.Diff(tt.want, r.journal); diff != "" {
			t.Errorf("%s %s (-want +got)\n%s", tt.load, tt.more, diff)
		}
	}
}

func TestTransactions(t *testing.T) {
	r := play(t, group1("{threads: 1, iterations: 3}", `
- name: outer
  steps:
    - {fake: {say: A, take: 100ms}, timers: {wait: 1s}}
    - name: inner
      include_timers: true
      steps:
        - {fake: {say: B, take: 200ms, errors: 1}, timers: {wait: 2s}}
    - {fake: {say: C, take: 10ms, errors: 2}, on_error: next_iteration}
    - pause: 1s`), nil)
	var got []string
	for _, x := range r.transactions {
		got = append(got, fmt.Sprintf("%s %v failed=%v aborted=%v", r.name(x.Series), x.Time, x.Failed, x.Aborted))
	}
	want := []string{
		"inner 2.2s failed=false aborted=false", "outer 310ms failed=false aborted=false",
		"inner 2.2s failed=true aborted=false", "outer 310ms failed=true aborted=false",
		"inner 2.2s failed=false aborted=false", "outer 310ms failed=true aborted=false",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

const setupPlan = `
plan: t
setup_timeout: 5s
setup:
  - {fake: {say: login, take: 1s, reply: tok, fail: "%s"}, name: Login, extract: {token: {word: 1}}}
  - fake: after
thread_groups:
  g: {load: {threads: 2, iterations: 1}, steps: [{fake: "use ${token}"}]}
teardown:
  - {fake: {say: "clean ${token ?? \"nothing\"}", fail: reset}}
  - fake: last
`

func TestSetupAndTeardown(t *testing.T) {
	r := play(t, fmt.Sprintf(setupPlan, ""), nil)
	want := []string{"0s T3 login", "1s T3 after", "1s T1 use tok", "1s T2 use tok", "1s T4 clean tok", "1s T4 last"}
	got := map[string]bool{}
	for _, line := range r.journal {
		got[line] = true
	}
	for _, line := range want {
		if !got[line] {
			t.Errorf("%q is missing in %v", line, r.journal)
		}
	}
	if r.err != nil || len(r.journal) != len(want) {
		t.Errorf("%v, %v", r.err, r.journal)
	}
}

func TestSetupFails(t *testing.T) {
	r := play(t, fmt.Sprintf(setupPlan, "timeout"), nil)
	var failed *SetupError
	if !errors.As(r.err, &failed) || failed.Step != "Login" || failed.Error() != "setup: Login: timeout happened" {
		t.Errorf("error %v", r.err)
	}
	if diff := cmp.Diff([]string{"0s T3 login", "1s T4 clean nothing", "1s T4 last"}, r.journal); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	r = play(t, strings.Replace(fmt.Sprintf(setupPlan, ""), "take: 1s", "take: 1m", 1), nil)
	if !errors.As(r.err, &failed) || r.err.Error() != "setup: it took longer than its setup_timeout of 5s" {
		t.Errorf("error %v", r.err)
	}
	if r.took != 5*time.Second {
		t.Errorf("took %v", r.took)
	}
}

func TestDrainDuringSetup(t *testing.T) {
	r := play(t, fmt.Sprintf(setupPlan, ""), func(r *Runner, _ context.CancelFunc) {
		time.Sleep(500 * time.Millisecond)
		r.Drain()
	})
	if diff := cmp.Diff([]string{"0s T3 login", "500ms T4 clean nothing", "500ms T4 last"}, r.journal); diff != "" || r.err != nil {
		t.Errorf("%v (-want +got)\n%s", r.err, diff)
	}
}

func TestEnds(t *testing.T) {
	drain := func(at time.Duration) func(*Runner, context.CancelFunc) {
		return func(r *Runner, _ context.CancelFunc) { time.Sleep(at); r.Drain() }
	}
	cancel := func(at time.Duration) func(*Runner, context.CancelFunc) {
		return func(_ *Runner, stop context.CancelFunc) { time.Sleep(at); stop() }
	}
	c := func(name string) element.Counter {
		return map[string]element.Counter{"scheduled": element.IterationsScheduled, "started": element.IterationsStarted, "completed": element.IterationsCompleted,
			"interrupted": element.IterationsInterrupted, "no_thread": element.DroppedNoThread, "end": element.DroppedEnd, "abort": element.DroppedAbort}[name]
	}
	tests := []struct {
		name, load, steps string
		meddle            func(*Runner, context.CancelFunc)
		took              time.Duration
		counts            map[string]int64
		classes           string
		inFlight          int64
	}{
		{"soft end in time", "{threads: 1, duration: 1s, grace: 5s}", "- fake: {say: A, take: 3s}", nil, 3 * time.Second,
			map[string]int64{"scheduled": 1, "completed": 1}, "", 0},
		{"hard end", "{threads: 1, duration: 1s, grace: 5s}", "- fake: {say: A, take: 30s}\n- fake: B", nil, 6 * time.Second,
			map[string]int64{"started": 1, "interrupted": 1}, "cancelled", 0},
		{"a sampler that does not obey", "{threads: 1, duration: 1s, grace: 5s}", "- fake: {say: A, stuck: 1h}", nil, 8 * time.Second,
			map[string]int64{"started": 1, "interrupted": 0}, "", 1},
		{"a wait for the first slot ends with the load", "{threads: 3, duration: 1s, grace: 50s}", "- {fake: A, timers: {slots: 700ms}}", nil, time.Second,
			map[string]int64{"scheduled": 2, "completed": 2}, "", 0},
		{"shared iterations cut by the duration", "{threads: 1, shared_iterations: 10, duration: 1s}", "- fake: {say: A, take: 400ms}", nil, 1200 * time.Millisecond,
			map[string]int64{"scheduled": 10, "completed": 3, "end": 7}, "", 0},
		{"shared iterations cut by a drain", "{threads: 1, shared_iterations: 10, duration: 1h}", "- fake: {say: A, take: 400ms}", drain(time.Second), 1200 * time.Millisecond,
			map[string]int64{"scheduled": 10, "completed": 3, "abort": 7}, "", 0},
		{"ramp_down_grace", "{threads: [{at: 2, for: 1s}, {at: 1, for: 5s}], ramp_down_grace: 500ms, grace: 1s}", "- fake: {say: A, take: 2500ms}", nil, 7 * time.Second,
			map[string]int64{"started": 4, "completed": 2, "interrupted": 2}, "cancelled,cancelled", 0},
		{"arrivals drained", "{rate: 10/s, duration: 10s, max_threads: 5}", "- fake: {say: A, take: 50ms}", drain(950 * time.Millisecond), 950 * time.Millisecond,
			map[string]int64{"scheduled": 100, "completed": 10, "abort": 90}, "", 0},
		{"arrivals cancelled", "{rate: 10/s, duration: 10s, max_threads: 5}", "- fake: {say: A, take: 150ms}", cancel(920 * time.Millisecond), 920 * time.Millisecond,
			map[string]int64{"scheduled": 100, "started": 10, "interrupted": 2, "completed": 8, "abort": 90}, "cancelled,cancelled", 0},
		{"arrivals without threads", "{rate: 10/s, duration: 1s, max_threads: 2, grace: 1s}", "- fake: {say: A, take: 1h}", nil, 2 * time.Second,
			map[string]int64{"scheduled": 10, "started": 2, "interrupted": 2, "no_thread": 8}, "cancelled,cancelled", 0},
		{"the rate's time runs to its end", "{rate: 1/s, duration: 10s, max_threads: 2}", "- fake: A", nil, 10 * time.Second,
			map[string]int64{"scheduled": 10, "completed": 10}, "", 0},
		{"drained before its delay is over", "{rate: 1/s, duration: 10s, max_threads: 2, delay: 1m}", "- fake: A", drain(time.Second), time.Second,
			map[string]int64{"scheduled": 10, "abort": 10}, "", 0},
		{"stop_plan of a sample", "{threads: 1, duration: 1h}", "- {fake: {say: A, take: 1s, errors: 3}, on_error: stop_plan}", nil, 4 * time.Second,
			map[string]int64{"scheduled": 4, "completed": 4}, "timeout", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := play(t, group1(tt.load, tt.steps), tt.meddle)
			if r.took != tt.took {
				t.Errorf("took %v, want %v", r.took, tt.took)
			}
			for name, want := range tt.counts {
				if got := r.counts[c(name)]; got != want {
					t.Errorf("%s: %d, want %d", name, got, want)
				}
			}
			var failed []string
			for _, class := range classesOnly(r) {
				if class != "" {
					failed = append(failed, class)
				}
			}
			if got := strings.Join(failed, ","); got != tt.classes {
				t.Errorf("classes %q, want %q", got, tt.classes)
			}
			if i, s := r.ledger(t); i != tt.inFlight || s != tt.inFlight {
				t.Errorf("in flight: %d iterations, %d samples, want %d", i, s, tt.inFlight)
			}
		})
	}
}

func TestSecondSignalSkipsTeardown(t *testing.T) {
	text := group1("{threads: 1, duration: 1h}", "- fake: {say: A, take: 1h}") + "teardown:\n  - fake: clean\n"
	r := play(t, text, func(r *Runner, cancel context.CancelFunc) {
		time.Sleep(time.Second)
		r.Drain()
		time.Sleep(time.Second)
		cancel()
	})
	if !errors.Is(r.err, context.Canceled) || r.took != 2*time.Second || len(r.journal) != 1 {
		t.Errorf("%v after %v: %v", r.err, r.took, r.journal)
	}
	if s := r.samples[0]; s.Class != element.Cancelled || s.Response() != 2*time.Second {
		t.Errorf("%s after %v", s.Class, s.Response())
	}
}

func TestWarmUp(t *testing.T) {
	r := play(t, group1("{rate: 1/s, duration: 4s, max_threads: 1, warm_up: 2s, delay: 1s}", "- fake: A"), nil)
	var got []bool
	for _, s := range r.samples {
		got = append(got, s.WarmUp)
	}
	if diff := cmp.Diff([]bool{true, true, false, false}, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestStopOfOneGroup(t *testing.T) {
	r := play(t, `
plan: t
thread_groups:
  a: {load: {threads: 1, duration: 10s}, steps: [{fake: {say: A, take: 1s}}]}
  b: {load: {threads: 1, iterations: 4}, steps: [{fake: {say: B, take: 1s}}]}
`, func(r *Runner, _ context.CancelFunc) {
		time.Sleep(1500 * time.Millisecond)
		r.Stop("a", "enough")
		st := r.Status()
		if st[0].State != "finishing" && st[0].State != "running" || st[1].Done != 0.25 || st[1].Active != 1 || st[1].Elapsed != 1500*time.Millisecond {
			t.Errorf("status %+v", st)
		}
	})
	if r.took != 4*time.Second || len(r.journal) != 6 {
		t.Errorf("took %v: %v", r.took, r.journal)
	}
}

func TestGroupCondition(t *testing.T) {
	r := play(t, `
plan: t
vars: {wanted: false}
setup: [{fake: {say: S, reply: "no"}, extract: {answer: {word: 1}}}]
thread_groups:
  a: {load: {threads: 1, iterations: 1}, steps: [{fake: A}], if: wanted}
  b: {load: {threads: 1, iterations: 1}, steps: [{fake: B}], if: answer == "yes"}
  c: {load: {threads: 1, iterations: 1}, steps: [{fake: C}, {fake: D, skip: later}], if: answer == "no"}
  d: {load: {threads: 1, iterations: 1}, steps: [{fake: E}], skip: broken}
`, nil)
	if len(r.journal) != 2 || !strings.Contains(strings.Join(r.journal, ","), " C") || len(r.notes) != 1 {
		t.Errorf("%v, notes %v", r.journal, r.notes)
	}
	if diff := cmp.Diff(map[int]string{1: `its condition is false: answer == "yes"`}, r.skipped); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	l := r.program.Layout()
	if l.Groups[0].Skipped == "" || l.Groups[3].Skipped != "broken" || len(l.Notes) != 1 || len(l.Skipped) != 2 {
		t.Errorf("%+v", l)
	}
}

func TestGroupConditionThatFails(t *testing.T) {
	r := play(t, `
plan: t
setup: [{fake: {say: S, reply: ""}, on_error: continue}, {if: false, set: {answer: "x"}}]
thread_groups:
  a: {load: {threads: 2, shared_iterations: 3}, steps: [{fake: A}], if: answer == "yes"}
`, nil)
	if _, n := r.ledger(t); n != 0 || r.counts[element.DroppedAbort] != 3 {
		t.Errorf("%v", r.counts)
	}
	want := []string{"fake S:", `if answer == "yes":expression`}
	if diff := cmp.Diff(want, r.classes()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestElementsAreOpenedAndClosed checks order, and that nothing runs if opening fails.
func TestElementsAreOpenedAndClosed(t *testing.T) {
	for _, fail := range []bool{false, true} {
		p := compiled(t, group1("{threads: 1, iterations: 2}", "- fake: A"), Options{})
		e := &opening{fail: fail}
		p.elements = append(p.elements, opened{kind: "assertion", value: e}, opened{kind: "timer", value: &opening{panics: true}})
		r := playProgram(t, p, nil)
		if r.err == nil || len(r.journal) != 0 {
			t.Errorf("error %v, %v", r.err, r.journal)
		}
		if e.closed == fail {
			t.Errorf("failed to open: %v, closed: %v", fail, e.closed)
		}
	}
}

type opening struct{ fail, panics, closed bool }

func (o *opening) Open(context.Context) error {
	if o.panics {
		panic("boom")
	}
	if o.fail {
		return errors.New("no such file")
	}
	return nil
}

func (o *opening) Close() error { o.closed = true; return nil }
