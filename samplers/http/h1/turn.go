package h1

import (
	"net"
	"time"
)

// glance is how long a turn waits before the socket is looked at the ordinary way.
const glance = 2 * time.Second

// turn is one request written and the first bytes of its answer read in one
// visit to the poller, on a kept connection. Reading straight after writing would
// cost a system call that nearly always finds nothing. Over TLS the bytes are the
// wire's: the request is sealed into a buffer first, and what comes lies in wire
// until TLS reads it.
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
	sealing    bool    // what TLS writes is kept in out
	sealed     *buffer // where out lies, over TLS
	wire       []byte  // what has come and was not read yet, over TLS
	lent       *buffer // where wire lies
	wrong      error   // of the write
	lost       error   // of the read, for the next one to return
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
	t := &cn.turn
	if cn.step == nil || !cn.used || len(t.wire) > 0 { // TLS has not read all that came: it reads on the ordinary way
		return false
	}
	t.out, t.begun, t.wrong = out, false, nil
	if cn.secure == nil || cn.seal(out) {
		_ = cn.sys.Read(cn.step) // what is wrong shows in the turn, or again in the next read
	}
	if cn.secure != nil {
		cn.sealedRest(len(out))
	}
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
		if cn.secure != nil {
			cn.unseal()
		}
		return false
	}
	if cn.secure != nil {
		return cn.arrive(fd)
	}
	if c.buf == nil {
		c.buf = c.pool.get(0)
	}
	var again bool
	t.got, again, t.lost = readSocket(fd, c.buf.b)
	return !again
}

// seal makes what TLS sends for out the turn's.
func (cn *conn) seal(out []byte) bool {
	t := &cn.turn
	t.sealed = cn.c.pool.get(len(out) + 1<<10) // records add some 22 bytes each
	t.out, t.sealing = t.sealed.b[:0], true
	_, t.wrong = cn.secure.Write(out)
	t.sealing = false
	if t.wrong != nil {
		t.begun, t.wrote = true, 0
	}
	return t.wrong == nil
}

// unseal forgets what was sealed, once it is sent.
func (cn *conn) unseal() {
	t := &cn.turn
	cn.c.pool.put(t.sealed)
	t.sealed, t.out, t.wrote = nil, nil, 0
}

// sealedRest writes what a turn has left, as bytes that are sealed cannot be sent
// in another way, and makes wrote the bytes of the request, which are size.
func (cn *conn) sealedRest(size int) {
	t := &cn.turn
	if t.sealed == nil { // all is sent
		t.wrote = size
		return
	}
	if !t.begun {
		t.begun, t.wrote = true, 0
	}
	sent := t.wrote
	if t.wrong == nil {
		var n int
		n, t.wrong = cn.Write(t.out[sent:])
		sent, t.end = sent+n, cn.c.clock()
	}
	whole := t.wrong == nil
	cn.unseal()
	if whole {
		t.wrote = size
	} else if sent > 0 {
		t.wrote = 1 // of the request at least something may have gone
	}
}

// arrive reads from the wire.
func (cn *conn) arrive(fd uintptr) bool {
	t := &cn.turn
	if t.lent == nil {
		t.lent = cn.c.pool.get(0)
	}
	n, again, lost := readSocket(fd, t.lent.b)
	t.wire, t.lost = t.lent.b[:n], lost
	return !again
}

// wired gives TLS what has come in a turn.
func (cn *conn) wired(p []byte) (int, error) {
	t := &cn.turn
	n := copy(p, t.wire)
	if t.wire = t.wire[n:]; len(t.wire) == 0 {
		cn.c.pool.put(t.lent)
		t.lent, t.wire = nil, nil
	}
	if err := t.lost; n == 0 && err != nil {
		t.lost = nil
		return 0, err
	}
	return n, nil
}
