package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

func segments(n int) []element.Segment {
	out := make([]element.Segment, n)
	for i := range out {
		out[i] = element.Segment{Index: i, Count: n}
	}
	return out
}

func threadEvents(s *ThreadShape, number func(int) int) []string {
	var out []string
	for w := s.Events(); ; {
		e, ok := w.Next()
		if !ok {
			return out
		}
		out = append(out, fmt.Sprintf("%015d %06d %v", e.At, number(e.Thread), e.Start))
	}
}

func randomThreads(r *rand.Rand) *ThreadShape {
	if r.IntN(2) == 0 {
		return Ramp(1+r.IntN(60), time.Duration(r.IntN(5000))*time.Millisecond, time.Duration(r.IntN(6000))*time.Millisecond)
	}
	var stages []ThreadStage
	for range 1 + r.IntN(6) {
		stages = append(stages, ThreadStage{r.IntN(40), time.Duration(r.IntN(4000)) * time.Millisecond})
	}
	return StagedThreads(stages)
}

func TestSegmentsOfThreadsAreTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 1))
	for range 400 {
		whole, n := randomThreads(r), 1+r.IntN(9)
		want := threadEvents(whole, func(k int) int { return k })
		var got []string
		most, planned := 0, 0.0
		at := time.Duration(r.IntN(8000)) * time.Millisecond
		for _, part := range segments(n) {
			s := whole.Part(part)
			local := s.Max()
			most, planned = most+local, planned+s.Planned(at)
			got = append(got, threadEvents(s, func(k int) int {
				if k < 1 || k > local {
					t.Fatalf("thread %d of %d", k, local)
				}
				return int(part.Nth(int64(k-1))) + 1
			})...)
		}
		slices.Sort(want)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%+v in %d: (-want +got)\n%s", whole, n, diff)
		}
		if most != whole.Max() || planned != whole.Planned(at) {
			t.Fatalf("%+v in %d: %d threads, planned %g, want %d, %g", whole, n, most, planned, whole.Max(), whole.Planned(at))
		}
	}
}

func TestSegmentsOfArrivalsAreTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 2))
	for range 400 {
		var stages []ArrivalStage
		rate := float64(r.IntN(30))
		for range 1 + r.IntN(5) {
			to := float64(r.IntN(30))
			stages = append(stages, ArrivalStage{rate, to, time.Duration(1+r.IntN(3000)) * time.Millisecond})
			rate = to
		}
		limit := int64(-1)
		if r.IntN(3) == 0 {
			limit = int64(r.IntN(40))
		}
		whole, n, seed := Arrivals(stages, limit, r.IntN(2) == 0), 1+r.IntN(9), r.Uint64()
		want := walk(whole, seed, 1e6)
		parts := make([][]time.Duration, n)
		var got []time.Duration
		var left int64
		for i, part := range segments(n) {
			s := whole.Part(part)
			parts[i] = walk(s, seed, 1e6)
			if s.Count() >= 0 && !whole.poisson && s.Count() != int64(len(parts[i])) {
				t.Fatalf("%v: Count %d, walked %d", stages, s.Count(), len(parts[i]))
			}
			w := s.Walk(seed)
			if _, ok := w.Next(); ok {
				left++
			}
			left += w.Remaining()
		}
		for i := range want { // interleaved: arrival i is the next of part i mod n
			if k := i % n; len(parts[k]) > i/n {
				got = append(got, parts[k][i/n])
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("%v in %d: (-want +got)\n%s", stages, n, diff)
		}
		if !(whole.poisson && limit >= 0) && left != int64(len(want)) {
			t.Fatalf("%v in %d: %d remaining, want %d", stages, n, left, len(want))
		}
	}
}

func TestSharedPartsAddUp(t *testing.T) {
	for total := int64(0); total < 40; total++ {
		for threads := int64(1); threads < 15; threads++ {
			for n := 1; n < 8; n++ {
				sum := int64(0)
				for _, part := range segments(n) {
					share := sharedPart(total, threads, part)
					sum += share
					if share > 0 && part.Of(threads) == 0 {
						t.Fatalf("%d of %d threads: %v has a share and no thread", total, threads, part)
					}
				}
				if sum != total {
					t.Fatalf("%d iterations of %d threads in %d: %d", total, threads, n, sum)
				}
			}
		}
	}
}

