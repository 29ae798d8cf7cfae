package start

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"testing"
	"time"
)

func percent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// collectUntil collects garbage until want holds.
func collectUntil(t *testing.T, want func(percent uint64) bool) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); !want(percent()); time.Sleep(time.Millisecond) {
		if runtime.GC(); time.Now().After(until) {
			t.Fatalf("%d holds after a collection", percent())
		}
	}
}

func TestFirstCollectionBringsBackWhatWasAskedFor(t *testing.T) {
	collectUntil(t, func(p uint64) bool { return p != relaxed }) // that of the package itself
	defer debug.SetGCPercent(debug.SetGCPercent(150))
	if asked := deferFirst(); asked != 150 || percent() != relaxed {
		t.Fatalf("asked for %d, and %d holds; want 150 and %d", asked, percent(), relaxed)
	}
	collectUntil(t, func(p uint64) bool { return p == 150 })
}

func TestWhoTurnsCollectionsOffIsObeyed(t *testing.T) {
	for _, asked := range []int{-1, relaxed + 1} {
		before := debug.SetGCPercent(asked)
		if got := deferFirst(); got != asked {
			t.Errorf("asked for %d, got %d", asked, got)
		}
		if now := debug.SetGCPercent(before); now != asked {
			t.Errorf("%d holds, want %d", now, asked)
		}
	}
}
