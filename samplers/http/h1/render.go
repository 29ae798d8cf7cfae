package h1

import (
	"strconv"
	"time"
)

// A head and body of up to coalesce bytes leave in one write.
const coalesce = 16 << 10

// hop is where and how the next attempt of a call goes.
type hop struct {
	tls     bool
	addr    string
	host    string
	method  string
	target  []byte
	foreign bool   // the origin is no longer the plan's: no credentials
	noBody  bool   // a redirect turned the request into a GET
	rounds  int    // challenges answered at this place
	via     *Proxy // nil goes straight
}

// send renders and writes the request; begin is the time now, 0 if unknown. It
// returns when it was through, and leaves a buffer for reading the answer. A large
// body is left to c.aside, which goes on writing while the answer is awaited.
func (c *Client) send(cn *conn, begin time.Duration, req *Request, res *Response) (time.Duration, *Error) {
	body := req.Body
	if c.hop.noBody || req.BodyReader != nil {
		body = nil
	}
	size := len(c.hop.method) + len(c.hop.target) + len(c.hop.addr) + len(c.hop.host) + len(req.Head) + len(req.Cookie) + 128
	if size+len(body) <= coalesce {
		size += len(body)
	}
	c.buf = c.pool.get(size)
	out, bare, wrong := c.appendHead(c.buf.b[:0], cn, req)
	if wrong != nil {
		return c.clock(), wrong
	}
	streamed := req.BodyReader != nil && !c.hop.noBody && !bare
	if bare {
		body = nil
	}
	rest := body
	waits := req.ExpectContinue && (streamed || len(body) > 0)
	if len(out)+len(body) <= coalesce && !waits {
		out, rest = append(out, body...), nil
	}
	if begin == 0 {
		begin = c.clock()
	}
	end, err := c.write(cn, begin, out, !streamed && !waits && len(rest) == 0, res)
	switch {
	case err != nil:
	case streamed, waits, len(rest) > asideFrom:
		c.aside = c.writeAside(cn, req, rest, waits)
	case len(rest) > 0:
		var n int
		n, err = cn.write(rest)
		res.BytesSent += int64(n)
	}
	return c.written(cn, begin, end, err, res)
}

// sendReady is send for a request that was made ready.
func (c *Client) sendReady(cn *conn, begin time.Duration, req *Request, res *Response) (time.Duration, *Error) {
	if begin == 0 {
		begin = c.clock()
	}
	end, err := c.write(cn, begin, req.ready, true, res)
	if c.buf == nil {
		c.buf = c.pool.get(0)
	}
	return c.written(cn, begin, end, err, res)
}

// write writes out, in a turn if that is possible and all there is to send. It
// returns when it was through, 0 if unknown.
func (c *Client) write(cn *conn, begin time.Duration, out []byte, all bool, res *Response) (end time.Duration, err error) {
	first := res.Requests == 0
	if first {
		res.Stamps.Sent = begin
	}
	n := 0
	if all && cn.exchange(out) {
		end, n, err = cn.turn.end, cn.turn.wrote, cn.turn.wrong
	}
	if n < len(out) && err == nil {
		end = 0
		n, err = cn.writeRest(out, n)
	}
	if n > 0 {
		res.Requests++
	} else if first {
		res.Stamps.Sent = 0
	}
	res.BytesSent += int64(n)
	return end, err
}

// written stamps the end of a request, 0 if unknown, and sorts what went wrong.
func (c *Client) written(cn *conn, begin, end time.Duration, err error, res *Response) (time.Duration, *Error) {
	if end == 0 {
		end = c.clock()
	}
	res.Phases.Send += since(begin, end)
	if err != nil {
		return end, c.broken(cn, err, beforeAnswer)
	}
	return end, nil
}

