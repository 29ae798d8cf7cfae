// Package expr is the expression layer of the plan language: `${…}` templates,
// bare conditions, typed values with units, and the names that may stand in them.
//
// Work is done in two phases. Decode, when a plan is parsed, checks literals and
// syntax and remembers places. Bind, when the names are known, checks names,
// types and units and compiles. After Bind a value is immutable and may be
// evaluated by any number of threads at once; what a thread needs for it (stack,
// random source) is its Machine, reached through its Scope.
//
// Only this package knows expr-lang/expr. Inside its programs every value with a
// unit is a plain number (durations in ns, sizes in bytes, rates per second,
// shares of one); the check over the tree that keeps units apart is ours.
package expr

import "runner/plan/source"

// Scope resolves names at run time. A name that has no value now is not ok.
type Scope interface {
	Lookup(name string) (value any, ok bool)
	Machine() *Machine
}

// PathScope is an optional extension of Scope for names of JSONType: it reads
// one path without decoding the rest. A path that leads nowhere is (nil, true);
// not ok means that the root has no value at all.
type PathScope interface {
	LookupPath(p *Path) (value any, ok bool)
}

// Path is a chain of constant members under a name, as `json.items[0].id`.
type Path struct {
	Root  string
	Steps []any  // string keys and int indexes (from 0; negative from the end)
	Text  string // as written in normal form
}

// Binder is what has a Bind phase: *Value, *Condition and *Tree.
type Binder interface {
	Bind(env *Env, ds *source.Diagnostics)
	Uses() []Use
}

// Use is one occurrence of a name. Guarded means that it stands left of `??`, so
// that it may be unset.
type Use struct {
	Name    string
	Range   source.Range
	Guarded bool
}
