package http

import (
	"sync"

	"runner/plan/element"
	"runner/samplers/http/h1"
)

// common is what the exchanges of one run share. Safe for concurrent use.
type common struct {
	buffers *h1.Pool
	calls   sync.Pool // of *call

	mu      sync.Mutex
	configs map[any]*h1.Config // by the prepared client key
}

// call is what only a running request needs. An exchange borrows one for each
// sample and gives it back when the sample is released: a thread that waits holds
// none, and the few of them stay in the processor's cache.
type call struct {
	req *h1.Request // own, or one that all threads share and nobody changes
	own h1.Request
	res h1.Response

	sent       bool          // res is this call's
	authorizer h1.Authorizer // of its auth, nil if a header line is enough
	authorized bool          // the plan wrote its own Authorization
	token      string        // of OAuth 2

	// Buffers of a request that is not known before the run.
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

// spoil is for tests: it writes over a call that is given back.
var spoil func(*call)

// borrow returns a call of which only the buffers' capacity and the last answer
// are left.
func (c *common) borrow() *call {
	l, ok := c.calls.Get().(*call)
	if !ok {
		return &call{}
	}
	l.sent = false
	return l
}

func (c *common) giveBack(l *call) {
	if spoil != nil {
		spoil(l)
	}
	l.res.Release()
	c.calls.Put(l)
}

// renew makes an empty request of the call's own.
func (l *call) renew() {
	l.own = h1.Request{}
	l.req, l.authorizer, l.authorized, l.token = &l.own, nil, false, ""
}

// begin borrows a call, unless the last sample's was never released.
func (x *exchange) begin() {
	if x.call == nil {
		x.call = x.run.borrow()
	}
}

// release gives the call back. After a panic somebody may still write its body.
func (x *exchange) release() {
	l := x.call
	x.call = nil
	if l != nil && !x.client.Broken() {
		x.run.giveBack(l)
	}
}

// config returns the settings of the thread's client, the same for all threads
// where they cannot differ.
func (r *request) config(run *common, t *element.Thread) (*h1.Config, error) {
	if !r.sameForAll() {
		return r.newConfig(run, t)
	}
	run.mu.Lock()
	defer run.mu.Unlock()
	if c := run.configs[r.prepared.client]; c != nil {
		return c, nil
	}
	c, err := r.newConfig(run, t)
	if err != nil {
		return nil, err
	}
	if run.configs == nil {
		run.configs = map[any]*h1.Config{}
	}
	run.configs[r.prepared.client] = c
	return c, nil
}

// sameForAll reports whether no setting of a client depends on the thread.
func (r *request) sameForAll() bool {
	for i := range r.DNS.Hosts.Entries {
		if !r.DNS.Hosts.Entries[i].Value.IsLiteral() {
			return false
		}
	}
	return r.Proxy == nil && len(r.DNS.Source) == 0
}

func (r *request) newConfig(run *common, t *element.Thread) (*h1.Config, error) {
	c := &h1.Config{TLS: r.prepared.tls, Clock: t.Clock.Now, Pool: run.buffers}
	if r.Proxy != nil {
		via, err := r.Proxy.open(t)
		if err != nil {
			return nil, err
		}
		c.Proxy = via
	}
	return c, r.DNS.configure(c, t)
}
