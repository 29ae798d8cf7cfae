package plan

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"runner/plan/source"
)

// What a plan file may be at most.
const (
	maxBytes = 1 << 20
	maxDepth = 64
)

// readYAML turns a file into nodes. The node is nil where nothing can be read.
// yaml.v3 is used for the structure only: the text of scalars is decoded by us.
func readYAML(f *source.File) (*source.Node, source.Diagnostics) {
	if ds := guard(f); ds.HasErrors() {
		return nil, ds
	}
	traps := scan(f)
	for _, t := range traps {
		if t.code == "too-deep" {
			return nil, source.Diagnostics{t.diagnostic(f)}
		}
	}
	text, shift := bytes.TrimPrefix(f.Text, []byte("\ufeff")), 0
	if len(text) < len(f.Text) {
		shift = 1
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	doc, err := decodeDocument(d)
	if errors.Is(err, io.EOF) {
		return nil, source.Diagnostics{{Code: "empty-plan", Summary: "the plan is empty",
			Detail: "write at least `plan:` with a title and `thread_groups:`", Range: at(f, 0, 0)}}
	}
	if err != nil {
		return nil, syntax(f, err, traps)
	}
	c := converter{file: f, shift: shift}
	root := c.convert(doc.Content[0], 0)
	if next, err := decodeDocument(d); !errors.Is(err, io.EOF) {
		c.secondDocument(next)
	}
	return root, c.ds
}

// decodeDocument reads one document. The library reports some malformed input
// by panicking past its own recovery; that is an error of the input.
func decodeDocument(d *yaml.Decoder) (doc *yaml.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("yaml: %v", r)
		}
	}()
	doc = new(yaml.Node)
	if err := d.Decode(doc); err != nil {
		return nil, err
	}
	if doc.Kind != yaml.DocumentNode || len(doc.Content) != 1 {
		return nil, io.EOF
	}
	return doc, nil
}

var errorLine = regexp.MustCompile(`line (\d+): (.*)`)

// syntax reports a failed parse: by the traps that the scanner saw, which know
// place and remedy, else by the library's own words.
func syntax(f *source.File, err error, traps []trap) source.Diagnostics {
	var ds source.Diagnostics
	for _, t := range traps {
		ds = append(ds, t.diagnostic(f))
	}
	if len(ds) > 0 {
		return ds
	}
	line, text := 1, strings.TrimPrefix(err.Error(), "yaml: ")
	if m := errorLine.FindStringSubmatch(text); m != nil {
		line, _ = strconv.Atoi(m[1]) // digits by the pattern; too many give the last line
		text = m[2]
	}
	line = max(1, min(line, f.Lines()))
	content := f.Line(line)
	start := f.PosAt(line, 1).Offset + len(content) - len(strings.TrimLeft(content, " "))
	ds.Add(at(f, start, f.PosAt(line, 1).Offset+len(content)), "syntax", "this is not YAML: "+text,
		"the mistake is on this line or just above it: look for a missing quote, bracket or colon, or for indentation that does not line up")
	return ds
}

// converter turns the library's nodes into ours.
type converter struct {
	file  *source.File
	shift int // columns that a byte order mark takes on the first line
	ds    source.Diagnostics
}

func (c *converter) pos(n *yaml.Node) int {
	column := n.Column
	if n.Line == 1 {
		column += c.shift
	}
	return c.file.PosAt(n.Line, column).Offset
}

func (c *converter) convert(n *yaml.Node, depth int) *source.Node {
	start := c.pos(n)
	if depth > maxDepth {
		c.ds.Add(at(c.file, start, start+1), "too-deep", fmt.Sprintf("the plan is nested more than %d levels deep", maxDepth), "")
		return &source.Node{Kind: source.Scalar, Null: true, Range: at(c.file, start, start)}
	}
	body := c.properties(n, start)
	switch n.Kind {
	case yaml.MappingNode:
		return c.mapping(n, body, depth)
	case yaml.SequenceNode:
		return c.sequence(n, body, depth)
	case yaml.AliasNode:
		raw := valueText(c.file.Text, start)
		t := startsWith(start, start+len(raw), raw)
		c.ds = append(c.ds, t.diagnostic(c.file))
		return &source.Node{Kind: source.Scalar, Text: raw, Quoted: true, Range: at(c.file, start, start+len(raw))}
	}
	return c.scalar(n, body)
}

