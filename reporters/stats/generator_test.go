package stats

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

// scheduled makes a sample that was due at a time and left late; the thread was
// free in time unless it waited for its previous sample.
func scheduled(at, late, took time.Duration, free bool) element.Sample {
	s := sample(0, at+late, took)
	s.Due, s.FreeSince = at, at
	if !free {
		s.FreeSince = s.Dispatched
	}
	return s
}

// suffered is a process that shows one cause in each second of a run.
type suffered struct{ at Process }

func (p *suffered) read() Process { return p.at }

func TestCausesAreNamed(t *testing.T) {
	base := func() Process {
		return Process{CPU: 0, RSS: 1 << 20, CPUs: 4, procs: 4, machine: machine{Total: time.Hour, Idle: time.Hour, FilesLimit: 1000, Files: 10, PortsLimit: 1000, Ports: 10}}
	}
	tests := []struct {
		name string
		step func(p *Process)
		want string
	}{
		{"quota", func(p *Process) { p.machine.Throttled += 700 * time.Millisecond; p.machine.Quota = .2 }, "cgroup_throttled"},
		{"own CPU", func(p *Process) { p.CPU += 3900 * time.Millisecond }, "cpu"},
		{"steal", func(p *Process) { p.machine.Steal += time.Second }, "steal"},
		{"other programs", func(p *Process) { p.machine.Idle -= 4 * time.Second }, "machine_cpu"},
		{"collector", func(p *Process) { p.Pause = []PauseCount{{5 * time.Millisecond, p.Pause[0].N + 3}} }, "gc"},
		{"scheduler", func(p *Process) { p.wait = []PauseCount{{20 * time.Millisecond, p.wait[0].N + 50}} }, "scheduler"},
		{"open files", func(p *Process) { p.machine.Files = 998 }, "open_files"},
		{"ports", func(p *Process) { p.machine.Ports = 950 }, "ports"},
		{"sockets of others, and ports left", func(p *Process) { p.machine.Ports = 2470 }, ""},
		{"none", func(*Process) {}, ""},
	}
	for _, tt := range tests {
		src := &suffered{base()}
		src.at.Pause, src.at.wait = []PauseCount{{5 * time.Millisecond, 0}}, []PauseCount{{20 * time.Millisecond, 0}}
		r := &rig{clock: &fakeClock{}}
		r.Recorder = New(testLayout(), Options{Now: r.clock.now, Process: src.read, Journal: &r.journal, Shards: 1})
		for range 3 {
			for range 200 {
				if starved := tt.want == "open_files" || tt.want == "ports"; starved {
					r.run(1, failed(sample(1, r.clock.at, 1), element.LocalResource, map[bool]string{true: "no free local port or address", false: "no more"}[tt.want == "ports"]))
					continue
				}
				r.run(1, scheduled(r.clock.at, 3*time.Millisecond, 5*time.Millisecond, true))
			}
			src.at.machine.Total, src.at.machine.Idle = src.at.machine.Total+4*time.Second, src.at.machine.Idle+4*time.Second
			tt.step(&src.at)
			r.second()
		}
		g := r.Summary(EndInfo{}).Generator
		var names []string
		for _, c := range g.Causes {
			names = append(names, c.Name)
			if c.Seconds != 3 || len(c.AtS) != 3 || !strings.Contains(strings.Join(g.Reasons, " "), c.Text) {
				t.Errorf("%s: %+v %q", tt.name, c, g.Reasons)
			}
		}
		verdict := "limited"
		if tt.want == "open_files" || tt.want == "ports" {
			verdict = "invalid"
		}
		if g.Verdict != verdict || strings.Join(names, " ") != tt.want {
			t.Errorf("%s: %s, causes %q, want %q; %q", tt.name, g.Verdict, names, tt.want, g.Reasons)
		}
		again, err := ReadJournal(&r.journal)
		if err != nil {
			t.Fatal(err)
		}
		diffEmpty(t, tt.name, cmp.Diff(g, again.Generator))
	}
}

func TestStandingStillIsNamed(t *testing.T) {
	r := newRig(testLayout())
	for s := range 5 {
		for range 200 {
			r.run(1, scheduled(r.clock.at, 600*time.Millisecond, time.Millisecond, true))
		}
		r.clock.at += time.Second
		if s == 2 {
			r.clock.at += 500 * time.Millisecond
		}
		r.Tick()
	}
	g := r.Summary(EndInfo{}).Generator
	if len(g.Causes) != 1 || g.Causes[0].Name != "stopped" || g.Causes[0].Seconds != 1 || !strings.Contains(g.Causes[0].Text, "up to 500 ms") {
		t.Errorf("%+v", g)
	}
}

