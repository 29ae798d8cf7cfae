package http

import (
	"fmt"
	"time"
	"unique"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/samplers/http/h1"
)

type (
	poolKey  struct{}
	jarKey   struct{}
	cacheKey struct{}
)

// clientKey tells apart the clients of a thread: settings that a connection
// cannot change. It is asked for with every sample, so equal settings are one
// pointer.
type clientKey struct{ settings unique.Handle[string] }

// clientSettings returns those settings as text.
func (r *request) clientSettings() string {
	text := fmt.Sprintf("%t %q %q %q %q %q", r.TLS.Insecure, r.TLS.CA.Full, r.TLS.Cert.Full, r.TLS.Key.Full, r.TLS.MinVersion, r.TLS.MaxVersion)
	if p := r.Proxy; p != nil {
		text += fmt.Sprintf(" proxy %q %q %q %q", p.URL.Source(), p.Username.Source(), p.Password.Source(), p.NoProxy)
	}
	text += fmt.Sprintf(" dns %q %q %q", r.DNS.Policy, r.DNS.Family, r.DNS.Source)
	for i := range r.DNS.Hosts.Entries {
		text += fmt.Sprintf(" %q %q", r.DNS.Hosts.Entries[i].Name, r.DNS.Hosts.Entries[i].Value.Source())
	}
	return text
}

// exchange is what one thread keeps for one clientKey: its client and the
// buffers of the request that is under way.
type exchange struct {
	client *h1.Client
	wrong  error // why there is no client
	known  authorizers
	origin *origin // of the request under way

	authorizer h1.Authorizer // of its auth, nil if a header line is enough
	authorized bool          // the plan wrote its own Authorization
	lanes      []*lane       // further clients, for resources
	req        h1.Request
	res        h1.Response
	perPass    bool   // keep_alive: iteration was used since the last iteration began
	token      string // of OAuth 2
	*scratch          // nil until a request needs it
}

// scratch holds the buffers of requests that are not known before the run.
type scratch struct {
	text   []byte // rendered request line
	base   []byte
	path   []byte
	head   []byte
	cookie []byte
	body   []byte
	target []byte
	url    []byte // of a request that may be cached
	stream stream
}

// exchange returns the thread's exchange for this request's client key.
func (r *request) exchange(t *element.Thread) *exchange {
	return t.Local(r.prepared.client, func() any { return r.newExchange(t) }).(*exchange)
}

// newExchange makes a client. Clients of one thread share a cookie jar, those of
// a run the buffers.
func (r *request) newExchange(t *element.Thread) *exchange {
	pool := t.Plan.Value(poolKey{}, func() any { return h1.NewPool() }).(*h1.Pool)
	jar := t.Local(jarKey{}, func() any { return h1.NewJar(time.Now) }).(*h1.Jar)
	config := h1.Config{TLS: r.prepared.tls, Clock: t.Clock.Now, Pool: pool, Jar: jar}
	if r.Proxy != nil {
		via, err := r.Proxy.open(t)
		if err != nil {
			return &exchange{wrong: setupError(err)}
		}
		config.Proxy = via
	}
	if err := r.DNS.configure(&config, t); err != nil {
		return &exchange{wrong: setupError(err)}
	}
	return &exchange{client: h1.NewClient(config)}
}

func setupError(err error) error {
	return &element.Error{Class: element.Expression, Message: err.Error(), Err: err}
}

// StartIteration drops what does not outlive an iteration, and for a new user
// cookies and nonces.
func (x *exchange) StartIteration(newUser bool) {
	if x.client == nil {
		return
	}
	if newUser {
		x.client.ClearCookies()
		x.known.digest = nil
	}
	if x.perPass {
		x.closeConnections()
		x.perPass = false
	}
}

func (x *exchange) closeConnections() {
	x.client.CloseConnections()
	for _, l := range x.lanes {
		l.client.CloseConnections()
	}
}

// Close closes the connections.
func (x *exchange) Close() error {
	if x.client == nil {
		return nil
	}
	for _, l := range x.lanes {
		_ = l.client.Close() // never fails
	}
	return x.client.Close()
}

// FinalURL returns the URL of the last answer.
func (x *exchange) FinalURL() string { return x.res.FinalURL() }

// noScope is the scope of what is rendered before the run: it knows no names.
type noScope struct{}

func (noScope) Lookup(string) (any, bool) { return nil, false }
func (noScope) Machine() *expr.Machine    { return nil }

// Cookie returns a cookie that would be sent to the last answer's URL.
func (x *exchange) Cookie(name string) (string, bool) {
	url, err := h1.ParseURL(x.res.FinalURL())
	if err != nil || x.client == nil {
		return "", false
	}
	return x.client.Cookie(url, name)
}

// Cookies returns the cookies that would be sent to the last answer's URL.
func (x *exchange) Cookies() map[string]any {
	all := map[string]any{}
	url, err := h1.ParseURL(x.res.FinalURL())
	if err != nil || x.client == nil {
		return all
	}
	for _, c := range x.client.Cookies(url) {
		if _, dup := all[c.Name]; !dup {
			all[c.Name] = c.Value
		}
	}
	return all
}
