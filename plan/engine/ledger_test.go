package engine

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"
)

// TestLedgersAddUp runs random plans with faults, stops, drains and signals.
func TestLedgersAddUp(t *testing.T) {
	for seed := range uint64(250) {
		r := rand.New(rand.NewPCG(seed, 7))
		text, stuck := randomPlan(r)
		meddle := randomMeddling(r)
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			got := play(t, text, meddle)
			iterations, samples := got.ledger(t)
			if !stuck && (iterations != 0 || samples != 0) {
				t.Errorf("in flight: %d iterations, %d samples", iterations, samples)
			}
			if t.Failed() {
				t.Logf("%s\n%v", text, got.counts)
			}
			if got.took > 20*time.Minute {
				t.Errorf("took %v\n%s", got.took, text)
			}
		})
	}
}

func pick(r *rand.Rand, list ...string) string { return list[r.IntN(len(list))] }

func randomPlan(r *rand.Rand) (text string, stuck bool) {
	text = "plan: random\n"
	if r.IntN(4) == 0 {
		text += "setup: [{fake: {say: S, take: 1s, fail: '" + pick(r, "", "", "", "reset") + "'}}]\n"
	}
	if r.IntN(4) == 0 {
		text += "teardown: [{fake: {say: T, fail: '" + pick(r, "", "reset") + "'}}]\n"
	}
	text += "thread_groups:\n"
	for i := range 1 + r.IntN(3) {
		text += fmt.Sprintf("  g%d:\n    load: %s\n    on_error: %s\n    steps:\n", i, randomLoad(r, i),
			pick(r, "continue", "continue", "next_iteration", "stop_thread", "stop_group", "stop_plan"))
		for range 1 + r.IntN(3) {
			step, s := randomStep(r)
			stuck = stuck || s
			text += indent(step, 6)
		}
	}
	return text, stuck
}

func randomLoad(r *rand.Rand, i int) string {
	load := pick(r, "threads: 3, ramp_up: 2s, duration: 5s", "threads: 2, iterations: 3", "threads: 2, iterations: 50, duration: 4s",
		"threads: 4, shared_iterations: 10", "threads: 2, shared_iterations: 100, duration: 5s",
		"threads: [{to: 5, over: 2s}, {hold: 1s}, {to: 1, over: 2s}, {to: 4, over: 1s}, {to: 0, over: 0s}], ramp_down_grace: 300ms",
		"rate: 7/s, duration: 5s, max_threads: 3", "rate: 20/s, iterations: 30, max_threads: 50",
		"rate: [{to: 20/s, over: 3s}, {to: 0/s, over: 2s}], max_threads: 4", "rate: 10/s, duration: 5s, max_threads: 9, arrivals: poisson")
	load += ", grace: " + pick(r, "0s", "1s", "20s")
	if r.IntN(3) == 0 {
		load += ", delay: 1s"
	}
	if i > 0 && r.IntN(3) == 0 {
		load += fmt.Sprintf(", after: g%d", r.IntN(i))
	}
	return "{" + load + "}"
}

func randomStep(r *rand.Rand) (text string, stuck bool) {
	sampler := func() string {
		return fmt.Sprintf("fake: {say: A, take: %s, fail: '%s', reply: %s, errors: %d}", pick(r, "1ms", "100ms", "700ms", "1500ms", "10s"),
			pick(r, "", "", "", "timeout"), pick(r, "one", "one two"), r.IntN(4))
	}
	switch r.IntN(8) {
	case 0:
		return "- name: block\n  steps:\n    - " + sampler() + "\n    - pause: 100ms\n    - " + sampler(), false
	case 1:
		return "- " + sampler() + "\n  timers: [{slots: 300ms}]", false
	case 2:
		return "- " + sampler() + "\n  extract: {x: {word: 2}}\n- fake: 'use ${x}'\n- pause: 10ms", false
	case 3:
		return "- loop: 2\n  fake: {say: L, take: 200ms}\n- {if: thread.iteration == 3, stop: " + pick(r, "iteration", "thread", "group", "plan") + "}\n- pause: 50ms", false
	case 4:
		return "- fake: {say: hangs, stuck: " + pick(r, "1m", "3s") + "}", true
	}
	return "- " + sampler(), false
}

func randomMeddling(r *rand.Rand) func(*Runner, context.CancelFunc) {
	at := time.Duration(r.IntN(9000)) * time.Millisecond
	later := time.Duration(r.IntN(3000)) * time.Millisecond
	what := r.IntN(6)
	return func(runner *Runner, cancel context.CancelFunc) {
		time.Sleep(at)
		switch what {
		case 0:
			runner.Drain()
		case 1:
			cancel()
		case 2:
			runner.Drain()
			time.Sleep(later)
			cancel()
		case 3:
			runner.Stop("g0", "test")
		case 4:
			_ = runner.Status()
		}
	}
}