// TestStopIsNamedForWhatItDelays: the samples that a stop made late are recorded
// after the interval in which the process stood.
func TestStopIsNamedForWhatItDelays(t *testing.T) {
	r := newRig(testLayout())
	for s := range 8 {
		for range 200 {
			lag := time.Duration(0)
			if s == 4 {
				lag = 2 * time.Second
			}
			r.run(1, scheduled(r.clock.at, lag, time.Millisecond, true))
		}
		r.clock.at += time.Second
		if s == 3 {
			r.clock.at += 2 * time.Second
		}
		r.Tick()
	}
	g := r.Summary(EndInfo{}).Generator
	if len(g.Causes) != 1 || !slices.Equal(g.Causes[0].AtS, []float64{3}) ||
		!strings.Contains(strings.Join(g.Reasons, ""), "cause: the process stood still for up to 2 s in 1 second (second 3)") {
		t.Errorf("%+v", g)
	}
}

// TestPortsAreToldAsMeasured: sockets to other addresses take no port away.
func TestPortsAreToldAsMeasured(t *testing.T) {
	text := ports.say(min(2.47, 1), 0)
	d := delta{to: time.Second, process: processDelta{ports: 2470, portsLimit: 1000}, batch: *newBatch(1, 0, 0)}
	c := d.cell(0)
	c.errors = append(c.errors, errorTally{class: string(element.LocalResource), message: "no free local port or address"})
	felt := d.strength()
	if felt[ports] != 0 {
		t.Error("foreign sockets are a cause")
	}
	if d.exhausted(&felt); felt[ports] != 1 || !strings.Contains(text, "whole machine") || !strings.Contains(text, "100%") {
		t.Errorf("felt %g: %q", felt[ports], text)
	}
}

// TestOtherProgramsAreTold where no cause is sure: a core of two is taken.
func TestOtherProgramsAreTold(t *testing.T) {
	for used, told := range map[time.Duration]bool{time.Second: true, 300 * time.Millisecond: false} {
		src := &suffered{Process{CPUs: 2, procs: 2, machine: machine{Total: time.Hour, Idle: time.Hour}}}
		r := &rig{clock: &fakeClock{}}
		r.Recorder = New(testLayout(), Options{Now: r.clock.now, Process: src.read, Journal: &r.journal, Shards: 1})
		for range 3 {
			for range 200 {
				r.run(1, scheduled(r.clock.at, 3*time.Millisecond, 5*time.Millisecond, true))
			}
			m := &src.at.machine
			src.at.CPU, m.Total, m.Idle = src.at.CPU+200*time.Millisecond, m.Total+2*time.Second, m.Idle+1800*time.Millisecond-used
			r.second()
		}
		g := r.Summary(EndInfo{}).Generator
		if reasons := strings.Join(g.Reasons, " "); g.Verdict != "limited" || strings.Contains(reasons, "other programs used up to 50% of its CPUs") != told {
			t.Errorf("%v used: %s, %q", used, g.Verdict, reasons)
		}
		back, err := ReadJournal(&r.journal)
		if err != nil {
			t.Fatal(err)
		}
		diffEmpty(t, "journal", cmp.Diff(g, back.Generator))
	}
}

// TestShares holds the shares of what was due to the limits of limited and invalid.
func TestShares(t *testing.T) {
	tests := []struct {
		name         string
		all, missed  int
		free         bool
		end, dropped int64
		want         string
	}{
		{"all sent", 1000, 0, true, 0, 0, "ok"},
		{"two a second late", 1000, 2, true, 0, 0, "ok"},
		{"0.6 % not sent", 1000, 6, true, 0, 0, "limited"},
		{"9 % not sent", 1000, 90, true, 0, 0, "limited"},
		{"11 % not sent", 1000, 110, true, 0, 0, "invalid"},
		{"half late, the threads were busy", 1000, 500, false, 0, 0, "ok"},
		{"too few threads", 1000, 0, true, 0, 800, "ok"},
		{"arrivals past the end", 1000, 0, true, 200, 0, "invalid"},
	}
	for _, tt := range tests {
		r := newRig(testLayout())
		for k := range tt.all {
			late := 50 * time.Microsecond
			if k < tt.missed {
				late = 1500 * time.Millisecond
			}
			r.run(1, scheduled(0, late, time.Millisecond, tt.free))
		}
		sh := r.Shard(1, 0)
		sh.Count(element.IterationsScheduled, tt.end+tt.dropped)
		sh.Count(element.DroppedEnd, tt.end)
		sh.Count(element.DroppedNoThread, tt.dropped)
		r.second()
		s := r.Summary(EndInfo{})
		if s.Generator.Verdict != tt.want || (s.ExitCode == 3) != (tt.want == "invalid") {
			t.Errorf("%s: %s (exit %d) %q, want %s", tt.name, s.Generator.Verdict, s.ExitCode, s.Generator.Reasons, tt.want)
		}
	}
}

