package http

import (
	"fmt"
	"path/filepath"
	"strings"

	"runner/plan/expr"
	"runner/plan/spec"
)

// appendBody appends the body and returns its media type; "" means that there is
// no body, or one whose type the plan must state itself. Large files are left to
// the stream, which may be nil where there are none.
func (r *request) appendBody(dst []byte, st *stream, s expr.Scope) (kind string, out []byte, err error) {
	switch {
	case r.JSON.IsSet():
		out, err = r.JSON.AppendJSON(dst, s)
		return "application/json", out, err
	case r.Form.Len() > 0:
		out, err = appendPairs(dst, r.Form, s)
		return "application/x-www-form-urlencoded", out, err
	case len(r.Multipart) > 0:
		out, err = r.appendMultipart(dst, st, s)
		return "multipart/form-data; boundary=" + r.prepared.boundary, out, err
	case r.Body != nil && r.Body.Template.on:
		out, err = expr.AppendText(dst, &r.Body.Template.text, s)
		return "", out, err
	case r.Body != nil && r.Body.File.IsSet():
		return "", appendContent(dst, st, r.prepared.files[r.Body.File.Full]), nil
	case r.Body != nil:
		out, err = expr.AppendText(dst, &r.Body.Text, s)
		return "", out, err
	}
	return "", dst, nil
}

// appendContent appends a small file and leaves a large one to the stream.
func appendContent(dst []byte, st *stream, c *content) []byte {
	if c.file == nil {
		return append(dst, c.data...)
	}
	st.cut(len(dst), c)
	return dst
}

func (r *request) bodyIsStatic() bool {
	switch {
	case r.prepared.streamed:
		return false
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
	case r.Body != nil && r.Body.Template.on:
		return r.Body.Template.text.IsLiteral()
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

func (r *request) appendMultipart(dst []byte, st *stream, s expr.Scope) ([]byte, error) {
	var err error
	for i := range r.Multipart {
		if dst, err = r.appendPart(dst, st, &r.Multipart[i], s); err != nil {
			return dst, err
		}
	}
	return append(dst, "--"+r.prepared.boundary+"--\r\n"...), nil
}

func (r *request) appendPart(dst []byte, st *stream, p *part, s expr.Scope) ([]byte, error) {
	name, err := p.Name.Eval(s)
	if err != nil {
		return dst, err
	}
	filename, err := p.filename(s)
	if err != nil {
		return dst, err
	}
	kind, err := p.ContentType.Eval(s)
	if err != nil {
		return dst, err
	}
	dst = append(dst, "--"+r.prepared.boundary+"\r\nContent-Disposition: form-data; name=\""...)
	dst = append(append(dst, quote(name)...), '"')
	if filename != "" {
		dst = append(append(append(dst, "; filename=\""...), quote(filename)...), '"')
	}
	dst = append(dst, "\r\n"...)
	if kind == "" && p.File.IsSet() {
		kind = "application/octet-stream"
	}
	if kind != "" {
		dst = append(append(append(dst, "Content-Type: "...), oneLine(kind)...), "\r\n"...)
	}
	dst = append(dst, "\r\n"...)
	if p.File.IsSet() {
		dst = appendContent(dst, st, r.prepared.files[p.File.Full])
		return append(dst, "\r\n"...), nil
	}
	text, err := textOf(&p.Value, s)
	if err != nil {
		return dst, err
	}
	return append(append(dst, text...), "\r\n"...), nil
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

// quote escapes a name for Content-Disposition as browsers do.
func quote(name string) string {
	return strings.NewReplacer("\r", "%0D", "\n", "%0A", `"`, "%22").Replace(name)
}

func oneLine(text string) string { return strings.NewReplacer("\r", " ", "\n", " ").Replace(text) }
