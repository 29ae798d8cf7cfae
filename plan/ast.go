// Package plan is the language: a plan file becomes a typed tree (Parse), names
// are resolved and rules are checked (Validate), and Walk visits the tree.
//
// Every part of the tree knows its place in the file. Values that may hold
// ${…} or are expressions are kept as expr values and are evaluated by the
// engine; everything else is plain Go.
package plan

import (
	"strings"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
)

// Plan is a whole plan.
type Plan struct {
	Range           source.Range
	File            *source.File
	Files           []*source.File // all files that were read as YAML, the plan first
	Name            string
	Description     string
	Tags            []string
	Vars            []*Var
	Secrets         []*Secret
	Environments    []*Environment
	Data            []*Data
	Counters        []*Counter
	Metrics         []*Metric
	Includes        []*Include
	Fragments       []*Fragment
	Setup           []*Step
	SetupTimeout    time.Duration
	Groups          []*Group
	Teardown        []*Step
	TeardownTimeout time.Duration
	Reports         []Report
	KeepFailures    int // how many failed responses are saved
	Scope           Scope
	calls           []*Call         // in file order, as Parse met them
	poison          []source.Range  // places that were reported as YAML already
	Functions       *expr.Functions // all functions that the plan may call; set by Validate, for the threads' machines
}

// Var is one variable. Value holds what the file says; a `--var` or the chosen
// environment replaces it before anything is evaluated.
type Var struct {
	Name  string
	Range source.Range // of the name
	Value expr.Tree
	node  *source.Node // of the value, of a call's params
}

// Secret is a value from the environment or a file, never shown.
type Secret struct {
	Name      string
	Range     source.Range
	Env, Path string // exactly one is set
}

// Environment is a named set of overrides (`--env`).
type Environment struct {
	Name    string
	Range   source.Range
	Vars    []*Var
	Secrets []*Secret
}

// Data is a CSV feeder.
type Data struct {
	Name      string
	Range     source.Range
	Path      string // as written, relative to the file that names it
	Pick      string // next, random, shuffled, unique
	Per       string // iteration, thread
	Share     string // plan, group, thread
	OnEnd     string // recycle, stop_thread, fail
	Types     map[string]string
	Delimiter string
	Columns   []string // written by hand, or read from the header at validation
	HasHeader bool
	SkipLines int
}

// Counter is a number that advances once per iteration, from From by Step, and
// begins again after To, if that is set.
type Counter struct {
	Name           string
	Range          source.Range
	From, To, Step expr.Int
	PerThread      bool
	Format         string // its one run of zeros stands for the number; "" = the number itself
}

// Metric is a figure of the plan's own, fed by `record`.
type Metric struct {
	Name, Type string // counter, gauge, rate or trend
	Range      source.Range
}

// Include gives the fragments of a library file a first name.
type Include struct {
	Alias, Path string
	Range       source.Range
}

// Fragment is a list of steps that `call` runs. It knows its params and what it
// sets itself, nothing else.
type Fragment struct {
	Name    string
	Range   source.Range // of the name
	Params  []Word
	Outputs []Word
	Steps   *source.Node // parsed anew for each call, with the defaults of its place
}

// Word is a name with its place.
type Word struct {
	Text  string
	Range source.Range
}

// Report is a copy of a format in a place of its own.
type Report struct {
	Format, Path string
	Range        source.Range
}

// Scope is what applies to every sampler below.
type Scope struct {
	Range      source.Range
	Defaults   *source.Node // map: sampler name → its defaults; nil if none
	Timers     []*Timer
	Extract    []*Extract
	Assertions []*Assertion
	Thresholds []*Threshold
	NoInherit  NoInherit
}

// NoInherit cuts off what outer scopes hand down.
type NoInherit struct{ Timers, Extract, Assertions bool }

// Timer is one timer of a scope.
type Timer struct {
	Range      source.Range
	Text       string // as written, in one line
	Definition *element.Definition
	Element    element.Timer
}

