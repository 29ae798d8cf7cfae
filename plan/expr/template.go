package expr

import (
	"errors"
	"strings"

	"runner/plan/source"
)

// template is text with `${…}` in it.
type template struct {
	parts  []part
	single bool // exactly one ${…} and nothing else: the value keeps its type
	node   *source.Node
	broken bool
}

// part is a stretch of text, or an expression.
type part struct {
	text string
	x    *expression
}

// parseTemplate reads the text of a scalar. A text without `${` gives a template
// of one text part, in which `$${` stands for `${`.
func parseTemplate(text string, node *source.Node, ds *source.Diagnostics) *template {
	t := &template{node: node}
	var lit strings.Builder
	flush := func() {
		if lit.Len() > 0 {
			t.parts = append(t.parts, part{text: lit.String()})
			lit.Reset()
		}
	}
	for i := 0; i < len(text); {
		switch {
		case strings.HasPrefix(text[i:], "$${"):
			lit.WriteString("${")
			i += 3
		case strings.HasPrefix(text[i:], "${"):
			end := closing(text, i+2)
			if end < 0 {
				t.unclosed(text, i, ds)
				return t
			}
			flush()
			x := t.expression(text, i, end, ds)
			t.broken = t.broken || x.bad
			t.parts = append(t.parts, part{x: x})
			i = end + 1
		default:
			lit.WriteByte(text[i])
			i++
		}
	}
	flush()
	t.single = len(t.parts) == 1 && t.parts[0].x != nil
	return t
}

func (t *template) unclosed(text string, at int, ds *source.Diagnostics) {
	t.broken = true
	to := at + 2
	if line := strings.IndexByte(text[at:], '\n'); line < 0 {
		to = len(text)
	}
	addAt(t.node, at, to, ds, "unclosed-interpolation", "`${` is never closed", "close it with }; for the two characters themselves write $${")
}

// expression parses what stands between `${` at start and `}` at end.
func (t *template) expression(text string, start, end int, ds *source.Diagnostics) *expression {
	inner := text[start+2 : end]
	switch {
	case strings.TrimSpace(inner) == "":
		addAt(t.node, start, end+1, ds, "empty-interpolation", "`${}` is empty", "write a name or an expression between the braces, as ${name}")
	case strings.HasPrefix(inner, "{") && strings.HasSuffix(inner, "}") && !strings.Contains(inner, ":"):
		addAt(t.node, start, end+1, ds, "interpolation-syntax", "an interpolation has single braces", "write ${"+strings.Trim(strings.TrimSpace(inner), "{} ")+"}")
	default:
		return parseExpression(inner, t.node, start+2, ds)
	}
	return &expression{text: inner, node: t.node, off: start + 2, bad: true}
}

func addAt(node *source.Node, from, to int, ds *source.Diagnostics, code, summary, detail string) {
	var r source.Range
	if node != nil {
		r = node.At(from, to)
	}
	ds.Add(r, code, summary, detail)
}

func (t *template) bind(env *Env, ds *source.Diagnostics) {
	for _, p := range t.parts {
		if p.x != nil {
			p.x.bind(env, ds)
			if c := p.x.code; c != nil && c.constantNil() && !t.single {
				ds.Add(p.x.at(0, len(p.x.text)), "nil-in-text", "nil cannot stand in text", `write ""`)
			}
		}
	}
}

func (t *template) uses() (out []Use) {
	for _, p := range t.parts {
		if p.x != nil && p.x.code != nil {
			out = append(out, p.x.code.uses...)
		}
	}
	return out
}

// static returns the text of a template without expressions.
func (t *template) static() (string, bool) {
	switch len(t.parts) {
	case 0:
		return "", !t.broken
	case 1:
		return t.parts[0].text, t.parts[0].x == nil && !t.broken
	}
	return "", false
}

// result is the static type of the value.
func (t *template) result() Type {
	if t.single && t.parts[0].x.code != nil {
		return t.parts[0].x.code.result
	}
	if t.single {
		return AnyType
	}
	return TextType
}

// append appends the text; secret tells whether a secret went into it.
func (t *template) append(dst []byte, s Scope) (_ []byte, secret bool, err error) {
	if t.broken {
		return dst, false, errUnbound
	}
	for i := range t.parts {
		p := &t.parts[i]
		if p.x == nil {
			dst = append(dst, p.text...)
			continue
		}
		v, err := p.x.code.runIn(p.x, s)
		if err != nil {
			return dst, secret, err
		}
		if _, ok := v.(Secret); ok {
			secret = true
		}
		if dst, err = appendText(dst, v); err != nil {
			return dst, secret, p.x.wrap(err)
		}
	}
	return dst, secret, nil
}

// eval returns the value of a lone `${…}`, or the text.
func (t *template) eval(s Scope) (any, error) {
	if t.single && !t.broken {
		x := t.parts[0].x
		return x.code.runIn(x, s)
	}
	text, secret, err := t.text(s)
	if secret {
		return Secret{text}, err
	}
	return text, err
}

// text returns the text, built in the machine's buffer.
func (t *template) text(s Scope) (text string, secret bool, err error) {
	m := s.Machine()
	if m == nil {
		return "", false, errUnbound
	}
	buf := m.buf
	m.buf = nil // an evaluation within this one takes its own
	buf, secret, err = t.append(buf[:0], s)
	text = string(buf)
	if cap(buf) <= maxKeptBuffer {
		m.buf = buf
	}
	return text, secret, err
}

// appendJSON appends the text as a JSON string, without keeping it as one of its own.
func (t *template) appendJSON(dst []byte, s Scope) ([]byte, error) {
	m := s.Machine()
	if m == nil {
		return dst, errUnbound
	}
	buf := m.buf
	m.buf = nil // an evaluation within this one takes its own
	buf, _, err := t.append(buf[:0], s)
	if err == nil {
		dst = appendJSONString(dst, buf)
	}
	if cap(buf) <= maxKeptBuffer {
		m.buf = buf
	}
	return dst, err
}

const maxKeptBuffer = 64 << 10

// runIn runs c, which is nil where x was never bound.
func (c *code) runIn(x *expression, s Scope) (any, error) {
	if c == nil {
		return nil, x.wrap(errUnbound)
	}
	return c.run(s)
}

// wrap says which interpolation err comes from.
func (x *expression) wrap(err error) error {
	text := "${" + strings.TrimSpace(x.text) + "}"
	if errors.Is(err, errNil) {
		err = errors.New("the value is nil; give it a default with ??")
	}
	return &EvalError{Source: text, Range: x.at(0, len(x.text)), Err: err}
}
