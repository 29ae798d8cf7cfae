package stats

import (
	"math"
	"strconv"

	"runner/plan/element"
)

// ledger adds up both ledgers. What was cut off is in flight: with cut all that
// is missing, without it one iteration and one sample for each thread that never
// ended, and the books must balance beyond that.
func (s *state) ledger(cut bool) Ledger {
	b, t := s.total, &s.total.tally
	l := Ledger{
		Iterations: IterationLedger{
			Scheduled: b.sum(element.IterationsScheduled), Started: b.sum(element.IterationsStarted),
			Completed: b.sum(element.IterationsCompleted), Interrupted: b.sum(element.IterationsInterrupted),
			DroppedNoThread: b.sum(element.DroppedNoThread), DroppedEnd: b.sum(element.DroppedEnd), DroppedAbort: b.sum(element.DroppedAbort),
		},
		Samples:  SampleLedger{Started: b.sum(element.SamplesStarted), Passed: t.passed, Errors: map[string]int64{}},
		Requests: t.requests, Reconnects: t.reconnects,
	}
	for _, c := range t.classes {
		l.Samples.Errors[c.class] += c.n
	}
	most := s.leftBehind()
	if cut {
		most = math.MaxInt64
	}
	i := &l.Iterations
	i.InFlight = min(most, max(0, i.Started-i.Completed-i.Interrupted))
	l.Samples.InFlight = min(most, max(0, l.Samples.Started-t.passed-t.failed()))
	return l
}

// leftBehind returns how many threads have not ended.
func (s *state) leftBehind() int64 {
	return max(0, s.total.sum(element.ThreadsStarted)-s.total.sum(element.ThreadsEnded))
}

// Check returns what does not add up in the ledger, one sentence each; none if
// all is well.
func (l *Ledger) Check() []string {
	var out []string
	i, m := &l.Iterations, &l.Samples
	if sum := i.Started + i.DroppedNoThread + i.DroppedEnd + i.DroppedAbort; i.Scheduled != sum {
		out = append(out, "the ledger does not add up: "+num(i.Scheduled)+" iterations scheduled, but "+num(i.Started)+" started and "+
			num(sum-i.Started)+" dropped")
	}
	if sum := i.Completed + i.Interrupted + i.InFlight; i.Started != sum {
		out = append(out, "the ledger does not add up: "+num(i.Started)+" iterations started, but "+num(i.Completed)+" completed, "+
			num(i.Interrupted)+" interrupted and "+num(i.InFlight)+" in flight")
	}
	failed := int64(0)
	for _, n := range m.Errors {
		failed += n
	}
	if sum := m.Passed + failed + m.InFlight; m.Started != sum {
		out = append(out, "the ledger does not add up: "+num(m.Started)+" samples started, but "+num(m.Passed)+" passed, "+
			num(failed)+" failed and "+num(m.InFlight)+" in flight")
	}
	for _, n := range []int64{i.Scheduled, i.Started, i.Completed, i.Interrupted, i.InFlight, i.DroppedNoThread, i.DroppedEnd,
		i.DroppedAbort, m.Started, m.Passed, m.InFlight, l.Requests, l.Reconnects} {
		if n < 0 {
			out = append(out, "the ledger does not add up: it holds a negative count, "+num(n))
			break
		}
	}
	return out
}

func num(n int64) string { return strconv.FormatInt(n, 10) }
