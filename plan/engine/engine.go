// Package engine runs plans: Compile turns a plan into an immutable Program that
// all threads share, and a Runner executes it against a Recorder.
//
// A Program is a tree of small nodes (node.go, control.go, sampler.go) with
// shapes of load as data beside it (shape.go, arrivals.go). A Runner walks the
// shapes on a Clock (closed.go, open.go) and lets threads (thread.go) run the
// tree; a step costs no goroutine, no channel and no allocation. The engine
// knows no sampler, no reporter and no histogram.
package engine

import (
	"errors"
	"fmt"
	"time"

	"runner/plan/element"
	"runner/plan/source"
)

// Feeder hands out data rows. Next is called before an iteration's first step or
// once per thread, by the data's `per`. An error that is ErrStopThread ends the
// thread quietly; any other is a failed sample of class expression, and ends the
// thread too. Safe for concurrent use.
type Feeder interface {
	Next(t *element.Thread) (map[string]any, error)
}

// ErrStopThread is what a Feeder returns (or wraps) when its rows are used up and
// the plan says `on_end: stop_thread`.
var ErrStopThread = errors.New("no rows left")

// SetupError says that setup did not succeed, so that nothing else was run.
type SetupError struct {
	Step   string // the name of the step that failed; "" for the time limit
	Reason string
	Range  source.Range
}

// Error returns what failed and why in one line.
func (e *SetupError) Error() string {
	if e.Step == "" {
		return "setup: " + e.Reason
	}
	return fmt.Sprintf("setup: %s: %s", e.Step, e.Reason)
}

// GroupStatus is the progress of one thread group.
type GroupStatus struct {
	Name          string
	State         string // waiting, running, finishing, done, skipped
	Active        int
	Planned       float64 // threads, or arrivals per second in an open group
	Done          float64 // share, 0 to 1
	Elapsed, Left time.Duration
}

const (
	// MaxThreads is the highest number of threads in a group.
	MaxThreads = 1_000_000
	// hardEndWait is how long a group waits for threads after it has cancelled
	// them; what still runs then is left behind as in flight.
	hardEndWait = 2 * time.Second
	// idleTime is waited after an iteration without a sample or pause where only
	// time ends the load, so that a thread with nothing to do does not spin.
	idleTime = time.Millisecond
	forever  = time.Duration(1<<63 - 1)
)

// signal is what a node tells its parent: go on, or how far to unwind. The
// higher one wins.
type signal uint8

const (
	proceed   signal = iota
	outOfTime        // the runtime of the block around is over
	nextIteration
	stopThread
	stopGroup
	stopPlan
	interrupted // the context has ended
)
