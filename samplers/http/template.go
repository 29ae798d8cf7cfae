package http

import (
	"os"
	"strconv"
	"strings"

	"runner/plan/expr"
	"runner/plan/source"
	"runner/plan/spec"
)

// maxTemplate bounds a file that is a template: it is held in memory.
const maxTemplate = 16 << 20

// templated is `template: true` with the file's text, which belongs to the plan
// like any other text: names in it are checked before the run.
type templated struct {
	on   bool
	text expr.String
}

// DecodeNode reads true or false.
func (t *templated) DecodeNode(n *source.Node, ds *source.Diagnostics) {
	var v expr.Bool
	before := len(*ds)
	v.Decode(n, ds)
	on, literal := v.Literal()
	if !literal && v.IsSet() && len(*ds) == before {
		ds.Add(n.Range, "no-template", "`template` takes no ${…}", "write true or false")
	}
	t.on = on
}

// DescribeNode says that it is true or false.
func (*templated) DescribeNode() []spec.Field { return []spec.Field{{Go: "bool"}} }

// BindNode binds the file's text.
func (t *templated) BindNode(env *expr.Env, ds *source.Diagnostics) { t.text.Bind(env, ds) }

// Uses returns the names that the file uses.
func (t *templated) Uses() []expr.Use { return t.text.Uses() }

// Check reads a file that is a template.
func (b *body) Check(report func(field, code, summary, detail string)) {
	switch {
	case b.Template.on && !b.File.IsSet():
		report("template", "template-without-file", "`template` belongs to `file`", "text takes ${…} anyway: remove `template`")
		return
	case !b.Template.on:
		return
	}
	if info, err := os.Stat(b.File.Full); err != nil {
		return // validation names a file that is not there
	} else if info.Size() > maxTemplate {
		report("file", "template-too-large", "the file is too large for a template", "at most 16 MiB; without `template` it may have any size")
		return
	}
	text, err := os.ReadFile(b.File.Full)
	if err != nil {
		report("file", "unreadable-file", "the file cannot be read", err.Error())
		return
	}
	f := source.New(b.File.Written, text)
	node := &source.Node{Kind: source.Scalar, Text: string(text), Quoted: true, Block: true,
		Range: source.Range{File: f, Start: f.Pos(0), End: f.Pos(len(text))}}
	var ds source.Diagnostics
	b.Template.text.Decode(node, &ds)
	for _, d := range ds {
		where := ""
		if d.Range.Start.Line > 0 {
			where = " in line " + strconv.Itoa(d.Range.Start.Line) + " of the file"
		}
		report("file", d.Code, d.Summary+where, strings.TrimSpace(d.Detail))
	}
}
