package element

import (
	"time"

	"runner/plan/expr"
	"runner/plan/source"
)

// Phase says in which part of the run a series lives.
type Phase string

// The phases of a run.
const (
	Setup    Phase = "setup"
	Load     Phase = "load"
	Teardown Phase = "teardown"
)

// ControlKind is the kind of the series of a step that is no sampler. It has
// samples only where the step failed, and is left out of reports without them.
const ControlKind = "control"

// Series describes one row of the result, known before the run: a sampler name
// in a group, or a transaction.
type Series struct {
	ID          int
	Group       int // index into Layout.Groups; -1 in setup and teardown
	Name        string
	Kind        string // the sampler's name, "transaction", or ControlKind
	Phase       Phase
	Transaction bool
	Range       source.Range
	Assertions  []AssertionInfo
	Reserved    bool // for a value of split_by: left out of reports without samples, and named when there is one (RowNamer)
}

// AssertionInfo describes one assertion of a series.
type AssertionInfo struct {
	Name  string
	Range source.Range
}

// Group describes one thread group.
type Group struct {
	Name          string
	Load          string // the load in one sentence
	Open          bool   // open model
	MaxThreads    int
	Duration      time.Duration // planned, 0 if unknown
	ScheduledRate string
	Skipped       string // reason, or ""
	Range         source.Range
	Planned       func(at time.Duration) float64 // planned threads (closed) or rate per second (open) at a time since the group's start
	Delay         time.Duration
	WarmUp        time.Duration // time since the group's start whose samples are left out of the figures
}

// Threshold is one thing to be judged: a comparison over some series.
type Threshold struct {
	Scope              string // "plan", "group NAME", "GROUP / STEP"
	Group              int    // index, -1 for the plan
	Series             []int  // what it is judged over, merged
	Single             int    // the one series it was written on, or -1
	Comparison         expr.Comparison
	After, Window, For time.Duration
	Stop               bool
	Implied            bool
	Range              source.Range
	Tag                string // judged over the series of samplers with this tag; already applied to Series
	Metric             string // the custom metric that Comparison is about, "" if it is none
}

// Layout is everything that a recorder knows before the run.
type Layout struct {
	Plan       string
	Groups     []Group
	Series     []Series
	Thresholds []Threshold
	Notes      []string
	Skipped    []Skipped
	Metrics    []Metric // the plan's custom metrics
	Masker     *Masker
}

// Metric describes a custom metric of the plan: a counter adds its values up, a
// gauge keeps the last one, a rate counts how many are not zero, a trend keeps
// their distribution.
type Metric struct {
	Name string
	Type string // counter, gauge, rate or trend
}

// Skipped is a step or group left out by `skip:`.
type Skipped struct {
	Group, Name, Reason string
	Range               source.Range
}

// Counter names one count of the ledgers.
type Counter uint8

// The counters. Scheduled = Started + the three Dropped; Started = Completed +
// Interrupted + what is in flight.
const (
	IterationsScheduled Counter = iota
	IterationsStarted
	IterationsCompleted
	IterationsInterrupted
	DroppedNoThread
	DroppedEnd
	DroppedAbort
	SamplesStarted
	SamplesReturned // their sampler has returned: in flight = SamplesStarted − SamplesReturned
	ThreadsStarted  // active threads = ThreadsStarted − ThreadsEnded
	ThreadsEnded
	Counters // how many there are
)

// Recorder receives what happens. Shards are handed out once per thread (or
// scheduler) and may be shared by several threads.
type Recorder interface {
	Shard(group, thread int) Shard // group −1 is setup and teardown
	Note(text string)              // something that the reports must say
}

// RowNamer is implemented by a Recorder that lets reserved rows get their names
// while the plan runs. It is safe for concurrent use.
type RowNamer interface{ NameRow(series int, name string) }

// GroupStarter is implemented by a Recorder that holds the planned load against
// the actual one: it is told when a group's clock began, before any of its threads.
// It is safe for concurrent use.
type GroupStarter interface {
	GroupStarted(group int, at time.Duration)
}

// Shard records for some threads. Safe for concurrent use. Record copies what it
// needs before it returns and allocates nothing for a passed sample.
type Shard interface {
	Record(s *Sample)
	Transaction(t Transaction)
	Count(c Counter, n int64)
}

// MetricShard is implemented by a Shard that keeps custom metrics. It is safe for
// concurrent use.
type MetricShard interface {
	Metric(id int, v float64) // id is an index into Layout.Metrics
}

// Transaction is one pass through a named block.
type Transaction struct {
	Series  int
	Due     time.Duration // of its first sample
	Time    time.Duration // sum of its children's response times, or wall time
	Done    time.Duration
	Failed  bool
	Unsent  bool // none of its samples was sent
	Aborted bool // cut off by a stop or on_error; counted apart
	WarmUp  bool
}
