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

// Branch returns a thread that runs beside t while t waits for it: it has an
// identity, variables and data in common with t, but connections, machine and
// random source of its own. It is closed with t.
func (t *Thread) Branch(machine *expr.Machine, random *rand.Rand) *Thread {
	if t.family == nil {
		t.family = &sync.Mutex{}
	}
	b := *t
	b.machine, b.Rand, b.parent, b.Sample = machine, random, t, nil
	b.vars, b.branches, b.changed = map[string]any{}, nil, map[string]struct{}{}
	b.locals, b.recent, b.starters = nil, local{}, nil
	t.branches = append(t.branches, &b)
	return &b
}

// Fork gives the branch b the variables that t has now.
func (t *Thread) Fork(b *Thread) {
	clear(b.vars)
	clear(b.changed)
	maps.Copy(b.vars, t.vars)
	b.Iteration, b.Sample = t.Iteration, t.Sample
}

// Join takes over what the branch b has set and unset since Fork, and its last
// sample.
func (t *Thread) Join(b *Thread) {
	for name := range b.changed {
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
	t.family.Lock()
	defer t.family.Unlock()
	for at := t.parent; at != nil; at = at.parent {
		if v, ok := at.locals[key]; ok {
			b, _ = v.(Brancher)
			return b, true
		}
	}
	return nil, false
}

// keepOuter gives the value to the thread that all branches come from, unless
// another branch was faster, and returns what is kept.
func (t *Thread) keepOuter(key any, v Brancher) Brancher {
	t.family.Lock()
	defer t.family.Unlock()
	root := t.parent
	for root.parent != nil {
		root = root.parent
	}
	if old, ok := root.locals[key].(Brancher); ok {
		if c, ok := v.(Closer); ok {
			_ = c.Close() // it was never used
		}
		return old
	}
	root.keep(key, v)
	return v
}

func (t *Thread) keep(key, v any) {
	if t.locals == nil {
		t.locals = map[any]any{}
	}
	t.locals[key] = v
	if s, ok := v.(IterationStarter); ok {
		t.starters = append(t.starters, s)
	}
}
