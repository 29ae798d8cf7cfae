package h1

import (
	"context"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// A server may say goodbye right behind an answer without closing: nothing is
// reported for the next request, which must fail all the same, and soon.
func TestGoodbyeBeforeTheRequest(t *testing.T) {
	t.Parallel()
	s := serve(t, func(p *peer) {
		p.request()
		p.say(small)
		p.Conn.(*net.TCPConn).CloseWrite()
		p.request()
		p.request()
	})
	c := client(t, Config{IdleCheck: -1})
	do(t, c, s.get("/1"))
	waitClosed(t, c)
	req, begin := s.get("/2"), time.Now()
	req.Timeouts.Total = time.Minute
	err := c.Do(context.Background(), req, new(Response))
	if classOf(err) != ResetReused {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > 10*glance {
		t.Errorf("it took %v to see", took)
	}
	if got := len(s.requests()); got != 2 {
		t.Errorf("the server saw %d requests, want 2", got)
	}
}

// An answer that takes longer than a glance is waited for.
func TestAnswerAfterAGlance(t *testing.T) {
	t.Parallel()
	slow := glance + 200*time.Millisecond
	s := serve(t, func(p *peer) {
		for i := 0; ; i++ {
			if _, ok := p.request(); !ok {
				return
			}
			if i == 1 {
				time.Sleep(slow)
			}
			p.say(small)
		}
	})
	c := client(t, Config{})
	req := s.get("/")
	req.Timeouts.Total = time.Minute
	do(t, c, req)
	res := do(t, c, req)
	if !res.Reused || res.Stamps.Done-res.Stamps.Sent < slow {
		t.Errorf("reused %v, took %v", res.Reused, res.Stamps.Done-res.Stamps.Sent)
	}
	if res := do(t, c, req); !res.Reused {
		t.Error("the connection was not kept")
	}
}

// Requests that the socket does not take at once, and answers in many pieces, over
// kept connections of many threads that share buffers: each must get its own answer.
func TestTurnsShareBuffers(t *testing.T) {
	s := serve(t, func(p *peer) {
		for {
			text, ok := p.request()
			if !ok {
				return
			}
			name := strings.Fields(text)[1]
			answer := ok200(name)
			at := len(name) % len(answer)
			if strings.HasSuffix(name, "3") {
				p.say(answer[:at], answer[at:])
			} else {
				p.say(answer)
			}
		}
	})
	pool := NewPool()
	var all sync.WaitGroup
	for thread := range 20 {
		all.Go(func() {
			c := NewClient(&Config{Pool: pool}, nil)
			defer c.Close()
			res := new(Response)
			for i := range 50 {
				name := "/" + strconv.Itoa(thread) + "/" + strconv.Itoa(i)
				req := s.get(name)
				req.Head = []byte("X-Fill: " + strings.Repeat("x", 200*(i%20)) + "\r\n")
				if err := c.Do(context.Background(), req, res); err != nil || string(res.Body) != name {
					t.Errorf("%s: got %q, %v", name, res.Body, err)
					return
				}
				if i%2 == 0 {
					res.Release()
				}
			}
		})
	}
	all.Wait()
}

func ok200(body string) string {
	return ok + "Content-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

// A thread that waits for an answer holds a stack of 4 KB at most: ten thousand of
// them are the machine's memory otherwise.
func TestStackOfAWaitingThread(t *testing.T) {
	if raceEnabled {
		t.Log("stacks are larger under the race detector")
		return
	}
	const threads = 200
	release, waiting := make(chan struct{}), make(chan struct{}, threads)
	s := serve(t, func(p *peer) {
		for i := 0; ; i++ {
			if _, ok := p.request(); !ok {
				return
			}
			if i == 1 {
				waiting <- struct{}{}
				<-release
			}
			p.say(small)
		}
	})
	var all sync.WaitGroup
	before := stacks()
	for range threads {
		all.Go(func() {
			c := NewClient(&Config{}, nil)
			defer c.Close()
			res := new(Response)
			for range 2 {
				if err := c.Do(context.Background(), s.get("/"), res); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	for range threads {
		<-waiting
	}
	held := stacks() - before
	close(release)
	all.Wait()
	// The server's goroutine of each connection counts too: it needs 8 KB at most.
	if each := held / threads; each > 12<<10 {
		t.Errorf("a waiting thread and its server hold %d bytes of stack", each)
	}
}

func stacks() int64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.StackInuse)
}
