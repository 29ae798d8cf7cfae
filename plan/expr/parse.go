package expr

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"runner/plan/source"
)

// maxExpression is the limit of an expression's length in bytes.
const maxExpression = 16 << 10

// expression is one parsed expression with its place; code is set by bind.
type expression struct {
	text string
	node *source.Node // where it stands; nil in tests and constants
	off  int          // of text in node.Text
	scan scanned
	bad  bool         // a problem was reported already
	tree *parser.Tree // of the syntax check, for the first bind
	code *code
}

// at returns the place of the bytes [from, to) of the expression.
func (x *expression) at(from, to int) source.Range {
	if x.node == nil {
		return source.Range{}
	}
	return x.node.At(x.off+from, x.off+to)
}

// runes turns rune offsets, as expr counts, into a place.
func (x *expression) runes(from, to int) source.Range {
	return x.at(byteOffset(x.text, from), byteOffset(x.text, max(to, from)))
}

func byteOffset(text string, runes int) int {
	i := 0
	for ; runes > 0 && i < len(text); runes-- {
		_, n := utf8.DecodeRuneInString(text[i:])
		i += n
	}
	return i
}

// parseExpression checks the syntax of text, which stands at off in node.
func parseExpression(text string, node *source.Node, off int, ds *source.Diagnostics) *expression {
	x := &expression{text: text, node: node, off: off}
	fail := func(from, to int, code, summary, detail string) {
		x.bad = true
		ds.Add(x.at(from, to), code, summary, detail)
	}
	switch {
	case strings.TrimSpace(text) == "":
		fail(0, len(text), "empty-expression", "the expression is empty", "write an expression, as in `json.id == 7`")
		return x
	case len(text) > maxExpression:
		fail(0, len(text), "expression-too-long", fmt.Sprintf("the expression has %d bytes; at most %d are allowed", len(text), maxExpression), "split it, or keep the data in a file")
		return x
	case !utf8.ValidString(text):
		fail(0, len(text), "bad-encoding", "the expression is not valid UTF-8", "save the file as UTF-8")
		return x
	}
	x.scan = scan(text)
	for _, p := range x.scan.problems {
		fail(p.from, p.to, p.code, p.summary, p.detail)
	}
	if x.bad {
		return x
	}
	tree, err := x.parse(defaultFunctions)
	if err != nil {
		x.syntax(err, ds)
		return x
	}
	x.tree = tree
	return x
}

// defaultFunctions serves the syntax check, which knows no functions yet.
var defaultFunctions = NewFunctions()

// fresh returns a tree that may be patched. That of the syntax check serves once,
// where the functions do not change the grammar.
func (x *expression) fresh(fns *Functions) (*parser.Tree, error) {
	tree := x.tree
	x.tree = nil
	if tree != nil && !fns.grammar {
		return tree, nil
	}
	return x.parse(fns)
}

// parse returns a fresh tree.
func (x *expression) parse(fns *Functions) (tree *parser.Tree, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("the expression cannot be read: %v", r)
		}
	}()
	config := fns.compiler()
	return parser.ParseWithConfig(x.scan.text, config)
}

// syntax reports an error of expr's parser.
func (x *expression) syntax(err error, ds *source.Diagnostics) {
	x.bad = true
	var f *file.Error
	if !errors.As(err, &f) {
		ds.Add(x.at(0, len(x.text)), "syntax", err.Error(), "")
		return
	}
	from, to := byteOffset(x.text, f.From), byteOffset(x.text, max(f.To, f.From+1))
	summary, detail := syntaxWords(f.Message, x.text[from:to])
	if strings.Contains(f.Message, "token EOF") {
		from, to = max(0, len(strings.TrimRight(x.text, " \t\n"))-1), len(x.text)
	}
	ds.Add(x.at(from, to), "syntax", summary, detail)
}

// syntaxWords says a message of expr's parser in plain words.
func syntaxWords(msg, at string) (summary, detail string) {
	switch {
	case strings.Contains(msg, "token EOF"), strings.Contains(msg, "unexpected end"):
		return "the expression ends too early", "complete it; check that every ( [ and { is closed"
	case strings.HasPrefix(msg, "unexpected token"):
		return quote(at) + " is not expected here", expectHint(at)
	case strings.Contains(msg, "coalesce"):
		return "?? cannot stand beside another operator without parentheses", "write (a ?? b) " + at + " c, with parentheses around the part with ??"
	case strings.Contains(msg, "maximum allowed nodes"):
		return "the expression is too large", "split it"
	}
	return goTypes.Replace(msg), ""
}

func expectHint(at string) string {
	switch at {
	case ")", "]", "}":
		return "it closes nothing; remove it or open it before"
	case ":":
		return "a choice is written a ? b : c"
	case "let", "if":
		return ""
	}
	if c := firstRune(at); c == '_' || c == '"' || c == '\'' || isWordByte(byte(c)) {
		return "is an operator missing before it (==, and, or, +)?"
	}
	return ""
}

// span returns the rune offsets that a tree covers, as far as they are known.
func span(n ast.Node) (from, to int) {
	v := &spanVisitor{from: n.Location().From, to: n.Location().To}
	ast.Walk(&n, v)
	return v.from, v.to
}

type spanVisitor struct{ from, to int }

// Visit widens the span by one node.
func (v *spanVisitor) Visit(n *ast.Node) {
	l := (*n).Location()
	if l.To == 0 {
		return
	}
	v.from, v.to = min(v.from, l.From), max(v.to, l.To)
}
