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
	commonKey struct{}
	jarKey    struct{}
	cacheKey  struct{}
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

// exchange is what one thread keeps for one clientKey.
type exchange struct {
	client  *h1.Client
	wrong   error // why there is no client
	run     *common
	known   *authorizers // nil until a request needs them
	lanes   []*lane      // further clients, for resources
	origin  *origin      // of the last request
	perPass bool         // keep_alive: iteration was used since the last iteration began
	*call                // nil between samples
}

// exchange returns the thread's exchange for this request's client key.
func (r *request) exchange(t *element.Thread) *exchange {
	return t.Local(r.prepared.client, func() any { return r.newExchange(t) }).(*exchange)
}

// newExchange makes a client. Clients of one thread share a cookie jar, those of
// a run the buffers.
func (r *request) newExchange(t *element.Thread) *exchange {
	run := t.Plan.Value(commonKey{}, func() any { return &common{buffers: h1.NewPool()} }).(*common)
	jar := t.Local(jarKey{}, func() any { return h1.NewJar(time.Now) }).(*h1.Jar)
	config, err := r.config(run, t)
	if err != nil {
		return &exchange{wrong: setupError(err)}
	}
	return &exchange{client: h1.NewClient(config, jar), run: run}
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
		if x.known != nil {
			x.known.digest = nil
		}
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

// FinalURL returns the URL of the sample's answer. Where there is none, or it has
// been released, it is that of the request's origin.
func (x *exchange) FinalURL() string {
	switch {
	case x.call != nil && x.sent:
		return x.res.FinalURL()
	case x.origin != nil:
		return x.origin.url.String()
	}
	return ""
}

// noScope is the scope of what is rendered before the run: it knows no names.
type noScope struct{}

func (noScope) Lookup(string) (any, bool) { return nil, false }
func (noScope) Machine() *expr.Machine    { return nil }

// Cookie returns a cookie that would be sent to the last answer's URL.
func (x *exchange) Cookie(name string) (string, bool) {
	url, err := h1.ParseURL(x.FinalURL())
	if err != nil || x.client == nil {
		return "", false
	}
	return x.client.Cookie(url, name)
}

// Cookies returns the cookies that would be sent to the last answer's URL.
func (x *exchange) Cookies() map[string]any {
	all := map[string]any{}
	url, err := h1.ParseURL(x.FinalURL())
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
