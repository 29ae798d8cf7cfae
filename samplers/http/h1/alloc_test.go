package h1

import (
	"context"
	"net"
	"runtime"
	"testing"
	"time"
)

// canned is a connection that answers every request with the same bytes.
type canned struct {
	net.Conn
	answer []byte
	at     int
}

func (f *canned) Write(p []byte) (int, error)      { f.at = 0; return len(p), nil }
func (f *canned) Read(p []byte) (int, error)       { n := copy(p, f.answer[f.at:]); f.at += n; return n, nil }
func (f *canned) Close() error                     { return nil }
func (f *canned) SetDeadline(time.Time) error      { return nil }
func (f *canned) SetWriteDeadline(time.Time) error { return nil }

func cannedClient(t testing.TB, answer string) *Client {
	return client(t, Config{Dial: func(context.Context, string, string) (net.Conn, error) {
		return &canned{answer: []byte(answer)}, nil
	}})
}

const typical = ok + "Server: nginx\r\nDate: Tue, 01 Jan 2030 00:00:00 GMT\r\nContent-Type: text/plain\r\n" +
	"Content-Length: 12\r\nLast-Modified: Tue, 01 Jan 2030 00:00:00 GMT\r\nConnection: keep-alive\r\nETag: \"5f-1\"\r\n" +
	"Accept-Ranges: bytes\r\n\r\nHello World\n"

func allocCases(t testing.TB) map[string]struct {
	answer string
	edit   func(*Client, *Request)
} {
	big := ok + "Content-Length: 100000\r\n\r\n" + string(make([]byte, 100000))
	return map[string]struct {
		answer string
		edit   func(*Client, *Request)
	}{
		"typical":   {typical, func(*Client, *Request) {}},
		"discarded": {typical, func(_ *Client, r *Request) { r.NeedBody = false }},
		"large":     {big, func(*Client, *Request) {}},
		"chunked":   {ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", func(*Client, *Request) {}},
		"gzip":      {coded("gzip", encode(t, "gzip", make([]byte, 10000))), func(*Client, *Request) {}},
		"post":      {typical, func(_ *Client, r *Request) { r.Method, r.Body = "POST", make([]byte, 1000) }},
		"cookies": {typical, func(c *Client, r *Request) {
			_ = c.SetCookie(URL{Host: "127.0.0.1", Target: "/"}, "sid=1234; Max-Age=600")
			r.Cookie = []byte("a=b")
		}},
	}
}

func TestNoAllocations(t *testing.T) {
	for name, tc := range allocCases(t) {
		t.Run(name, func(t *testing.T) {
			c := cannedClient(t, tc.answer)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			req, res := requestTo("127.0.0.1:80"), new(Response)
			tc.edit(c, req)
			got := testing.AllocsPerRun(200, func() {
				if err := c.Do(ctx, req, res); err != nil {
					t.Fatal(err)
				}
				if _, found := res.Get("content-encoding"); found != (name == "gzip") {
					t.Fatal("wrong header")
				}
				res.Release()
			})
			if got > 0 && !raceEnabled {
				t.Errorf("%v allocations a call, want none", got)
			}
		})
	}
}

func requestTo(addr string) *Request {
	return &Request{Addr: addr, Method: "GET", Target: []byte("/index.html"), KeepAlive: true, NeedBody: true, Decode: true,
		Head: []byte("User-Agent: runner\r\nAccept: */*\r\n")}
}

// What a client keeps between calls, beside its goroutine and the socket.
func TestIdleClientIsSmall(t *testing.T) {
	const n = 500
	cfg := Config{Pool: NewPool(), Dial: func(context.Context, string, string) (net.Conn, error) {
		return &canned{answer: []byte(typical)}, nil
	}}
	clients, responses := make([]*Client, n), make([]Response, n)
	before := heap()
	for i := range clients {
		clients[i] = NewClient(&cfg, nil)
		if err := clients[i].Do(context.Background(), requestTo("127.0.0.1:80"), &responses[i]); err != nil {
			t.Fatal(err)
		}
		responses[i].Release()
	}
	if got := (heap() - before) / n; got > 4096 && !raceEnabled {
		t.Errorf("an idle client keeps %d bytes, want at most 4096", got)
	}
	for _, c := range clients {
		c.Close()
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // empties the pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}