// Assertion is one assertion of a scope.
type Assertion struct {
	Range         source.Range
	Name, Message string // as written; Title gives a name where there is none
	OnFailure     OnError
	Definition    *element.Definition // the expression assertion has one too
	Element       element.Assertion
	Title         string // Name, or the assertion as written in one line
}

// Extract takes a value out of a response into a variable.
type Extract struct {
	Range      source.Range
	Text       string // as written, in one line
	Variable   string
	Definition *element.Definition // the bare expression has one too
	Element    element.Extractor
	Pick       element.Pick
	Default    *expr.Tree // nil: none, and nothing found fails the sample
	Secret     bool
}

// Threshold is judged over everything below the scope that it stands on.
type Threshold struct {
	Range              source.Range
	Comparison         expr.Comparison
	Tag                string
	After, Window, For time.Duration
	Stop               bool
}

// OnError says what a failed sample leads to; "" = inherit (continue).
type OnError string

// The values of on_error.
const (
	Continue      OnError = "continue"
	NextIteration OnError = "next_iteration"
	StopThread    OnError = "stop_thread"
	StopGroup     OnError = "stop_group"
	StopPlan      OnError = "stop_plan"
)

// Group is one thread group.
type Group struct {
	Range   source.Range // of the name
	Name    string
	Load    Load
	Steps   []*Step
	Scope   Scope
	OnError OnError
	Pacing  Pacing
	NewUser *bool // new_user_each_iteration; nil = by the load's model
	Vars    []*Var
	If      expr.Condition
	Skip    string
	SkipSet bool
}

// Pacing is the time from the start of one iteration to the start of the next:
// a fixed or random time, or a rate per thread. Unset if Range is zero.
type Pacing struct {
	Range    source.Range
	From, To expr.Duration
	Rate     expr.RateValue
}

// Load is the load of a group as written; the engine turns it into a shape.
// Values may depend on plan vars only.
type Load struct {
	Range         source.Range
	Threads       expr.Int // closed model
	ThreadStages  []Stage
	Rate          expr.RateValue // open model
	RateStages    []Stage
	RampUp        expr.Duration
	Duration      expr.Duration
	Iterations    expr.Int
	Shared        expr.Int
	MaxThreads    expr.Int
	Poisson       bool
	Delay         expr.Duration
	After         string
	AfterRange    source.Range
	WarmUp        expr.Duration
	Grace         expr.Duration // 30s if not set
	RampDownGrace expr.Duration // = Grace if not set
}

// StageKind is the form of a stage.
type StageKind uint8

// The forms: {to, over}, {hold}, {at, for}.
const (
	StageTo StageKind = iota + 1
	StageHold
	StageAt
)

// Stage is one part of a staged load. Threads or Rate is set by the load's kind;
// neither in a hold.
type Stage struct {
	Range   source.Range
	Kind    StageKind
	Threads expr.Int
	Rate    expr.RateValue
	Time    expr.Duration // over, hold or for
}

// Step is one action, or a block, with its modifiers.
type Step struct {
	Range     source.Range
	Name      string      // "" if none was written; Evaluate puts in what NameText gives
	NameText  expr.String // the name as written; it may use plan vars only
	NameRange source.Range
	Action    Action  // nil for a block
	Steps     []*Step // of a block
	Block     bool

	Tags          []string
	Skip          string
	SkipSet       bool
	If            expr.Condition
	Else          []*Step
	Once          bool
	Percent       *Percent
	Loop          *expr.Int
	While         *While
	Foreach       *Foreach
	Until         *Until
	Runtime       *expr.Duration
	Critical      Word      // name of the critical section
	Order         Order     // of the Steps of a block
	Choose        []*Choice // the block is `choose:`; Steps is empty
	Switch        *Switch   // the block is `switch:`; Steps is empty
	Try           bool      // the block is `try:`
	Finally       []*Step   // of a try
	Call          *Call     // the block is a call: Steps are the fragment's
	Record        []*Record
	SplitBy       *expr.Expression
	OnError       OnError
	IncludeTimers bool
	Scope         Scope
}

