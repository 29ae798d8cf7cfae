package http

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/textproto"
	"path/filepath"
	"strings"

	"runner/plan/expr"
	"runner/plan/spec"
)

// boundary of multipart bodies: fixed, so that requests can be repeated byte for
// byte, and long enough not to stand in a part by chance.
const boundary = "runner-7f3a9c1e5d8b4260a1f7c3e9"

// appendBody appends the body and returns its media type; "" means that there is
// no body, or one whose type the plan must state itself.
func (r *request) appendBody(dst []byte, s expr.Scope) (kind string, out []byte, err error) {
	switch {
	case r.JSON.IsSet():
		out, err = r.JSON.AppendJSON(dst, s)
		return "application/json", out, err
	case r.Form.Len() > 0:
		out, err = appendPairs(dst, r.Form, s)
		return "application/x-www-form-urlencoded", out, err
	case len(r.Multipart) > 0:
		out, err = r.appendMultipart(dst, s)
		return "multipart/form-data; boundary=" + boundary, out, err
	case r.Body != nil && r.Body.File.IsSet():
		return "", append(dst, r.prepared.parts[r.Body.File.Full]...), nil
	case r.Body != nil:
		out, err = expr.AppendText(dst, &r.Body.Text, s)
		return "", out, err
	}
	return "", dst, nil
}

func (r *request) hasBody() bool {
	return r.JSON.IsSet() || r.Form.Len() > 0 || len(r.Multipart) > 0 || r.Body != nil
}

func (r *request) bodyIsStatic() bool {
	switch {
	case r.JSON.IsSet():
		return r.JSON.IsStatic()
	case r.Form.Len() > 0:
		return literals(r.Form)
	case len(r.Multipart) > 0:
		for _, p := range r.Multipart {
			if !p.Name.IsLiteral() || p.Value.IsSet() && !p.Value.IsLiteral() ||
				p.Filename.IsSet() && !p.Filename.IsLiteral() || p.ContentType.IsSet() && !p.ContentType.IsLiteral() {
				return false
			}
		}
	case r.Body != nil && !r.Body.File.IsSet():
		return r.Body.Text.IsLiteral()
	}
	return true
}

func literals(m spec.Map[expr.Text]) bool {
	for i := range m.Entries {
		if !m.Entries[i].Value.IsLiteral() {
			return false
		}
	}
	return true
}

// appendPairs appends name=value pairs, form-encoded; a list repeats its name.
func appendPairs(dst []byte, m spec.Map[expr.Text], s expr.Scope) ([]byte, error) {
	start := len(dst)
	add := func(name string, value any) error {
		text, err := expr.FormatText(value)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if len(dst) > start {
			dst = append(dst, '&')
		}
		dst = appendForm(dst, name)
		dst = append(dst, '=')
		dst = appendForm(dst, text)
		return nil
	}
	for i := range m.Entries {
		e := &m.Entries[i]
		value, err := e.Value.Eval(s)
		if err != nil {
			return dst, err
		}
		list, ok := value.([]any)
		if !ok {
			list = []any{value}
		}
		for _, v := range list {
			if err := add(e.Name, v); err != nil {
				return dst, err
			}
		}
	}
	return dst, nil
}

// appendForm appends text as application/x-www-form-urlencoded has it.
func appendForm(dst []byte, text string) []byte {
	const hex = "0123456789ABCDEF"
	for i := range len(text) {
		switch c := text[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '.', c == '_', c == '~':
			dst = append(dst, c)
		case c == ' ':
			dst = append(dst, '+')
		default:
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}

func (r *request) appendMultipart(dst []byte, s expr.Scope) ([]byte, error) {
	buf := bytes.NewBuffer(dst)
	w := multipart.NewWriter(buf)
	if err := w.SetBoundary(boundary); err != nil {
		return dst, err
	}
	for i := range r.Multipart {
		if err := r.writePart(w, &r.Multipart[i], s); err != nil {
			return dst, err
		}
	}
	err := w.Close()
	return buf.Bytes(), err
}

func (r *request) writePart(w *multipart.Writer, p *part, s expr.Scope) error {
	name, err := p.Name.Eval(s)
	if err != nil {
		return err
	}
	header := textproto.MIMEHeader{}
	disposition := `form-data; name="` + quote(name) + `"`
	filename, err := p.filename(s)
	if err != nil {
		return err
	}
	if filename != "" {
		disposition += `; filename="` + quote(filename) + `"`
	}
	header.Set("Content-Disposition", disposition)
	kind, err := p.ContentType.Eval(s)
	if err != nil {
		return err
	}
	if kind == "" && p.File.IsSet() {
		kind = "application/octet-stream"
	}
	if kind != "" {
		header.Set("Content-Type", oneLine(kind))
	}
	to, err := w.CreatePart(header)
	if err != nil {
		return err
	}
	content, err := r.content(p, s)
	if err != nil {
		return err
	}
	_, err = to.Write(content)
	return err
}

func (p *part) filename(s expr.Scope) (string, error) {
	if p.Filename.IsSet() {
		return p.Filename.Eval(s)
	}
	if p.File.IsSet() {
		return filepath.Base(p.File.Full), nil
	}
	return "", nil
}

func (r *request) content(p *part, s expr.Scope) ([]byte, error) {
	if p.File.IsSet() {
		return r.prepared.parts[p.File.Full], nil
	}
	value, err := p.Value.Eval(s)
	if err != nil {
		return nil, err
	}
	text, err := expr.FormatText(value)
	return []byte(text), err
}

// quote escapes a name for Content-Disposition as browsers do.
func quote(name string) string {
	return strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22").Replace(name)
}

func oneLine(text string) string { return strings.NewReplacer("\r", " ", "\n", " ").Replace(text) }
