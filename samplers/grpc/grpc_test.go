package grpc_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	google "google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/reflection"
	reflectionv1 "google.golang.org/grpc/reflection/grpc_reflection_v1"
	reflectionalpha "google.golang.org/grpc/reflection/grpc_reflection_v1alpha"

	"runner/plan/element"
	"runner/plan/element/elementtest"
	"runner/plan/engine"
	"runner/samplers/grpc"
)

const proto = "proto: proto/cart.proto, call: shop.v1.Cart/"

type caller struct {
	bound  *elementtest.Bound
	thread *element.Thread
	sample element.Sample
}

func newCaller(t testing.TB, text string) *caller {
	t.Helper()
	c := &caller{bound: elementtest.Bind(t, grpc.All()[0], text, config)}
	c.bound.Open(t)
	c.thread = c.bound.Thread(1)
	c.thread.Clock = engine.NewPlainClock()
	time.Sleep(time.Millisecond) // so that no stamp is 0
	t.Cleanup(c.thread.Close)
	return c
}

func (c *caller) call(ctx context.Context) error {
	c.sample.Reset()
	c.sample.Needs = element.NeedBody | element.NeedHeaders
	c.thread.Sample = &c.sample
	return c.bound.Element.(element.Sampler).Sample(ctx, c.thread, &c.sample)
}

func (c *caller) value(t testing.TB, name string) any {
	t.Helper()
	v, ok := c.thread.Lookup(name)
	if !ok {
		t.Fatalf("%s has no value; body %s", name, c.sample.Body)
	}
	return v
}

func class(err error) string {
	var e *element.Error
	if errors.As(err, &e) {
		return string(e.Class) + ": " + e.Message
	}
	if err != nil {
		return "plain: " + err.Error()
	}
	return ""
}

