package expr

import (
	"maps"
	"slices"
	"sort"
	"strings"

	"runner/plan/source"
)

// Env says which names an expression may use and of which type. It is immutable;
// the With methods return children.
//
// A name may be dotted ("thread.id", "account.email"): then the root admits only
// the members that are declared, and the whole chain is looked up as one name
// (first "thread.id", then "thread" and its member id).
type Env struct {
	parent      *Env
	names       map[string]Type
	dotted      map[string]bool // first parts of the dotted names of this level
	fns         *Functions
	response    bool
	environment bool
	elsewhere   map[string]Type // response names that are legal in other places

	own     string // what the names of this level begin with at run time
	prefix  string // of the fragment's own names
	outside *Env   // of a fragment: that of the call
	inside  source.Range
}

// NewEnv returns an Env with the given functions (nil: the built-in ones) and
// names.
func NewEnv(fns *Functions, names map[string]Type) *Env {
	if fns == nil {
		fns = NewFunctions()
	}
	return &Env{fns: fns, names: maps.Clone(names), dotted: dotted(names), elsewhere: ResponseRoots()}
}

func (e *Env) child(names map[string]Type) *Env {
	c := *e
	c.parent, c.names, c.dotted, c.own = e, names, dotted(names), ""
	return &c
}

// dotted returns the first parts of dotted names; nil if there are none.
func dotted(names map[string]Type) map[string]bool {
	var roots map[string]bool
	for name := range names {
		if root, _, ok := strings.Cut(name, "."); ok {
			if roots == nil {
				roots = map[string]bool{}
			}
			roots[root] = true
		}
	}
	return roots
}

// With returns a child in which name is legal.
func (e *Env) With(name string, t Type) *Env { return e.child(map[string]Type{name: t}) }

// WithAll returns a child in which all of names are legal.
func (e *Env) WithAll(names map[string]Type) *Env { return e.child(maps.Clone(names)) }

// WithResponse returns a child in which the response may be read: the names of
// ResponseRoots, those of the sampler, and the response functions.
func (e *Env) WithResponse(sampler map[string]Type) *Env {
	names := ResponseRoots()
	maps.Copy(names, sampler)
	c := e.child(names)
	c.response = true
	return c
}

// WithKnownResponse returns a child that knows further response names, so that
// their use in a wrong place is explained.
func (e *Env) WithKnownResponse(names map[string]Type) *Env {
	c := e.child(nil)
	c.elsewhere = maps.Clone(e.elsewhere)
	maps.Copy(c.elsewhere, names)
	return c
}

// WithEnvironment returns a child in which env.NAME may be read.
func (e *Env) WithEnvironment() *Env {
	c := e.child(nil)
	c.environment = true
	return c
}

// Lookup returns the type of a declared name.
func (e *Env) Lookup(name string) (Type, bool) {
	for ; e != nil; e = e.parent {
		if t, ok := e.names[name]; ok {
			return t, true
		}
	}
	return 0, false
}

// Functions returns the functions that the Env admits.
func (e *Env) Functions() *Functions { return e.fns }

// Names returns the declared names, sorted.
func (e *Env) Names() []string {
	set := map[string]bool{}
	for ; e != nil; e = e.parent {
		for name := range e.names {
			set[name] = true
		}
	}
	return slices.Sorted(maps.Keys(set))
}

// members returns the declared members of a root, sorted.
func (e *Env) members(root string) []string {
	var out []string
	for _, name := range e.Names() {
		if rest, ok := strings.CutPrefix(name, root+"."); ok {
			out = append(out, rest)
		}
	}
	return out
}

// closed reports whether a root admits declared members only.
func (e *Env) closed(root string) bool {
	for ; e != nil; e = e.parent {
		if e.dotted[root] {
			return true
		}
	}
	return false
}

// roots returns the first parts of all declared names and the functions' names
// that could be meant by a bare word.
func (e *Env) roots() []string {
	set := map[string]bool{}
	for _, name := range e.Names() {
		root, _, _ := strings.Cut(name, ".")
		set[root] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// ResponseRoots returns the names that every sampler's response has.
func ResponseRoots() map[string]Type {
	return map[string]Type{
		"status": IntType, "duration": DurationType, "latency": DurationType, "connect": DurationType,
		"size": SizeType, "url": TextType, "body": TextType, "json": JSONType, "headers": MapType,
		"cookies": MapType, "message": TextType, "ok": BoolType,
	}
}

// Reserved returns, sorted, what a user's name may not equal: keywords, functions
// (with the roots of dotted ones), roots and response names.
func Reserved(fns *Functions) []string {
	if fns == nil {
		fns = NewFunctions()
	}
	set := map[string]bool{}
	for _, name := range keywords {
		set[name] = true
	}
	for _, name := range fns.Names() {
		root, _, _ := strings.Cut(name, ".")
		set[root] = true
	}
	for name := range ResponseRoots() {
		set[name] = true
	}
	out := slices.Collect(maps.Keys(set))
	sort.Strings(out)
	return out
}

var keywords = []string{
	"true", "false", "nil", "null", "not", "and", "or", "in", "matches", "contains", "startsWith", "endsWith", "let", "if", "else",
	"env", "secrets", "thread", "group", "run", "loop", "attempt", "fake",
}
