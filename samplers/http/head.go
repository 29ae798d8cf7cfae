package http

import (
	"fmt"
	"strings"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/samplers/http/h1"
)

// headIsStatic reports whether every header line is known before the run.
func (r *request) headIsStatic() bool {
	for i := range r.Cookies.Entries {
		if !r.Cookies.Entries[i].Value.IsLiteral() {
			return false
		}
	}
	return literals(r.Headers) && (r.Auth == nil || r.Auth.isStatic())
}

// renderHead fills x.head, x.cookie and the request's Host from the headers,
// cookies and auth of the plan and adds what is missing. kind is the body's media
// type, "" for none.
func (r *request) renderHead(x *exchange, s expr.Scope, kind string) error {
	x.head, x.cookie = x.head[:0], x.cookie[:0]
	x.req.Host, x.req.OmitLength = "", false
	var agent, encoding, typed, authorized bool
	for i := range r.Headers.Entries {
		e := &r.Headers.Entries[i]
		value, skip, err := headerValue(&e.Value, s)
		if err != nil {
			return err
		}
		switch {
		case strings.EqualFold(e.Name, "User-Agent"):
			agent = true
		case strings.EqualFold(e.Name, "Accept-Encoding"):
			encoding = true
		case strings.EqualFold(e.Name, "Content-Type"):
			typed = true
			value = r.withBoundary(value)
		case strings.EqualFold(e.Name, "Authorization"):
			authorized = true
		}
		if skip {
			continue
		}
		if err := x.addHeader(e.Name, value); err != nil {
			return err
		}
	}
	x.authorized = authorized
	if err := r.renderCookies(x, s); err != nil {
		return err
	}
	if r.Auth != nil && !authorized {
		value, err := r.Auth.value(x, s)
		if err != nil {
			return err
		}
		if value != "" {
			if err := x.addHeader("Authorization", value); err != nil {
				return err
			}
		}
	}
	if !agent {
		x.head = append(x.head, "User-Agent: "+UserAgent+"\r\n"...)
	}
	if !encoding {
		x.head = append(x.head, "Accept-Encoding: "+acceptEncoding+"\r\n"...)
	}
	if kind != "" && !typed {
		x.head = append(append(append(x.head, "Content-Type: "...), kind...), "\r\n"...)
	}
	return nil
}

func headerValue(v *expr.Text, s expr.Scope) (text string, skip bool, err error) {
	value, err := v.Eval(s)
	if err != nil || value == nil {
		return "", err == nil, err
	}
	text, err = expr.FormatText(value)
	return text, false, err
}

// addHeader appends one line, or sets what the transport writes itself.
func (x *exchange) addHeader(name, value string) error {
	switch {
	case strings.EqualFold(name, "Host"):
		if err := h1.ValidHeader(name, value); err != nil {
			return headerError(name, err)
		}
		x.req.Host = value
		return nil
	case strings.EqualFold(name, "Cookie"):
		return x.addCookie(name, value)
	case strings.EqualFold(name, "Content-Length"), strings.EqualFold(name, "Transfer-Encoding"):
		x.req.OmitLength = true
	}
	head, err := h1.AppendHeader(x.head, name, value)
	if err != nil {
		return headerError(name, err)
	}
	x.head = head
	return nil
}

func headerError(name string, err error) error {
	return &element.Error{Class: element.Expression, Message: fmt.Sprintf("header %q: %v", name, err), Err: err}
}

func (x *exchange) addCookie(name, pair string) error {
	if err := h1.ValidHeader("Cookie", pair); err != nil {
		return headerError(name, err)
	}
	if len(x.cookie) > 0 {
		x.cookie = append(x.cookie, "; "...)
	}
	x.cookie = append(x.cookie, pair...)
	return nil
}

func (r *request) renderCookies(x *exchange, s expr.Scope) error {
	for i := range r.Cookies.Entries {
		e := &r.Cookies.Entries[i]
		value, err := e.Value.Eval(s)
		if err != nil {
			return err
		}
		if err := x.addCookie("Cookie", e.Name+"="+value); err != nil {
			return err
		}
	}
	return nil
}

func textOf(v *expr.Text, s expr.Scope) (string, error) {
	value, err := v.Eval(s)
	if err != nil {
		return "", err
	}
	return expr.FormatText(value)
}
