package http

import (
	"runner/plan/element"
	"runner/plan/expr"
	"runner/samplers/http/h1"
)

type poolKey struct{}

// exchange is what one thread keeps for one clientKey: its client and the
// buffers of the request that is under way.
type exchange struct {
	client  *h1.Client
	req     h1.Request
	res     h1.Response
	perPass bool   // keep_alive: iteration was used since the last iteration began
	text    []byte // rendered request line
	base    []byte
	head    []byte
	cookie  []byte
	body    []byte
	target  []byte
}

// client returns the thread's exchange for this request's client key.
func (r *request) exchange(t *element.Thread) *exchange {
	return t.Local(r.prepared.client, func() any {
		pool := t.Plan.Value(poolKey{}, func() any { return h1.NewPool() }).(*h1.Pool)
		return &exchange{client: h1.NewClient(h1.Config{TLS: r.prepared.tls, Clock: t.Clock.Now, Pool: pool})}
	}).(*exchange)
}

// StartIteration drops what does not outlive an iteration.
func (x *exchange) StartIteration(newUser bool) {
	if newUser {
		x.client.ClearCookies()
	}
	if x.perPass {
		x.client.CloseConnections()
		x.perPass = false
	}
}

// Close closes the connections.
func (x *exchange) Close() error { return x.client.Close() }

// FinalURL returns the URL of the last answer.
func (x *exchange) FinalURL() string { return x.res.FinalURL() }

// noScope is the scope of what is rendered before the run: it knows no names.
type noScope struct{}

func (noScope) Lookup(string) (any, bool) { return nil, false }
func (noScope) Machine() *expr.Machine    { return nil }

// Cookie returns a cookie that would be sent to the last answer's URL.
func (x *exchange) Cookie(name string) (string, bool) {
	url, err := h1.ParseURL(x.res.FinalURL())
	if err != nil {
		return "", false
	}
	return x.client.Cookie(url, name)
}

// Cookies returns the cookies that would be sent to the last answer's URL.
func (x *exchange) Cookies() map[string]any {
	all := map[string]any{}
	url, err := h1.ParseURL(x.res.FinalURL())
	if err != nil {
		return all
	}
	for _, c := range x.client.Cookies(url) {
		if _, dup := all[c.Name]; !dup {
			all[c.Name] = c.Value
		}
	}
	return all
}