// Order says which steps of a block run on one pass, and in which order.
type Order string

// The orders: all as written, one at random, the next one, all shuffled, all at
// once.
const (
	InOrder    Order = ""
	Random     Order = "random"
	Interleave Order = "interleave"
	Shuffle    Order = "shuffle"
	Parallel   Order = "parallel"
)

// Percent lets a step run on a share of its passes.
type Percent struct {
	Range  source.Range
	Value  expr.ShareValue
	Random bool
}

// Until runs a step again until a condition holds.
type Until struct {
	Range            source.Range // of the key
	Condition        expr.Condition
	From, To         expr.Duration // every
	Max              expr.Int      // tries; not set: no limit
	Within           expr.Duration // no try begins later; not set: no limit
	ContinueAtTheEnd bool          // on_max: continue
}

// Switch runs the case whose value is that of On, as text.
type Switch struct {
	On      expr.Expression
	Cases   []*Case
	Default []*Step
}

// Case is one case of a switch.
type Case struct {
	Range source.Range
	Value string
	Steps []*Step
}

// Record feeds one of the plan's metrics after a step.
type Record struct {
	Range  source.Range // of the metric's name
	Metric string
	Value  expr.Expression
}

// Call runs a fragment: params get their values, the fragment's steps run with
// names of their own, and the outputs that are asked for are copied.
type Call struct {
	Range    source.Range
	Name     string // as written: [alias.]fragment
	With     []*Var // Name is the param's name
	Outputs  []Word
	Fragment *Fragment // nil where it could not be found
	Locals   []string  // names that the fragment sets, under which they are known at run time
	Static   []*Var    // of With: those that the plan's variables decide

	with     *source.Node
	defaults []*source.Node // of the open scopes
	step     *Step
	prefix   string   // of the names around it
	own      string   // of the fragment's own names
	file     *library // in which it stands
	home     *library // in which its fragment stands
	within   *Call
	trial    bool // nobody calls it: its params are not known
}

// Local returns the name under which a name of the fragment is known at run time.
func (c *Call) Local(name string) string { return c.own + name }

// Outer returns the name under which a name of the caller is known at run time.
func (c *Call) Outer(name string) string { return c.prefix + name }

// Plain returns a name as it was written: names of a fragment are known under
// longer ones at run time.
func Plain(name string) string { return name[strings.LastIndexByte(name, '/')+1:] }

// While repeats a step while a condition holds, at most Max passes if set.
type While struct {
	Condition expr.Condition
	Max       expr.Int
}

// Foreach repeats a step for each item of a list.
type Foreach struct {
	List expr.Condition // evaluates to a list
	As   string

	AsRange source.Range
}

// Choice is one arm of choose.
type Choice struct {
	Range  source.Range
	Weight expr.Float
	Name   string
	Steps  []*Step
}

// Action is what a step does. The set is closed.
type Action interface{ action() }

// SamplerAction runs a sampler. Element is decoded from Config, the step's own
// keys merged over the defaults in scope (the nearest wins, maps merge by key);
// each part of Config keeps the range where it was written.
type SamplerAction struct {
	Range      source.Range
	Definition *element.Definition
	Config     *source.Node
	Element    element.Sampler
	Title      string // the name of the row if the step has none: the request as written
}

// Pause waits.
type Pause struct{ From, To expr.Duration }

// Set assigns variables, in order.
type Set struct{ Vars []*Var }

// Log writes a line to the run's log.
type Log struct{ Text expr.String }

// Stop ends the iteration, thread, group or plan.
type Stop struct{ What string }

// NextRow takes the next row of a data set within the iteration.
type NextRow struct{ Data Word }

func (*SamplerAction) action() {}
func (*Pause) action()         {}
func (*Set) action()           {}
func (*Log) action()           {}
func (*Stop) action()          {}
func (*NextRow) action()       {}
