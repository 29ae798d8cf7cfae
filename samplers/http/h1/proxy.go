package h1

import (
	"bytes"
	"context"
	"errors"
	"io"
	"strconv"
)

const maxTunnelHead = 16 << 10

// Proxy is an HTTP proxy: http requests are sent to it in absolute form, https
// goes through a tunnel that it opens (CONNECT). CONNECT is part of connecting:
// it is not in Response.Requests, since no server sees it.
type Proxy struct {
	// Addr is host:port.
	Addr string
	// Auth is the value of Proxy-Authorization; empty sends none.
	Auth string
}

func (p *Proxy) appendAuth(out []byte) []byte {
	if p.Auth == "" {
		return out
	}
	out = append(append(out, "Proxy-Authorization: "...), p.Auth...)
	return append(out, "\r\n"...)
}

// proxyMemo keeps the last answer of Config.Proxy, which hardly ever changes.
type proxyMemo struct {
	tls  bool
	addr string
	via  *Proxy
	name string // under which its connection is kept
}

// route sets the hop's proxy and returns the name under which its connection is kept.
func (c *Client) route() string {
	if c.cfg.Proxy == nil {
		return c.hop.addr
	}
	if c.proxy == nil {
		c.proxy = &proxyMemo{}
	}
	h, m := c.hop, c.proxy
	if m.addr != h.addr || m.tls != h.tls {
		*m = proxyMemo{h.tls, h.addr, c.cfg.Proxy(h.tls, h.addr), h.addr}
		if m.via != nil && !h.tls {
			m.name = "proxy " + m.via.Addr
		}
	}
	h.via = m.via
	return m.name
}

// tunnel asks the proxy for a connection to the hop's address, within the
// connect timeout.
func (c *Client) tunnel(ctx context.Context, cn *conn, res *Response) *Error {
	begin, due := c.clock(), c.due
	c.due = c.connDu
	err := context.Canceled
	status := 0
	if c.prepare(cn, begin) {
		status, err = c.ask(cn)
	}
	c.due = due
	cn.deadline = unknown
	res.Phases.Connect += since(begin, c.clock())
	switch {
	case err == nil && status/100 == 2:
		return nil
	case err == nil:
		err = errors.New("status " + strconv.Itoa(status))
	}
	wrong := c.unopened(err, "connecting", func(err error) *Error {
		switch {
		case status == 407:
			return &Error{Connect, "it asks for credentials (status 407)", err}
		case status > 0:
			return &Error{Connect, "it opened no tunnel (status " + strconv.Itoa(status) + ")", err}
		case errors.Is(err, errNotHTTP):
			return &Error{Connect, "it does not speak HTTP", err}
		}
		return &Error{Connect, "it closed the connection", err}
	})
	cn.failed = true
	c.drop(cn)
	return wrong
}

var errNotHTTP = errors.New("not an answer of HTTP")

// ask writes CONNECT and returns the answer's status.
func (c *Client) ask(cn *conn) (int, error) {
	out := append([]byte("CONNECT "), c.hop.addr...)
	out = append(append(append(out, " HTTP/1.1\r\nHost: "...), c.hop.addr...), "\r\n"...)
	out = append(c.hop.via.appendAuth(out), "\r\n"...)
	if _, err := cn.write(out); err != nil {
		return 0, err
	}
	lent := c.pool.get(maxTunnelHead)
	defer c.pool.put(lent)
	for n := 0; ; {
		if n == maxTunnelHead {
			return 0, errNotHTTP
		}
		got, err := cn.read(lent.b[n:maxTunnelHead])
		n += got
		if end := bytes.Index(lent.b[:n], []byte("\r\n\r\n")); end >= 0 {
			return tunnelStatus(lent.b[:end], n-end-4)
		}
		if err != nil || got == 0 {
			if err == nil {
				err = io.ErrNoProgress
			}
			return 0, err
		}
	}
}

// tunnelStatus reads the status of a head after which surplus bytes came.
func tunnelStatus(head []byte, surplus int) (int, error) {
	line, _, _ := bytes.Cut(head, []byte("\r\n"))
	var r Response
	if r.statusLine(line, 0) != nil || r.Status/100 == 2 && surplus > 0 {
		return 0, errNotHTTP
	}
	return r.Status, nil
}

// throughProxy says that it was the proxy that failed.
func (c *Client) throughProxy(err *Error) *Error {
	if err == nil || c.hop.via == nil || err.Class == Cancelled {
		return err
	}
	return &Error{err.Class, "proxy: " + err.Message, err.Err}
}
