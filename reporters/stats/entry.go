package stats

import (
	"time"

	"runner/plan/element"
)

// entry is what is counted of a sample beside its problems.
type entry struct {
	series, status       int
	moment               time.Duration
	response             time.Duration
	service, latency     time.Duration
	underway             time.Duration
	delay                time.Duration // of its dispatch
	requests, reconnects int
	sent, received       int64
	phases               element.Phases
	assertions           []int // shared, read-only

	scheduled bool // it had a due time of its own
	free      bool // and a thread that was free by then
	warmUp    bool
	failed    bool
	unsent    bool
	served    bool // something was sent
	answered  bool // and a first byte came
}

// take fills t, which may hold anything.
func (t *entry) take(s *element.Sample) {
	t.series, t.status = s.Series, s.Status
	t.moment, t.response, t.underway = s.Moment(), s.Response(), s.Underway()
	t.service, t.latency = s.Service(), s.Latency()
	t.delay, t.scheduled, t.free = s.Dispatched-s.Due, s.Due != s.Dispatched, s.FreeSince <= s.Due
	t.requests, t.reconnects, t.sent, t.received = s.Requests, s.Reconnects, s.BytesSent, s.BytesReceived
	t.phases, t.assertions = s.Phases, s.Assertions
	t.warmUp, t.failed, t.unsent = s.WarmUp, s.Class != element.Passed, s.Unsent
	t.served, t.answered = s.Sent != 0, s.FirstByte != 0
}
