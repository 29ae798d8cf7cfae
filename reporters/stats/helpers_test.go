package stats

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
)

// fakeClock is a run's clock that tests move by hand.
type fakeClock struct{ at time.Duration }

func (c *fakeClock) now() time.Duration { return c.at }

func noProcess() Process { return Process{CPU: -1, RSS: -1} }

// testLayout has one closed and one open group, a setup and a transaction row.
func testLayout() element.Layout {
	f := source.New("plan.yaml", []byte("plan: test\nthread_groups:\n  a:\n"))
	at := source.Range{File: f, Start: f.PosAt(3, 3), End: f.PosAt(3, 4)}
	return element.Layout{
		Plan: "test",
		Groups: []element.Group{
			{Name: "closed", Load: "2 threads", MaxThreads: 2, Duration: 10 * time.Second, Range: at,
				Planned: func(t time.Duration) float64 { return 2 }},
			{Name: "open", Load: "10/s", Open: true, MaxThreads: 5, ScheduledRate: "10/s", Range: at},
		},
		Series: []element.Series{
			{ID: 0, Group: 0, Name: "GET /", Kind: "http", Phase: element.Load, Range: at,
				Assertions: []element.AssertionInfo{{Name: "status", Range: at}, {Name: "body", Range: at}}},
			{ID: 1, Group: 1, Name: "POST /", Kind: "http", Phase: element.Load, Range: at},
			{ID: 2, Group: -1, Name: "login", Kind: "http", Phase: element.Setup, Range: at},
			{ID: 3, Group: 0, Name: "checkout", Kind: "transaction", Phase: element.Load, Transaction: true, Range: at},
		},
		Masker: &element.Masker{},
	}
}

func comparison(text string, limit float64) expr.Comparison {
	parts := strings.Fields(text)
	return expr.Comparison{Figure: parts[0], Op: parts[1], Limit: limit, Source: text}
}

// rig is a recorder on a fake clock with its journal in memory.
type rig struct {
	*Recorder
	clock   *fakeClock
	journal bytes.Buffer
}

func newRig(l element.Layout) *rig {
	r := &rig{clock: &fakeClock{}}
	r.Recorder = New(l, Options{
		Now: r.clock.now, Process: noProcess, Journal: &r.journal, Shards: 2,
		Started: time.Date(2026, 3, 4, 5, 6, 7, 8, time.UTC),
		Info:    Info{RunID: "r1", Seed: 7, Sources: []Source{{File: "plan.yaml", Text: "plan: test"}}, RunnerVersion: "1"},
	})
	return r
}

// second moves the clock to the end of its current second and ticks.
func (r *rig) second() {
	r.clock.at = (r.clock.at/time.Second + 1) * time.Second
	r.Tick()
}

// sample makes a passed sample without a schedule.
func sample(series int, at, took time.Duration) element.Sample {
	return element.Sample{
		Series: series, Due: at, Dispatched: at, FreeSince: at, Sent: at + 1, FirstByte: at + took - 1, Done: at + took,
		Requests: 1, BytesSent: 100, BytesReceived: 1000, Status: 200,
	}
}

func failed(s element.Sample, class element.Class, message string) element.Sample {
	s.Request = "GET /x"
	s.Fail(element.Problem{Class: class, Assertion: -1, Message: message})
	return s
}

// run records samples as whole iterations, so that the ledger adds up.
func (r *rig) run(group int, samples ...element.Sample) {
	for i := range samples {
		sh := r.Shard(group, i)
		if group >= 0 {
			sh.Count(element.IterationsScheduled, 1)
			sh.Count(element.IterationsStarted, 1)
		}
		sh.Count(element.SamplesStarted, 1)
		sh.Record(&samples[i])
		if group >= 0 {
			sh.Count(element.IterationsCompleted, 1)
		}
	}
}

func diffEmpty(t *testing.T, what, diff string) {
	t.Helper()
	if diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}
