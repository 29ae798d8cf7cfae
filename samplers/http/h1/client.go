package h1

import (
	"context"
	"sync"
	"time"
)

// Client belongs to one thread: it owns the thread's kept connections (one an
// origin) and its cookie jar. Not safe for concurrent use; only the context's
// end reaches in from outside, under mu.
//
// It keeps watching the context of the last call, so that calls with the same
// one register nothing; Close ends that.
type Client struct {
	cfg    *Config // shared, read-only
	pool   *Pool
	clock  func() time.Duration
	jar    *Jar
	conns  []*conn
	opened uint64        // connections so far, to tell them apart
	hop    *hop          // of the call under way, in its Response; nil between calls
	place  *Attempt      // of the attempt under way, for an Authorizer; nil before the first
	aside  *aside        // what writes a large body beside
	proxy  *proxyMemo    // nil without a proxy
	due    time.Duration // when the call's time is over; 0 is never
	connDu time.Duration // the same for the connection being opened

	buf  *buffer // unread bytes are buf.b[r:w]
	r, w int

	done <-chan struct{} // the watched context's
	seat int             // among those that watch it; guarded by the pool's lock

	mu        sync.Mutex
	active    *conn // whose deadline the watcher moves into the past
	cancelled bool
}

// NewClient returns a Client without connections, and with the cookies of jar,
// which the clients of one thread may share; nil is an empty one. cfg may be shared
// by any number of clients and must not change any more.
func NewClient(cfg *Config, jar *Jar) *Client {
	c := &Client{cfg: cfg, pool: cfg.Pool, clock: cfg.Clock, jar: jar}
	if c.pool == nil {
		c.pool = NewPool()
	}
	if c.clock == nil {
		start := time.Now()
		c.clock = func() time.Duration { return time.Since(start) }
	}
	if c.jar == nil {
		c.jar = NewJar(cfg.Now)
	}
	return c
}

// Config returns what the client was made with.
func (c *Client) Config() *Config { return c.cfg }

// Sibling returns one more client of the same thread: with the same settings and
// cookies, and connections of its own.
func (c *Client) Sibling() *Client { return NewClient(c.cfg, c.jar) }

// Broken reports whether the last Do has panicked: its Request and Response may
// then be in use for ever.
func (c *Client) Broken() bool { return c.hop != nil }

// Do sends req, follows redirects if req says so, and fills res, whose earlier
// contents are released. Every error is an *Error; res then holds what was
// known, Stamps.Done is set, and the connection is closed. Nothing is ever
// sent again after a failure. An answer may come before the request's body is
// through; what is left of the body is then given up if the server refused it or
// reads no further.
func (c *Client) Do(ctx context.Context, req *Request, res *Response) error {
	return c.DoAt(ctx, c.clock(), req, res)
}

// DoAt is Do for a caller that has just read the clock: it is start.
func (c *Client) DoAt(ctx context.Context, start time.Duration, req *Request, res *Response) error {
	res.reset(c.pool)
	c.due = dueAt(start, orDefault(req.Timeouts.Total, DefaultTimeout))
	c.hop = &res.hop
	err := c.run(ctx, start, req, res)
	if err != nil {
		c.conclude(err, res)
	} else {
		err = c.decode(req, res)
	}
	c.hop = nil
	if err != nil {
		return err // not as it is: a nil *Error is an error that is not nil
	}
	return nil
}

// conclude stamps a failed call: its time is the real one, and at least the
// timeout that ended it.
func (c *Client) conclude(err *Error, res *Response) {
	switch {
	case res.head == nil:
		res.head = c.buf // what fields were parsed lie there
	case c.buf != res.head:
		c.pool.put(c.buf)
	}
	c.buf = nil
	if err.Class == Redirect && res.Stamps.Done > 0 {
		return
	}
	res.Stamps.Done = c.clock()
	if err.Class == Timeout {
		res.Stamps.Done = max(res.Stamps.Done, c.due)
	}
}

func (c *Client) run(ctx context.Context, start time.Duration, req *Request, res *Response) *Error {
	if err := c.watch(ctx); err != nil {
		return &Error{Cancelled, "cancelled before anything was sent", err}
	}
	h := c.hop
	h.tls, h.addr, h.host, h.method, h.target = req.TLS, req.Addr, req.Host, req.Method, req.Target
	for {
		again, err := c.exchange(ctx, start, req, res)
		if err != nil {
			return err
		}
		switch {
		case again:
			if err := c.repeat(req, res); err != nil {
				return err
			}
		case !c.follows(req, res):
			return nil
		default:
			if err := c.redirect(req, res); err != nil {
				return err
			}
		}
		start = c.clock()
	}
}

