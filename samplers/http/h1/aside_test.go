package h1

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// head reads a request's head only.
func (p *peer) head() string {
	var b strings.Builder
	for {
		line, err := p.r.ReadString('\n')
		b.WriteString(line)
		if err != nil || line == "\r\n" {
			return b.String()
		}
	}
}

// endless is a body that never ends; it counts what was read of it.
type endless struct{ read int64 }

func (e *endless) Read(p []byte) (int, error) { e.read += int64(len(p)); return len(p), nil }

func upload(s *server, n int) *Request {
	req := s.get("/up")
	req.Method, req.Body = "POST", make([]byte, n)
	return req
}

// A server that answers early and reads no further holds nobody up.
func TestEarlyAnswerToAServerThatStopsReading(t *testing.T) {
	for name, edit := range map[string]func(req *Request){
		"bytes":  func(req *Request) { req.Body = make([]byte, 64<<20) },
		"stream": func(req *Request) { req.BodyReader, req.Length = &endless{}, 1<<40 },
		"chunks": func(req *Request) { req.BodyReader, req.Length = &endless{}, -1 },
	} {
		t.Run(name, func(t *testing.T) {
			release := make(chan struct{})
			s := serve(t, func(p *peer) {
				p.head()
				p.say("HTTP/1.1 413 Too Large\r\nContent-Length: 3\r\n\r\nno!")
				<-release
			})
			defer close(release)
			req, c := upload(s, 0), client(t, Config{})
			edit(req)
			start := time.Now()
			res := do(t, c, req)
			if res.Status != 413 || string(res.Body) != "no!" || res.Requests != 1 {
				t.Errorf("status %d, body %q, requests %d", res.Status, res.Body, res.Requests)
			}
			if took := time.Since(start); took > 3*time.Second {
				t.Errorf("it took %v of a timeout of 5 s", took)
			}
			if len(c.conns) != 0 {
				t.Error("the connection with half a request on it was kept")
			}
			if sum := res.Phases.Send + res.Phases.Wait + res.Phases.Receive; sum > res.Stamps.Done-res.Stamps.Sent {
				t.Errorf("phases add up to %v of %v", sum, res.Stamps.Done-res.Stamps.Sent)
			}
		})
	}
}

// An answer that is ready before the body is through does not cut off a server
// that reads on, and the connection serves the next request.
func TestEarlyAnswerToAServerThatReadsOn(t *testing.T) {
	const size = 4 << 20
	s := serve(t, func(p *peer) {
		for p.head() != "" {
			p.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			if _, err := io.CopyN(io.Discard, p.r, size); err != nil {
				return
			}
		}
	})
	c := client(t, Config{})
	for i := range 2 {
		res := do(t, c, upload(s, size))
		if res.BytesSent < size || res.Reused != (i == 1) {
			t.Errorf("call %d sent %d bytes, reused %v", i, res.BytesSent, res.Reused)
		}
	}
}

func TestLargeBodyOverTLS(t *testing.T) {
	cert, pool := certificate(t, time.Now().Add(time.Hour), "shop.test")
	got := make(chan int64, 1)
	s := overTLS(t, &tls.Config{Certificates: []tls.Certificate{cert}}, func(p *peer) {
		p.head()
		n, _ := io.CopyN(io.Discard, p.r, 8<<20)
		got <- n
		p.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	})
	req := upload(s, 8<<20)
	req.TLS, req.ServerName = true, "shop.test"
	do(t, client(t, Config{TLS: &tls.Config{RootCAs: pool}}), req)
	if n := <-got; n != 8<<20 {
		t.Errorf("%d bytes arrived", n)
	}
}

func TestABodyThatCannotBeReadEndsTheCallAtOnce(t *testing.T) {
	broken := errors.New("disk")
	for name, r := range map[string]io.Reader{
		"error":     io.MultiReader(bytes.NewReader(make([]byte, 1<<20)), failing{broken}),
		"too short": bytes.NewReader(make([]byte, 1<<20)),
	} {
		s := serve(t, func(p *peer) { io.Copy(io.Discard, p.r) })
		req := upload(s, 0)
		req.BodyReader, req.Length = r, 2<<20
		start := time.Now()
		err := client(t, Config{}).Do(context.Background(), req, new(Response))
		if classOf(err) != LocalResource || time.Since(start) > 3*time.Second {
			t.Errorf("%s: %v after %v", name, err, time.Since(start))
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestExpectContinue(t *testing.T) {
	const body = "0123456789"
	for _, tc := range []struct {
		name   string
		before string // said after the head
		sent   bool   // the body comes
		status int
	}{
		{"asked for", "HTTP/1.1 100 Continue\r\n\r\n", true, 200},
		{"after another 1xx", "HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n", true, 200},
		{"silence", "", true, 200},
		{"refused", "HTTP/1.1 417 No\r\nContent-Length: 0\r\n\r\n", false, 417},
		{"not needed", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", false, 200},
	} {
		t.Run(tc.name, func(t *testing.T) {
			heads, bodies := make(chan string, 1), make(chan string, 1)
			s := serve(t, func(p *peer) {
				heads <- p.head()
				p.say(tc.before)
				got := make([]byte, len(body))
				n, _ := io.ReadFull(p.r, got)
				bodies <- string(got[:n])
				p.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
			})
			req, c := s.get("/"), client(t, Config{})
			req.Method, req.Body, req.ExpectContinue = "PUT", []byte(body), true
			start := time.Now()
			res := do(t, c, req)
			if !strings.Contains(<-heads, "\r\nExpect: 100-continue\r\n") {
				t.Error("nobody was asked")
			}
			if got := <-bodies; (got == body) != tc.sent || !tc.sent && got != "" {
				t.Errorf("the body was %q", got)
			}
			if res.Status != tc.status || (len(c.conns) == 1) != tc.sent {
				t.Errorf("status %d, %d connections kept", res.Status, len(c.conns))
			}
			if waited := time.Since(start) >= continueWait; waited != (tc.name == "silence") {
				t.Errorf("it took %v", time.Since(start))
			}
		})
	}
}

func TestCancelledWhileTheBodyIsWritten(t *testing.T) {
	s := serve(t, func(p *peer) { p.head(); <-time.After(200 * time.Millisecond) })
	req := upload(s, 64<<20)
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := client(t, Config{}).Do(ctx, req, new(Response)); classOf(err) != Cancelled {
		t.Errorf("error %v", err)
	}
}

// Bytes that come late after an answer must not become the next one's.
func TestLateSurplusIsNotTheNextAnswer(t *testing.T) {
	s := serve(t, func(p *peer) {
		if _, ok := p.request(); ok {
			p.say("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nright", "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong")
		}
		p.request()
	})
	c := client(t, Config{})
	do(t, c, s.get("/"))
	time.Sleep(50 * time.Millisecond)
	res := do(t, c, s.get("/"))
	if string(res.Body) != "right" || res.Reconnects != 1 {
		t.Errorf("body %q, reconnects %d", res.Body, res.Reconnects)
	}
}
