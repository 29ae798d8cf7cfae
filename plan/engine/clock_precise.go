package engine

import (
	"context"
	"math"
	"runtime"
	"sync"
	"time"
)

// preciseClock keeps due times to some 0.1 ms where the runtime's timers are
// half a millisecond late (its poller waits in whole milliseconds).
//
// One goroutine on an OS thread of its own sleeps until the earliest due time of
// a heap of waiters. It sleeps in ppoll on an eventfd with the timer slack set
// to 1 ns: as exact as clock_nanosleep, and a waiter with an earlier due time
// can interrupt it. So 10,000 threads that wait for slots of a throughput timer
// cost one heap and one OS thread, and no waiter holds a thread of its own or
// spins. Think times go to the runtime's timers, which scale better.
type preciseClock struct {
	*plainClock
	alarm alarm
	done  sync.WaitGroup

	mu      sync.Mutex
	heap    []*waiter // earliest first
	closed  bool
	waiters sync.Pool
}

type waiter struct {
	at    time.Duration
	index int // in the heap, -1 when out of it
	wake  chan struct{}
}

// alarm is a sleep that others may cut short.
type alarm interface {
	sleep(d time.Duration) // at most d; negative: until ring
	ring()
	close()
	prepare() // once, on the OS thread that sleeps
}

// NewClock returns the real clock and a function that releases it, to be called
// when nobody waits any more.
func NewClock() (Clock, func()) {
	a, err := newAlarm()
	if err != nil {
		return newPlainClock(), func() {}
	}
	c := &preciseClock{plainClock: newPlainClock(), alarm: a}
	c.done.Go(c.run)
	return c, c.close
}

func (c *preciseClock) close() {
	c.mu.Lock()
	c.closed = true
	c.mu.Unlock()
	c.alarm.ring()
	c.done.Wait()
	c.alarm.close()
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
	first := c.heap[0] == w
	c.mu.Unlock()
	if first {
		c.alarm.ring()
	}
	defer c.waiters.Put(w)
	select {
	case <-w.wake:
		return nil
	case <-ctx.Done():
	}
	c.mu.Lock()
	if w.index >= 0 {
		c.remove(w.index)
	} else {
		<-w.wake // already woken: the channel must be empty before reuse
	}
	c.mu.Unlock()
	return ctx.Err()
}

func (c *preciseClock) run() {
	runtime.LockOSThread() // never unlocked: the thread ends with its timer slack
	c.alarm.prepare()
	for {
		wait, closed := c.fire()
		if closed {
			return
		}
		c.alarm.sleep(wait)
	}
}

// fire wakes everybody whose time has come and returns the time to the next.
func (c *preciseClock) fire() (wait time.Duration, closed bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for len(c.heap) > 0 {
		w := c.heap[0]
		if left := w.at - c.Now(); left > 0 {
			return left, c.closed
		}
		c.remove(0)
		w.wake <- struct{}{}
	}
	return math.MinInt64, c.closed
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
