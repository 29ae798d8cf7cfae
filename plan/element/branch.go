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
	b.vars, b.locals, b.branches, b.changed = map[string]any{}, nil, nil, map[string]struct{}{}
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

// inherited makes the value of key of a branch: what the thread's own value
// branches off, or one of its own.
func (t *Thread) inherited(key any, make func() any) any {
	t.family.Lock()
	defer t.family.Unlock()
	return t.parent.forBranch(key, make)
}

// forBranch returns a value for a branch of t. The caller holds family.
func (t *Thread) forBranch(key any, make func() any) any {
	own, ok := t.locals[key]
	if !ok && t.parent != nil {
		own = t.parent.forBranch(key, make)
	} else if !ok {
		own = make()
	}
	b, shared := own.(Brancher)
	if !shared {
		if ok {
			return make()
		}
		return own
	}
	if !ok {
		t.keep(key, own)
	}
	return b.Branch()
}

func (t *Thread) keep(key, v any) {
	if t.locals == nil {
		t.locals = map[any]any{}
	}
	t.locals[key] = v
}
