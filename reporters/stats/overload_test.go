package stats

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// spoilt is a closed run of so many seconds on two CPUs; in the first bad of
// them the step is felt. Half of the CPU time is used in all of them.
func spoilt(seconds, bad int, step func(p *Process)) *rig {
	src := &suffered{Process{CPUs: 2, procs: 2, machine: machine{Total: time.Hour, Idle: time.Hour}}}
	src.at.Pause, src.at.wait = []PauseCount{{300 * time.Millisecond, 0}}, []PauseCount{{20 * time.Millisecond, 0}}
	r := &rig{clock: &fakeClock{}}
	r.Recorder = New(testLayout(), Options{Now: r.clock.now, Process: src.read, Journal: &r.journal, Shards: 1})
	for i := range seconds {
		r.run(0, sample(0, r.clock.at, 500*time.Millisecond))
		m := &src.at.machine
		m.Total, m.Idle = m.Total+2*time.Second, m.Idle+time.Second
		if i < bad {
			step(&src.at)
		}
		r.second()
	}
	return r
}

func TestOverloadInClosedGroups(t *testing.T) {
	cpu := func(p *Process) { p.CPU += 1850 * time.Millisecond }
	target := func(p *Process) {
		p.CPU, p.machine.Idle = p.CPU+400*time.Millisecond, p.machine.Idle-time.Second
		p.wait = []PauseCount{{20 * time.Millisecond, p.wait[0].N + 50}}
	}
	tests := []struct {
		name         string
		seconds, bad int
		step         func(p *Process)
		want         string // "" is ok
	}{
		{"own CPU", 20, 10, cpu, "cpu: "},
		{"quota", 20, 10, func(p *Process) { p.machine.Quota, p.CPU = .5, p.CPU+480*time.Millisecond }, "cpu: "},
		{"pauses", 20, 10, func(p *Process) { p.Pause = []PauseCount{{300 * time.Millisecond, p.Pause[0].N + 1}} }, "gc: "},
		{"assist", 20, 10, func(p *Process) { p.assist += 200 * time.Millisecond }, "gc: "},
		{"target on the same machine", 20, 10, target, "machine_cpu: "},
		{"full machine, mostly by itself", 20, 10, func(p *Process) {
			p.CPU, p.machine.Idle = p.CPU+1400*time.Millisecond, p.machine.Idle-time.Second
			p.wait = []PauseCount{{20 * time.Millisecond, p.wait[0].N + 50}}
		}, "cpu: "},
		{"less than a tenth", 40, 3, cpu, ""},
		{"short run", 2, 2, cpu, ""},
		{"almost", 20, 20, func(p *Process) { p.CPU += 1700 * time.Millisecond }, ""},
		{"busy machine without waits", 20, 20, func(p *Process) { p.machine.Idle -= time.Second }, ""},
		{"slow target", 20, 20, func(*Process) {}, ""},
	}
	for _, tt := range tests {
		r := spoilt(tt.seconds, tt.bad, tt.step)
		s := r.Summary(EndInfo{})
		g := s.Generator
		told := strings.Join(g.Reasons, "; ")
		if tt.want == "" {
			if g.Verdict != "ok" || told != "" {
				t.Errorf("%s: %s, %q", tt.name, g.Verdict, told)
			}
			continue
		}
		name := strings.TrimSuffix(tt.want, ": ")
		if g.Verdict != "limited" || !strings.Contains(told, tt.want) || !strings.Contains(told, "in 10 of 20 seconds (second 0, 1, 2, 3, 4, …)") ||
			len(g.Causes) != 1 || g.Causes[0].Name != name || g.Causes[0].Seconds != 10 {
			t.Errorf("%s: %s, %q, %+v", tt.name, g.Verdict, told, g.Causes)
		}
		again, err := ReadJournal(bytes.NewReader(r.journal.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		diffEmpty(t, tt.name, cmp.Diff(g, again.Generator))
	}
}

// TestOverloadSurvivesACheckpoint: a compacted journal and a merged result know it.
func TestOverloadSurvivesACheckpoint(t *testing.T) {
	r := spoilt(20, 10, func(p *Process) { p.CPU += 1900 * time.Millisecond })
	var e encoder
	e.state(r.state)
	s := newState(r.state.out)
	d := decoder{b: e.b}
	if d.state(s); d.err != nil {
		t.Fatal(d.err)
	}
	diffEmpty(t, "checkpoint", cmp.Diff(r.state.judged(nil), s.judged(nil)))
	part, err := ReadPart("a", bytes.NewReader(r.journal.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Merge([]Part{part})
	if err != nil || whole.Generator.Verdict != "limited" || !strings.Contains(whole.Generator.Reasons[0], "a: cpu: ") {
		t.Errorf("merged: %+v, %v", whole, err)
	}
}

func TestShortIntervalsAndWarmUpAreNotJudged(t *testing.T) {
	var o overload
	busy := processDelta{cpu: time.Second, cpus: 1, allowed: 1}
	tests := map[string]*delta{
		"short":   {batch: batch{touched: []int{0}}, to: 100 * time.Millisecond, process: busy},
		"warm-up": {batch: batch{tally: tally{warmUp: 5}}, to: time.Second, active: 3, process: busy},
		"idle":    {to: time.Second, process: busy},
	}
	for name, d := range tests {
		if o.add(d); o.seconds != 0 {
			t.Errorf("%s counts", name)
		}
	}
	if o.add(&delta{to: time.Second, active: 1, process: busy}); o.seconds != 1 || o.causes[ownCPU].seconds != 1 {
		t.Errorf("%+v", o)
	}
}

// TestAClosedGroupsOwnStall: standing still for 2 s of 20 is told after one time,
// by the time it stood and not by the length of the interval.
func TestAClosedGroupsOwnStall(t *testing.T) {
	for _, tt := range []struct {
		seconds int
		stood   time.Duration
		want    string
	}{{18, 2 * time.Second, "stopped: the process stood still for 2 s in all in 1 of 18 seconds (second 3)"}, {200, 1500 * time.Millisecond, ""}, {20, 100 * time.Millisecond, ""}} {
		r := newRig(testLayout())
		for i := range tt.seconds {
			r.run(0, sample(0, r.clock.at, 500*time.Millisecond))
			r.clock.at += time.Second
			if i == 3 {
				r.clock.at += tt.stood
			}
			r.Tick()
		}
		s := r.Summary(EndInfo{})
		g := s.Generator
		if told := strings.Join(g.Reasons, "; "); !strings.Contains(told, tt.want) || (g.Verdict == "limited") != (tt.want != "") || tt.want == "" && told != "" {
			t.Errorf("%v of %d: %s, %q", tt.stood, tt.seconds, g.Verdict, told)
		}
		if tt.want != "" && (len(g.Causes) != 1 || g.Causes[0].Name != "stopped" || g.Causes[0].Text != "the process stood still for up to 2 s") {
			t.Errorf("causes %+v", g.Causes)
		}
		sum := 0.0
		for _, v := range s.Timeline.LengthS {
			sum += v
		}
		if whole := time.Duration(s.DurationNS).Seconds(); sum < whole-1e-6 || sum > whole+1e-6 {
			t.Errorf("the intervals cover %g s of %g", sum, whole)
		}
		again, err := ReadJournal(bytes.NewReader(r.journal.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		diffEmpty(t, "journal", cmp.Diff(g, again.Generator))
	}
}

// TestStoodByTheReadings: a reading that came late tells more than a tick.
func TestStoodByTheReadings(t *testing.T) {
	d := delta{from: 3 * time.Second, to: 5100 * time.Millisecond, flight: flight{late: 1950 * time.Millisecond}}
	if got := d.stood(); got != 1950*time.Millisecond {
		t.Error(got)
	}
	d.flight.late = time.Hour
	if got := d.stood(); got != d.to-d.from {
		t.Error(got)
	}
}