const segmented = `plan: Parts
setup: [fake: setup]
thread_groups:
  closed: {load: {threads: 7, ramp_up: 7s, iterations: 3}, steps: [fake: {say: closed, take: 1s}]}
  single: {load: {threads: 1, iterations: 2}, steps: [fake: {say: single, take: 1s}]}
  staged: {load: {threads: [{to: 4, over: 4s}, {hold: 3s}, {to: 1, over: 3s}]}, steps: [fake: {say: staged, take: 1300ms}]}
  open: {load: {rate: 3/s, duration: 9s, max_threads: 4}, steps: [fake: {say: open, take: 700ms}]}
  poisson: {load: {rate: 2/s, duration: 9s, arrivals: poisson, max_threads: 50}, steps: [fake: {say: poisson, take: 10ms}]}
  rare: {load: {rate: 1/s, duration: 5s, max_threads: 2}, steps: [fake: {say: rare, take: 10ms}]}
  shared: {load: {threads: 3, shared_iterations: 11}, steps: [fake: {say: shared, take: 1s}]}
  few: {load: {threads: 6, shared_iterations: 2}, steps: [fake: {say: few, take: 1s}]}
`

// TestSegmentsOfARun runs a plan whole and in parts on virtual time: the parts
// together do the same at the same times.
func TestSegmentsOfARun(t *testing.T) {
	whole := play(t, segmented, nil)
	whole.ledger(t)
	for _, n := range []int{2, 3, 5} {
		var got []string
		var threads, scheduled int64
		ids := map[string]bool{}
		for _, part := range segments(n) {
			p := compiled(t, segmented, Options{Masker: &element.Masker{}, Segment: part})
			r := playProgram(t, p, nil)
			r.ledger(t)
			if !strings.Contains(strings.Join(p.Layout().Notes, " "), fmt.Sprintf("segment %d of %d", part.Index+1, n)) {
				t.Errorf("the layout does not say that it is a segment: %q", p.Layout().Notes)
			}
			mine := map[string]bool{}
			for _, line := range r.journal {
				mine[strings.Fields(line)[1]] = true
			}
			for id := range mine {
				if ids[id] {
					t.Errorf("%d parts: thread %s is in two", n, id)
				}
				ids[id] = true
			}
			got = append(got, r.journal...)
			threads += int64(p.MaxThreads())
			scheduled += r.counts[element.IterationsScheduled]
		}
		most := int64(whole.program.MaxThreads()) // threads of few may have no share
		if threads > most || threads < most-4 || scheduled != whole.counts[element.IterationsScheduled] {
			t.Errorf("%d parts: %d threads, %d iterations; want %d, %d", n, threads, scheduled, most,
				whole.counts[element.IterationsScheduled])
		}
		if diff := cmp.Diff(comparable(whole.journal, n), comparable(got, 1)); diff != "" {
			t.Errorf("%d parts: (-want +got)\n%s", n, diff)
		}
	}
}

// comparable leaves out which thread served an arrival or a shared iteration, and
// counts setup once for each part.
func comparable(lines []string, parts int) []string {
	var out []string
	for _, line := range lines {
		words := strings.Fields(line)
		switch words[2] {
		case "setup":
			for range parts {
				out = append(out, words[0]+" setup")
			}
			continue
		case "open", "poisson", "rare", "shared", "few":
			words[1] = "T"
		}
		out = append(out, strings.Join(words, " "))
	}
	slices.Sort(out)
	return out
}

func TestSegmentWithoutThreadsKeepsTheTime(t *testing.T) {
	const text = `plan: Late
thread_groups:
  first: {load: {threads: 1, duration: 5s}, steps: [fake: {say: a, take: 1s}]}
  second: {load: {threads: 1, iterations: 1, after: first}, steps: [fake: b]}
`
	p := compiled(t, text, Options{Masker: &element.Masker{}, Segment: element.Segment{Index: 1, Count: 2}})
	if diff := cmp.Diff([]string{"5s T2 b"}, playProgram(t, p, nil).journal); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}
