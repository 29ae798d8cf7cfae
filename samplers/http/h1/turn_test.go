package h1

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// A server may say goodbye right behind an answer without closing: nothing is
// reported for the next request, which must fail all the same, and soon.
func TestGoodbyeBeforeTheRequest(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprint("TLS ", secure), func(t *testing.T) { testGoodbyeBeforeTheRequest(t, secure) })
	}
}

func testGoodbyeBeforeTheRequest(t *testing.T, secure bool) {
	t.Parallel()
	s, cfg := serveEither(t, secure, nil, func(p *peer) {
		p.request()
		p.say(small)
		_ = p.Conn.(interface{ CloseWrite() error }).CloseWrite()
		p.request()
		p.request()
	})
	cfg.IdleCheck = -1
	c := client(t, cfg)
	first, req, begin := s.get("/1"), s.get("/2"), time.Now()
	first.TLS, req.TLS, req.Timeouts.Total = secure, secure, time.Minute
	do(t, c, first)
	if !secure { // TLS may have read it with the answer
		waitClosed(t, c)
	}
	err := c.Do(context.Background(), req, new(Response))
	if classOf(err) != ResetReused {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > 10*glance {
		t.Errorf("it took %v to see", took)
	}
	for range 500 { // the client may be faster than the server
		if len(s.requests()) == 2 {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Errorf("the server saw %d requests, want 2", len(s.requests()))
}

// An answer that takes longer than a glance is waited for.
func TestAnswerAfterAGlance(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprint("TLS ", secure), func(t *testing.T) { testAnswerAfterAGlance(t, secure) })
	}
}

func testAnswerAfterAGlance(t *testing.T, secure bool) {
	t.Parallel()
	slow := glance + 200*time.Millisecond
	s, cfg := serveEither(t, secure, nil, func(p *peer) {
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
	c := client(t, cfg)
	req := s.get("/")
	req.TLS, req.Timeouts.Total = secure, time.Minute
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
	t.Run("plain", func(t *testing.T) { testTurnsShareBuffers(t, false) })
	t.Run("TLS", func(t *testing.T) { testTurnsShareBuffers(t, true) })
}

func testTurnsShareBuffers(t *testing.T, secure bool) {
	handle := func(p *peer) {
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
	}
	s, cfg := serveEither(t, secure, nil, handle)
	cfg.Pool = NewPool()
	var all sync.WaitGroup
	for thread := range 20 {
		all.Go(func() {
			c := NewClient(&cfg, nil)
			defer c.Close()
			res := new(Response)
			for i := range 50 {
				name := "/" + strconv.Itoa(thread) + "/" + strconv.Itoa(i)
				req := s.get(name)
				req.TLS = secure
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

// serveEither serves over TLS or not, through sockets that set prepares, and returns
// what a client needs to ask there.
func serveEither(t *testing.T, secure bool, set func(network, address string, raw syscall.RawConn) error, handle func(p *peer)) (*server, Config) {
	l, err := (&net.ListenConfig{Control: set}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if !secure {
		return serveOn(t, l, handle), Config{}
	}
	cert, roots := certificate(t, time.Now().Add(time.Hour), "shop.test")
	return serveOn(t, l, behindTLS(&tls.Config{Certificates: []tls.Certificate{cert}}, handle)),
		Config{TLS: &tls.Config{RootCAs: roots, ServerName: "shop.test"}}
}

// A request that the socket takes in part only is sent whole, sealed or not, and
// one that it cannot take before its time is over fails.
func TestTurnsThatAreCutShort(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprint("TLS ", secure), func(t *testing.T) {
			var hold atomic.Int64
			s, cfg := serveEither(t, secure, least, func(p *peer) {
				for {
					time.Sleep(time.Duration(hold.Load()))
					text, more := p.request()
					if !more {
						return
					}
					p.say(ok200(strconv.Itoa(len(text))))
				}
			})
			cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
				conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
				if err == nil {
					_ = conn.(*net.TCPConn).SetWriteBuffer(1) // the system's least
				}
				return conn, err
			}
			c := client(t, cfg)
			req := s.get("/")
			req.TLS = secure
			req.Head = []byte("X-Fill: " + strings.Repeat("x", 15000) + "\r\n")
			for i := range 4 {
				hold.Store(int64(i) * int64(20*time.Millisecond))
				res := do(t, c, req)
				if want := strconv.FormatInt(res.BytesSent, 10); string(res.Body) != want || res.Requests != 1 || res.BytesSent < 15000 {
					t.Errorf("the server got %s bytes of %s, in %d requests", res.Body, want, res.Requests)
				}
			}
			req.Timeouts.Total = 30 * time.Millisecond
			big := *req
			big.Body, big.Method = make([]byte, 4<<20), "POST"
			if err := c.Do(context.Background(), &big, new(Response)); classOf(err) != Timeout {
				t.Errorf("got %v", err)
			}
		})
	}
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

// A kept connection that the server has closed without a word fails an upload for
// what it is, not for the deadline that cuts its body off.
func TestUploadIntoAClosedConnection(t *testing.T) {
	for _, secure := range []bool{false, true} {
		t.Run(fmt.Sprint("TLS ", secure), func(t *testing.T) {
			s, cfg := serveEither(t, secure, nil, func(p *peer) {
				p.request()
				p.say(small)
				_ = p.Conn.(interface{ CloseWrite() error }).CloseWrite()
				time.Sleep(20 * time.Millisecond)
			})
			cfg.IdleCheck = -1
			for range 20 {
				c := client(t, cfg)
				first, req := s.get("/1"), s.get("/2")
				first.TLS, req.TLS, req.Timeouts.Total = secure, secure, time.Minute
				req.Method, req.Body = "POST", make([]byte, 8<<20)
				do(t, c, first)
				res := new(Response)
				if err := c.Do(context.Background(), req, res); classOf(err) == Timeout || err == nil || res.Stamps.Done > 30*time.Second {
					t.Fatalf("got %v, done at %v", err, res.Stamps.Done)
				}
			}
		})
	}
}

// corked passes on what is written only when it is told to.
type corked struct {
	net.Conn
	kept []byte
	on   bool
}

func (c *corked) Write(p []byte) (int, error) {
	if c.kept = append(c.kept, p...); !c.on {
		return len(p), c.flush()
	}
	return len(p), nil
}

func (c *corked) flush() error {
	_, err := c.Conn.Write(c.kept)
	c.kept = nil
	return err
}

// What a TLS turn has read beyond an answer is not lost: the record behind it,
// here the next answer, is read before what comes from the wire.
func TestRecordsBehindAnAnswer(t *testing.T) {
	cert, roots := certificate(t, time.Now().Add(time.Hour), "shop.test")
	s := serve(t, func(p *peer) {
		under := &corked{Conn: p.Conn}
		conn := tls.Server(under, &tls.Config{Certificates: []tls.Certificate{cert}})
		defer conn.Close()
		in := &peer{conn, bufio.NewReader(conn), p.s}
		for i := 0; ; i++ {
			if _, more := in.request(); !more {
				return
			}
			under.on = i == 1
			in.say(ok200("answer " + strconv.Itoa(i)))
			if under.on {
				under.on = false
				in.say(ok200("behind it")) // goes out with the answer, in a record of its own
			}
		}
	})
	c := client(t, Config{IdleCheck: -1, TLS: &tls.Config{RootCAs: roots, ServerName: "shop.test"}})
	req := s.get("/")
	req.TLS = true
	for i, want := range []string{"answer 0", "answer 1", "behind it", "answer 2"} {
		if res := do(t, c, req); string(res.Body) != want {
			t.Fatalf("request %d: got %q, want %q", i, res.Body, want)
		}
	}
}
