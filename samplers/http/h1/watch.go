package h1

import (
	"context"
	"errors"
	"os"
	"time"
)

// Cancellation and deadlines. A connection's deadline is moved seldom: one that
// lies before the call's end is left alone, and if it passes in between, the
// interrupted read or write is extended and goes on.
//
//	who                  does                                         under mu
//	thread, watch        registers the context                        no
//	thread, use          active = connection                          yes
//	thread, arm          sets the deadline unless cancelled           yes
//	watch's end          cancelled = true; active's deadline = past   yes
//	aside, halt          halted = true; the deadline = past           yes

// watch is a context whose end interrupts all clients of a pool that make calls
// with it. The pool's lock guards it.
type watch struct {
	stop    func() bool
	ended   bool
	clients []*Client // each at its seat
}

// watch makes ctx's end interrupt what this client does; it returns ctx's error
// if it has ended already.
func (c *Client) watch(ctx context.Context) error {
	done := ctx.Done()
	if done != c.done {
		c.unwatch()
		if done != nil {
			c.done = done
			c.pool.join(c, ctx)
		}
	}
	select {
	case <-done:
		return ctx.Err()
	default:
		return nil
	}
}

// join seats c with those that watch ctx.
func (p *Pool) join(c *Client, ctx context.Context) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.watches[c.done]
	if w == nil {
		if p.watches == nil {
			p.watches = map[<-chan struct{}]*watch{}
		}
		w = &watch{}
		p.watches[c.done] = w
		w.stop = context.AfterFunc(ctx, func() { p.end(w) })
	}
	c.seat = len(w.clients)
	w.clients = append(w.clients, c)
	if w.ended {
		c.interrupt()
	}
}

// end interrupts everybody.
func (p *Pool) end(w *watch) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w.ended = true
	for _, c := range w.clients {
		c.interrupt()
	}
}

// leave gives c's seat to the last one. Once it returns, nothing interrupts c.
func (p *Pool) leave(c *Client) {
	p.mu.Lock()
	defer p.mu.Unlock()
	w := p.watches[c.done]
	last := len(w.clients) - 1
	other := w.clients[last]
	w.clients[c.seat], other.seat = other, c.seat
	w.clients[last] = nil
	w.clients = w.clients[:last]
	if last == 0 {
		w.stop()
		delete(p.watches, c.done)
	}
}

func (c *Client) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancelled = true
	if c.active != nil {
		_ = c.active.Conn.SetDeadline(time.Unix(1, 0))
	}
}

func (c *Client) unwatch() {
	if c.done == nil {
		return
	}
	c.pool.leave(c)
	c.done = nil
	c.cancelled = false // nobody else is left to look
	for _, cn := range c.conns {
		cn.deadline = unknown
	}
}

// use makes cn the connection that the watcher interrupts; it reports false if
// the context has ended.
func (c *Client) use(cn *conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active = cn
	return !c.cancelled
}

// prepare makes sure that cn's deadline does not lie after the call's end.
func (c *Client) prepare(cn *conn, now time.Duration) bool {
	if c.active != cn && !c.use(cn) {
		return false
	}
	end := c.due
	if cn.step != nil && (end == 0 || end > now+glance) {
		end = now + glance
	}
	if cn.deadline == 0 && end == 0 {
		return true
	}
	if cn.deadline > 0 && cn.deadline <= end && cn.deadline-now > (end-now)/4 {
		return true
	}
	return c.arm(cn, end)
}

// arm sets cn's deadline, 0 for none, and reports false if the context has ended.
func (c *Client) arm(cn *conn, end time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.cancelled || cn.halted {
		return false
	}
	cn.deadline = end
	when := time.Time{}
	if end > 0 {
		when = time.Now().Add(end - c.clock())
	}
	_ = cn.Conn.SetDeadline(when) // a broken connection shows in the read or write
	return true
}

// halt interrupts whatever is read from or written to cn, for good.
func (c *Client) halt(cn *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	cn.halted = true
	_ = cn.Conn.SetDeadline(time.Unix(1, 0))
}

// extend reports whether err is a deadline that passed before the call's end,
// and if so sets it anew.
func (c *Client) extend(cn *conn, err error) bool {
	if !errors.Is(err, os.ErrDeadlineExceeded) || c.due > 0 && c.clock() >= c.due {
		return false
	}
	return c.arm(cn, c.due)
}

func (c *Client) isCancelled() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.cancelled
}
