package stats

import (
	"bytes"
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

// call is a sample of a simulated run: when it began and how long it really took.
type call struct {
	at, took time.Duration
	thread   int
}

// simulation is a recorder under a load whose truth is known.
type simulation struct {
	*rig
	lie  func(element.Sample) element.Sample // what is recorded instead, nil: the truth
	lost float64                             // share of the samples that nobody counts
	late time.Duration                       // by which readings come too late
	cpu  float64                             // CPUs that the generator uses
}

func simulate(seed uint64) *simulation {
	s := &simulation{rig: &rig{clock: &fakeClock{}}}
	l := testLayout()
	s.Recorder = New(l, Options{Now: s.clock.now, Journal: &s.journal, Shards: 3, Info: Info{Seed: seed, Sources: []Source{{File: "plan.yaml", Text: "plan: test"}}},
		Process: func() Process {
			return Process{CPU: time.Duration(s.cpu * float64(s.clock.at)), CPUs: 2}
		}, Started: time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC)})
	return s
}

// moment is the begin or the end of a call, or a tick (call −1).
type moment struct {
	at   time.Duration
	call int
	done bool
}

// play takes the calls and closes the run.
func (s *simulation) play(calls []call, length time.Duration, end EndInfo) *Summary {
	s.take(calls, length)
	return s.Summary(end)
}

// take takes the calls, reads and ticks until the end.
func (s *simulation) take(calls []call, length time.Duration) {
	var list []moment
	for i, c := range calls {
		list = append(list, moment{c.at, i, false}, moment{c.at + c.took, i, true})
	}
	for at := time.Second; at <= length; at += time.Second {
		list = append(list, moment{at, -1, false})
	}
	slices.SortFunc(list, func(a, b moment) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.call, b.call)) })
	look := s.look() + s.late
	for _, m := range list {
		for look < min(m.at, length) {
			s.clock.at = max(s.clock.at, look)
			look = s.clock.at + s.look() + s.late
		}
		s.clock.at = m.at
		switch {
		case m.call < 0:
			s.Tick()
		case m.done:
			s.returned(calls[m.call], m.call)
		default:
			sh := s.Shard(0, calls[m.call].thread)
			sh.Count(element.IterationsScheduled, 1)
			sh.Count(element.IterationsStarted, 1)
			sh.Count(element.SamplesStarted, 1)
		}
	}
	s.clock.at = max(s.clock.at, length)
	s.Tick()
}

// returned ends a call. One that is lost was never counted either, so that the
// ledger does not find it.
func (s *simulation) returned(c call, i int) {
	sh := s.Shard(0, c.thread)
	sh.Count(element.SamplesReturned, 1)
	x := sample(0, c.at, c.took)
	if s.lie != nil {
		x = s.lie(x)
	}
	if float64(i%100) < s.lost*100 {
		sh.Count(element.SamplesStarted, -1)
		sh.(*handle).shard.flying.Add(1)
	} else {
		sh.Record(&x)
	}
	sh.Count(element.IterationsCompleted, 1)
}

// steadyCalls keeps n samples of that length in flight.
func steadyCalls(n int, took, length time.Duration) []call {
	var out []call
	for i := range n {
		for at := took * time.Duration(i) / time.Duration(n); at+took < length; at += took + 1 {
			out = append(out, call{at, took, i})
		}
	}
	return out
}

const minute = time.Minute

// factor makes recorded times too short or too long.
func factor(f float64) func(element.Sample) element.Sample {
	return func(s element.Sample) element.Sample {
		s.Done = s.Dispatched + time.Duration(f*float64(s.Done-s.Dispatched))
		return s
	}
}

