// Package plan is the language: a plan file becomes a typed tree (Parse), names
// are resolved and rules are checked (Validate), and Walk visits the tree.
//
// Every part of the tree knows its place in the file. Values that may hold
// ${…} or are expressions are kept as expr values and are evaluated by the
// engine; everything else is plain Go.
package plan

import (
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
	Setup           []*Step
	SetupTimeout    time.Duration
	Groups          []*Group
	Teardown        []*Step
	TeardownTimeout time.Duration
	Reports         []Report
	Scope           Scope
	poison          []source.Range  // places that were reported as YAML already
	Functions       *expr.Functions // all functions that the plan may call; set by Validate, for the threads' machines
}

// Var is one variable. Value holds what the file says; a `--var` or the chosen
// environment replaces it before anything is evaluated.
type Var struct {
	Name  string
	Range source.Range // of the name
	Value expr.Tree
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
	Loop          *expr.Int
	While         *While
	Foreach       *Foreach
	Choose        []*Choice // the block is `choose:`; Steps is empty
	OnError       OnError
	IncludeTimers bool
	Scope         Scope
}

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

func (*SamplerAction) action() {}
func (*Pause) action()         {}
func (*Set) action()           {}
func (*Log) action()           {}
func (*Stop) action()          {}
