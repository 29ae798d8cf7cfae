package http

import (
	"bytes"
	"context"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/samplers/http/h1"
)

// Sample sends the request and fills s with the answer.
func (r *request) Sample(ctx context.Context, t *element.Thread, s *element.Sample) error {
	x := r.exchange(t)
	if x.wrong != nil {
		return x.wrong
	}
	s.Private = x
	x.begin()
	if q := r.prepared.ready(s.Needs); q != nil {
		x.origin, x.req, x.sent = r.prepared.goal, q, true
		err := x.client.DoAt(ctx, s.Dispatched, q, &x.res)
		fill(s, &x.res)
		return failed(err)
	}
	return r.sampleOwn(ctx, x, t, s)
}

// sampleOwn sends a request that is rendered for this sample.
func (r *request) sampleOwn(ctx context.Context, x *exchange, t *element.Thread, s *element.Sample) error {
	x.renew()
	if r.Auth != nil {
		if err := r.prove(ctx, x, t, s); err != nil {
			return err
		}
	}
	if err := r.render(x, t); err != nil {
		return err
	}
	if err := r.options(x, t, s.Needs); err != nil {
		return err
	}
	if r.prepared.plain {
		x.sent = true
		err := x.client.Do(ctx, x.req, &x.res)
		fill(s, &x.res)
		return failed(err)
	}
	return r.sampleMore(ctx, x, t, s)
}

// failed gives an error of the client the class that reports know.
func failed(err error) error {
	if failure := h1.AsError(err); failure != nil {
		return &element.Error{Class: element.Class(failure.Class), Message: failure.Message, Err: failure.Err}
	}
	return err
}

// sampleMore sends a request whose answer may be in the cache or may embed others.
func (r *request) sampleMore(ctx context.Context, x *exchange, t *element.Thread, s *element.Sample) error {
	kept, err := r.cached(x, t)
	if err != nil {
		return err
	}
	if kept.fresh() {
		kept.answer(s, t)
		return nil
	}
	started := t.Now()
	x.sent = true
	err = x.client.Do(ctx, x.req, &x.res)
	fill(s, &x.res)
	if err == nil {
		kept.store(x)
		if r.Resources != nil {
			err = r.fetchResources(ctx, x, t, s, started)
		}
	}
	return failed(err)
}

// prove makes ready what an auth needs beside header lines.
func (r *request) prove(ctx context.Context, x *exchange, t *element.Thread, s *element.Sample) error {
	if r.Auth.OAuth2 != nil {
		return r.Auth.OAuth2.obtain(ctx, x, t, s)
	}
	if x.known == nil {
		x.known = &authorizers{}
	}
	authorizer, stale, err := r.Auth.authorizer(x.known, t)
	if stale {
		x.closeConnections()
	}
	x.authorizer = authorizer
	return err
}

// render fills the request's target, head and body.
func (r *request) render(x *exchange, t *element.Thread) error {
	p := &r.prepared
	if err := r.renderTarget(x, t); err != nil {
		return err
	}
	kind := p.kind
	x.req.BodyReader = nil
	switch {
	case p.known:
		x.req.Body = p.body
	case p.streamed:
		var err error
		x.stream.reset()
		if kind, x.body, err = r.appendBody(x.body[:0], &x.stream, t); err != nil {
			return err
		}
		x.stream.text = x.body
		x.stream.cut(len(x.body), nil)
		x.req.Body, x.req.BodyReader, x.req.Length = nil, &x.stream, x.stream.length()
	default:
		var err error
		if kind, x.body, err = r.appendBody(x.body[:0], nil, t); err != nil {
			return err
		}
		x.req.Body = x.body
	}
	if !p.fixed {
		if err := r.renderHead(x, t, kind); err != nil {
			return err
		}
		x.req.Head, x.req.Cookie = x.head, x.cookie
		return nil
	}
	x.req.Head, x.req.Cookie, x.req.Host, x.req.OmitLength = p.head, nil, p.host, false
	return nil
}

// renderTarget renders method and URL, joined to base_url where it begins with
// "/", and splits the URL into origin and target.
func (r *request) renderTarget(x *exchange, t expr.Scope) error {
	if p := &r.prepared; p.goal != nil {
		x.origin = p.goal
		x.req.Method, x.req.TLS, x.req.Addr, x.req.Target = p.method, p.goal.url.TLS, p.goal.addr, p.target
		x.req.ServerName = r.TLS.ServerName
		return nil
	}
	var err error
	if x.text, err = expr.AppendText(x.text[:0], &r.Request, t); err != nil {
		return err
	}
	text := bytes.TrimSpace(x.text)
	if r.prepared.method != "" {
		x.req.Method = r.prepared.method
		text = bytes.TrimLeft(text[min(len(x.req.Method), len(text)):], " ")
	} else if method := commonMethod(text); method != "" {
		x.req.Method = method
		text = bytes.TrimLeft(text[len(method):], " ")
	} else {
		method, target := splitRequest(string(text))
		if err := h1.ValidMethod(method); err != nil {
			return &element.Error{Class: element.Expression, Message: "the request has no valid method", Err: err}
		}
		x.req.Method, text = method, []byte(target)
	}
	origin, path := []byte(nil), text
	if len(text) > 0 && text[0] == '/' {
		if x.base, err = expr.AppendText(x.base[:0], &r.BaseURL, t); err != nil {
			return err
		}
		base := bytes.TrimRight(bytes.TrimSpace(x.base), "/")
		var prefix []byte
		origin, prefix = splitURL(base)
		x.path = append(append(x.path[:0], prefix...), text...)
		x.target = h1.EncodeTarget(x.target[:0], x.path)
	} else {
		origin, path = splitURL(text)
		x.target = h1.EncodeTarget(x.target[:0], path)
	}
	if r.Query.Len() > 0 {
		if err := r.appendQuery(x, t); err != nil {
			return err
		}
	}
	o, err := r.prepared.resolve(origin)
	if err != nil {
		return err
	}
	x.origin = o
	x.req.TLS, x.req.Addr, x.req.Target = o.url.TLS, o.addr, x.target
	x.req.ServerName = r.TLS.ServerName
	return nil
}

