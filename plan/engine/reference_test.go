package engine

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

// tree is a step of a random plan as the reference interpreter sees it. It is
// written from the language's text alone, without a look at the engine's nodes.
type tree struct {
	kind  string // of what it does
	name  string // of a sampler
	fail  bool   // a sampler that fails
	stop  string
	below [][]*tree // lists of steps: arms, cases, try and finally
	pick  []int     // weights of choose

	once          bool
	falseIf       bool
	otherwise     []*tree
	percent       int // of the passes, −1: always
	loop          int // passes; 0: no loop
	until         int // tries until it is true; 0: none
	most          int // tries at most
	wild          string
	onError       string
	passes        int // so far, of what is counted
	percentPasses int
}

// steps of the reference: what must the thread do next.
const (
	goOn = iota
	endIteration
	endThread
)

// reference runs trees for one thread and counts what was sent.
type reference struct {
	iteration int
	sent      map[string]int
	requests  int
	blocks    int // transactions
	unmet     int // blocks that did not come true, each a failed sample of its own
}

func (r *reference) list(steps []*tree, onError string) int {
	for _, s := range steps {
		if then := r.step(s, onError); then != goOn {
			return then
		}
	}
	return goOn
}

func (r *reference) step(s *tree, onError string) int {
	if s.onError != "" {
		onError = s.onError
	}
	if s.falseIf {
		return r.list(s.otherwise, onError)
	}
	if s.once && r.iteration > 0 {
		return goOn
	}
	if s.percent >= 0 {
		k := s.percentPasses
		s.percentPasses++
		// floor((k+1)·p + o) > floor(k·p + o) with o = 1 − p for the first thread
		if ((k+1)*s.percent+100-s.percent)/100 == (k*s.percent+100-s.percent)/100 {
			return goOn
		}
	}
	switch {
	case s.loop > 0:
		for range s.loop {
			if then := r.act(s, onError); then != goOn {
				return then
			}
		}
		return goOn
	case s.until > 0 && s.kind != "sampler":
		for try := 1; ; try++ {
			if then := r.act(s, onError); then != goOn {
				return then
			}
			if try == s.until {
				return goOn
			}
			if try == s.most {
				r.unmet++
				return r.failed(onError)
			}
		}
	}
	return r.act(s, onError)
}

// failed says what follows a failure.
func (r *reference) failed(onError string) int {
	switch onError {
	case "next_iteration":
		return endIteration
	case "stop_thread":
		return endThread
	}
	return goOn
}

func (r *reference) act(s *tree, onError string) int {
	if s.kind != "sampler" && s.name != "" {
		before := r.total()
		then := r.block(s, onError)
		if r.total() > before {
			r.blocks++
		}
		return then
	}
	return r.block(s, onError)
}

func (r *reference) total() int {
	n := r.unmet
	for _, c := range r.sent {
		n += c
	}
	return n
}

func (r *reference) block(s *tree, onError string) int {
	switch s.kind {
	case "sampler":
		r.sent[s.name]++
		r.requests++
		failed := s.fail
		if s.until > 0 {
			tries := min(s.until, s.most)
			if s.fail { // without a response the condition cannot be true
				tries = s.most
			}
			r.requests += tries - 1
			failed = failed || s.until > s.most
		}
		if failed {
			return r.failed(onError)
		}
		return goOn
	case "stop":
		if s.stop == "thread" {
			return endThread
		}
		return endIteration
	case "steps", "shuffle", "call":
		return r.list(s.below[0], onError)
	case "interleave":
		k := s.passes
		s.passes++
		return r.step(s.below[0][k%len(s.below[0])], onError)
	case "switch":
		arm := 2 // default
		if r.iteration < 2 {
			arm = r.iteration
		}
		return r.list(s.below[arm], onError)
	case "choose": // smooth weighted round robin
		best, sum := 0, 0
		current := make([]int, len(s.pick))
		for _, w := range s.pick {
			sum += w
		}
		for range s.passes%sum + 1 {
			best = 0
			for i, w := range s.pick {
				current[i] += w
				if current[i] > current[best] {
					best = i
				}
			}
			current[best] -= sum
		}
		s.passes++
		return r.list(s.below[best], onError)
	case "try":
		then := r.list(s.below[0], onError)
		return max(then, r.list(s.below[1], onError))
	case "parallel":
		then := goOn
		for _, step := range s.below[0] {
			then = max(then, r.step(step, onError))
		}
		return then
	}
	return goOn
}

