package http_test

import (
	"context"
	"net"
	"sync"
	"testing"

	"runner/plan/element"
	"runner/samplers/http"
)

// staticServer answers whatever is one read, without allocating.
func staticServer(t testing.TB) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				buf, answer := make([]byte, 4<<10), []byte("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nHello World\n")
				for {
					if _, err := conn.Read(buf); err != nil {
						return
					}
					if _, err := conn.Write(answer); err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() { ln.Close(); all.Wait() })
	return ln.Addr().String()
}

// A sample of a request in which nothing changes allocates nothing.
func TestStaticSampleAllocatesNothing(t *testing.T) {
	addr := staticServer(t)
	for name, yaml := range map[string]string{
		"get":     "http: GET /",
		"headers": "http:\n  request: GET /a?b=c\n  headers: {Accept: text/html}\n  redirects: false",
		"post":    "http:\n  request: POST /\n  json: {a: 1}\n  auth: {basic: {username: ann, password: x}}",
		"proxy":   "http:\n  request: GET http://shop.test/\n  proxy: http://" + addr,
	} {
		t.Run(name, func(t *testing.T) {
			sampler := step(t, "base_url: http://"+addr, yaml)
			th := thread(t)
			s := &element.Sample{}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			once := func() {
				s.Reset()
				s.Needs = element.NeedBody
				if err := sampler.Sample(ctx, th, s); err != nil || s.Status != 200 || len(s.Body) != 12 {
					t.Fatalf("status %d, %v", s.Status, err)
				}
				sampler.(element.Releaser).Release(th, s)
			}
			once()
			if got := testing.AllocsPerRun(200, once); got > 0 && !raceEnabled {
				t.Errorf("%v allocations a sample, want none", got)
			}
			th.Close()
		})
	}
}

func BenchmarkSample(b *testing.B) {
	http.SpoilReleased(false)
	defer http.SpoilReleased(true)
	addr := staticServer(b)
	sampler := step(b, "base_url: http://"+addr, "http: GET /")
	th := thread(b)
	s := &element.Sample{}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.ReportAllocs()
	for b.Loop() {
		s.Reset()
		if err := sampler.Sample(ctx, th, s); err != nil {
			b.Fatal(err)
		}
		sampler.(element.Releaser).Release(th, s)
	}
	th.Close()
}
