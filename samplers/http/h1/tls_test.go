package h1

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"math/big"
	"net"
	"net/netip"
	"strings"
	"testing"
	"time"
)

// certificate is self-signed for these names.
func certificate(t testing.TB, notAfter time.Time, names ...string) (tls.Certificate, *x509.CertPool) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: names, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: notAfter, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(leaf)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, pool
}

// overTLS serves handle behind TLS; handshakes that fail end the connection.
func overTLS(t testing.TB, cfg *tls.Config, handle func(p *peer)) *server {
	return serve(t, behindTLS(cfg, handle))
}

func behindTLS(cfg *tls.Config, handle func(p *peer)) func(p *peer) {
	return func(p *peer) {
		conn := tls.Server(p.Conn, cfg)
		defer conn.Close()
		if conn.Handshake() == nil {
			handle(&peer{conn, bufio.NewReader(conn), p.s})
		}
	}
}

func toLoopback(context.Context, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

func (s *server) secure(host string) *Request {
	req := s.get("/")
	_, port, _ := net.SplitHostPort(s.addr)
	req.TLS, req.Addr = true, host+":"+port
	return req
}

func TestTLS(t *testing.T) {
	cert, roots := certificate(t, time.Now().Add(time.Hour), "shop.test")
	seen := make(chan tls.ConnectionState, 8)
	s := overTLS(t, &tls.Config{Certificates: []tls.Certificate{cert}}, func(p *peer) {
		seen <- p.Conn.(*tls.Conn).ConnectionState()
		for {
			r, more := p.request()
			if !more {
				return
			}
			if strings.Contains(r, "/hang") {
				continue
			}
			p.say(ok+"Content-Length: 20000\r\n\r\n", strings.Repeat("x", 20000))
		}
	})
	c := client(t, Config{TLS: &tls.Config{RootCAs: roots}, Resolve: toLoopback})
	res := do(t, c, s.secure("shop.test"))
	if res.WireBody != 20000 || res.Phases.TLS <= 0 || res.Phases.Connect <= 0 || res.FinalURL() != "https://"+s.secure("shop.test").Addr+"/" {
		t.Errorf("body %d, phases %+v, URL %s", res.WireBody, res.Phases, res.FinalURL())
	}
	if state := <-seen; state.ServerName != "shop.test" || state.DidResume || state.NegotiatedProtocol != "" {
		t.Errorf("server saw %+v", state)
	}
	if res := do(t, c, s.secure("shop.test")); !res.Reused || res.Phases.TLS != 0 {
		t.Errorf("reused %v, phases %+v", res.Reused, res.Phases)
	}
	// A deadline that passes early is extended below TLS, too.
	c.due = c.clock() + 30*time.Millisecond
	c.arm(c.conns[0], c.due)
	c.conns[0].deadline = c.clock() + 4*time.Second
	hang := s.secure("shop.test")
	hang.Target, hang.Timeouts.Total = []byte("/hang"), 300*time.Millisecond
	before := c.clock()
	err := c.Do(context.Background(), hang, res)
	if took := c.clock() - before; classOf(err) != Timeout || took < 290*time.Millisecond {
		t.Errorf("got %v after %v", err, took)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(20*time.Millisecond, cancel)
	hang.Timeouts.Total = 10 * time.Second
	if err := c.Do(ctx, hang, res); classOf(err) != Cancelled {
		t.Errorf("got %v", err)
	}
}

func TestTLSIdleCheck(t *testing.T) {
	cert, roots := certificate(t, time.Now().Add(time.Hour), "shop.test")
	s := overTLS(t, &tls.Config{Certificates: []tls.Certificate{cert}}, func(p *peer) { p.request(); p.say(small) })
	c := client(t, Config{TLS: &tls.Config{RootCAs: roots}, Resolve: toLoopback, IdleCheck: time.Nanosecond})
	do(t, c, s.secure("shop.test"))
	waitClosed(t, c)
	if res := do(t, c, s.secure("shop.test")); res.Reconnects != 1 || res.Phases.TLS <= 0 {
		t.Errorf("reconnects %d", res.Reconnects)
	}
}

func TestTLSErrors(t *testing.T) {
	good, roots := certificate(t, time.Now().Add(time.Hour), "shop.test")
	old, oldRoots := certificate(t, time.Now().Add(-time.Minute), "shop.test")
	serving := func(cert tls.Certificate) *server {
		return overTLS(t, &tls.Config{Certificates: []tls.Certificate{cert}}, func(p *peer) { p.request(); p.say(small) })
	}
	needsClient := overTLS(t, &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAnyClientCert}, func(p *peer) {})
	for name, tc := range map[string]struct {
		s       *server
		host    string
		cfg     *tls.Config
		class   Class
		message string
	}{
		"unknown authority": {serving(good), "shop.test", nil, TLS, "certificate signed by unknown authority"},
		"another name":      {serving(good), "other.test", &tls.Config{RootCAs: roots}, TLS, "the certificate is not valid for this host"},
		"an address":        {serving(good), "127.0.0.1", &tls.Config{RootCAs: roots}, TLS, "the certificate is not valid for this host"},
		"expired":           {serving(old), "shop.test", &tls.Config{RootCAs: oldRoots}, TLS, "the certificate has expired or is not yet valid"},
		"too old":           {serving(good), "shop.test", &tls.Config{RootCAs: roots, MaxVersion: tls.VersionTLS11, MinVersion: tls.VersionTLS10}, TLS, "protocol version not supported"},
		"plain server":      {serve(t, func(p *peer) { p.say("HTTP/1.1 400 Bad Request\r\n\r\n") }), "shop.test", nil, TLS, "the server does not speak TLS on this port"},
		"closed":            {serve(t, func(p *peer) { p.r.Peek(1) }), "shop.test", nil, TLS, "the server closed the connection during the handshake"},
		"client needed":     {needsClient, "shop.test", &tls.Config{RootCAs: roots}, TLS, "certificate required"},
		"silent":            {serve(t, func(p *peer) { p.request() }), "shop.test", nil, ConnectTimeout, "no connection in time: the TLS handshake"},
	} {
		t.Run(name, func(t *testing.T) {
			req, res := tc.s.secure(tc.host), new(Response)
			req.Timeouts.Connect = time.Second
			if name == "silent" {
				req.Timeouts.Connect = 30 * time.Millisecond
			}
			c := client(t, Config{TLS: tc.cfg, Resolve: toLoopback})
			err := c.Do(context.Background(), req, res)
			if classOf(err) != tc.class || !strings.Contains(AsError(err).Message, tc.message) {
				t.Errorf("got %v, want %s: %s", err, tc.class, tc.message)
			}
			if len(c.conns) != 0 || name != "client needed" && res.Requests != 0 {
				t.Errorf("%d connections, %d requests", len(c.conns), res.Requests)
			}
		})
	}
}

func TestStreamedBodies(t *testing.T) {
	s := serve(t, func(p *peer) {
		for {
			r, more := p.request()
			if !more {
				return
			}
			if strings.Contains(r, "chunked") {
				var b strings.Builder
				for !strings.HasSuffix(b.String(), "0\r\n\r\n") {
					line, err := p.r.ReadString('\n')
					if err != nil {
						return
					}
					b.WriteString(line)
				}
				p.s.mu.Lock()
				p.s.got = append(p.s.got, b.String())
				p.s.mu.Unlock()
			}
			p.say(small)
		}
	})
	c := client(t, Config{})
	req := s.get("/")
	req.Method = "PUT"
	long := strings.Repeat("z", 40000)
	req.BodyReader, req.Length = strings.NewReader(long), int64(len(long))
	if res := do(t, c, req); !strings.HasSuffix(s.requests()[0], "\r\n\r\n"+long) || res.BytesSent != int64(len(s.requests()[0])) {
		t.Errorf("the server got %d bytes", len(s.requests()[0]))
	}
	req.BodyReader, req.Length = strings.NewReader("abcdefghijklmnopq"), -1
	do(t, c, req)
	if got, want := s.requests()[2], "11\r\nabcdefghijklmnopq\r\n0\r\n\r\n"; got != want {
		t.Errorf("chunks %q, want %q", got, want)
	}
	req.BodyReader, req.Length = strings.NewReader("short"), 10
	if err := c.Do(context.Background(), req, new(Response)); classOf(err) != LocalResource || len(c.conns) != 0 {
		t.Errorf("a body that is too short: %v", err)
	}
}

func TestPlainToTLSServer(t *testing.T) {
	s := answersOnce(t, "\x15\x03\x01\x00\x02\x02\x46")
	err := client(t, Config{}).Do(context.Background(), s.get("/"), new(Response))
	if classOf(err) != Protocol || !strings.Contains(err.Error(), "use https") {
		t.Errorf("got %v", err)
	}
}
