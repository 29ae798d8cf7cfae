package element

import (
	"fmt"
	"reflect"
	"sort"

	"runner/plan/expr"
)

// Kind is what sort of element a Definition is for.
type Kind uint8

// The kinds of elements.
const (
	SamplerKind Kind = iota + 1
	TimerKind
	AssertionKind
	ExtractorKind
)

// String returns the field's word for the kind.
func (k Kind) String() string {
	return [...]string{"", "sampler", "timer", "assertion", "extractor"}[k]
}

// Doc describes an element for the reference, the schema and the help.
type Doc struct {
	Summary  string    // one line, third person: "waits a fixed time"
	Text     string    // further paragraphs, markdown
	Examples []Example // each is decoded and validated by the tests
}

// Example is YAML as it stands in a plan: for a sampler the step, for others the
// list item or the extractor's value.
type Example struct {
	YAML string
	Note string
}

// Definition is one element as the language knows it. Values are made by the
// Define functions only.
type Definition struct {
	Kind Kind
	Name string // the key in the plan
	Doc  Doc
	Type reflect.Type // the struct; fields carry plan, doc, default, min … tags

	// Defaults makes a `defaults: {NAME: …}` section legal; true for samplers.
	Defaults bool
	// Roots names the sampler's own response names with their types.
	Roots map[string]expr.Type
}

// New returns a fresh value: a Sampler, Timer, Assertion or Extractor by Kind.
func (d *Definition) New() any { return reflect.New(d.Type).Interface() }

func define[T any](kind Kind, name string, doc Doc) Definition {
	return Definition{Kind: kind, Name: name, Doc: doc, Type: reflect.TypeFor[T](), Defaults: kind == SamplerKind}
}

// DefineSampler describes the sampler *T under its key.
func DefineSampler[T any, P interface {
	*T
	Sampler
}](name string, doc Doc) Definition {
	return define[T](SamplerKind, name, doc)
}

// DefineTimer describes the timer *T under its key.
func DefineTimer[T any, P interface {
	*T
	Timer
}](name string, doc Doc) Definition {
	return define[T](TimerKind, name, doc)
}

// DefineAssertion describes the assertion *T under its key.
func DefineAssertion[T any, P interface {
	*T
	Assertion
}](name string, doc Doc) Definition {
	return define[T](AssertionKind, name, doc)
}

// DefineExtractor describes the extractor *T under its key.
func DefineExtractor[T any, P interface {
	*T
	Extractor
}](name string, doc Doc) Definition {
	return define[T](ExtractorKind, name, doc)
}

// Registry holds the definitions of one program. Read-only once made.
type Registry struct {
	all       map[Kind]map[string]*Definition
	functions []expr.Function
}

// NewRegistry returns a registry of the definitions and response functions; two
// of one kind and name are an error.
func NewRegistry(functions []expr.Function, sets ...[]Definition) (*Registry, error) {
	r := &Registry{all: map[Kind]map[string]*Definition{}, functions: functions}
	for _, set := range sets {
		for _, d := range set {
			if r.all[d.Kind] == nil {
				r.all[d.Kind] = map[string]*Definition{}
			}
			if r.all[d.Kind][d.Name] != nil {
				return nil, fmt.Errorf("%s %q is defined twice", d.Kind, d.Name)
			}
			r.all[d.Kind][d.Name] = &d
		}
	}
	return r, nil
}

// Lookup returns a definition, or nil.
func (r *Registry) Lookup(kind Kind, name string) *Definition { return r.all[kind][name] }

// Names returns the sorted names of a kind.
func (r *Registry) Names(kind Kind) []string {
	names := make([]string, 0, len(r.all[kind]))
	for name := range r.all[kind] {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// Functions returns the response functions (css, jsonpath …).
func (r *Registry) Functions() []expr.Function { return r.functions }
