package cmd

import (
	"context"
	"testing"
	"time"
)

// TestFloorThatCannotBeMeasured is an error at once, and leaves nothing behind that
// would hold up the run.
func TestFloorThatCannotBeMeasured(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	begun := time.Now()
	if f, err := measureFloor(ctx); err == nil {
		t.Errorf("%+v of a run that is over", f)
	}
	if took := time.Since(begun); took > 10*time.Second {
		t.Errorf("it took %v", took)
	}
}