func TestUnary(t *testing.T) {
	s := serve(t, nil)
	c := newCaller(t, "grpc: {target: '"+s.addr+"', "+proto+"Add, message: {user: '${n}', sku: '${sku}', qty: '${sku}', gift: 'true', at: 2022-06-25T05:24:43Z, more: [{sku: 5}], notes: {a: 1}}, metadata: {x-tag: [a, b], X-One: '${n}'}}")
	for range 3 {
		if err := c.call(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]any{"cart_id": "c1", "total": int64(9007199254740993), "state": "FILLED", "items": []any{map[string]any{"sku": "A", "qty": int64(2)}},
		"at": "2025-01-02T03:04:05Z", "price": 1.5, "raw": "AQI=", "notes": map[string]any{"k": "v"}}
	if d := cmp.Diff(want, c.value(t, "json")); d != "" {
		t.Errorf("json (-want +got):\n%s", d)
	}
	if d := cmp.Diff(`{"user":"3","sku":"7","qty":7,"gift":true,"at":"2022-06-25T05:24:43Z","more":[{"sku":"5"}],"notes":{"a":"1"}}`, s.last); d != "" {
		t.Errorf("sent (-want +got):\n%s", d)
	}
	if d := cmp.Diff([]string{"a", "b", "3"}, append(s.metadata["x-tag"], s.metadata["x-one"]...)); d != "" {
		t.Errorf("metadata (-want +got):\n%s", d)
	}
	served, _ := c.sample.Header("x-served")
	done, _ := c.sample.Header("X-Done")
	if code := c.value(t, "code"); code != "OK" || served != "yes" || done != "yes" || c.sample.Status != 0 {
		t.Errorf("code %v, header %q, trailer %q", code, served, done)
	}
	if s.conns.Load() != 1 || s.calls.Load() != 3 || c.sample.Requests != 1 || c.sample.Phases.Connect != 0 || c.sample.BytesSent == 0 || c.sample.BytesReceived == 0 {
		t.Errorf("%d connections, %d calls, sample %+v", s.conns.Load(), s.calls.Load(), c.sample)
	}
	if x := &c.sample; x.Sent == 0 || x.FirstByte < x.Sent || x.Done < x.FirstByte {
		t.Errorf("sent %s, first byte %s, done %s", x.Sent, x.FirstByte, x.Done)
	}
}

func TestFailures(t *testing.T) {
	s := serve(t, nil)
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = refused.Close()
	at := "target: '" + s.addr + "', " + proto
	for text, want := range map[string]string{
		"{" + at + "Get, message: {user: nobody}}":                             "status: grpc NOT_FOUND: no cart of user #",
		"{" + at + "Get, message: {user: nobody}, codes: [OK, NOT_FOUND]}":     "",
		"{" + at + "Get, message: {user: ann}, codes: NOT_FOUND}":              "status: grpc OK",
		"{" + at + "Get, message: {user: gone}}":                               "status: grpc UNAVAILABLE: try later",
		"{" + at + "Get, message: {user: late}}":                               "timeout: grpc DEADLINE_EXCEEDED",
		"{" + at + "Slow, message: {user: ann}, timeout: 50ms}":                "timeout: no answer within the timeout",
		"{" + at + "Watch, message: {user: nobody}}":                           "status: grpc NOT_FOUND: no cart of user #",
		"{" + at + "Watch, message: {user: ann, times: 100}, max_body: 100B}":  "body_too_large: the answer is larger than max_body",
		"{" + at + "Get, max_body: 1B, message: {user: ann}}":                  "body_too_large: the answer is larger than max_body",
		"{" + at + "Get, message: {times: '${target}'}}":                       "expression: message: invalid value for int32 field times",
		"{target: '" + refused.Addr().String() + "', " + proto + "Get}":        "connect_refused: connection refused",
		"{target: '" + s.addr + "', tls: true, " + proto + "Get}":              "tls: TLS: the server does not speak TLS here",
		"{target: 'shop.invalid:1', " + proto + "Get}":                         "dns: the name cannot be resolved",
		"{target: '${sku}', " + proto + "Get}":                                 "expression: the target is not host and port",
		"{target: '" + s.addr + "', reflection: true, call: shop.v1.Cart/Get}": "protocol: reflection: the server offers none",
	} {
		c := newCaller(t, "grpc: "+text)
		if d := cmp.Diff(want, class(c.call(t.Context()))); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
		if _, ok := c.thread.Lookup("code"); ok != (strings.HasPrefix(want, "status") || want == "") {
			t.Errorf("%s: a code is known: %t", text, ok)
		}
	}
}

func TestCancel(t *testing.T) {
	s := serve(t, nil)
	c := newCaller(t, "grpc: {target: '"+s.addr+"', "+proto+"Slow}")
	ctx, cancel := context.WithCancel(t.Context())
	defer time.AfterFunc(30*time.Millisecond, cancel).Stop()
	if err := c.call(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestStreams(t *testing.T) {
	s := serve(t, nil)
	at := "grpc: {target: '" + s.addr + "', " + proto
	for text, want := range map[string]string{
		"Watch, message: {user: ann, times: 3}}":                       "list of 3",
		"Watch, message: {user: ann, times: 0}}":                       "list of 0",
		"Watch, message: {user: ann, times: 100000}, max_messages: 5}": "list of 5",
		"AddAll, messages: [{user: ann}, {user: bob}]}":                "total 2",
		"AddAll, message: {user: ann}}":                                "total 1",
		"Chat, messages: [{user: ann}, {user: bob}, {user: cid}]}":     "list of 3",
	} {
		c := newCaller(t, at+text)
		for range 2 {
			if err := c.call(t.Context()); err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			got := ""
			switch v := c.value(t, "json").(type) {
			case []any:
				got = fmt.Sprintf("list of %d", len(v))
			case map[string]any:
				got = fmt.Sprintf("total %d", v["total"])
			}
			if got != want || c.sample.Requests != 1 {
				t.Errorf("%s: got %s, %d requests", text, got, c.sample.Requests)
			}
		}
	}
}

func TestReflection(t *testing.T) {
	for name, register := range map[string]func(*cart){
		"v1": func(c *cart) {
			reflectionv1.RegisterServerReflectionServer(c.server, reflection.NewServerV1(reflection.ServerOptions{Services: c.server, DescriptorResolver: c.resolver}))
		},
		"v1alpha": func(c *cart) {
			reflectionalpha.RegisterServerReflectionServer(c.server, reflection.NewServer(reflection.ServerOptions{Services: c.server, DescriptorResolver: c.resolver}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, register)
			c := newCaller(t, "grpc: {target: '"+s.addr+"', reflection: true, call: shop.v1.Cart/Add, message: {user: ann, qty: 1}}")
			for range 2 {
				if err := c.call(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
			if id := c.value(t, "json").(map[string]any)["cart_id"]; id != "c1" || c.sample.Requests != 1 {
				t.Errorf("cart %v, %d requests", id, c.sample.Requests)
			}
			c = newCaller(t, "grpc: {target: '"+s.addr+"', reflection: true, call: shop.v1.Cart/Ad}")
			if got := class(c.call(t.Context())); got != "expression: the service shop.v1.Cart has no method Ad" {
				t.Error(got)
			}
		})
	}
}

func TestTLS(t *testing.T) {
	pair, file := certificate(t)
	s := serve(t, nil, google.Creds(credentials.NewServerTLSFromCert(&pair)))
	for text, want := range map[string]string{
		"tls: {ca: '" + file + "'}": "",
		"tls: {insecure: true}":     "",
		"tls: true":                 "tls: TLS: the certificate is signed by an unknown authority",
		"tls: {ca: '" + file + "', server_name: other.example.com}": "tls: TLS: the certificate is not for this name",
	} {
		c := newCaller(t, "grpc: {target: '"+s.addr+"', "+text+", "+proto+"Get, message: {user: ann}}")
		if d := cmp.Diff(want, class(c.call(t.Context()))); d != "" {
			t.Errorf("%s (-want +got):\n%s", text, d)
		}
		if c.sample.Phases.TLS == 0 {
			t.Errorf("%s: the handshake took no time", text)
		}
	}
}

func certificate(t *testing.T) (tls.Certificate, string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(file, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, file
}

func TestConnections(t *testing.T) {
	for kept, want := range map[string]int64{"thread": 1, "iteration": 2, "none": 4} {
		s := serve(t, nil)
		c := newCaller(t, "grpc: {target: '"+s.addr+"', connections: "+kept+", "+proto+"Get, message: {user: ann}}")
		for range 2 {
			c.thread.StartIteration(false)
			for range 2 {
				if err := c.call(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := s.conns.Load(); got != want {
			t.Errorf("connections: %s made %d, want %d", kept, got, want)
		}
	}
}

// A server that closes its connections, as behind a balancer, costs connections
// and no sample.
func TestConnectionIsMadeAgain(t *testing.T) {
	s := serve(t, nil, google.KeepaliveParams(keepalive.ServerParameters{MaxConnectionAge: 20 * time.Millisecond}))
	c := newCaller(t, "grpc: {target: '"+s.addr+"', "+proto+"Get, message: {user: ann}}")
	began, reconnects, calls := time.Now(), 0, int64(0)
	for ; reconnects < 3 && time.Since(began) < 10*time.Second; calls++ {
		if err := c.call(t.Context()); err != nil {
			t.Fatalf("call %d: %v", calls, err)
		}
		if c.sample.Reconnects > 0 && c.sample.Phases.Connect == 0 {
			t.Error("a new connection took no time")
		}
		reconnects += c.sample.Reconnects
		time.Sleep(time.Millisecond)
	}
	if reconnects < 3 || s.calls.Load() != calls {
		t.Errorf("%d calls, %d seen, %d reconnects", calls, s.calls.Load(), reconnects)
	}
}

// Hostile servers: nothing is waited for longer than the timeout.
func TestNoServerOfHTTP2(t *testing.T) {
	for answer, want := range map[string]string{
		"":                                 "connect_timeout: no connection within the timeout",
		"HTTP/1.1 400 Bad Request\r\n\r\n": "protocol: the server does not speak HTTP/2 here",
	} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			for {
				conn, err := ln.Accept()
				if err != nil {
					return
				}
				defer conn.Close()
				_, _ = conn.Write([]byte(answer))
			}
		}()
		c := newCaller(t, "grpc: {target: '"+ln.Addr().String()+"', timeout: 100ms, "+proto+"Get}")
		if d := cmp.Diff(want, class(c.call(t.Context()))); d != "" {
			t.Errorf("%q (-want +got):\n%s", answer, d)
		}
		_ = ln.Close()
	}
}