// grower makes random trees and their text.
type grower struct {
	*rand.Rand
	samplers  int
	fragments []string
	wild      bool // with controllers whose passes the reference cannot foresee
	calm      int  // within a shuffle, where an early end would depend on the order
}

func (g *grower) list(depth, most int) []*tree {
	var out []*tree
	for range 1 + g.IntN(most) {
		out = append(out, g.tree(depth))
	}
	return out
}

func (g *grower) tree(depth int) *tree {
	s := &tree{percent: -1}
	kinds := []string{"sampler", "sampler", "sampler", "pause", "steps", "shuffle", "interleave", "switch", "choose", "try", "parallel", "call", "stop"}
	if depth == 0 {
		kinds = kinds[:4]
	} else if g.calm > 0 {
		kinds = kinds[:len(kinds)-1]
	}
	s.kind = kinds[g.IntN(len(kinds))]
	if s.kind == "shuffle" {
		g.calm++
		defer func() { g.calm-- }()
	}
	if g.IntN(3) == 0 {
		s.name = fmt.Sprintf("block %d", g.samplers)
		g.samplers++
	}
	switch s.kind {
	case "sampler":
		s.name = fmt.Sprintf("S%d", g.samplers)
		g.samplers++
		s.fail = g.IntN(8) == 0 && g.calm == 0
	case "pause":
		s.name = ""
	case "stop":
		s.name, s.stop, s.percent = "", pick(g.Rand, "iteration", "iteration", "thread"), 50
	case "switch", "choose":
		s.below = [][]*tree{g.list(depth-1, 2), g.list(depth-1, 2), g.list(depth-1, 2)}
		s.pick = []int{1 + g.IntN(3), 1 + g.IntN(3), 1 + g.IntN(3)}
	case "try":
		s.below = [][]*tree{g.list(depth-1, 3), g.list(depth-1, 1)}
	default:
		s.below = [][]*tree{g.list(depth-1, 3)}
	}
	g.controls(s, depth)
	return s
}

func (g *grower) controls(s *tree, depth int) {
	if s.kind == "stop" {
		return
	}
	s.once = g.IntN(8) == 0
	if g.IntN(8) == 0 && depth > 0 {
		s.falseIf, s.otherwise = true, g.list(depth-1, 2)
	}
	if g.IntN(6) == 0 {
		s.percent = 10 * g.IntN(11)
	}
	if g.IntN(6) == 0 {
		s.onError = pick(g.Rand, "continue", "next_iteration", "stop_thread")
	}
	if g.wild && s.below != nil {
		s.wild = pick(g.Rand, "", "", fmt.Sprintf("critical_section: c%d\n", depth), "runtime: 20ms\n", fmt.Sprintf("runtime: 5ms\ncritical_section: c%d\n", depth))
	}
	switch g.IntN(6) {
	case 0:
		s.loop = 1 + g.IntN(3)
	case 1:
		s.until, s.most = 1+g.IntN(4), 1+g.IntN(4)
		if g.calm > 0 {
			s.most = 4
		}
	}
}

// text writes a list of steps as YAML.
func (g *grower) text(steps []*tree) string {
	var b strings.Builder
	for _, s := range steps {
		lines := strings.TrimRight(g.step(s), "\n")
		b.WriteString("- " + strings.TrimLeft(indent(lines, 2), " "))
	}
	return b.String()
}

