package source

// Kind says what a Node is.
type Kind uint8

// The kinds of Node.
const (
	Scalar Kind = iota + 1
	List
	Map
)

// String returns the word that messages use for the kind.
func (k Kind) String() string {
	switch k {
	case Scalar:
		return "a single value"
	case List:
		return "a list"
	case Map:
		return "a map"
	}
	return "nothing"
}

// Node is one value of a plan file with its place. The tree is closed: no
// anchors, tags or documents are left in it. Read-only after parsing.
type Node struct {
	Kind   Kind
	Text   string  // of a scalar, after YAML unquoting; "" for an empty value
	Quoted bool    // the scalar was written in quotes or as a block scalar
	Block  bool    // the scalar was a block scalar (| or >)
	Flow   bool    // the list or map was written in [ ] or { }
	Null   bool    // the scalar is an empty value, ~ or null, unquoted
	Items  []*Node // of a list
	Fields []Field // of a map, in file order, keys unique
	Range  Range   // of the value itself; for quoted scalars quotes included
}

// Field is one key with its value.
type Field struct {
	Key   *Node // always a scalar
	Value *Node // never nil; an absent value is a Null scalar placed after the key
}

// Get returns the value of a key, or nil. It works on a nil or non-map node.
func (n *Node) Get(key string) *Node {
	if f := n.Field(key); f != nil {
		return f.Value
	}
	return nil
}

// Field returns the field of a key, or nil. It works on a nil or non-map node.
func (n *Node) Field(key string) *Field {
	if n == nil {
		return nil
	}
	for i := range n.Fields {
		if n.Fields[i].Key.Text == key {
			return &n.Fields[i]
		}
	}
	return nil
}

// Inner returns the range of a scalar's text without its quotes: offsets into
// Text map onto it one to one when Plain reports true.
func (n *Node) Inner() Range {
	r := n.Range
	if n.Quoted && !n.Block && r.End.Offset-r.Start.Offset >= 2 {
		return r.Sub(1, r.End.Offset-r.Start.Offset-1)
	}
	return r
}

// Plain reports whether the scalar's Text stands in the file letter for letter
// (no escapes, no folding), so that an offset in Text is an offset in Inner.
func (n *Node) Plain() bool { return n.Kind == Scalar && n.Inner().Text() == n.Text }

// At returns the place of the bytes [from, to) of the scalar's Text, or the
// whole value's range where that cannot be told.
func (n *Node) At(from, to int) Range {
	if n.Plain() {
		return n.Inner().Sub(from, max(to, from+1))
	}
	return n.Range
}
