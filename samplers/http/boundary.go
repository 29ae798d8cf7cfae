package http

import (
	"mime"
	"strings"

	"runner/plan/expr"
)

// boundary of multipart bodies: fixed, so that requests can be repeated byte for
// byte, and long enough not to stand in a part by chance.
const boundary = "runner-7f3a9c1e5d8b4260a1f7c3e9"

// contentType returns the Content-Type that the plan itself writes; nil if it
// writes none.
func (r *request) contentType() *expr.Text {
	for i := range r.Headers.Entries {
		if strings.EqualFold(r.Headers.Entries[i].Name, "Content-Type") {
			return &r.Headers.Entries[i].Value
		}
	}
	return nil
}

// ownBoundary returns the boundary that the plan's Content-Type names, else the
// fixed one.
func (r *request) ownBoundary() string {
	written := r.contentType()
	if written == nil || !written.IsLiteral() {
		return boundary
	}
	text, err := textOf(written, noScope{})
	if err != nil {
		return boundary
	}
	if _, params, err := mime.ParseMediaType(text); err == nil && params["boundary"] != "" {
		return params["boundary"]
	}
	return boundary
}

// withBoundary completes a Content-Type of the plan for a multipart body.
func (r *request) withBoundary(value string) string {
	kind, params, err := mime.ParseMediaType(value)
	if len(r.Multipart) == 0 || err != nil || !strings.HasPrefix(kind, "multipart/") || params["boundary"] != "" {
		return value
	}
	return value + "; boundary=" + r.prepared.boundary
}

// misfit reports whether the plan's Content-Type cannot be that of its multipart
// body.
func (r *request) misfit() bool {
	written := r.contentType()
	if len(r.Multipart) == 0 || written == nil || !written.IsLiteral() {
		return false
	}
	text, err := textOf(written, noScope{})
	if err != nil || text == "" {
		return false
	}
	kind, _, _ := mime.ParseMediaType(text)
	return !strings.HasPrefix(kind, "multipart/")
}
