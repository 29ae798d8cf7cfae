package spec

import (
	"path/filepath"

	"runner/plan/source"
)

// Path is a file name in the plan, relative to the file that names it.
type Path struct {
	Written string
	Range   source.Range
	Full    string // joined to the folder of the plan file
}

// IsSet reports whether a path was given.
func (p Path) IsSet() bool { return p.Written != "" }

// DecodeNode reads the path from a scalar.
func (p *Path) DecodeNode(n *source.Node, ds *source.Diagnostics) {
	if n.Kind != source.Scalar || n.Text == "" {
		ds.Add(n.Range, "wrong-type", "a file name is expected here", "write the path of a file, relative to this plan file")
		return
	}
	p.Written, p.Range, p.Full = n.Text, n.Range, n.Text
	if !filepath.IsAbs(n.Text) && n.Range.File != nil {
		p.Full = filepath.Join(filepath.Dir(n.Range.File.Name), n.Text)
	}
}

// DescribeNode says that a path is text.
func (p *Path) DescribeNode() []Field { return []Field{{Go: "text"}} }
