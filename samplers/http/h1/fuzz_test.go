package h1

import (
	"bytes"
	"context"
	"io"
	"net"
	"testing"
	"time"
)

// scripted is a connection that gives the answer in pieces and then ends.
type scripted struct {
	canned
	piece int
}

func (s *scripted) Write(p []byte) (int, error) { return len(p), nil }
func (s *scripted) Read(p []byte) (int, error) {
	if s.at == len(s.answer) {
		return 0, io.EOF
	}
	end := min(len(s.answer), s.at+s.piece)
	n := copy(p, s.answer[s.at:end])
	s.at += n
	return n, nil
}

// read gives the answer to a client in pieces.
func read(answer []byte, piece int, method string, need bool) (*Response, error) {
	c := NewClient(&Config{Dial: func(context.Context, string, string) (net.Conn, error) {
		return &scripted{canned{answer: answer}, piece}, nil
	}}, nil)
	defer c.Close()
	res := new(Response)
	err := c.Do(context.Background(), &Request{Addr: "127.0.0.1:80", Method: method, KeepAlive: true, NeedBody: need,
		Decode: true, MaxBody: 1 << 20, MaxHeader: 1 << 14, Timeouts: Timeouts{Total: time.Minute}}, res)
	return res, err
}

// FuzzAnswer holds any bytes as an answer against what must hold for all: no
// panic, bounds kept, and the same outcome however the bytes are cut.
func FuzzAnswer(f *testing.F) {
	for _, seed := range []string{
		typical, small, "", ok, ok + "\r\nto the end", "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 1\r\n\r\na",
		ok + "Transfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n0\r\nA: b\r\n\r\n",
		"HTTP/1.1 100 Continue\r\n\r\n" + small, ok + "X: a\r\n\tb\r\nContent-Length: 2, 2\r\n\r\nhi",
		ok + "Set-Cookie: a=b; Domain=x; Expires=Thu, 01 Jan 1970 00:00:00 GMT\r\nContent-Length: 0\r\n\r\n",
		coded("gzip", encode(f, "gzip", []byte("hello"))), coded("deflate", encode(f, "raw", []byte("hello"))),
		coded("br", encode(f, "br", []byte("hello"))), coded("zstd, gzip", encode(f, "gzip", encode(f, "zstd", []byte("hello")))),
		"\x15\x03\x01\x00\x02\x02\x46", "HTTP/1.1 301 Moved\r\nLocation: //x\r\nContent-Length: 0\r\n\r\n",
	} {
		f.Add([]byte(seed), uint16(7), true)
	}
	f.Fuzz(func(t *testing.T, answer []byte, piece uint16, need bool) {
		method := "GET"
		if piece%5 == 4 {
			method = "HEAD"
		}
		whole, err := read(answer, len(answer)+1, method, need)
		pieces, err2 := read(answer, int(piece)+1, method, need)
		if e := AsError(err); err != nil && (e == nil || e.Class == "" || e.Message == "") {
			t.Fatalf("an error without class: %v", err)
		}
		if int64(len(whole.Body)) > 1<<20 {
			t.Fatalf("%d body bytes beyond the limit", len(whole.Body))
		}
		for i := range whole.Headers() {
			_ = whole.Header(i)
		}
		if err == nil && err2 == nil && (whole.Status != pieces.Status || !bytes.Equal(whole.Body, pieces.Body) || whole.WireBody != pieces.WireBody) {
			t.Fatalf("whole: %d %q, in pieces: %d %q", whole.Status, whole.Body, pieces.Status, pieces.Body)
		}
		if err == nil && err2 != nil {
			t.Fatalf("whole: fine, in pieces: %v", err2)
		}
	})
}

func FuzzParseURL(f *testing.F) {
	for _, seed := range []string{"http://a/b?c#d", "https://[::1]:1/", "http://ü/", "http://a:b@c/", "//x", "../y", "?z", "http://a\r\nb/"} {
		f.Add(seed)
	}
	base := URL{Host: "shop.test", Port: 80, Target: "/a/b?c"}
	f.Fuzz(func(t *testing.T, raw string) {
		for _, parse := range []func(string) (URL, error){ParseURL, func(s string) (URL, error) { return Resolve(base, s) }} {
			u, err := parse(raw)
			if err != nil {
				continue
			}
			for _, c := range []byte(u.Host + u.Target) {
				if c <= ' ' || c >= 0x7f {
					t.Fatalf("%q gives the byte %q", raw, c)
				}
			}
			again, err := ParseURL(u.String())
			if err != nil || again.String() != u.String() {
				t.Fatalf("%q: %s does not parse to itself: %s, %v", raw, u, again, err)
			}
		}
	})
}

func FuzzSetCookie(f *testing.F) {
	f.Add("a=b; Path=/; Domain=shop.test; Max-Age=5; Expires=Thu, 01 Jan 2037 00:00:00 GMT; Secure")
	f.Add(`a={"x": [1]}; Max-Age=-99999999999999999999`)
	f.Fuzz(func(t *testing.T, line string) {
		c := NewClient(&Config{}, nil)
		if c.SetCookie(URL{Host: "www.shop.test", Target: "/x"}, line) != nil {
			return
		}
		for _, k := range c.jar.cookies {
			if bytes.ContainsAny([]byte(k.Name+k.Value), "\r\n\x00;") {
				t.Fatalf("%q keeps %q=%q", line, k.Name, k.Value)
			}
		}
	})
}
