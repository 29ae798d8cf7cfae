package h1

import (
	"io"
	"strconv"
	"sync/atomic"
	"time"
)

const (
	asideFrom     = 64 << 10 // larger bodies are written while the answer is awaited
	continueWait  = time.Second
	graceRefused  = 50 * time.Millisecond // for the body of a request that was refused
	graceAccepted = time.Second           // without any progress, of one that was not
)

// aside writes a body on a goroutine of its own, so that an answer that comes
// early is read, and a server that stops reading holds nobody up.
type aside struct {
	cn       *conn
	req      *Request
	body     []byte
	chunked  bool
	proceed  chan struct{} // closed when the server asks for the body
	asked    bool
	stop     chan struct{} // closed when the body is not wanted
	done     chan struct{}
	sent     atomic.Int64
	whole    bool
	end      time.Duration
	err      error  // of the connection
	wrong    *Error // the reader's fault
	panicked any
}

func (c *Client) writeAside(cn *conn, req *Request, body []byte, waits bool) *aside {
	a := &aside{cn: cn, req: req, body: body, proceed: make(chan struct{}), asked: !waits,
		stop: make(chan struct{}), done: make(chan struct{})}
	a.chunked = req.BodyReader != nil && req.Length < 0
	go func() {
		defer close(a.done)
		defer func() {
			if a.panicked = recover(); a.panicked != nil || a.wrong != nil {
				c.halt(cn) // nobody will answer half a request
			}
			a.end = c.clock()
		}()
		if waits && !a.wanted() {
			return
		}
		if req.BodyReader == nil {
			a.whole = a.write(a.body)
			return
		}
		lent := c.pool.get(asideFrom)
		defer c.pool.put(lent)
		a.stream(lent.b)
	}()
	return a
}

// wanted waits for the server's 100, at most as long as a server that does not
// know the expectation should keep the body waiting.
func (a *aside) wanted() bool {
	timer := time.NewTimer(continueWait)
	defer timer.Stop()
	select {
	case <-a.stop:
		return false
	case <-a.proceed:
	case <-timer.C:
	}
	return true
}

// goOn lets the body follow; the server has answered 100.
func (a *aside) goOn() {
	if a != nil && !a.asked {
		a.asked = true
		close(a.proceed)
	}
}

func (a *aside) write(p []byte) bool {
	for len(p) > 0 && a.err == nil {
		n, err := a.cn.write(p[:min(len(p), asideFrom)])
		a.sent.Add(int64(n))
		p, a.err = p[n:], err
	}
	return a.err == nil
}

// stream writes BodyReader, as chunks if its length is unknown.
func (a *aside) stream(lent []byte) {
	left := a.req.Length
	const front, back = 8, 2 // room for a chunk's size line and its CRLF
	for left != 0 {
		room := lent[front : len(lent)-back]
		if left > 0 {
			room = room[:min(int64(len(room)), left)]
		}
		n, err := a.req.BodyReader.Read(room)
		if n > 0 {
			out := room[:n]
			if left > 0 {
				left -= int64(n)
			} else {
				out = frameChunk(lent, front, n)
			}
			if !a.write(out) {
				return
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			a.wrong = &Error{LocalResource, "the request's body could not be read", err}
			return
		}
	}
	switch {
	case left > 0:
		a.wrong = fail(LocalResource, "the request's body is shorter than its length")
	case left < 0:
		a.whole = a.write([]byte("0\r\n\r\n"))
	default:
		a.whole = true
	}
}

// joinAside ends what writes beside, if anything does: it has time to finish
// after an answer, none after a failure. It returns when the writing ended, and
// whether the whole body was written, or what kept it from being.
func (c *Client) joinAside(cn *conn, res *Response, answered bool) (whole bool, end time.Duration, _ *Error) {
	a := c.aside
	if a == nil {
		return true, 0, nil
	}
	c.aside = nil
	close(a.stop)
	switch {
	case !answered:
		c.halt(cn)
	case res.Status >= 400:
		a.await(graceRefused)
	default:
		for last := int64(-1); !a.await(graceAccepted) && a.sent.Load() != last; {
			last = a.sent.Load()
		}
	}
	select {
	case <-a.done:
	default:
		c.halt(cn)
		<-a.done
	}
	if a.panicked != nil {
		panic(a.panicked) // where the thread's owner catches it
	}
	res.BytesSent += a.sent.Load()
	switch {
	case a.wrong != nil:
		return false, a.end, a.wrong
	case a.err != nil && !answered && isTimeout(a.err) && (c.due <= 0 || c.clock() < c.due):
		return false, a.end, nil // it was cut off because the reading has failed, which says why
	case a.err != nil:
		return false, a.end, c.broken(cn, a.err, beforeAnswer)
	}
	return a.whole, a.end, nil
}

func (a *aside) await(limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-a.done:
		return true
	case <-timer.C:
		return false
	}
}

// frameChunk puts size line and CRLF around the n bytes at b[front:].
func frameChunk(b []byte, front, n int) []byte {
	var line [8]byte
	size := append(strconv.AppendInt(line[:0], int64(n), 16), "\r\n"...)
	begin := front - len(size)
	copy(b[begin:], size)
	return append(b[begin:front+n], "\r\n"...)
}
