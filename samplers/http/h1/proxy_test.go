package h1

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// tunnelling is a proxy that opens tunnels to whatever it is asked for.
func tunnelling(t *testing.T, answer string) *server {
	return serve(t, func(p *peer) {
		head := p.head()
		p.s.mu.Lock()
		p.s.got = append(p.s.got, head)
		p.s.mu.Unlock()
		p.say(answer)
		line := strings.Fields(head)
		if len(line) < 2 || !strings.HasPrefix(answer, "HTTP/1.1 2") {
			return
		}
		to, err := net.Dial("tcp", line[1])
		if err != nil {
			return
		}
		defer to.Close()
		go func() { io.Copy(to, p.r); to.Close() }()
		io.Copy(p, to)
	})
}

func through(addr, auth string) func(bool, string) *Proxy {
	p := &Proxy{Addr: addr, Auth: auth}
	return func(bool, string) *Proxy { return p }
}

func TestPlainRequestsGoThroughTheProxy(t *testing.T) {
	s := answers(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	c := client(t, Config{Proxy: through(s.addr, "Basic eDp5")})
	for _, host := range []string{"one.test:80", "two.test:8080"} {
		req := s.get("/p?q=1")
		req.Addr = host
		do(t, c, req)
	}
	want := []string{
		"GET http://one.test/p?q=1 HTTP/1.1\r\nHost: one.test\r\nProxy-Authorization: Basic eDp5\r\n\r\n",
		"GET http://two.test:8080/p?q=1 HTTP/1.1\r\nHost: two.test:8080\r\nProxy-Authorization: Basic eDp5\r\n\r\n",
	}
	if diff := cmp.Diff(want, s.requests()); diff != "" {
		t.Errorf("requests (-want +got):\n%s", diff)
	}
	if len(c.conns) != 1 {
		t.Errorf("%d connections to one proxy", len(c.conns))
	}
}

func TestTLSGoesThroughATunnel(t *testing.T) {
	cert, pool := certificate(t, time.Now().Add(time.Hour), "shop.test")
	origin := overTLS(t, &tls.Config{Certificates: []tls.Certificate{cert}}, func(p *peer) {
		for {
			if _, ok := p.request(); !ok {
				return
			}
			p.say("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
	})
	proxy := tunnelling(t, "HTTP/1.1 200 Connection established\r\nX: y\r\n\r\n")
	c := client(t, Config{TLS: &tls.Config{RootCAs: pool}, Proxy: through(proxy.addr, "Basic eDp5")})
	req := origin.get("/x")
	req.TLS, req.ServerName = true, "shop.test"
	for range 2 {
		if res := do(t, c, req); res.Status != 200 || res.Requests != 1 {
			t.Errorf("status %d, requests %d", res.Status, res.Requests)
		}
	}
	want := []string{"CONNECT " + origin.addr + " HTTP/1.1\r\nHost: " + origin.addr + "\r\nProxy-Authorization: Basic eDp5\r\n\r\n"}
	if diff := cmp.Diff(want, proxy.requests()); diff != "" {
		t.Errorf("the proxy saw (-want +got):\n%s", diff)
	}
	if got := origin.requests(); len(got) != 2 || strings.Contains(got[0], "Proxy-") || !strings.HasPrefix(got[0], "GET /x ") {
		t.Errorf("the origin saw %q", got)
	}
}

func TestProxyFailures(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	endless := strings.Repeat("X: y\r\n", 10_000)
	for _, tc := range []struct{ name, answer, want string }{
		{"refused", "", "connect_refused: proxy: connection refused"},
		{"407", "HTTP/1.1 407 Who\r\n\r\n", "connect: proxy: it asks for credentials (status 407)"},
		{"502", "HTTP/1.1 502 Bad\r\nContent-Length: 9\r\n\r\n", "connect: proxy: it opened no tunnel (status 502)"},
		{"no HTTP", "220 smtp.test\r\n\r\n", "connect: proxy: it does not speak HTTP"},
		{"bytes before TLS", "HTTP/1.1 200 OK\r\n\r\nsurplus", "connect: proxy: it does not speak HTTP"},
		{"endless head", "HTTP/1.1 200 OK\r\n" + endless, "connect: proxy: it does not speak HTTP"},
		{"cut off", "HTTP/1.1 200 OK\r\nX:", "connect: proxy: it closed the connection"},
	} {
		addr := l.Addr().String()
		if tc.name != "refused" {
			addr = serve(t, func(p *peer) { p.head(); p.say(tc.answer) }).addr
		}
		c := client(t, Config{Proxy: through(addr, "")})
		res := new(Response)
		err := c.Do(context.Background(), &Request{TLS: true, Addr: "shop.test:443", Method: "GET"}, res)
		if err == nil || err.Error() != tc.want || res.Requests != 0 || len(c.conns) != 0 {
			t.Errorf("%s: error %v, requests %d, %d connections", tc.name, err, res.Requests, len(c.conns))
		}
	}
}

func TestReroutedNames(t *testing.T) {
	s := answers(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	c := client(t, Config{Reroute: func(addr string) string {
		if addr == "shop.test:80" {
			return s.addr
		}
		return ""
	}})
	req := s.get("/")
	req.Addr = "shop.test:80"
	do(t, c, req)
	if got := s.requests()[0]; got != "GET / HTTP/1.1\r\nHost: shop.test\r\n\r\n" {
		t.Errorf("request %q", got)
	}
}

func TestAddressesOfAnotherFamily(t *testing.T) {
	c := client(t, Config{Accept: netip.Addr.Is6, Resolve: func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
	}})
	err := c.Do(context.Background(), &Request{Addr: "shop.test:80", Method: "GET"}, new(Response))
	if classOf(err) != DNS {
		t.Errorf("error %v", err)
	}
}

func TestClientsShareAJar(t *testing.T) {
	s := answers(t, "HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 2\r\n\r\nok")
	jar := NewJar(nil)
	for range 2 {
		c := NewClient(&Config{}, jar)
		defer c.Close()
		do(t, c, s.get("/"))
	}
	if got := s.requests()[1]; !strings.Contains(got, "\r\nCookie: a=b\r\n") {
		t.Errorf("request %q", got)
	}
}

// stubborn asks for a repetition as long as it may, and records what it was told.
type stubborn struct{ attempts []Attempt }

func (a *stubborn) Authorize(head []byte, at *Attempt) ([]byte, bool, error) {
	a.attempts = append(a.attempts, *at)
	return append(head, "Authorization: Test\r\n"...), at.Round == 1, nil
}
func (a *stubborn) Challenged(*Attempt, *Response) bool { return true }

func TestChallengesEnd(t *testing.T) {
	s := answers(t, "HTTP/1.1 401 Who\r\nContent-Length: 2\r\n\r\nno")
	a := &stubborn{}
	req := s.get("/x")
	req.Method, req.Body, req.Auth, req.KeepAlive = "POST", []byte("abc"), a, false
	res := do(t, client(t, Config{}), req)
	if res.Status != 401 || res.Requests != 1+maxRounds || string(res.Body) != "no" {
		t.Errorf("status %d, requests %d, body %q", res.Status, res.Requests, res.Body)
	}
	if got := s.requests(); !strings.HasSuffix(got[0], "Length: 3\r\n\r\nabc") || !strings.HasSuffix(got[1], "Length: 0\r\n\r\n") {
		t.Errorf("requests %q", got)
	}
	for i, at := range a.attempts {
		if at.Round != i || at.Conn != a.attempts[0].Conn {
			t.Errorf("attempt %d: round %d on connection %d", i, at.Round, at.Conn)
		}
	}
}

func TestCredentialsStayAtTheOrigin(t *testing.T) {
	other := answers(t, "HTTP/1.1 401 Who\r\nContent-Length: 0\r\n\r\n")
	s := answers(t, "HTTP/1.1 302 Go\r\nLocation: http://"+other.addr+"/\r\nContent-Length: 0\r\n\r\n")
	req := s.get("/")
	req.Auth, req.Redirects.Follow = &stubborn{}, true
	res := do(t, client(t, Config{}), req)
	if got := other.requests(); res.Status != 401 || len(got) != 1 || strings.Contains(got[0], "Authorization") {
		t.Errorf("status %d, the other origin saw %q", res.Status, got)
	}
}
