package timers

import (
	"context"
	"fmt"
	"sync"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
)

func defineSynchronizing() element.Definition {
	return element.DefineTimer[synchronizing]("synchronizing", element.Doc{
		Summary: "holds threads back until a given number of them wait, then lets all go at once",
		Text: "The threads of one group meet. When `timeout` has passed since the first of them came, those that wait go on without the rest. " +
			"They also go on when all threads that could still come are there (fewer threads live than asked for) and when the load of the group is over, " +
			"so that nothing hangs. The time is a think time: it does not count in the response time.",
		Examples: []element.Example{
			{YAML: "synchronizing: {threads: 10, timeout: 30s}"},
			{YAML: "synchronizing: {threads: \"${crowd}\", timeout: 1m}"},
		},
	})
}

type synchronizing struct {
	Threads expr.Int      `plan:"threads,required" doc:"how many threads start together" min:"1"`
	Timeout expr.Duration `plan:"timeout,required" doc:"how long the first of them waits for the others" min:"1ms"`
}

// Due returns now: the engine asks Wait instead.
func (*synchronizing) Due(_ *element.Thread, now time.Duration) (time.Duration, error) {
	return now, nil
}

// Wait returns when the threads may go on together.
func (s *synchronizing) Wait(ctx context.Context, t *element.Thread) error {
	n, err := s.Threads.Eval(t)
	if err != nil {
		return err
	}
	timeout, err := s.Timeout.Eval(t)
	if err != nil {
		return err
	}
	if n < 1 {
		return fmt.Errorf("synchronizing needs at least 1 thread, not %d", n)
	}
	if t.Presence == nil {
		return ctx.Err()
	}
	m := t.Local(s, func() any {
		return t.Members.Value(s, func() any { return newMeeting(t.Presence) })
	}).(*meeting)
	return m.wait(ctx, n, timeout)
}

// meeting is where the threads of one group wait for each other. It is used
// again for each round.
//
//	round     ends when                                          then
//	waiting   wanted threads wait, or all that can come           gate closes, next round
//	          timeout of the first that came                      gate closes, next round
//	          a thread is cancelled                               it leaves, the round goes on
type meeting struct {
	mu      sync.Mutex
	present int64 // threads that can come; 0 when the load is over
	wanted  int64 // of this round, as the last that came has it
	waiting int64
	gate    chan struct{} // of this round; closed to let go
}

func newMeeting(p *element.Presence) *meeting {
	m := &meeting{gate: make(chan struct{})}
	p.Watch(func(threads int) {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.present = int64(threads)
		m.settle()
	})
	return m
}

// settle ends the round if enough threads wait. The caller holds mu.
func (m *meeting) settle() {
	if m.waiting > 0 && m.waiting >= min(m.wanted, m.present) {
		m.open()
	}
}

func (m *meeting) open() {
	close(m.gate)
	m.gate, m.waiting = make(chan struct{}), 0
}

func (m *meeting) wait(ctx context.Context, wanted int64, timeout time.Duration) error {
	m.mu.Lock()
	gate := m.gate
	m.waiting++
	m.wanted = wanted
	m.settle()
	m.mu.Unlock()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-gate:
		return nil
	case <-timer.C:
		m.leave(gate, m.open)
		return nil
	case <-ctx.Done():
		m.leave(gate, func() { m.waiting-- })
		return ctx.Err()
	}
}

// leave does then if the gate's round is still on.
func (m *meeting) leave(gate chan struct{}, then func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if gate == m.gate {
		then()
	}
}
