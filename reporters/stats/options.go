package stats

import (
	"io"
	"time"
)

// Options say what a Recorder needs beside the layout.
type Options struct {
	// Now is the run's monotonic clock, counted from the run's start; nil counts
	// from New.
	Now func() time.Duration
	// Started is when the run began; zero means now.
	Started time.Time
	// Info is what the summary repeats about plan and machine.
	Info Info
	// Journal receives one Write for the header and for each second, unbuffered;
	// nil keeps none. The caller closes it after Summary. An *os.File is replaced
	// by a compacted one under the same name each hour.
	Journal io.Writer
	// Apdex is the satisfied limit of the apdex; 0 means 500 ms.
	Apdex time.Duration
	// Shards is the number of shards, 0 for twice GOMAXPROCS.
	Shards int
	// Process reads the generator's own figures; nil reads this process's.
	Process func() Process
}

// Info is what a summary repeats about the plan and the machine.
type Info struct {
	Plan          string      `json:"plan"`
	Description   string      `json:"description"`
	PlanSHA256    string      `json:"plan_sha256"` // "" is computed from the first source
	Sources       []Source    `json:"sources"`
	RunnerVersion string      `json:"runner_version"`
	RunID         string      `json:"run_id"`
	Seed          uint64      `json:"seed"`
	Segment       string      `json:"segment,omitempty"` // the part of the load that was run, as 2/5; "" for the whole
	Started       time.Time   `json:"started"`
	Environment   Environment `json:"environment"`     // the zero value is filled in
	Floor         *Floor      `json:"floor,omitempty"` // measured before the run; nil without
}

// EndInfo is what the recorder cannot know of how a run ended.
type EndInfo struct {
	// Signal is the number of the signal that ended the run, 0 for none.
	Signal int `json:"signal"`
	// Aborted says that something was cut off without being recorded (a second
	// signal); only then may the ledger hold anything in flight.
	Aborted bool `json:"aborted"`
	// SetupError is why setup failed, "" if it did not.
	SetupError string `json:"setup_error"`
	// ReportErrors are reports that could not be written.
	ReportErrors []string `json:"report_errors"`
	// Errors are other reasons that make the run invalid.
	Errors []string `json:"errors"`
	// Stopped is why the run ended early (a stop step, on_error), "" if it did not.
	Stopped string `json:"stopped"`
	// SkippedGroups names groups that were left out while running, with the reason.
	SkippedGroups map[int]string `json:"skipped_groups"`
}

// Progress is how a run stands now, for the console.
type Progress struct {
	At      time.Duration
	Samples int64
	Errors  int64
	Groups  []GroupProgress
}

// GroupProgress is how one thread group stands now. Rate, P95, PlannedPS and
// StartedPS are over the last seconds.
type GroupProgress struct {
	Name     string
	Open     bool
	Started  bool
	Elapsed  time.Duration // since the group's start
	Duration time.Duration // planned, 0 if unknown
	Active   int           // threads; of an open group those that serve an iteration
	Max      int           // threads planned at most
	Planned  *float64      // threads (closed) or rate per second (open) planned now
	Samples  int64
	Errors   int64
	Dropped  int64
	Rate     float64        // samples per second
	P95      *time.Duration // nil without samples

	PlannedPS, StartedPS float64 // arrivals per second of an open group: as planned, and iterations begun
}

// Process is what the load generator's process says of itself; fields that
// cannot be measured are negative.
type Process struct {
	CPU   time.Duration // user and system time since the process began
	RSS   int64         // bytes
	CPUs  int           // that the process may use
	Pause []PauseCount  // stops of the garbage collector since the process began

	wait    []PauseCount  // of goroutines for a CPU
	assist  time.Duration // CPU time that goroutines gave the garbage collector
	procs   int           // CPUs that Go uses
	machine machine
}

// PauseCount counts the garbage collector's stops up to a length.
type PauseCount struct {
	Upper time.Duration
	N     uint64
}
