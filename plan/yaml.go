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

	maxTemplates = 500 // ${…} in one text
)

// reading is what comes of a file: its root, nil where nothing can be read, what
// is wrong with it as YAML, and the places whose text was not what it seems, so
// that nothing more is to be said about them.
type reading struct {
	root   *source.Node
	ds     source.Diagnostics
	poison []source.Range
}

// readYAML turns a file into nodes. yaml.v3 is used for the structure only: the
// text of scalars is decoded by us. What it makes of a text that the scanner
// refuses is thrown away: its own limits keep that short.
func readYAML(f *source.File) reading {
	if ds := guard(f); ds.HasErrors() {
		return reading{ds: ds}
	}
	c := converter{file: f, text: f.Text}
	var root *source.Node
	var err error
	var traps []trap
	inHalves(func() { root, err = c.read() }, func() { traps = scan(f) })
	for _, t := range traps {
		if t.code == "too-deep" || t.code == "directive" {
			return reading{ds: source.Diagnostics{t.diagnostic(f)}}
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		c.ds.Add(at(f, 0, 0), "empty-plan", "the plan is empty", "write at least `plan:` with a title and `thread_groups:`")
	case err != nil:
		ds := syntax(f, err, traps)
		if c = (converter{file: f, text: masked(f.Text, traps)}); c.text != nil {
			root, _ = c.read() // the first error stands; this one is about a text of our own
		}
		c.ds = append(sound(ds, commas(c.ds)), c.ds...)
		for _, t := range traps {
			c.poison = append(c.poison, at(f, t.maskFrom, t.maskTo))
		}
	}
	return reading{root, c.ds, c.poison}
}

// commas returns the places of texts that a comma cuts: the remedy for the whole
// is the remedy for what stands in it.
func commas(ds source.Diagnostics) []source.Range {
	var out []source.Range
	for _, d := range ds {
		if d.Code == "flow-comma" {
			out = append(out, d.Range)
		}
	}
	return out
}

// read parses the converter's text.
func (c *converter) read() (*source.Node, error) {
	text := bytes.TrimPrefix(c.text, []byte("\ufeff"))
	if len(text) < len(c.text) {
		c.shift = 1
	}
	d := yaml.NewDecoder(bytes.NewReader(text))
	doc, err := decodeDocument(d)
	if err != nil {
		return nil, err
	}
	root := c.convert(doc.Content[0], 0)
	if next, err := decodeDocument(d); !errors.Is(err, io.EOF) {
		c.secondDocument(next)
	}
	return root, nil
}

// masked returns the text with every trap's value made harmless, of the same
// length, so that the rest can be read; nil if a trap is of the structure.
func masked(text []byte, traps []trap) []byte {
	out := bytes.Clone(text)
	for _, t := range traps {
		if t.maskTo == 0 {
			return nil
		}
		for i := t.maskFrom; i < t.maskTo; i++ {
			if out[i] < 0x80 {
				out[i] = 'x'
			}
		}
	}
	if len(traps) == 0 {
		return nil
	}
	return out
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
	file   *source.File
	text   []byte // the file's text, or of the same shape
	shift  int    // columns that a byte order mark takes on the first line
	flow   int    // open flow collections
	ds     source.Diagnostics
	poison []source.Range
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
	if n.Kind == yaml.AliasNode {
		return c.poisoned(c.special(start))
	}
	body := c.properties(n, start)
	if n.Style&yaml.FlowStyle != 0 {
		c.flow++
		defer func() { c.flow-- }()
	}
	switch {
	case n.Kind == yaml.MappingNode:
		return c.mapping(n, body, depth)
	case n.Kind == yaml.SequenceNode:
		return c.sequence(n, body, depth)
	case body != start && n.Value == "":
		return c.poisoned(at(c.file, start, start+len(c.raw(start))))
	}
	return c.scalar(n, body)
}

// poisoned stands for a value that was reported already.
func (c *converter) poisoned(r source.Range) *source.Node {
	c.poison = append(c.poison, r)
	return &source.Node{Kind: source.Scalar, Text: "true", Quoted: true, Range: r}
}

// raw returns the text of the value at start as it was meant.
func (c *converter) raw(start int) string {
	text := valueText(c.text, start)
	if end := itemEnd(c.text, start) - start; c.flow > 0 && end < len(text) {
		text = strings.TrimRight(text[:end], " ")
	}
	return text
}

// special reports a value that begins with a character of YAML's own.
func (c *converter) special(start int) source.Range {
	raw := c.raw(start)
	t := startsWith(start, start+len(raw), raw)
	c.ds = append(c.ds, t.diagnostic(c.file))
	return at(c.file, t.from, t.to)
}

// properties reports tags and anchors and returns where the value itself begins.
func (c *converter) properties(n *yaml.Node, start int) int {
	text := c.text
	if n.Style&yaml.TaggedStyle == 0 && n.Anchor == "" {
		return start
	}
	c.special(start)
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
	text := c.text
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
	if written := c.file.Text[min(start, len(c.file.Text)):min(end, len(c.file.Text))]; !out.Block && !bytes.Equal(written, text[start:end]) {
		out.Text = out.Inner().Text() // it was masked to be read at all
	}
	if n := strings.Count(out.Text, "${"); n > maxTemplates {
		c.ds.Add(at(c.file, start, start+1), "too-many-expressions", fmt.Sprintf("one text has %d expressions; at most %d are allowed", n, maxTemplates), "keep the text in a file, or build it with an expression over a list")
		return c.poisoned(out.Range)
	}
	return out
}

func (c *converter) sequence(n *yaml.Node, start, depth int) *source.Node {
	out := &source.Node{Kind: source.List, Flow: n.Style&yaml.FlowStyle != 0}
	end := start + 1
	out.Items = c.items(n.Content, depth+1)
	for _, item := range out.Items {
		end = max(end, item.Range.End.Offset)
	}
	if out.Flow {
		end = closing(c.text, end, ']')
		c.splitItems(out)
	}
	out.Range = at(c.file, start, end)
	return out
}

// items converts the items of a list, in order.
func (c *converter) items(list []*yaml.Node, depth int) []*source.Node {
	out := make([]*source.Node, len(list))
	convert := func(c *converter, from, to int) {
		for i := from; i < to; i++ {
			out[i] = c.convert(list[i], depth)
		}
	}
	if len(list) < many {
		convert(c, 0, len(list))
		return out
	}
	half, other := len(list)/2, &converter{file: c.file, text: c.text, shift: c.shift, flow: c.flow}
	inHalves(func() { convert(c, 0, half) }, func() { convert(other, half, len(list)) })
	c.ds = append(c.ds, other.ds...)
	c.poison = append(c.poison, other.poison...)
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
			value.Range = at(c.file, afterKey(c.text, key.Range.End.Offset), afterKey(c.text, key.Range.End.Offset))
		}
		out.Fields = append(out.Fields, source.Field{Key: key, Value: value})
	}
	if out.Flow && start < len(c.text) && c.text[start] == '{' {
		end = closing(c.text, max(end, start+1), '}')
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
	offset := bytes.LastIndex(c.text[:max(from, 0)], []byte("\n---")) + 1
	if offset == 0 {
		offset = max(bytes.LastIndex(c.text, []byte("\n---"))+1, 0)
	}
	c.ds.Add(at(c.file, offset, offset+3), "second-document", "a plan file holds one document; everything after this `---` would be ignored",
		"remove the line, or move what follows into a file of its own")
}