// TestLittlesLawVoidsWrongFigures records what is not so.
func TestLittlesLawVoidsWrongFigures(t *testing.T) {
	tests := []struct {
		name string
		set  func(*simulation)
	}{
		{"times 10 % too short", func(s *simulation) { s.lie = factor(0.9) }},
		{"times 20 % too long", func(s *simulation) { s.lie = factor(1.2) }},
		{"one sample in eight is not recorded", func(s *simulation) { s.lost = .125 }},
	}
	for _, tt := range tests {
		s := simulate(1)
		tt.set(s)
		sum := s.play(steadyCalls(20, 300*time.Millisecond, 2*minute), 2*minute, EndInfo{})
		text := strings.Join(sum.Reasons, "\n")
		if sum.ExitCode != exitInvalid || sum.Verdict != Invalid || sum.Concurrency.Holds || strings.Contains(text, "ledger") ||
			!strings.HasPrefix(text, "the figures contradict") || !strings.Contains(text, "on average "+formatNumber(sum.Concurrency.InFlight, 3)) || !strings.Contains(text, formatNumber(sum.Concurrency.Expected, 3)+" (±") {
			t.Errorf("%s: exit %d, %+v, %q, %q", tt.name, sum.ExitCode, sum.Concurrency, sum.Reasons, sum.Notes)
		}
		back, err := ReadJournal(bytes.NewReader(s.journal.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		diffEmpty(t, "from the journal", gocmp.Diff(asJSON(t, sum), asJSON(t, back)))
		part, err := ReadPart("a", bytes.NewReader(s.journal.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		both, err := Merge([]Part{part, part})
		if err != nil || both.ExitCode != exitInvalid || math.Abs(both.Concurrency.InFlight-40) > 1 || !strings.HasPrefix(both.Reasons[0], "a: the figures contradict") {
			t.Errorf("%s: merged: %+v, %q, %v", tt.name, both.Concurrency, both.Reasons, err)
		}
	}
}

// TestLittlesLawOnlyNotes: a run that is cut off, one whose generator was not fit,
// and one whose CPU time is unknown explain the difference otherwise.
func TestLittlesLawOnlyNotes(t *testing.T) {
	for name, set := range map[string]func(*simulation) EndInfo{
		"aborted": func(*simulation) EndInfo { return EndInfo{Aborted: true} },
		"starved": func(s *simulation) EndInfo { s.cpu = 1.95; return EndInfo{} },
		"unknown": func(s *simulation) EndInfo { s.process = noProcess; s.before = noProcess(); return EndInfo{} },
	} {
		s := simulate(1)
		s.lie = factor(0.5)
		sum := s.play(steadyCalls(20, 300*time.Millisecond, minute), minute, set(s))
		if sum.ExitCode != exitPassed || sum.Concurrency.Holds || !slices.ContainsFunc(sum.Notes, func(n string) bool { return strings.Contains(n, "Little's law") }) {
			t.Errorf("%s: exit %d, %+v, %q, %q", name, sum.ExitCode, sum.Concurrency, sum.Reasons, sum.Notes)
		}
	}
}

// burstCalls begin together each second, at the ticks or beside them.
func burstCalls(threads int, phase, took, length time.Duration) []call {
	var out []call
	for at := phase; at+took < length; at += time.Second {
		for i := range threads {
			out = append(out, call{at, took, i})
		}
	}
	return out
}

// stalled are arrivals at a rate to a server that stops for 2 s.
func stalled(rate int, took, length time.Duration) []call {
	var out []call
	from, to := length/2, length/2+2*time.Second
	for i := range int(length.Seconds()-1) * rate {
		c := call{at: time.Duration(i) * time.Second / time.Duration(rate), took: took, thread: i}
		if end := c.at + took; end > from && c.at < to {
			c.took = to - c.at + took
		}
		out = append(out, c)
	}
	return out
}

// randomCalls is a load of random shape: its rate and times vary with the time,
// with bursts, pauses and long tails.
func randomCalls(r *rand.Rand, length time.Duration) []call {
	var out []call
	rate, mean, wave := 10+90*r.Float64(), 0.01+r.ExpFloat64()*0.15, 0.3+5*r.Float64()
	kind := r.IntN(5)
	for at := 0.0; ; {
		now := rate
		switch kind {
		case 0: // a ramp
			now *= 0.05 + at/length.Seconds()
		case 1: // on and off
			if math.Mod(at, wave) > wave/3 {
				now /= 50
			}
		case 2: // bursts at whole seconds
			at = math.Ceil(at + 0.001)
			for range int(rate) {
				out = append(out, call{time.Duration(at * 1e9), time.Duration((0.001 + mean*r.Float64()) * 1e9), len(out)})
			}
		}
		at += r.ExpFloat64() / now
		if at >= length.Seconds()-1 {
			break
		}
		took := mean * r.ExpFloat64()
		if kind == 3 { // a long tail
			took = min(20, 0.2*mean/math.Pow(1-r.Float64(), 1/1.3))
		}
		out = append(out, call{time.Duration(at * 1e9), time.Duration(took*1e9) + 1, len(out)})
	}
	return out
}

// TestLittlesLawSparesHonestRuns is the other half: what is true is never void.
func TestLittlesLawSparesHonestRuns(t *testing.T) {
	ramp := func(up bool) []call {
		var out []call
		for i := range 100 {
			at := time.Duration(i) * 500 * time.Millisecond
			for ; at < minute-time.Second; at += 70 * time.Millisecond {
				c := call{at, 70 * time.Millisecond, i}
				if !up {
					c.at = minute - time.Second - at
				}
				out = append(out, c)
			}
		}
		return out
	}
	loads := map[string][]call{
		"constant": steadyCalls(10, time.Second, minute), "short": steadyCalls(10, 3*time.Millisecond, 30*time.Second),
		"stall": stalled(100, 50*time.Millisecond, minute), "ramp up": ramp(true), "ramp down": ramp(false),
		"10 threads at the ticks": burstCalls(10, 0, 50*time.Millisecond, minute),
	}
	for _, phase := range []time.Duration{0, 1, 25 * time.Millisecond, 999 * time.Millisecond} {
		loads["100 threads "+phase.String()+" from the ticks"] = burstCalls(100, phase, 50*time.Millisecond, minute)
		loads["2,000 threads "+phase.String()+" from the ticks"] = burstCalls(2000, phase, 3*time.Millisecond, minute)
	}
	rounds := uint64(5)
	if raceEnabled {
		rounds = 1
	}
	for name, calls := range loads {
		for seed := range rounds {
			s := simulate(seed)
			s.late = time.Duration(seed) * time.Millisecond
			sum := s.play(calls, minute, EndInfo{})
			if sum.ExitCode != exitPassed || sum.Concurrency == nil || !sum.Concurrency.Holds {
				t.Errorf("%s, seed %d: %+v, %q", name, seed, sum.Concurrency, sum.Reasons)
			}
		}
	}
	seeds, alarms, judged := uint64(1000), 0, 0
	if testing.Short() || raceEnabled {
		seeds = 100
	}
	for seed := range seeds {
		r := rand.New(rand.NewPCG(seed, 3))
		length := time.Duration(21+r.IntN(9)) * time.Second
		s := simulate(seed)
		s.take(randomCalls(r, length), length)
		if c := s.state.concurrency(0); c != nil && max(c.InFlight, c.Expected) >= lawInFlight {
			judged++
			if !c.Holds {
				alarms++
				t.Errorf("seed %d: %+v", seed, c)
			}
		}
	}
	if judged < int(seeds)/4 {
		t.Errorf("only %d of %d runs were judged", judged, seeds)
	}
	t.Logf("%d alarms in %d runs, %d of them judged", alarms, seeds, judged)
}

// TestLittlesLawCountsTheWholeTime: earlier tries, and what a sampler does before
// and after its own time, are in flight and in the time.
func TestLittlesLawCountsTheWholeTime(t *testing.T) {
	x := element.Sample{Dispatched: 10, Done: 30}
	if got := x.Underway(); got != 20 {
		t.Errorf("%v", got)
	}
	x.Before, x.Left = 5, 33
	if got := x.Underway(); got != 28 {
		t.Errorf("%v", got)
	}
}

// TestReadingsAreUniform: one in each tenth of a second, anywhere in it.
func TestReadingsAreUniform(t *testing.T) {
	w := newWatch(1, 0)
	var tenths [10]int
	for i := range 10_000 {
		if from := time.Duration(i) * lookEvery; w.due < from || w.due >= from+lookEvery {
			t.Fatalf("reading %d at %v", i, w.due)
		}
		tenths[w.due%lookEvery*10/lookEvery]++
		w.next(w.due)
	}
	for _, n := range tenths {
		if n < 850 || n > 1150 {
			t.Errorf("%v", tenths)
		}
	}
	w = newWatch(1, 0)
	if w.next(10*lookEvery + 1); w.due < 10*lookEvery || w.due >= 11*lookEvery {
		t.Errorf("after a second without: %v", w.due)
	}
}

// TestClosedGroupsShareANote: one sentence, however many groups there are.
func TestClosedGroupsShareANote(t *testing.T) {
	for n, want := range map[int]string{1: "the group g1 is a closed", 2: "the groups g1 and g2 are closed", 5: "the groups g1, g2, g3, g4 and g5 are closed", 8: "the groups g1, g2, g3, g4, g5 and 3 more are closed"} {
		l := testLayout()
		l.Groups, l.Series = nil, nil
		for i := range n {
			l.Groups = append(l.Groups, element.Group{Name: "g" + num(int64(i+1)), MaxThreads: 1})
			l.Series = append(l.Series, element.Series{ID: i, Group: i, Name: "a", Kind: "http", Phase: element.Load})
		}
		r := newRig(l)
		for i := range n {
			r.run(i, sample(i, 0, time.Millisecond))
		}
		if notes := r.Summary(EndInfo{}).Notes; len(notes) != 1 || !strings.HasPrefix(notes[0], want) {
			t.Errorf("%d groups: %q", n, notes)
		}
	}
}