// commonMethod returns the method before the first space if it is one of those that
// nearly every request has, as a text that need not be made; else "".
func commonMethod(text []byte) string {
	for _, m := range [...]string{"GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"} {
		if len(text) > len(m) && text[len(m)] == ' ' && string(text[:len(m)]) == m {
			return m
		}
	}
	return ""
}

// splitURL cuts an absolute URL behind its authority.
func splitURL(url []byte) (origin, rest []byte) {
	start := bytes.Index(url, []byte("://"))
	if start < 0 {
		return url, nil
	}
	if end := bytes.IndexAny(url[start+3:], "/?#"); end >= 0 {
		return url[:start+3+end], url[start+3+end:]
	}
	return url, nil
}

func (r *request) appendQuery(x *exchange, t expr.Scope) error {
	mark := byte('?')
	if bytes.IndexByte(x.target, '?') >= 0 {
		mark = '&'
	}
	x.target = append(x.target, mark)
	var err error
	x.target, err = appendPairs(x.target, r.Query, t)
	return err
}

// settings are the limits and switches of a request that may hold expressions.
type settings struct {
	timeouts       h1.Timeouts
	redirects      h1.Redirects
	maxBody        int64
	jar            bool
	expectContinue bool
}

func (r *request) settingsAreStatic() bool {
	return r.Timeout.IsLiteral() && (r.ConnectTimeout.IsLiteral() || !r.ConnectTimeout.IsSet()) &&
		r.Redirects.Follow.IsLiteral() && r.Redirects.Max.IsLiteral() && r.MaxBody.IsLiteral() &&
		r.CookieJar.IsLiteral() && r.ExpectContinue.IsLiteral()
}

func (r *request) settings(s expr.Scope) (v settings, err error) {
	if v.timeouts.Total, err = r.Timeout.Eval(s); err != nil {
		return v, err
	}
	if v.timeouts.Connect, err = r.ConnectTimeout.Eval(s); err != nil {
		return v, err
	}
	if v.redirects.Follow, err = r.Redirects.Follow.Eval(s); err != nil {
		return v, err
	}
	hops, err := r.Redirects.Max.Eval(s)
	if err != nil {
		return v, err
	}
	limit, err := r.MaxBody.Eval(s)
	if err != nil {
		return v, err
	}
	v.redirects.Max, v.maxBody = int(hops), int64(limit)
	if v.jar, err = r.CookieJar.Eval(s); err != nil {
		return v, err
	}
	v.expectContinue, err = r.ExpectContinue.Eval(s)
	return v, err
}

// options fills the limits that may hold expressions and the needs.
func (r *request) options(x *exchange, t *element.Thread, needs element.Needs) error {
	q, v := x.req, r.prepared.settings
	if !r.prepared.settled {
		var err error
		if v, err = r.settings(t); err != nil {
			return err
		}
	}
	q.Timeouts, q.Redirects, q.MaxBody = v.timeouts, v.redirects, v.maxBody
	q.NoCookies, q.ExpectContinue = !v.jar, v.expectContinue
	q.Auth = nil
	if r.Auth != nil && !x.authorized {
		q.Auth = x.authorizer
	}
	q.KeepAlive = r.KeepAlive != "none"
	x.perPass = x.perPass || r.KeepAlive == "iteration"
	q.NeedBody = needs&element.NeedBody != 0 || r.Resources != nil
	q.Decode = q.NeedBody
	return nil
}

// fill copies what the answer says; Body and Headers lie in the answer's buffers.
func fill(s *element.Sample, res *h1.Response) {
	s.Sent, s.FirstByte, s.Done, s.Left = res.Stamps.Sent, res.Stamps.FirstByte, res.Stamps.Done, res.Stamps.Left
	s.Phases = element.Phases(res.Phases)
	s.Requests, s.Reconnects = res.Requests, res.Reconnects
	s.BytesSent, s.BytesReceived = res.BytesSent, res.BytesReceived
	s.Status = res.Status
	s.Body, s.BodySize = res.Body, res.DecodedBody
	if s.Needs&element.NeedHeaders != 0 {
		s.Message = string(res.Reason)
		for i := range res.Headers() {
			s.Headers = append(s.Headers, element.Header(res.Header(i)))
		}
	}
}

// Describe says what was sent: the method and the URL of the last hop.
func (r *request) Describe(_ *element.Thread, s *element.Sample) string {
	x, ok := s.Private.(*exchange)
	if !ok || x.call == nil || !x.sent || x.res.Requests == 0 {
		return r.Request.Source()
	}
	return x.req.Method + " " + x.FinalURL()
}

// Release gives back all that the sample was lent.
func (r *request) Release(_ *element.Thread, s *element.Sample) {
	if x, ok := s.Private.(*exchange); ok {
		x.release()
	}
	s.Body, s.Headers = nil, s.Headers[:0]
}