func (g *grower) step(s *tree) string {
	text := s.wild
	line := func(ok bool, format string, args ...any) {
		if ok {
			text += fmt.Sprintf(format, args...) + "\n"
		}
	}
	line(s.once, "once: true")
	line(s.percent >= 0, "percent: %d%%", s.percent)
	line(s.onError != "", "on_error: %s", s.onError)
	line(s.name != "", "name: %s", s.name)
	line(s.loop > 0, "loop: %d", s.loop)
	line(s.until > 0, "until: attempt == %d\nevery: 10ms\nmax: %d", s.until, s.most)
	line(s.falseIf, "if: thread.id == 99")
	if s.falseIf {
		text += "else:\n" + indent(g.text(s.otherwise), 2)
	}
	switch s.kind {
	case "sampler":
		line(!s.fail, "fake: {say: %s, take: 1ms}", s.name)
		line(s.fail, "fake: {say: %s, take: 1ms, fail: reset}", s.name)
	case "pause":
		text += "pause: 1ms\n"
	case "stop":
		line(true, "stop: %s", s.stop)
	case "parallel":
		text += "parallel: true\nsteps:\n" + indent(g.text(s.below[0]), 2)
	case "switch":
		text += "switch:\n  on: thread.iteration\n  cases:\n"
		for i := range 2 {
			text += fmt.Sprintf("    %d:\n", i) + indent(g.text(s.below[i]), 6)
		}
		text += "  default:\n" + indent(g.text(s.below[2]), 4)
	case "choose":
		text += "choose:\n"
		for i, arm := range s.below {
			text += fmt.Sprintf("  - weight: %d\n    steps:\n", s.pick[i]) + indent(g.text(arm), 6)
		}
	case "try":
		text += "try:\n" + indent(g.text(s.below[0]), 2) + "finally:\n" + indent(g.text(s.below[1]), 2)
	case "call":
		name := fmt.Sprintf("f%d", len(g.fragments))
		g.fragments = append(g.fragments, "")
		g.fragments[len(g.fragments)-1] = "  " + name + ":\n    steps:\n" + indent(g.text(s.below[0]), 6)
		line(true, "call: %s", name)
	default:
		text += s.kind + ":\n" + indent(g.text(s.below[0]), 2)
	}
	return text
}

// TestEngineAgreesWithReference runs random trees of controllers and compares how
// often each sampler ran with what the reference interpreter says.
func TestEngineAgreesWithReference(t *testing.T) {
	seeds := uint64(150)
	if raceEnabled {
		seeds = 60
	}
	sent := 0
	for seed := range seeds {
		g := &grower{Rand: rand.New(rand.NewPCG(seed, 11))}
		iterations := 1 + g.IntN(5)
		steps := g.list(4, 4)
		text := g.text(steps)
		plan := "plan: random\n"
		if len(g.fragments) > 0 {
			plan += "fragments:\n" + strings.Join(g.fragments, "")
		}
		plan += strings.TrimPrefix(group1(fmt.Sprintf("{threads: 1, iterations: %d}", iterations), text), "plan: test\n")
		want := &reference{sent: map[string]int{}}
		for ; want.iteration < iterations; want.iteration++ {
			if want.list(steps, "continue") == endThread {
				break
			}
		}
		r := play(t, plan, nil)
		got := &reference{sent: map[string]int{}, blocks: len(r.transactions)}
		for _, s := range r.samples {
			if r.program.layout.Series[s.Series].Kind != element.ControlKind {
				got.sent[r.name(s.Series)]++
				got.requests += s.Requests
			}
		}
		if diff := cmp.Diff(want.sent, got.sent); diff != "" || want.requests != got.requests || want.blocks != got.blocks {
			t.Fatalf("seed %d: %d requests, want %d; %d transactions, want %d; sent (-want +got)\n%s\n%s", seed, got.requests, want.requests, got.blocks, want.blocks, diff, plan)
		}
		if i, s := r.ledger(t); i != 0 || s != 0 {
			t.Fatalf("seed %d: in flight: %d iterations, %d samples\n%s", seed, i, s, plan)
		}
		sent += len(r.samples)
	}
	if sent < 5*int(seeds) {
		t.Errorf("only %d samples: the trees are too small to say anything", sent)
	}
	t.Logf("%d samples", sent)
}

// TestLedgersOfControllers runs random trees with several threads, and stops,
// drains and signals in between.
func TestLedgersOfControllers(t *testing.T) {
	seeds := uint64(80)
	if raceEnabled {
		seeds = 50
	}
	for seed := range seeds {
		g := &grower{Rand: rand.New(rand.NewPCG(seed, 13)), wild: true}
		text := g.text(g.list(3, 4))
		head := "plan: random\n"
		if len(g.fragments) > 0 {
			head += "fragments:\n" + strings.Join(g.fragments, "")
		}
		r := play(t, head+strings.TrimPrefix(group1(randomLoad(g.Rand, 0), text), "plan: test\n"), randomMeddling(g.Rand))
		if i, s := r.ledger(t); i != 0 || s != 0 || t.Failed() {
			t.Fatalf("seed %d: in flight: %d iterations, %d samples\n%s%s", seed, i, s, head, text)
		}
	}
}
