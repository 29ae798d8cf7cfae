package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"
)

func TestPreciseClock(t *testing.T) {
	clock, release := NewClock()
	defer release()
	const n = 200
	late := make([]time.Duration, n)
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() {
			at := time.Duration(1+(i*37)%n) * time.Millisecond
			if err := clock.SleepUntil(t.Context(), at); err != nil {
				t.Error(err)
			}
			late[i] = clock.Now() - at
		})
	}
	wg.Wait()
	slices.Sort(late)
	if late[0] < 0 {
		t.Errorf("woken %v early", -late[0])
	}
	t.Logf("late: median %v, p95 %v, max %v", late[n/2], late[n*95/100], late[n-1])
	if late[n/2] > time.Second {
		t.Errorf("median %v late", late[n/2])
	}
}

func TestPreciseClockIsCancelled(t *testing.T) {
	clock, release := NewClock()
	defer release()
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			if err := clock.SleepUntil(ctx, time.Hour); !errors.Is(err, context.Canceled) {
				t.Errorf("error %v", err)
			}
		})
	}
	cancel()
	wg.Wait()
	if err := clock.SleepUntil(t.Context(), clock.Now()+time.Millisecond); err != nil {
		t.Error(err)
	}
	if err := clock.SleepUntil(t.Context(), 0); err != nil {
		t.Error(err)
	}
}

func BenchmarkSleepUntil(b *testing.B) {
	clock, release := NewClock()
	defer release()
	b.ReportAllocs()
	for b.Loop() {
		_ = clock.SleepUntil(context.Background(), clock.Now()+50*time.Microsecond)
	}
}
