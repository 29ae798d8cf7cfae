package query

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// CSS is a compiled CSS selector. Immutable.
type CSS struct {
	text string
	sel  cascadia.SelectorGroup
}

// ParseCSS compiles a selector such as input[name=csrf].
func ParseCSS(text string) (*CSS, error) {
	if err := checkLength("selector", text); err != nil {
		return nil, err
	}
	sel, err := cascadia.ParseGroup(text)
	if err != nil {
		return nil, fmt.Errorf("%q is not a CSS selector (%s)", text, err)
	}
	return &CSS{text, sel}, nil
}

// String returns the selector as it was written.
func (c *CSS) String() string { return c.text }

// Select returns, for each element of the document that matches, its attribute,
// or its text where attribute is "". Elements without the attribute are left out.
// At most limit values are returned.
func (c *CSS) Select(document []byte, attribute string, limit int) ([]string, error) {
	root, err := parseHTML(document, "a CSS selector")
	if err != nil {
		return nil, err
	}
	var found []string
	limit = min(limit, MaxMatches)
	for node := range root.Descendants() {
		if len(found) >= limit {
			break
		}
		if node.Type != html.ElementNode || !c.sel.Match(node) {
			continue
		}
		if text, ok := content(node, attribute); ok {
			found = append(found, text)
		}
	}
	return found, nil
}

// parseHTML parses a document within the limits; what names what needs it.
func parseHTML(document []byte, what string) (*html.Node, error) {
	if len(document) > MaxHTML {
		return nil, fmt.Errorf("the document is larger than %d MiB, too large for %s", MaxHTML>>20, what)
	}
	if nodes(document) > MaxNodes {
		return nil, fmt.Errorf("the document has more than %d nodes, too many for %s", MaxNodes, what)
	}
	root, err := html.Parse(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("read the document as HTML: %w", err)
	}
	return root, nil
}

// nodes estimates, from above, how many nodes the parser makes of a document. It
// opens formatting elements that were left open anew in every paragraph, so that
// a small hostile document can become a tree of any size.
func nodes(document []byte) (total int) {
	z := html.NewTokenizer(bytes.NewReader(document))
	open := 0
	for total <= MaxNodes {
		switch z.Next() {
		case html.ErrorToken:
			return total
		case html.StartTagToken, html.SelfClosingTagToken:
			total += 1 + open
			if name, _ := z.TagName(); formatting[string(name)] {
				open++
			}
		case html.EndTagToken:
			if name, _ := z.TagName(); formatting[string(name)] && open > 0 {
				open--
			}
		case html.TextToken:
			total += 1 + open
		}
	}
	return total
}

// formatting are the elements that the HTML standard calls so (13.2.4.3), without
// a and nobr, of which the parser keeps one open at most.
var formatting = map[string]bool{
	"b": true, "big": true, "code": true, "em": true, "font": true, "i": true,
	"s": true, "small": true, "strike": true, "strong": true, "tt": true, "u": true,
}

func content(node *html.Node, attribute string) (string, bool) {
	if attribute == "" {
		return nodeText(node), true
	}
	for _, a := range node.Attr {
		if a.Namespace == "" && strings.EqualFold(a.Key, attribute) {
			return strings.Clone(a.Val), true
		}
	}
	return "", false
}

// nodeText returns the text below a node with white space collapsed, as a reader
// of the page sees it.
func nodeText(node *html.Node) string {
	var b strings.Builder
	for n := range node.Descendants() {
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}
