package expr

import (
	"strings"
	"testing"

	"runner/plan/source"
)

// scope is a Scope over a map.
type scope struct {
	names   map[string]any
	machine *Machine
}

func newScope(names map[string]any) *scope {
	return &scope{names, NewMachine(nil, 1)}
}

func (s *scope) Lookup(name string) (any, bool) { v, ok := s.names[name]; return v, ok }
func (s *scope) Machine() *Machine              { return s.machine }

// scalar returns a node over text alone in a file.
func scalar(text string, quoted bool) *source.Node {
	written := text
	if quoted {
		written = `"` + text + `"`
	}
	f := source.New("plan.yaml", []byte(written))
	return &source.Node{Kind: source.Scalar, Text: text, Quoted: quoted, Range: source.Range{File: f, Start: f.Pos(0), End: f.Pos(len(written))}}
}

// condition binds text for env.
func condition(t *testing.T, env *Env, text string) (*Condition, source.Diagnostics) {
	t.Helper()
	var ds source.Diagnostics
	c := &Condition{}
	c.Decode(scalar(text, false), &ds)
	c.BindValue(env, &ds)
	return c, ds
}

func mustCondition(t *testing.T, env *Env, text string) *Condition {
	t.Helper()
	c, ds := condition(t, env, text)
	if len(ds) > 0 {
		t.Fatalf("%s: %v", text, ds)
	}
	return c
}

// typesOf returns an Env in which every name has the type of its value, and json
// and row any.
func typesOf(names map[string]any) *Env {
	types := map[string]Type{}
	for name, v := range names {
		types[name] = TypeOf(v)
		if name == "json" {
			types[name] = JSONType
		}
		if strings.HasPrefix(name, "any") {
			types[name] = AnyType
		}
	}
	return NewEnv(nil, types)
}
