package h1

import (
	"crypto/tls"
	"errors"
	"io"
	"net"
	"syscall"
	"time"
)

// unknown is a deadline that must be set before the connection is used.
const unknown = -1

// conn is one connection to one origin. As a net.Conn it is the wire, below TLS.
type conn struct {
	net.Conn
	c         *Client
	secure    *tls.Conn // nil without TLS
	tls       bool
	addr      string
	used      bool          // an exchange is over
	failed    bool          // no goodbye
	closing   bool          // deadlines are no longer extended
	halted    bool          // the same, for good; written under the client's mu
	id        uint64        // unique among the client's connections
	deadline  time.Duration // of Conn on the client's clock; 0 none
	idleSince time.Duration
	sys       syscall.RawConn // nil if the connection has no descriptor
	look      func(fd uintptr)
	quiet     bool // what look found
	reads     int  // of the answer at hand
	turn      turn
	step      func(fd uintptr) bool // nil if turns cannot be used
}

func (c *Client) newConn(raw net.Conn, tls bool, addr string) *conn {
	c.opened++
	cn := &conn{Conn: raw, c: c, tls: tls, addr: addr, id: c.opened, deadline: unknown}
	if s, ok := raw.(syscall.Conn); ok {
		if sys, err := s.SyscallConn(); err == nil {
			cn.sys = sys
			cn.look = func(fd uintptr) { cn.quiet = quietSocket(fd) }
			if turns(raw) {
				cn.step = cn.advance
			}
		}
	}
	return cn
}

// Read reads from the wire until the call's end, whatever deadline was set before.
func (cn *conn) Read(p []byte) (int, error) {
	if cn.secure != nil && cn.turn.lent != nil {
		if n, err := cn.wired(p); n > 0 || err != nil {
			return n, err
		}
	}
	for {
		n, err := cn.Conn.Read(p)
		if n > 0 || err == nil || !cn.c.extend(cn, err) {
			return n, err
		}
	}
}

// Write writes to the wire like Read reads.
func (cn *conn) Write(p []byte) (int, error) {
	if t := &cn.turn; t.sealing {
		t.out = append(t.out, p...)
		return len(p), nil
	}
	written := 0
	for {
		n, err := cn.Conn.Write(p[written:])
		written += n
		if err == nil || cn.closing || !cn.c.extend(cn, err) {
			return written, err
		}
	}
}

func (cn *conn) read(p []byte) (int, error) {
	cn.reads++
	if cn.secure != nil {
		return cn.secure.Read(p)
	}
	if err := cn.turn.lost; err != nil {
		cn.turn.lost = nil
		return 0, err
	}
	return cn.Read(p)
}

func (cn *conn) write(p []byte) (int, error) {
	if cn.secure != nil {
		return cn.secure.Write(p)
	}
	return cn.Write(p)
}

// writeRest writes what a turn has left of p, and returns how much of p is
// written now.
func (cn *conn) writeRest(p []byte, written int) (int, error) {
	n, err := cn.write(p[written:])
	return written + n, err
}

// idle reports whether the peer has neither closed nor sent anything, by one
// read that does not block.
func (cn *conn) idle() bool {
	if cn.sys == nil {
		return true
	}
	cn.quiet = false
	return cn.sys.Control(cn.look) == nil && cn.quiet
}

func (cn *conn) close() {
	cn.closing = true
	if cn.secure != nil && !cn.failed {
		_ = cn.secure.Close() // says goodbye, then closes the wire
		return
	}
	_ = cn.Conn.Close()
}

// find returns the kept connection to this origin, or nil.
func (c *Client) find(tls bool, addr string) *conn {
	for _, cn := range c.conns {
		if cn.tls == tls && cn.addr == addr {
			return cn
		}
	}
	return nil
}

// keep adds an open connection, closing the one idle for longest if there are too many.
func (c *Client) keep(cn *conn) {
	most := c.cfg.MaxConnections
	if most <= 0 {
		most = DefaultConnections
	}
	if len(c.conns) >= most {
		oldest := c.conns[0]
		for _, other := range c.conns {
			if other.idleSince < oldest.idleSince {
				oldest = other
			}
		}
		c.drop(oldest)
	}
	c.conns = append(c.conns, cn)
}

// drop closes cn and forgets it.
func (c *Client) drop(cn *conn) {
	c.use(nil)
	for i, other := range c.conns {
		if other == cn {
			last := len(c.conns) - 1
			c.conns[i], c.conns[last] = c.conns[last], nil
			c.conns = c.conns[:last]
			break
		}
	}
	cn.close()
}

// stage tells how far an exchange had come when the connection failed.
type stage int

const (
	beforeAnswer stage = iota
	inHead
	inBody
)

var stageNames = [...]string{" before the answer", " within the header", " within the body"}

// broken sorts a failed read or write.
func (c *Client) broken(cn *conn, err error, at stage) *Error {
	if c.isCancelled() {
		return &Error{Cancelled, "cancelled" + stageNames[at], err}
	}
	if isTimeout(err) {
		return &Error{Timeout, "timed out" + stageNames[at], err}
	}
	if local := localCause(err); local != nil {
		return local
	}
	ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	if cn.secure != nil && !ended && !isReset(err) {
		return tlsError(err)
	}
	switch {
	case at == beforeAnswer && cn.used:
		return &Error{ResetReused, "the server closed the kept connection", err}
	case !ended:
		return &Error{Reset, "connection reset" + stageNames[at], err}
	case at == inBody:
		return &Error{Truncated, "connection closed within the body", err}
	}
	return &Error{ClosedEarly, "connection closed" + stageNames[at], err}
}
