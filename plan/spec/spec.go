package spec

import (
	"reflect"

	"runner/plan/expr"
	"runner/plan/source"
)

// Node is a field that takes its part of the plan as it stands.
type Node = *source.Node

// Map is a map of the plan in file order.
type Map[T any] struct{ Entries []Entry[T] }

// Entry is one key of a Map with its value.
type Entry[T any] struct {
	Key   *source.Node
	Name  string
	Value T
}

// Get returns the value of a name, or nil.
func (m Map[T]) Get(name string) *T {
	for i := range m.Entries {
		if m.Entries[i].Name == name {
			return &m.Entries[i].Value
		}
	}
	return nil
}

// Len returns the number of entries.
func (m Map[T]) Len() int { return len(m.Entries) }

// NodeDecoder is a field type that reads its part of the plan itself.
type NodeDecoder interface {
	DecodeNode(n *source.Node, ds *source.Diagnostics)
}

// NodeBinder is a NodeDecoder that holds expressions.
type NodeBinder interface {
	BindNode(env *expr.Env, ds *source.Diagnostics)
}

// NodeDescriber is a NodeDecoder that says what it accepts. Only Go, Enum,
// Children, Item, Min and Max of the Field are used.
type NodeDescriber interface{ DescribeNode() []Field }

// Field describes one key for the schema and the reference.
type Field struct {
	Key      string
	Go       string       // text int float bool duration rate size share condition any list map object range, or one of those for NodeDescriber's forms
	Type     reflect.Type // of the Go field
	Doc      string
	Default  string // as written; "" for none
	Required bool
	Short    bool // may be given in place of the whole map
	Single   bool // of a list: one item may stand alone
	Fold     bool
	Secret   bool
	Enum     []string
	Min, Max string
	Group    string  // at most one of the group's fields
	GroupReq bool    // exactly one of them
	Template bool    // ${…} is allowed
	Children []Field // of an object
	Item     *Field  // of a list's item or a map's value
	OneOf    []Field // other forms (NodeDescriber)
}
