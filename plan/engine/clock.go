package engine

import (
	"context"
	"sync"
	"time"
)

// Clock is the run's monotonic clock and the only thing that waits. Safe for
// concurrent use.
type Clock interface {
	// Now is the time since the clock was made, the run's start.
	Now() time.Duration
	// SleepUntil waits precisely for a due time; it returns the context's error
	// if that ends first, and at once if the time has passed.
	SleepUntil(ctx context.Context, at time.Duration) error
	// Sleep waits at least d, where half a millisecond does not matter.
	Sleep(ctx context.Context, d time.Duration) error
}

// plainClock waits with the runtime's timers, which is exact under
// testing/synctest and about half a millisecond late on a real machine.
type plainClock struct {
	start  time.Time
	timers sync.Pool // of *time.Timer, so that a wait allocates nothing
}

// NewPlainClock returns a clock on the runtime's timers: the virtual clock of
// tests in a synctest bubble, and the fallback where there is no better one.
func NewPlainClock() Clock { return newPlainClock() }

func newPlainClock() *plainClock { return &plainClock{start: time.Now()} }

func (c *plainClock) Now() time.Duration { return time.Since(c.start) }

func (c *plainClock) SleepUntil(ctx context.Context, at time.Duration) error {
	return c.Sleep(ctx, at-c.Now())
}

func (c *plainClock) Sleep(ctx context.Context, d time.Duration) error {
	if err := ctx.Err(); err != nil || d <= 0 {
		return err
	}
	t, ok := c.timers.Get().(*time.Timer)
	if ok {
		t.Reset(d)
	} else {
		t = time.NewTimer(d)
	}
	defer c.timers.Put(t)
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		t.Stop()
		return ctx.Err()
	}
}
