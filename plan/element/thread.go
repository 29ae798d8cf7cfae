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

	machine *expr.Machine
	vars    map[string]any // nil while there is none
	outer   expr.Scope     // plan-wide values: vars, secrets, setup results; may be nil
	locals  []local        // few, so they are searched
	family  *family        // nil of a thread that has no branches and is none
}

// NewThread returns a thread whose names are resolved in its own variables, then
// in outer.
func NewThread(id int, group string, machine *expr.Machine, outer expr.Scope) *Thread {
	return &Thread{ID: id, Group: group, machine: machine, outer: outer}
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
	if t.vars == nil {
		t.vars = map[string]any{}
	}
	t.vars[name] = value
	t.family.note(name)
}

// Unset removes a variable of the thread.
func (t *Thread) Unset(name string) {
	delete(t.vars, name)
	t.family.note(name)
}

// ClearVars forgets all variables, as at a new user's start.
func (t *Thread) ClearVars() { clear(t.vars) }

// Local returns the thread's own value of key, made by the first caller: a
// connection, a cookie jar. Values that are Closers are closed at the thread's
// end, and those with a NewUser method are told when a new user begins.
func (t *Thread) Local(key any, make func() any) any {
	if v, ok := t.local(key); ok {
		return v
	}
	var v any
	if t.family.isBranch() {
		v = t.inherited(key, make)
	} else {
		v = make()
	}
	t.keep(key, v)
	return v
}

// local is a value of Local under its key.
type local struct {
	key, value any
	starter    IterationStarter // the value, if it is one
}

// local looks at the latest first: a sampler's value asks for what it needs when
// it is made, and is kept after that.
func (t *Thread) local(key any) (any, bool) {
	for i := len(t.locals) - 1; i >= 0; i-- {
		if l := &t.locals[i]; l.key == key {
			return l.value, true
		}
	}
	return nil, false
}

func (t *Thread) keep(key, v any) {
	starter, _ := v.(IterationStarter)
	t.locals = append(t.locals, local{key, v, starter})
}

// IterationStarter is implemented by values of Local that must know when an
// iteration starts; newUser is true where variables and cookies are cleared.
type IterationStarter interface{ StartIteration(newUser bool) }

// StartIteration tells the thread's local values that an iteration starts.
func (t *Thread) StartIteration(newUser bool) {
	for i := range t.locals {
		if s := t.locals[i].starter; s != nil {
			s.StartIteration(newUser)
		}
	}
	for _, b := range t.family.kids() {
		b.StartIteration(newUser)
	}
}

// Close closes the thread's local values.
func (t *Thread) Close() {
	for _, b := range t.family.kids() {
		b.Close()
	}
	for i := range t.locals {
		if c, ok := t.locals[i].value.(Closer); ok {
			_ = c.Close() // a connection of a finished thread: nothing is lost with it
		}
	}
	t.locals = nil
}