// TestFewLateSamples holds the rule below the 299 samples that a p99 needs.
func TestFewLateSamples(t *testing.T) {
	tests := []struct {
		n, late int
		want    string
	}{{1, 1, "ok"}, {20, 2, "ok"}, {20, 3, "limited"}, {200, 4, "ok"}, {200, 6, "limited"}, {298, 5, "ok"}, {400, 4, "ok"}, {400, 5, "limited"}}
	for _, tt := range tests {
		r := newRig(testLayout())
		for k := range tt.n {
			late := 20 * time.Microsecond
			if k < tt.late {
				late = 24 * time.Millisecond
			}
			r.run(1, scheduled(0, late, time.Millisecond, true))
		}
		r.second()
		g := r.Summary(EndInfo{}).Generator
		if g.Verdict != tt.want || (g.DispatchDelayNS.P99 != nil) != (tt.n >= 299) {
			t.Errorf("%d of %d late: %s, p99 %v, want %s: %q", tt.late, tt.n, g.Verdict, g.DispatchDelayNS.P99, tt.want, g.Reasons)
		}
	}
}

func TestReadingTheSystem(t *testing.T) {
	total, idle, steal := parseStat([]byte("cpu  10 20 30 400 5 1 2 7 3 0\ncpu0 1 2\n"))
	diffEmpty(t, "stat", cmp.Diff([]time.Duration{4750 * time.Millisecond, 4050 * time.Millisecond, 70 * time.Millisecond}, []time.Duration{total, idle, steal}))
	if got := parseRange([]byte("32768\t60999\n")); got != 28232 {
		t.Errorf("%d ports", got)
	}
	if got := parseSockets([]byte("sockets: used 9\nTCP: inuse 5 orphan 0 tw 3 alloc 7 mem 1\n")); got != 8 {
		t.Errorf("%d sockets", got)
	}
	for _, bad := range []string{"", "cpu", "cpu a b c d e f g h", "\x00"} {
		parseStat([]byte(bad))
		parseSockets([]byte(bad))
		parseRange([]byte(bad))
	}
}

// TestIntervalsCover counts how often the interval of order statistics holds the
// true percentile: by simulation of uniform values, 95 % within its error.
func TestIntervalsCover(t *testing.T) {
	tests := []struct {
		percent float64
		n       int64
	}{{95, 100}, {95, 2000}, {99, 500}, {99, 5000}, {99, 200_000}}
	for _, tt := range tests {
		low, high, ok := ranksAround(tt.percent, tt.n)
		p := tt.percent / 100
		// The interval misses when at most low−1 or at least high values lie below.
		inside := 1.0
		if tt.n <= exactBelow {
			inside = atLeast(low, tt.n, p) - atLeast(high, tt.n, p)
		}
		if !ok || inside < .95 || inside > 1 || float64(low) > float64(tt.n)*p || float64(high) < float64(tt.n)*p {
			t.Errorf("p%v of %d: ranks %d to %d hold it with %.4f", tt.percent, tt.n, low, high, inside)
		}
	}
	if _, _, ok := ranksAround(95, 59); ok {
		t.Error("59 samples have no upper end")
	}
	if low, high, ok := ranksAround(95, 100); !ok || low != 90 || high != 100 {
		t.Errorf("of 100: %d to %d", low, high)
	}
	var sum float64
	for k := range int64(101) {
		sum += binomial(k, 100, .3)
	}
	if math.Abs(sum-1) > 1e-9 {
		t.Errorf("the probabilities add up to %v", sum)
	}
}
