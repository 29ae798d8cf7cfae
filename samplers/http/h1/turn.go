package h1

import (
	"net"
	"time"
)

// glance is how long a turn waits before the socket is looked at the ordinary way.
const glance = 2 * time.Second

// turn is one request written and the first bytes of its answer read in one
// visit to the poller, on a kept connection without TLS. Reading straight after
// writing would cost a system call that nearly always finds nothing.
//
// The poller reports edges, and a RawConn forgets the past ones before it calls
// step. So step writes when it is called first: whatever the request causes is
// reported after that, and step is called again to read. What the server did
// before the request, as a goodbye without a reset, may be forgotten with the
// past; that is why such a connection's deadline is never further away than
// glance (see prepare), after which it is read as any other.
//
// A thread that waits for an answer holds no buffer: the one of the request goes
// back once it is sent, and an answer gets one when it is there. So a few buffers,
// which stay in the processor's cache, serve all connections.
type turn struct {
	out        []byte
	wrote, got int
	begun      bool
	wrong      error // of the write
	lost       error // of the read, for the next one to return
	end        time.Duration
}

// turns reports whether raw is a socket that step may use.
func turns(raw net.Conn) bool {
	_, ok := raw.(*net.TCPConn)
	return ok && rawSockets
}

// exchange writes out, which may lie in the client's buffer, and reads into that.
// It reports false if it did nothing. Unless all was written, nothing was read.
func (cn *conn) exchange(out []byte) bool {
	if cn.step == nil || !cn.used {
		return false
	}
	t := &cn.turn
	t.out, t.begun, t.wrong = out, false, nil
	_ = cn.sys.Read(cn.step) // what is wrong shows in the turn, or again in the next read
	t.out = nil
	if cn.c.buf == nil {
		cn.c.buf = cn.c.pool.get(0)
	}
	return t.begun
}

// advance is a turn's step: it reports whether the turn is over.
func (cn *conn) advance(fd uintptr) bool {
	t, c := &cn.turn, cn.c
	if !t.begun {
		t.begun = true
		t.wrote, t.wrong = writeSocket(fd, t.out)
		t.end = c.clock()
		if t.wrote < len(t.out) {
			return true
		}
		c.pool.put(c.buf)
		c.buf = nil
		return false
	}
	if c.buf == nil {
		c.buf = c.pool.get(0)
	}
	var again bool
	t.got, again, t.lost = readSocket(fd, c.buf.b)
	return !again
}