// properties reports tags and anchors and returns where the value itself begins.
func (c *converter) properties(n *yaml.Node, start int) int {
	text := c.file.Text
	if n.Kind == yaml.AliasNode || n.Style&yaml.TaggedStyle == 0 && n.Anchor == "" {
		return start
	}
	raw := valueText(text, start)
	t := startsWith(start, start+len(raw), raw)
	c.ds = append(c.ds, t.diagnostic(c.file))
	for start < len(text) && (text[start] == '!' || text[start] == '&') {
		for start < len(text) && !isSpace(text[start]) && text[start] != ',' {
			start++
		}
		for start < len(text) && isSpace(text[start]) {
			start++
		}
	}
	return start
}

func (c *converter) scalar(n *yaml.Node, start int) *source.Node {
	out := &source.Node{Kind: source.Scalar, Text: n.Value}
	text := c.file.Text
	end := start
	switch {
	case n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0:
		out.Quoted, out.Block = true, true
		end = blockEnd(text, start, n.Value)
	case n.Style&yaml.DoubleQuotedStyle != 0:
		out.Quoted = true
		end = quoteEnd(text, start)
	case n.Style&yaml.SingleQuotedStyle != 0:
		out.Quoted = true
		end = quoteEnd(text, start)
	default:
		out.Null = n.Value == "" || n.Value == "~" || n.Value == "null" || n.Value == "Null" || n.Value == "NULL"
		end = plainEnd(text, start, n.Value)
		c.cut(out, start, end)
	}
	out.Range = at(c.file, start, end)
	return out
}

func (c *converter) sequence(n *yaml.Node, start, depth int) *source.Node {
	out := &source.Node{Kind: source.List, Flow: n.Style&yaml.FlowStyle != 0}
	end := start + 1
	for _, item := range n.Content {
		v := c.convert(item, depth+1)
		out.Items = append(out.Items, v)
		end = max(end, v.Range.End.Offset)
	}
	if out.Flow {
		end = closing(c.file.Text, end, ']')
		c.splitItems(out)
	}
	out.Range = at(c.file, start, end)
	return out
}

func (c *converter) mapping(n *yaml.Node, start, depth int) *source.Node {
	out := &source.Node{Kind: source.Map, Flow: n.Style&yaml.FlowStyle != 0}
	first := map[string]*source.Node{}
	end := start
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := c.convert(n.Content[i], depth+1), c.convert(n.Content[i+1], depth+1)
		end = max(end, value.Range.End.Offset, key.Range.End.Offset)
		switch {
		case key.Kind != source.Scalar:
			c.ds.Add(key.Range, "bad-key", fmt.Sprintf("a key is %s; it must be a word", key.Kind), "put quotes around the value that begins here, if it is a value")
			continue
		case key.Text == "<<" && !key.Quoted:
			c.ds.Add(key.Range, "merge-key", "merge keys (`<<`) are not part of the language", "use `defaults:` on the plan or the thread group for what several steps share")
			continue
		case first[key.Text] != nil:
			c.ds = append(c.ds, source.Diagnostic{Code: "duplicate-key", Summary: fmt.Sprintf("%q is given twice", key.Text),
				Detail: "keep one of the two", Range: key.Range,
				Related: []source.Related{{Message: fmt.Sprintf("%q was given here first", key.Text), Range: first[key.Text].Range}}})
			continue
		}
		first[key.Text] = key
		if value.Null && value.Text == "" {
			value.Range = at(c.file, afterKey(c.file.Text, key.Range.End.Offset), afterKey(c.file.Text, key.Range.End.Offset))
		}
		out.Fields = append(out.Fields, source.Field{Key: key, Value: value})
	}
	if out.Flow && start < len(c.file.Text) && c.file.Text[start] == '{' {
		end = closing(c.file.Text, max(end, start+1), '}')
		c.splitFields(out)
	}
	out.Range = at(c.file, start, end)
	return out
}

func (c *converter) secondDocument(next *yaml.Node) {
	from := 0
	if next != nil {
		from = c.pos(next.Content[0])
	}
	offset := bytes.LastIndex(c.file.Text[:max(from, 0)], []byte("\n---")) + 1
	if offset == 0 {
		offset = max(bytes.LastIndex(c.file.Text, []byte("\n---"))+1, 0)
	}
	c.ds.Add(at(c.file, offset, offset+3), "second-document", "a plan file holds one document; everything after this `---` would be ignored",
		"remove the line, or move what follows into a file of its own")
}
