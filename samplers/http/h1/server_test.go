package h1

import (
	"bufio"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"
)

// server is a raw socket server: every connection is given to its handler.
type server struct {
	addr string
	mu   sync.Mutex
	got  []string // requests as received, one an entry
}

// peer is one accepted connection.
type peer struct {
	net.Conn
	r *bufio.Reader
	s *server
}

// serve listens until the test ends.
func serve(t testing.TB, handle func(p *peer)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, l, handle)
}

func serveOn(t testing.TB, l net.Listener, handle func(p *peer)) *server {
	s := &server{addr: l.Addr().String()}
	var wg sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			wg.Add(1)
			go func() {
				defer wg.Done()
				defer conn.Close()
				handle(&peer{conn, bufio.NewReader(conn), s})
			}()
		}
	}()
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for _, conn := range open {
			conn.Close()
		}
		mu.Unlock()
		wg.Wait()
	})
	return s
}

// request reads one request with a Content-Length body; false at the end.
func (p *peer) request() (string, bool) {
	var b strings.Builder
	length := 0
	for {
		line, err := p.r.ReadString('\n')
		if err != nil {
			return "", false
		}
		b.WriteString(line)
		if v, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			for _, c := range strings.TrimSpace(v) {
				length = length*10 + int(c-'0')
			}
		}
		if line == "\r\n" {
			break
		}
	}
	body := make([]byte, length)
	if _, err := io.ReadFull(p.r, body); err != nil {
		return "", false
	}
	b.Write(body)
	p.s.mu.Lock()
	p.s.got = append(p.s.got, b.String())
	p.s.mu.Unlock()
	return b.String(), true
}

// say writes raw bytes.
func (p *peer) say(parts ...string) {
	for i, part := range parts {
		if i > 0 {
			time.Sleep(time.Millisecond)
		}
		io.WriteString(p, part)
	}
}

func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.got...)
}

// answers serves every request of every connection with the same bytes.
func answers(t testing.TB, parts ...string) *server {
	t.Helper()
	return serve(t, func(p *peer) {
		for {
			if _, ok := p.request(); !ok {
				return
			}
			p.say(parts...)
		}
	})
}

// answersOnce answers one request and closes the connection.
func answersOnce(t testing.TB, parts ...string) *server {
	t.Helper()
	return serve(t, func(p *peer) {
		if _, ok := p.request(); ok {
			p.say(parts...)
		}
	})
}

func (s *server) get(target string) *Request {
	return &Request{Addr: s.addr, Method: "GET", Target: []byte(target), KeepAlive: true,
		NeedBody: true, Decode: true, Timeouts: Timeouts{Total: 5 * time.Second}}
}

func client(t testing.TB, cfg Config) *Client {
	t.Helper()
	c := NewClient(&cfg, nil)
	t.Cleanup(func() { c.Close() })
	return c
}

func do(t *testing.T, c *Client, req *Request) *Response {
	t.Helper()
	res := new(Response)
	if err := c.Do(context.Background(), req, res); err != nil {
		t.Fatalf("Do: %v", err)
	}
	return res
}

// classOf returns the class of err, or "" for nil.
func classOf(err error) Class {
	if e := AsError(err); e != nil {
		return e.Class
	}
	return ""
}

func hostIn(text, addr string) string { return strings.ReplaceAll(text, "HOST", addr) }
