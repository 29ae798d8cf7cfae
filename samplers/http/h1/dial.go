package h1

import (
	"context"
	"crypto/tls"
	"net"
	"net/netip"
	"strings"
	"time"
)

// acquire returns the kept connection to the hop's origin, or opens one.
func (c *Client) acquire(ctx context.Context, now time.Duration, req *Request, res *Response) (*conn, *Error) {
	name := c.route()
	cn := c.find(c.hop.tls, name)
	check := orDefault(c.cfg.IdleCheck, DefaultIdleCheck)
	if cn != nil && check > 0 && now-cn.idleSince >= check && !cn.idle() {
		c.drop(cn)
		res.Reconnects++
		cn = nil
	}
	res.Reused = cn != nil
	if cn == nil {
		var err *Error
		if cn, err = c.openAside(ctx, name, req, res); err != nil {
			return nil, err
		}
		c.keep(cn)
		now = c.clock()
	}
	if !c.prepare(cn, now) {
		c.drop(cn)
		return nil, &Error{Cancelled, "cancelled before anything was sent", ctx.Err()}
	}
	return cn, nil
}

// openAside runs open on a goroutine of its own and waits for it: dialling and
// handshakes need a deep stack once, which the thread would keep for long.
func (c *Client) openAside(ctx context.Context, name string, req *Request, res *Response) (cn *conn, wrong *Error) {
	wrong = fail(Connect, "could not connect")
	over := make(chan any)
	go func() {
		defer func() { over <- recover() }()
		cn, wrong = c.open(ctx, name, req, res)
	}()
	if panicked := <-over; panicked != nil {
		panic(panicked) // where the thread's owner catches it
	}
	return cn, wrong
}

// open resolves, connects, asks a proxy for a tunnel and shakes hands; the
// connection will be kept under the name.
func (c *Client) open(ctx context.Context, name string, req *Request, res *Response) (*conn, *Error) {
	begin := c.clock()
	c.connDu = c.due
	if req.Timeouts.Connect > 0 {
		c.connDu = begin + req.Timeouts.Connect
		if c.due > 0 {
			c.connDu = min(c.connDu, c.due)
		}
	}
	raw, wrong := c.reach(ctx, res)
	if wrong != nil {
		return nil, c.throughProxy(wrong)
	}
	cn := c.newConn(raw, c.hop.tls, name)
	if !cn.tls {
		return cn, nil
	}
	if c.hop.via != nil {
		if wrong := c.tunnel(ctx, cn, res); wrong != nil {
			return nil, c.throughProxy(wrong)
		}
	}
	if wrong := c.handshake(cn, c.serverName(req, hostOf(c.hop.addr)), res); wrong != nil {
		return nil, wrong
	}
	return cn, nil
}

// reach connects to the hop's proxy, its other address or its own.
func (c *Client) reach(ctx context.Context, res *Response) (net.Conn, *Error) {
	addr := c.hop.addr
	if c.hop.via != nil {
		addr = c.hop.via.Addr
	} else if c.cfg.Reroute != nil {
		if to := c.cfg.Reroute(addr); to != "" {
			addr = to
		}
	}
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return nil, &Error{Connect, "the address is not host:port", err}
	}
	addrs, wrong := c.resolve(ctx, host, res)
	if wrong != nil {
		return nil, wrong
	}
	return c.connect(ctx, addrs, port, res)
}

func (c *Client) resolve(ctx context.Context, host string, res *Response) ([]netip.Addr, *Error) {
	if ip, err := netip.ParseAddr(host); err == nil {
		return []netip.Addr{ip}, nil
	}
	if host == "localhost" {
		return c.accepted([]netip.Addr{netip.AddrFrom4([4]byte{127, 0, 0, 1}), netip.IPv6Loopback()})
	}
	begin := c.clock()
	ctx, cancel := c.within(ctx, c.connDu)
	defer cancel()
	lookup := c.cfg.Resolve
	if lookup == nil {
		lookup = systemLookup
	}
	addrs, err := lookup(ctx, host)
	res.Phases.DNS += since(begin, c.clock())
	if err != nil {
		return nil, c.unopened(err, "resolving the host name", dnsError)
	}
	return c.accepted(addrs)
}

