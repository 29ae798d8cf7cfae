package http

import (
	"context"
	"crypto/tls"
	"errors"
	"regexp"
	"strings"
	"sync/atomic"
	"unique"

	"runner/plan/element"
	"runner/plan/spec"
	"runner/samplers/http/h1"
)

// UserAgent is sent where the plan sets none.
const UserAgent = "runner/1"

const acceptEncoding = "gzip, deflate, br, zstd"

// prepared is what Open computes once, read by all threads afterwards.
type prepared struct {
	client   any // a clientKey, boxed once
	tls      *tls.Config
	head     []byte              // all header lines, if all are known before the run
	fixed    bool                // head is complete
	host     string              // of a literal Host header
	body     []byte              // of a body that is known before the run
	known    bool                // body is complete
	kind     string              // its media type
	boundary string              // between the parts of a multipart body
	files    map[string]*content // of multipart and body, by path
	streamed bool                // one of them is large
	method   string              // of a request whose text is known
	origins  atomic.Pointer[origin]
	goal     *origin // of a URL that is known before the run
	target   []byte  // its path and query
	settings settings
	settled  bool           // settings are known before the run
	plain    bool           // no cache, no resources
	shared   [2]*h1.Request // what all threads send as it is, without and with its answer's body needed; nil if there is no such thing
	include  *regexp.Regexp
	exclude  *regexp.Regexp
}

// origin is the parsed scheme and authority of a URL; the last one that a
// request used is kept, since it hardly ever changes.
type origin struct {
	text string
	url  h1.URL
	addr string
}

// Open reads files and prepares what does not change during the run.
func (r *request) Open(context.Context) error {
	p := &r.prepared
	p.client = clientKey{unique.Make(r.clientSettings())}
	var err error
	if p.tls, err = r.TLS.config(); err != nil {
		return err
	}
	p.boundary = r.ownBoundary()
	if err := r.openFiles(); err != nil {
		return err
	}
	if err := r.openResources(); err != nil {
		return err
	}
	if text, ok := r.Request.Literal(); ok {
		p.method, _ = splitRequest(text)
	}
	if r.settingsAreStatic() {
		if p.settings, err = r.settings(noScope{}); err != nil {
			return err
		}
		p.settled = true
	}
	caches, known := r.Cache.Literal()
	p.plain = r.Resources == nil && (known && !caches || !r.Cache.IsSet())
	r.openTarget()
	if err := r.openStatic(); err != nil {
		return err
	}
	return r.openShared()
}

// scratch is an exchange to render before the run.
func scratch() *exchange {
	x := &exchange{call: &call{}}
	x.renew()
	return x
}

// openShared renders the whole request now if nothing in it can change.
func (r *request) openShared() error {
	p := &r.prepared
	if p.goal == nil || !p.fixed || !p.settled || !p.plain || r.Auth != nil || r.KeepAlive == "iteration" {
		return nil
	}
	for i, needs := range [...]element.Needs{0, element.NeedBody} {
		x := scratch()
		if err := errors.Join(r.render(x, nil), r.options(x, nil, needs)); err != nil {
			return err
		}
		x.req.MakeReady()
		p.shared[i] = x.req
	}
	return nil
}

// ready returns the request that all threads share, or nil.
func (p *prepared) ready(needs element.Needs) *h1.Request {
	if needs&element.NeedBody != 0 {
		return p.shared[1]
	}
	return p.shared[0]
}

// openTarget splits a URL that cannot change. What is wrong with it is told by
// the samples, as of any other.
func (r *request) openTarget() {
	p, x := &r.prepared, scratch()
	if p.method == "" || !r.Request.IsLiteral() || r.BaseURL.IsSet() && !r.BaseURL.IsLiteral() || r.Query.Len() > 0 {
		return
	}
	if r.renderTarget(x, noScope{}) == nil {
		p.goal, p.target = x.origin, x.target
	}
}

func (r *request) openFiles() error {
	p := &r.prepared
	p.files = map[string]*content{}
	var paths []spec.Path
	if r.Body != nil && !r.Body.Template.on {
		paths = append(paths, r.Body.File)
	}
	for _, part := range r.Multipart {
		paths = append(paths, part.File)
	}
	for _, path := range paths {
		if !path.IsSet() || p.files[path.Full] != nil {
			continue
		}
		c, err := openContent(path)
		if err != nil {
			return err
		}
		p.files[path.Full] = c
		p.streamed = p.streamed || c.file != nil
	}
	return nil
}

// Close closes the files of large bodies.
func (r *request) Close() error {
	var all []error
	for _, c := range r.prepared.files {
		if c.file != nil {
			all = append(all, c.file.Close())
		}
	}
	return errors.Join(all...)
}

// openStatic builds head and body now where nothing in them can change.
func (r *request) openStatic() error {
	p := &r.prepared
	if r.bodyIsStatic() {
		kind, data, err := r.appendBody(nil, nil, noScope{})
		if err != nil {
			return err
		}
		p.body, p.kind, p.known = data, kind, true
	}
	if !p.known || !r.headIsStatic() {
		return nil
	}
	x := scratch()
	if err := r.renderHead(x, noScope{}, p.kind); err != nil {
		return err
	}
	p.head, p.host, p.fixed = x.head, x.req.Host, len(x.cookie) == 0
	return nil
}

// resolve returns the origin of an absolute URL's scheme and authority.
func (p *prepared) resolve(text []byte) (*origin, error) {
	if o := p.origins.Load(); o != nil && o.text == string(text) {
		return o, nil
	}
	u, err := h1.ParseURL(string(text) + "/")
	if err != nil {
		return nil, &element.Error{Class: element.Expression, Message: "invalid URL: " + err.Error(), Err: err}
	}
	o := &origin{text: string(text), url: u, addr: u.Addr()}
	p.origins.Store(o)
	return o, nil
}

// splitRequest cuts "GET /path" at the first space; without a method the first
// part is empty.
func splitRequest(text string) (method, target string) {
	text = strings.TrimSpace(text)
	method, target, found := strings.Cut(text, " ")
	if !found || strings.ContainsAny(method, "/:$") {
		if h1.ValidMethod(text) == nil && strings.ToUpper(text) == text && text != "" {
			return text, ""
		}
		return "", text
	}
	return method, strings.TrimLeft(target, " ")
}