// exchange is one attempt: connection, request, answer. It reports whether the
// answer asks for the same request with other credentials.
func (c *Client) exchange(ctx context.Context, start time.Duration, req *Request, res *Response) (again bool, _ *Error) {
	cn, err := c.acquire(ctx, start, req, res)
	if err != nil {
		return false, err
	}
	err = c.converse(cn, start, req, res)
	if err == nil {
		again = c.challenged(cn, req, res)
	}
	cn.used, cn.failed = true, err != nil || cn.halted
	if err != nil || res.frame.close || !req.KeepAlive && !again {
		c.drop(cn)
	}
	if err == nil && !req.NoCookies && res.frame.cookies {
		c.store(res)
	}
	return again, err
}

// converse writes the request and reads the answer; it is now.
func (c *Client) converse(cn *conn, now time.Duration, req *Request, res *Response) *Error {
	res.tls, res.addr, res.target, res.Method = c.hop.tls, c.hop.addr, c.hop.target, c.hop.method
	cn.turn.got, cn.turn.lost, cn.reads = 0, nil, 0
	if !res.Reused || req.Auth != nil {
		now = 0
	}
	var sent time.Duration
	var unsent *Error
	if c.isReady(req, res) {
		sent, unsent = c.sendReady(cn, now, req, res)
	} else {
		sent, unsent = c.send(cn, now, req, res)
	}
	if unsent != nil && unsent.Class != Reset && unsent.Class != ResetReused {
		return unsent
	}
	if c.r, c.w = 0, cn.turn.got; c.w > 0 {
		cn.reads = 1
		c.received(c.w, res)
	}
	err := c.readHead(cn, req, res)
	if err == nil {
		res.head = c.buf
		res.Reason = c.buf.b[res.reason.value:res.reason.valueEnd:res.reason.valueEnd]
		err = c.readBody(cn, req, res)
	}
	got := res.Stamps.FirstByte
	if err != nil || cn.reads > 1 {
		got = c.clock()
	}
	if err == nil {
		res.Stamps.Done = got
	}
	if c.aside != nil {
		begin := sent
		var whole bool
		var late *Error
		whole, sent, late = c.joinAside(cn, res, err == nil)
		res.Stamps.Left = c.clock()
		if res.Stamps.FirstByte > 0 {
			sent = min(sent, res.Stamps.FirstByte)
		}
		res.Phases.Send += since(begin, sent)
		if late != nil {
			unsent = late
		}
		if !whole {
			res.frame.close = true
		}
	}
	if res.Stamps.FirstByte > 0 {
		res.Phases.Wait += since(sent, res.Stamps.FirstByte)
		res.Phases.Receive += since(max(sent, res.Stamps.FirstByte), got)
	} else {
		res.Phases.Wait += since(sent, got)
	}
	return c.settle(cn, res, err, unsent)
}

// settle ends an attempt of which the answer (err) and the request (unsent) may
// have failed; conclude sees to the buffers of one that did.
func (c *Client) settle(cn *conn, res *Response, err, unsent *Error) *Error {
	switch {
	case unsent != nil && (err != nil || unsent.Class == LocalResource):
		return unsent
	case err != nil:
		return err
	case unsent != nil:
		res.frame.close = true // answered before the body was through
	}
	cn.idleSince = res.Stamps.Done
	if c.r < c.w {
		return fail(Protocol, "bytes after the end of the answer")
	}
	if c.buf != res.head {
		c.pool.put(c.buf)
	}
	c.buf = nil
	return nil
}

// CloseConnections closes the kept connections.
func (c *Client) CloseConnections() {
	for len(c.conns) > 0 {
		c.drop(c.conns[len(c.conns)-1])
	}
}

// Close closes the connections and stops watching the last context. The Client
// may be used again.
func (c *Client) Close() error {
	c.CloseConnections()
	c.unwatch()
	return nil
}

func dueAt(start, limit time.Duration) time.Duration {
	if limit <= 0 {
		return 0
	}
	return start + limit
}

// orDefault gives fallback for zero and zero (no limit) for negative values.
func orDefault[T int | int64 | time.Duration](v, fallback T) T {
	switch {
	case v == 0:
		return fallback
	case v < 0:
		return 0
	}
	return v
}