// accepted returns the addresses that may be dialled.
func (c *Client) accepted(addrs []netip.Addr) ([]netip.Addr, *Error) {
	if len(addrs) == 0 {
		return nil, fail(DNS, "the host name has no address")
	}
	if c.cfg.Accept == nil {
		return addrs, nil
	}
	kept := make([]netip.Addr, 0, len(addrs))
	for _, ip := range addrs {
		if c.cfg.Accept(ip.Unmap()) {
			kept = append(kept, ip)
		}
	}
	if len(kept) == 0 {
		return nil, fail(DNS, "the host name has no address of the wanted family")
	}
	return kept, nil
}

func systemLookup(ctx context.Context, host string) ([]netip.Addr, error) {
	return net.DefaultResolver.LookupNetIP(ctx, "ip", host)
}

// connect tries the addresses in turn, each once, and fails with the first one's error.
func (c *Client) connect(ctx context.Context, addrs []netip.Addr, port string, res *Response) (net.Conn, *Error) {
	begin := c.clock()
	var first error
	for i, ip := range addrs {
		raw, err := c.connectOne(ctx, net.JoinHostPort(ip.Unmap().String(), port), len(addrs)-i)
		if err == nil {
			res.Phases.Connect += since(begin, c.clock())
			res.Connects++
			return raw, nil
		}
		if first == nil {
			first = err
		}
		if ctx.Err() != nil || c.connDu > 0 && c.clock() >= c.connDu {
			break
		}
	}
	res.Phases.Connect += since(begin, c.clock())
	return nil, c.unopened(first, "connecting", dialError)
}

// dialTCP is the default of Config.Dial; all clients share it, which saves each a dialer.
func dialTCP(ctx context.Context, network, address string) (net.Conn, error) {
	d := net.Dialer{KeepAlive: -1}
	return d.DialContext(ctx, network, address)
}

// connectOne gives one of the left addresses its share of the time, but at
// least two seconds, so that a silent address does not use up all of it.
func (c *Client) connectOne(ctx context.Context, address string, left int) (net.Conn, error) {
	due := c.connDu
	if due > 0 && left > 1 {
		now := c.clock()
		due = min(due, now+max(since(now, due)/time.Duration(left), 2*time.Second))
	}
	ctx, cancel := c.within(ctx, due)
	defer cancel()
	dial := c.cfg.Dial
	if dial == nil {
		dial = dialTCP
	}
	return dial(ctx, "tcp", address)
}

// within bounds ctx by a moment on the client's clock; 0 is no bound.
func (c *Client) within(ctx context.Context, due time.Duration) (context.Context, context.CancelFunc) {
	if due == 0 {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, due-c.clock())
}

func (c *Client) serverName(req *Request, host string) string {
	if req.ServerName != "" && !c.hop.foreign {
		return req.ServerName
	}
	return strings.TrimSuffix(host, ".")
}

// handshake puts TLS on cn, or closes it.
func (c *Client) handshake(cn *conn, name string, res *Response) *Error {
	cfg := &tls.Config{}
	if c.cfg.TLS != nil {
		cfg = c.cfg.TLS.Clone()
	}
	if cfg.ServerName == "" {
		cfg.ServerName = name
	}
	if cfg.NextProtos == nil {
		cfg.NextProtos = []string{"http/1.1"}
	}
	begin, due := c.clock(), c.due
	c.due = c.connDu
	secure := tls.Client(cn, cfg)
	err := context.Canceled
	if c.prepare(cn, begin) {
		err = secure.Handshake()
	}
	c.due = due
	cn.deadline = unknown
	res.Phases.TLS += since(begin, c.clock())
	if err == nil {
		cn.secure = secure
		return nil
	}
	wrong := c.unopened(err, "the TLS handshake", tlsError)
	cn.failed = true
	c.drop(cn)
	return wrong
}

// unopened sorts the failure of a step that opens a connection: the context's
// end, a limit that passed, or what the step's own classifier says.
func (c *Client) unopened(err error, step string, classify func(error) *Error) *Error {
	now := c.clock()
	switch {
	case c.isCancelled() || c.doneNow():
		return &Error{Cancelled, "cancelled while " + doing(step), err}
	case isTimeout(err) && c.due > 0 && now >= c.due:
		return &Error{Timeout, "timed out while " + doing(step), err}
	case isTimeout(err) && c.connDu > 0 && (now >= c.connDu || step == "connecting"):
		return &Error{ConnectTimeout, "no connection in time: " + step, err}
	}
	return classify(err)
}

func doing(step string) string {
	if step == "the TLS handshake" {
		return "in the TLS handshake"
	}
	return step
}

// doneNow asks the context itself, whose watcher may not have run yet.
func (c *Client) doneNow() bool {
	select {
	case <-c.done:
		return true
	default:
		return false
	}
}
