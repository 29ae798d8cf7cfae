package spec

import (
	"path/filepath"
	"reflect"
	"strings"

	"runner/plan/source"
)

// Path is the name of a file, fixed before the run. A relative one is relative
// to the plan file that names it.
type Path struct {
	Written string       // as it stands in the plan
	Full    string       // seen from the working directory
	Range   source.Range // of the value
}

// IsSet reports whether a path was given.
func (p Path) IsSet() bool { return p.Written != "" }

// DecodeNode reads the path.
func (p *Path) DecodeNode(n *source.Node, ds *source.Diagnostics) {
	switch {
	case n == nil:
		return
	case n.Kind != source.Scalar:
		ds.Add(n.Range, "wrong-type", "a path is needed here, not "+describe(n), "write the path of one file")
	case strings.TrimSpace(n.Text) == "":
		ds.Add(n.Range, "empty-value", "the path is empty", "write the path of a file, relative to this plan")
	case strings.Contains(n.Text, "${"):
		ds.Add(n.Range, "no-template", "a path takes no ${…}: files are opened before the run", "write the path itself")
	default:
		*p = Path{Written: n.Text, Full: n.Text, Range: n.Range}
		if n.Range.File != nil && !filepath.IsAbs(n.Text) {
			p.Full = filepath.Join(filepath.Dir(n.Range.File.Name), n.Text)
		}
	}
}

// DescribeNode says that a path is text.
func (*Path) DescribeNode() []Field { return []Field{{Go: "text"}} }

// Paths returns the paths that the struct v points at holds.
func Paths(v any) []Path {
	var paths []Path
	walk(reflect.ValueOf(v), func(x any) {
		if p, ok := x.(*Path); ok && p.IsSet() {
			paths = append(paths, *p)
		}
	})
	return paths
}
