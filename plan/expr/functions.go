package expr

import (
	"maps"
	"slices"
	"time"

	"github.com/expr-lang/expr/builtin"
	"github.com/expr-lang/expr/conf"
)

// Function is one function of the language beside expr's own.
type Function struct {
	Name      string // may have one dot: "fake.name"
	Signature string // for messages and the reference: "random_int(a, b)"
	Doc       string
	Min, Max  int  // number of arguments; Max < 0 means any number
	Response  bool // reads the response: legal only where the response is
	Result    Type
	Call      func(s Scope, args ...any) (any, error)
}

// Functions is a set of functions, made once and shared. Set Now and ReadFile
// before the first evaluation, if at all.
type Functions struct {
	// Now is the wall clock of now() and timestamp(); nil means time.Now.
	Now func() time.Time
	// ReadFile reads a file for file(path); from is the name of the plan file in
	// which the call stands. nil means that file() is refused.
	ReadFile func(from, path string) ([]byte, error)

	own     map[string]*Function
	grammar bool // an extra function hides one of expr's own
	config  conf.Config
}

// NewFunctions returns the built-in functions and extra; of two with one name the
// later wins.
func NewFunctions(extra ...Function) *Functions {
	f := &Functions{own: map[string]*Function{}}
	for _, set := range [][]Function{textFunctions(), randomFunctions(), fakeFunctions(), extra} {
		for _, fn := range set {
			f.own[fn.Name] = &fn
		}
	}
	for _, fn := range extra {
		_, f.grammar = builtin.Index[fn.Name]
		if f.grammar {
			break
		}
	}
	f.config = *f.newConfig()
	return f
}

// newConfig returns the compiler's configuration: own functions hide expr's of
// the same name, and every own call carries the machine as its first argument.
func (f *Functions) newConfig() *conf.Config {
	c := conf.CreateNew()
	c.WithEnv(map[string]any{})
	c.Strict = false
	c.Optimize = false
	for _, name := range hidden {
		c.Disabled[name] = true
		delete(c.Builtins, name)
	}
	for name, fn := range f.own {
		c.Disabled[name] = true
		delete(c.Builtins, name)
		c.Functions[name] = &builtin.Function{Name: name, Func: fn.bound()}
	}
	for _, fn := range internalFunctions {
		c.Functions[fn.Name] = fn
	}
	return c
}

// compiler returns the configuration for one compilation. The cache in it is not
// safe for concurrent use, so each gets its own.
func (f *Functions) compiler() *conf.Config {
	c := f.config
	c.NtCache = conf.Config{}.NtCache
	return &c
}

// hidden are functions of expr that the language does not have: units are
// literals, and now() is ours.
var hidden = []string{"duration", "timezone", "now"}

// bound adapts fn to the VM.
func (f *Function) bound() func(args ...any) (any, error) {
	return func(args ...any) (any, error) {
		v, err := f.Call(args[0].(*Machine).scope, args[1:]...)
		if s, ok := v.(Secret); ok {
			v = s.text
		}
		return v, err
	}
}

// Lookup returns a function that is not one of expr's own, or nil.
func (f *Functions) Lookup(name string) *Function { return f.own[name] }

// Names returns the names of all functions, expr's own included, sorted.
func (f *Functions) Names() []string {
	set := map[string]bool{}
	for name := range f.own {
		set[name] = true
	}
	for name := range f.config.Builtins {
		set[name] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// Describe returns all functions sorted by name, for the reference. Of expr's own
// only the name and the result are known.
func (f *Functions) Describe() []Function {
	var out []Function
	for _, name := range f.Names() {
		if fn := f.own[name]; fn != nil {
			out = append(out, *fn)
			continue
		}
		out = append(out, Function{Name: name, Signature: name + "(...)", Max: -1, Result: builtinResult[name]})
	}
	return out
}

func (f *Functions) now() time.Time {
	if f.Now != nil {
		return f.Now()
	}
	return time.Now()
}
