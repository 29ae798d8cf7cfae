package element

import (
	"math/rand/v2"
	"sync"
	"time"

	"runner/plan/expr"
)

// Clock is the run's monotonic clock as elements see it.
type Clock interface {
	Now() time.Duration // since the run's start
}

// Shared holds what elements share across threads: one value for the plan, one
// for each group. Safe for concurrent use.
type Shared struct {
	Seed uint64 // of what the threads draw together: from the run's seed, different for each group

	Segment Segment // this process among those that run the plan's or the group's threads
	mu      sync.Mutex
	values  map[any]any
}

// Value returns the value of key, made by the first caller.
func (s *Shared) Value(key any, make func() any) any {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.values == nil {
		s.values = map[any]any{}
	}
	v, ok := s.values[key]
	if !ok {
		v = make()
		s.values[key] = v
	}
	return v
}

// Thread is one thread of a group while it runs. It belongs to one goroutine.
type Thread struct {
	ID        int    // from 1, unique in the run
	Group     string // name of its thread group
	Iteration int64  // from 0
	Clock     Clock
	Rand      *rand.Rand // seeded from the run's seed and the ID
	Seed      uint64
	Plan      *Shared   // shared by all threads of the run
	Members   *Shared   // shared by the threads of this group
	Presence  *Presence // of the threads of this group; nil where there is one thread only
	Sample    *Sample   // the current or last sample; nil before the first
	Masker    *Masker

	machine  *expr.Machine
	vars     map[string]any
	outer    expr.Scope // plan-wide values: vars, secrets, setup results; may be nil
	locals   map[any]any
	recent   local              // the last of locals that was asked for
	starters []IterationStarter // among locals

	parent   *Thread             // of a branch
	branches []*Thread           // made of this thread
	changed  map[string]struct{} // variables of a branch that were set or unset since Fork; nil: not kept
	family   *sync.Mutex         // guards locals of threads that have branches while these run
}

// NewThread returns a thread whose names are resolved in its own variables, then
// in outer.
func NewThread(id int, group string, machine *expr.Machine, outer expr.Scope) *Thread {
	return &Thread{ID: id, Group: group, machine: machine, outer: outer, vars: map[string]any{}}
}

// Machine returns the thread's expression machine.
func (t *Thread) Machine() *expr.Machine { return t.machine }

// Now returns the time since the run's start.
func (t *Thread) Now() time.Duration { return t.Clock.Now() }

// Lookup resolves a name for an expression: response roots of the current
// sample, the thread's variables, thread/group roots, then plan-wide values.
func (t *Thread) Lookup(name string) (any, bool) {
	if v, ok := t.vars[name]; ok {
		return v, true
	}
	if v, ok := t.root(name); ok {
		return v, true
	}
	if t.outer != nil {
		return t.outer.Lookup(name)
	}
	return nil, false
}

// Set sets a variable of the thread.
func (t *Thread) Set(name string, value any) {
	t.vars[name] = value
	if t.changed != nil {
		t.changed[name] = struct{}{}
	}
}

// Unset removes a variable of the thread.
func (t *Thread) Unset(name string) {
	delete(t.vars, name)
	if t.changed != nil {
		t.changed[name] = struct{}{}
	}
}

// ClearVars forgets all variables, as at a new user's start.
func (t *Thread) ClearVars() { clear(t.vars) }

// Local returns the thread's own value of key, made by the first caller: a
// connection, a cookie jar. Values that are Closers are closed at the thread's
// end, and those with a NewUser method are told when a new user begins.
func (t *Thread) Local(key any, make func() any) any {
	if t.recent.key == key && key != nil {
		return t.recent.value
	}
	v, ok := t.locals[key]
	if ok {
		t.recent = local{key, v}
		return v
	}
	if t.parent != nil {
		v = t.inherited(key, make)
	} else {
		v = make()
	}
	t.keep(key, v)
	return v
}

// local is a value of Local under its key.
type local struct{ key, value any }

// IterationStarter is implemented by values of Local that must know when an
// iteration starts; newUser is true where variables and cookies are cleared.
type IterationStarter interface{ StartIteration(newUser bool) }

// StartIteration tells the thread's local values that an iteration starts.
func (t *Thread) StartIteration(newUser bool) {
	for _, s := range t.starters {
		s.StartIteration(newUser)
	}
	for _, b := range t.branches {
		b.StartIteration(newUser)
	}
}

// Close closes the thread's local values.
func (t *Thread) Close() {
	for _, b := range t.branches {
		b.Close()
	}
	for _, v := range t.locals {
		if c, ok := v.(Closer); ok {
			_ = c.Close() // a connection of a finished thread: nothing is lost with it
		}
	}
	clear(t.locals)
	t.recent, t.starters = local{}, nil
}
