package engine

import (
	"fmt"
	"time"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
)

// Options is what Compile needs beside the plan.
type Options struct {
	Data   map[string]Feeder // by the data's name
	Masker *element.Masker   // hides secrets in requests, messages and logs; may be nil
	// Functions are those that the plan was bound with; nil: the built-in ones and
	// the registry's.
	Functions *expr.Functions
	Only      []string        // names of the groups to run; nil: all
	Segment   element.Segment // the part of the load to run
	// TimerFactor scales think times: pauses, and timers that follow no schedule.
	// 0 means 1; negative means no think time at all.
	TimerFactor float64
}

// Program is a compiled plan: immutable, shared by all threads, run by any
// number of Runners one after another.
type Program struct {
	plan     *plan.Plan
	values   expr.Scope
	registry *element.Registry
	options  Options

	layout          element.Layout
	groups          []*group
	setup, teardown *phase
	elements        []opened
	sections        []string        // names of critical sections
	counters        int             // those that all threads share
	splits          int             // samplers whose rows depend on a value
	think           float64         // scale of think times
	sharers         element.Segment // this segment among those that have threads
}

// phase is setup or teardown.
type phase struct {
	name     string
	body     sequence
	slots    int
	timeout  time.Duration
	results  []string // variables that it may set
	feeds    []*feed
	counters []*tally
	id       int // of its thread
}

// opened is an element that wants to be opened or closed.
type opened struct {
	kind  string
	value any
	where source.Range
}

// group is the compiled form of a thread group.
type group struct {
	plan      *plan.Group
	index     int
	name      string
	skipped   bool
	dynamic   bool    // its `if` can only be judged at run time
	condition control // where it is counted if that fails

	threads    *ThreadShape  // of the closed model
	arrivals   *ArrivalShape // of the open model
	staged     bool
	iterations int64 // per thread, 0: no limit
	shared     int64 // in total, 0: not shared
	maxThreads int
	members    element.Segment // which threads of the group are here
	dealt      element.Segment // this segment among those that have threads of it

	delay, warmUp, grace, rampDownGrace time.Duration
	after                               int // index of a group, or -1

	pacing    *pacing
	newUser   bool
	vars      []*plan.Var
	feeds     []*feed
	counters  []*tally
	body      sequence
	slots     int
	varSeries int // where a failure of vars is recorded
	idBase    int // thread k of the whole group has the ID idBase + k
}

// feed is one data source of a group.
type feed struct {
	name      string
	perThread bool
	feeder    Feeder
	control   control // the series of its failures
}

// Layout returns what a recorder must know before the run. The caller must not
// change it.
func (p *Program) Layout() element.Layout { return p.layout }

// Groups returns the names of the thread groups that would run, in order.
func (p *Program) Groups() []string {
	var names []string
	for _, g := range p.groups {
		if !g.skipped {
			names = append(names, g.name)
		}
	}
	return names
}

// MaxThreads returns how many threads may be active at once.
func (p *Program) MaxThreads() int {
	n := 0
	for _, g := range p.groups {
		if !g.skipped {
			n += g.maxThreads
		}
	}
	return n
}

// Only returns the program reduced to the named groups, with setup and teardown.
// An unknown name is an error.
func (p *Program) Only(names ...string) (*Program, error) {
	for _, name := range names {
		known := false
		for _, g := range p.plan.Groups {
			known = known || g.Name == name
		}
		if !known {
			return nil, fmt.Errorf("there is no thread group %q", name)
		}
	}
	o := p.options
	o.Only = names
	q, ds := Compile(p.plan, p.values, p.registry, o)
	if ds.HasErrors() {
		return nil, fmt.Errorf("compile: %s", ds[0])
	}
	return q, nil
}
