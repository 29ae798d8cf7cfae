package element

import (
	"maps"
	"math/rand/v2"
	"sync"

	"runner/plan/expr"
)

// Brancher is implemented by values of Local that a branch of a thread shares
// with it, in whole or in part: Branch returns the value for one more branch,
// which is used at the same time. Other values are made anew for each branch.
type Brancher interface{ Branch() any }

// family is what only threads with branches, and branches, have.
type family struct {
	parent   *Thread             // of a branch
	branches []*Thread           // made of this thread
	changed  map[string]struct{} // variables of a branch that were set or unset since Fork
	locals   *sync.Mutex         // guards Thread.locals of threads that have branches while these run; one for all relatives
}

// note keeps the name of a variable that was set or unset, if this is a branch.
func (f *family) note(name string) {
	if f != nil && f.changed != nil {
		f.changed[name] = struct{}{}
	}
}

func (f *family) isBranch() bool { return f != nil && f.parent != nil }

func (f *family) kids() []*Thread {
	if f == nil {
		return nil
	}
	return f.branches
}

// Branch returns a thread that runs beside t while t waits for it: it has an
// identity, variables and data in common with t, but connections, machine and
// random source of its own. It is closed with t.
func (t *Thread) Branch(machine *expr.Machine, random *rand.Rand) *Thread {
	if t.family == nil {
		t.family = &family{locals: &sync.Mutex{}}
	}
	b := *t
	b.machine, b.Rand, b.Sample = machine, random, nil
	b.vars, b.locals = map[string]any{}, nil
	b.family = &family{parent: t, changed: map[string]struct{}{}, locals: t.family.locals}
	t.family.branches = append(t.family.branches, &b)
	return &b
}

// Fork gives the branch b the variables that t has now.
func (t *Thread) Fork(b *Thread) {
	clear(b.vars)
	clear(b.family.changed)
	maps.Copy(b.vars, t.vars)
	b.Iteration, b.Sample = t.Iteration, t.Sample
}

// Join takes over what the branch b has set and unset since Fork, and its last
// sample.
func (t *Thread) Join(b *Thread) {
	for name := range b.family.changed {
		if v, ok := b.vars[name]; ok {
			t.Set(name, v)
		} else {
			t.Unset(name)
		}
	}
	t.Sample = b.Sample
}

// inherited makes the value of key of a branch: what the nearest thread's own value
// branches off, or one of its own. A value that branches is kept by the thread
// that all branches come from.
func (t *Thread) inherited(key any, make func() any) any {
	b, known := t.outerLocal(key)
	if known && b == nil {
		return make()
	}
	if b == nil {
		v := make() // outside of the lock: it may ask for other values
		own, ok := v.(Brancher)
		if !ok {
			return v
		}
		b = t.keepOuter(key, own)
	}
	return b.Branch()
}

// outerLocal returns the value of the nearest thread around a branch, nil if it
// does not branch.
func (t *Thread) outerLocal(key any) (b Brancher, known bool) {
	t.family.locals.Lock()
	defer t.family.locals.Unlock()
	for at := t.family.parent; at != nil; at = at.family.parent {
		if v, ok := at.local(key); ok {
			b, _ = v.(Brancher)
			return b, true
		}
	}
	return nil, false
}

// keepOuter gives the value to the thread that all branches come from, unless
// another branch was faster, and returns what is kept.
func (t *Thread) keepOuter(key any, v Brancher) Brancher {
	t.family.locals.Lock()
	defer t.family.locals.Unlock()
	root := t.family.parent
	for root.family.parent != nil {
		root = root.family.parent
	}
	kept, _ := root.local(key)
	if old, ok := kept.(Brancher); ok {
		if c, ok := v.(Closer); ok {
			_ = c.Close() // it was never used
		}
		return old
	}
	root.keep(key, v)
	return v
}
