package h1

import (
	"io"
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
	foreign bool // the origin is no longer the plan's: no credentials
	noBody  bool // a redirect turned the request into a GET
}

// send renders and writes the request; it returns when it was through. The
// buffer it takes stays, for reading the answer.
func (c *Client) send(cn *conn, req *Request, res *Response) (time.Duration, *Error) {
	body := req.Body
	if c.hop.noBody || req.BodyReader != nil {
		body = nil
	}
	size := len(c.hop.method) + len(c.hop.target) + len(c.hop.addr) + len(c.hop.host) + len(req.Head) + len(req.Cookie) + 128
	if size+len(body) <= coalesce {
		size += len(body)
	}
	c.buf = c.pool.get(size)
	out := c.appendHead(c.buf.b[:0], req)
	rest := body
	if len(out)+len(body) <= coalesce {
		out, rest = append(out, body...), nil
	}
	begin := c.clock()
	first := res.Requests == 0
	if first {
		res.Stamps.Sent = begin
	}
	n, err := cn.write(out)
	if n > 0 {
		res.Requests++
	} else if first {
		res.Stamps.Sent = 0
	}
	res.BytesSent += int64(n)
	if err == nil && len(rest) > 0 {
		n, err = cn.write(rest)
		res.BytesSent += int64(n)
	}
	var wrong *Error
	if err == nil && req.BodyReader != nil && !c.hop.noBody {
		err, wrong = c.stream(cn, req, res)
	}
	end := c.clock()
	res.Phases.Send += since(begin, end)
	if err != nil {
		wrong = c.broken(cn, err, beforeAnswer)
	}
	return end, wrong
}

func (c *Client) appendHead(out []byte, req *Request) []byte {
	h := &c.hop
	out = append(out, h.method...)
	out = append(out, ' ')
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
	out = c.appendCookies(out, req)
	if !req.OmitLength && !h.noBody {
		out = appendLength(out, req)
	}
	return append(out, "\r\n"...)
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
	jar := !req.NoCookies && len(c.jar.cookies) > 0
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

// stream writes BodyReader, as chunks if its length is unknown. The second
// result is the reader's fault.
func (c *Client) stream(cn *conn, req *Request, res *Response) (error, *Error) {
	lent := c.pool.get(coalesce)
	defer c.pool.put(lent)
	left := req.Length
	const front, back = 8, 2 // room for a chunk's size line and its CRLF
	for left != 0 {
		room := lent.b[front : len(lent.b)-back]
		if left > 0 {
			room = room[:min(int64(len(room)), left)]
		}
		n, readErr := req.BodyReader.Read(room)
		if n > 0 {
			out := room[:n]
			if left > 0 {
				left -= int64(n)
			} else {
				out = frameChunk(lent.b, front, n)
			}
			written, err := cn.write(out)
			res.BytesSent += int64(written)
			if err != nil {
				return err, nil
			}
		}
		if readErr == io.EOF {
			break
		}
		if readErr != nil {
			return nil, &Error{LocalResource, "the request's body could not be read", readErr}
		}
	}
	switch {
	case left > 0:
		return nil, fail(LocalResource, "the request's body is shorter than its length")
	case left < 0:
		written, err := cn.write([]byte("0\r\n\r\n"))
		res.BytesSent += int64(written)
		return err, nil
	}
	return nil, nil
}

// frameChunk puts size line and CRLF around the n bytes at b[front:].
func frameChunk(b []byte, front, n int) []byte {
	var line [8]byte
	size := append(strconv.AppendInt(line[:0], int64(n), 16), "\r\n"...)
	begin := front - len(size)
	copy(b[begin:], size)
	return append(b[begin:front+n], "\r\n"...)
}
