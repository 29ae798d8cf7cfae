package query

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/net/html/charset"
)

// The limits of XML documents.
const (
	MaxXML      = 4 << 20 // bytes
	MaxXMLNodes = 200_000 // elements, attributes, texts and comments
)

// ErrNotXML is what errors.Is finds where a text that should be XML is not well
// formed.
var ErrNotXML = errors.New("not well-formed XML")

type notXML struct{ reason string }

func (e *notXML) Error() string      { return ErrNotXML.Error() + ": " + e.reason }
func (*notXML) Is(target error) bool { return target == ErrNotXML }

// CheckXML returns an ErrNotXML with the reason if the document is not well
// formed, and another error if it is beyond the limits. DTDs are read over:
// entities of their own are not known, and nothing is fetched.
func CheckXML(document []byte) error {
	if len(document) > MaxXML {
		return fmt.Errorf("the document is larger than %d MiB, too large to be read as XML", MaxXML>>20)
	}
	if len(bytes.TrimSpace(document)) == 0 {
		return &notXML{"it is empty"}
	}
	d := xml.NewDecoder(bytes.NewReader(document))
	d.CharsetReader = charset.NewReaderLabel
	c := xmlCheck{}
	for {
		token, err := d.RawToken()
		switch {
		case errors.Is(err, io.EOF):
			return c.end()
		case err != nil:
			return &notXML{xmlReason(err)}
		}
		if err := c.token(token); err != nil {
			var no *notXML
			if line, column := d.InputPos(); errors.As(err, &no) {
				no.reason += fmt.Sprintf(" (line %d, column %d)", line, column)
			}
			return err
		}
	}
}

func xmlReason(err error) string {
	var syntax *xml.SyntaxError
	if errors.As(err, &syntax) {
		return fmt.Sprintf("%s (line %d)", syntax.Msg, syntax.Line)
	}
	return strings.TrimPrefix(err.Error(), "xml: ")
}

// xmlCheck holds what encoding/xml does not look at in raw tokens: nesting, one
// root, no attribute twice.
type xmlCheck struct {
	open  []xml.Name
	root  bool
	nodes int
}

func (c *xmlCheck) token(token xml.Token) error {
	c.nodes++
	switch t := token.(type) {
	case xml.StartElement:
		return c.start(t)
	case xml.EndElement:
		if len(c.open) == 0 {
			return &notXML{"</" + tagName(t.Name) + "> closes nothing"}
		}
		last := c.open[len(c.open)-1]
		if last != t.Name {
			return &notXML{"<" + tagName(last) + "> is closed by </" + tagName(t.Name) + ">"}
		}
		c.open = c.open[:len(c.open)-1]
	case xml.CharData:
		if len(c.open) == 0 && len(bytes.TrimSpace(bytes.TrimPrefix(t, []byte("\ufeff")))) > 0 {
			return &notXML{"there is text outside of the root element"}
		}
	}
	if c.nodes > MaxXMLNodes {
		return fmt.Errorf("the document has more than %d nodes, too many to be read as XML", MaxXMLNodes)
	}
	return nil
}

func (c *xmlCheck) start(t xml.StartElement) error {
	if len(c.open) == 0 && c.root {
		return &notXML{"there is a second root element, <" + tagName(t.Name) + ">"}
	}
	c.root = true
	c.open = append(c.open, t.Name)
	if len(c.open) > MaxDepth {
		return fmt.Errorf("the document is nested deeper than %d levels", MaxDepth)
	}
	c.nodes += len(t.Attr)
	if len(t.Attr) < 2 {
		return nil
	}
	seen := make(map[xml.Name]bool, len(t.Attr))
	for _, a := range t.Attr {
		if seen[a.Name] {
			return &notXML{"<" + tagName(t.Name) + "> has the attribute " + tagName(a.Name) + " twice"}
		}
		seen[a.Name] = true
	}
	return nil
}

func (c *xmlCheck) end() error {
	switch {
	case len(c.open) > 0:
		return &notXML{"<" + tagName(c.open[len(c.open)-1]) + "> is not closed"}
	case !c.root:
		return &notXML{"it has no root element"}
	}
	return nil
}

func tagName(n xml.Name) string {
	name := n.Local
	if n.Space != "" {
		name = n.Space + ":" + name
	}
	if r := []rune(name); len(r) > 40 {
		name = string(r[:40]) + "…"
	}
	return name
}
