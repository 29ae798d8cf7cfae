package query

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"sync"

	"github.com/antchfx/htmlquery"
	"github.com/antchfx/xmlquery"
	"github.com/antchfx/xpath"
	"golang.org/x/net/html"

	"runner/plan/element"
)

// XPath is a compiled XPath 1.0 expression. Safe for concurrent use.
type XPath struct {
	text     string
	compiled sync.Pool // of *xpath.Expr, which keep state while they are evaluated
}

// ParseXPath compiles an expression such as //item[@id='7']/name.
func ParseXPath(text string) (*XPath, error) {
	if err := checkLength("XPath", text); err != nil {
		return nil, err
	}
	expr, err := compileXPath(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not an XPath (%s)", text, err)
	}
	x := &XPath{text: text}
	x.compiled.Put(expr)
	return x, nil
}

// compileXPath turns the library's panics into errors.
func compileXPath(text string) (expr *xpath.Expr, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("it is empty")
	}
	return xpath.Compile(text)
}

// String returns the expression as it was written.
func (x *XPath) String() string { return x.text }

// IsHTML reports whether a response is to be read as HTML: by its Content-Type,
// else by how the document begins. Anything else is XML.
func IsHTML(s *element.Sample, document []byte) bool {
	if kind, ok := s.Header("Content-Type"); ok {
		kind = strings.ToLower(kind)
		if strings.Contains(kind, "xml") {
			return false
		}
		if strings.Contains(kind, "html") {
			return true
		}
	}
	head := strings.ToLower(string(bytes.TrimSpace(document[:min(len(document), 1024)])))
	return strings.HasPrefix(head, "<!doctype html") || strings.HasPrefix(head, "<html")
}

// Select returns what the expression gives for the document: for nodes their
// texts, at most limit of them, otherwise one number, text or bool. The text of
// an element has no white space at its ends; in HTML all white space in it is
// collapsed. A document that is no XML is an ErrNotXML.
func (x *XPath) Select(document []byte, asHTML bool, limit int) (found []any, err error) {
	root, err := navigator(document, asHTML)
	if err != nil {
		return nil, err
	}
	expr, ok := x.compiled.Get().(*xpath.Expr)
	if !ok {
		if expr, err = compileXPath(x.text); err != nil {
			return nil, err
		}
	}
	defer func() {
		if v := recover(); v != nil { // the library's way to report a wrong type
			found, err = nil, fmt.Errorf("%s: %v", x.text, v)
			return
		}
		x.compiled.Put(expr)
	}()
	switch v := expr.Evaluate(root).(type) {
	case *xpath.NodeIterator:
		return distinct(v, asHTML, min(limit, MaxMatches)), nil
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return []any{int64(v)}, nil
		}
		return []any{v}, nil
	default:
		return []any{v}, nil
	}
}

// maxVisits bounds how many nodes of a result are looked at.
const maxVisits = 20 * MaxMatches

// distinct returns the values of the first nodes. The library gives a node
// several times where several ways lead to it (//ul//li in nested lists).
func distinct(nodes *xpath.NodeIterator, asHTML bool, limit int) (found []any) {
	type place struct {
		node      any
		attribute string
	}
	seen := map[place]bool{}
	for visits := 0; len(found) < limit && visits < maxVisits && nodes.MoveNext(); visits++ {
		n := nodes.Current()
		var at place
		switch n := n.(type) {
		case *xmlquery.NodeNavigator:
			at.node = n.Current()
		case *htmlquery.NodeNavigator:
			at.node = n.Current()
		}
		if n.NodeType() == xpath.AttributeNode {
			at.attribute = n.Prefix() + ":" + n.LocalName()
		}
		if !seen[at] {
			seen[at] = true
			found = append(found, nodeValue(n, asHTML))
		}
	}
	return found
}

func nodeValue(n xpath.NodeNavigator, asHTML bool) string {
	text := strings.Clone(n.Value())
	switch {
	case n.NodeType() == xpath.AttributeNode:
		return text
	case asHTML:
		return strings.Join(strings.Fields(text), " ")
	}
	return strings.TrimSpace(text)
}

func navigator(document []byte, asHTML bool) (nav xpath.NodeNavigator, err error) {
	if asHTML {
		root, err := parseHTML(document, "an XPath")
		if err != nil {
			return nil, err
		}
		if deep(root) {
			return nil, fmt.Errorf("the document is nested deeper than %d levels", MaxDepth)
		}
		return htmlquery.CreateXPathNavigator(root), nil
	}
	if err := CheckXML(document); err != nil {
		return nil, err
	}
	defer func() {
		if v := recover(); v != nil {
			nav, err = nil, &notXML{fmt.Sprint(v)}
		}
	}()
	root, err := xmlquery.Parse(bytes.NewReader(document))
	if err != nil {
		return nil, &notXML{strings.TrimPrefix(xmlReason(err), "xmlquery: ")}
	}
	plainText(root)
	return xmlquery.CreateXPathNavigator(root), nil
}

// deep reports whether a document is nested deeper than paths may go.
func deep(root *html.Node) bool {
	depth := 0
	for n := root; n != nil; {
		if n.FirstChild != nil {
			n = n.FirstChild
			if depth++; depth > MaxDepth {
				return true
			}
			continue
		}
		for n != nil && n.NextSibling == nil {
			n = n.Parent
			depth--
		}
		if n != nil {
			n = n.NextSibling
		}
	}
	return false
}

// plainText makes text of CDATA sections, which the library's paths do not read.
func plainText(n *xmlquery.Node) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type == xmlquery.CharDataNode {
			c.Type = xmlquery.TextNode
		}
		plainText(c)
	}
}
