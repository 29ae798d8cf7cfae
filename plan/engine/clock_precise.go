package engine

import (
	"context"
	"sync"
	"time"
)

// preciseClock keeps due times to some 0.1 ms where the runtime's timers are
// half a millisecond late (its poller waits in whole milliseconds).
//
// Waiters stand in a heap; an alarm of the system is set to the earliest due time.
// On Linux that is a timerfd in the runtime's own poller: it goes off like a socket
// that has become readable, exact to the microsecond, and whoever it wakes runs on
// the OS thread that the poller woke. A thread of its own that sleeps in
// clock_nanosleep is as exact, but has to wake a second OS thread to pass a due
// time on, which on an idle machine takes longer than all else. No waiter holds an
// OS thread or spins. Think times go to the runtime's timers, which scale better.
type preciseClock struct {
	*plainClock
	alarm alarm
	done  sync.WaitGroup

	mu      sync.Mutex
	heap    []*waiter // earliest first
	waiters sync.Pool
}

type waiter struct {
	at    time.Duration
	index int // in the heap, -1 when out of it
	wake  chan struct{}
}

// alarm is a timer of the system that goes off once each time it is set.
type alarm interface {
	set(d time.Duration) // from now on; replaces what was set before

	// wait calls arm, then waits until the alarm goes off, or may have; it reports
	// false once the alarm is closed. What was set before arm may be forgotten.
	wait(arm func()) bool
	close()
}

// NewClock returns the real clock and a function that releases it, to be called
// when nobody waits any more.
func NewClock() (Clock, func()) {
	a, err := newAlarm()
	if err != nil {
		return newPlainClock(), func() {}
	}
	c := &preciseClock{plainClock: newPlainClock(), alarm: a}
	c.done.Go(func() {
		arm := c.arm
		for c.alarm.wait(arm) {
			c.fire()
		}
	})
	return c, func() {
		c.alarm.close()
		c.done.Wait()
	}
}

func (c *preciseClock) SleepUntil(ctx context.Context, at time.Duration) error {
	if err := ctx.Err(); err != nil || at <= c.Now() {
		return err
	}
	w, ok := c.waiters.Get().(*waiter)
	if !ok {
		w = &waiter{wake: make(chan struct{}, 1)}
	}
	w.at = at
	c.mu.Lock()
	c.push(w)
	if c.heap[0] == w {
		c.alarm.set(at - c.Now())
	}
	c.mu.Unlock()
	defer c.waiters.Put(w)
	select {
	case <-w.wake:
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	if w.index >= 0 {
		c.remove(w.index) // the alarm may go off for nobody
	} else {
		<-w.wake // already woken: the channel must be empty before reuse
	}
	c.mu.Unlock()
	return ctx.Err()
}

// fire wakes everybody whose time has come.
func (c *preciseClock) fire() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for now := c.Now(); len(c.heap) > 0 && c.heap[0].at <= now; {
		w := c.heap[0]
		c.remove(0)
		w.wake <- struct{}{}
	}
}

// arm sets the alarm for whoever is next.
func (c *preciseClock) arm() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.heap) > 0 {
		c.alarm.set(c.heap[0].at - c.Now())
	}
}

func (c *preciseClock) push(w *waiter) {
	w.index = len(c.heap)
	c.heap = append(c.heap, w)
	c.up(w.index)
}

func (c *preciseClock) remove(i int) {
	w, last := c.heap[i], len(c.heap)-1
	c.swap(i, last)
	c.heap[last] = nil
	c.heap = c.heap[:last]
	if i < last {
		c.down(i)
		c.up(i)
	}
	w.index = -1
}

func (c *preciseClock) swap(i, j int) {
	c.heap[i], c.heap[j] = c.heap[j], c.heap[i]
	c.heap[i].index, c.heap[j].index = i, j
}

func (c *preciseClock) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if c.heap[parent].at <= c.heap[i].at {
			return
		}
		c.swap(i, parent)
		i = parent
	}
}

func (c *preciseClock) down(i int) {
	for {
		least := i
		for child := 2*i + 1; child <= 2*i+2 && child < len(c.heap); child++ {
			if c.heap[child].at < c.heap[least].at {
				least = child
			}
		}
		if least == i {
			return
		}
		c.swap(i, least)
		i = least
	}
}