// MakeReady renders the request once, so that any number of threads may send it as
// it is. Nothing in it may change afterwards. One with Auth, BodyReader,
// ExpectContinue or a large body stays to be rendered each time, as does one that
// meets cookies, a proxy or a redirect.
func (q *Request) MakeReady() {
	if q.Auth != nil || q.BodyReader != nil || q.ExpectContinue || len(q.Body) > coalesce/2 {
		return
	}
	c := NewClient(&Config{}, nil)
	c.hop = &hop{tls: q.TLS, addr: q.Addr, host: q.Host, method: q.Method, target: q.Target}
	head, _, _ := c.appendHead(nil, nil, q) // only an Authorizer fails
	q.ready = append(head, q.Body...)
}

// isReady reports whether this attempt sends what MakeReady has rendered.
func (c *Client) isReady(req *Request, res *Response) bool {
	return req.ready != nil && len(res.Hops) == 0 && c.hop.via == nil && (req.NoCookies || !c.jar.holds())
}

// appendHead renders the head. bare tells that this attempt goes without the body.
func (c *Client) appendHead(out []byte, cn *conn, req *Request) (_ []byte, bare bool, _ *Error) {
	h := c.hop
	out = append(out, h.method...)
	out = append(out, ' ')
	if h.via != nil && !h.tls {
		out = append(out, "http://"...)
		out = appendAuthority(out, h.addr, false)
	}
	if len(h.target) == 0 {
		out = append(out, '/')
	}
	out = append(out, h.target...)
	out = append(out, " HTTP/1.1\r\nHost: "...)
	if h.host != "" {
		out = append(out, h.host...)
	} else {
		out = appendAuthority(out, h.addr, h.tls)
	}
	out = append(out, "\r\n"...)
	if h.foreign || h.noBody {
		out = appendFiltered(out, req.Head, h.foreign, h.noBody)
	} else {
		out = append(out, req.Head...)
	}
	if h.via != nil && !h.tls {
		out = h.via.appendAuth(out)
	}
	if req.Auth != nil && !h.foreign {
		var wrong *Error
		if out, bare, wrong = c.authorize(out, cn, req); wrong != nil {
			return out, bare, wrong
		}
	}
	out = c.appendCookies(out, req)
	if !h.noBody {
		if req.ExpectContinue && !bare && (len(req.Body) > 0 || req.BodyReader != nil) {
			out = append(out, "Expect: 100-continue\r\n"...)
		}
		if bare && !req.OmitLength {
			out = append(out, "Content-Length: 0\r\n"...)
		} else if !req.OmitLength {
			out = appendLength(out, req)
		}
	}
	return append(out, "\r\n"...), bare, nil
}

// appendAuthority appends addr without a default port and without an IPv6 zone.
func appendAuthority(out []byte, addr string, tls bool) []byte {
	standard := ":80"
	if tls {
		standard = ":443"
	}
	if n := len(addr) - len(standard); n > 0 && addr[n:] == standard {
		addr = addr[:n]
	}
	for i := range len(addr) {
		if addr[i] == '%' {
			out = append(out, addr[:i]...)
			for i < len(addr) && addr[i] != ']' {
				i++
			}
			return append(out, addr[i:]...)
		}
	}
	return append(out, addr...)
}

func appendLength(out []byte, req *Request) []byte {
	length := int64(len(req.Body))
	switch {
	case req.BodyReader != nil && req.Length < 0:
		return append(out, "Transfer-Encoding: chunked\r\n"...)
	case req.BodyReader != nil:
		length = req.Length
	case length == 0 && req.Method != "POST" && req.Method != "PUT" && req.Method != "PATCH":
		return out
	}
	out = append(out, "Content-Length: "...)
	out = strconv.AppendInt(out, length, 10)
	return append(out, "\r\n"...)
}

func (c *Client) appendCookies(out []byte, req *Request) []byte {
	own := req.Cookie
	if c.hop.foreign {
		own = nil
	}
	jar := !req.NoCookies && c.jar.holds()
	if len(own) == 0 && !jar {
		return out
	}
	mark := len(out)
	out = append(out, "Cookie: "...)
	begin := len(out)
	out = append(out, own...)
	if jar {
		out = c.jar.append(out, begin, place{hostOf(c.hop.addr), c.hop.target, c.hop.tls}, own)
	}
	if len(out) == begin {
		return out[:mark]
	}
	return append(out, "\r\n"...)
}
