package h1

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestRequestBytes(t *testing.T) {
	s := answers(t, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nX-A: one\r\nx-a: two\r\n\r\nhi")
	c := client(t, Config{})
	for _, tc := range []struct {
		name string
		edit func(r *Request)
		want string
	}{
		{"get", func(r *Request) {}, "GET /x HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{"empty target", func(r *Request) { r.Target = nil }, "GET / HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{"head lines and host", func(r *Request) { r.Head, r.Host = []byte("x-lower: 1\r\nX-UP: 2\r\n"), "example.com" },
			"GET /x HTTP/1.1\r\nHost: example.com\r\nx-lower: 1\r\nX-UP: 2\r\n\r\n"},
		{"body", func(r *Request) { r.Method, r.Body = "POST", []byte("abc") },
			"POST /x HTTP/1.1\r\nHost: HOST\r\nContent-Length: 3\r\n\r\nabc"},
		{"empty post", func(r *Request) { r.Method = "POST" },
			"POST /x HTTP/1.1\r\nHost: HOST\r\nContent-Length: 0\r\n\r\n"},
		{"length left to the plan", func(r *Request) { r.Method, r.OmitLength = "POST", true },
			"POST /x HTTP/1.1\r\nHost: HOST\r\n\r\n"},
		{"own cookie", func(r *Request) { r.Cookie = []byte(`a={"x": 1}`) },
			"GET /x HTTP/1.1\r\nHost: HOST\r\nCookie: a={\"x\": 1}\r\n\r\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for _, ready := range []bool{false, true} {
				before := len(s.requests())
				req := s.get("/x")
				tc.edit(req)
				if ready {
					req.MakeReady()
				}
				res := do(t, c, req)
				got := s.requests()[before:]
				want := []string{hostIn(tc.want, s.addr)}
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("request, ready %t (-want +got):\n%s", ready, diff)
				}
				if res.BytesSent != int64(len(want[0])) || res.Requests != 1 || ready != (req.ready != nil) {
					t.Errorf("sent %d bytes in %d requests, ready %t", res.BytesSent, res.Requests, ready)
				}
			}
		})
	}
	if got := len(c.conns); got != 1 {
		t.Errorf("%d connections kept, want 1", got)
	}
}

func TestAnswerInPlace(t *testing.T) {
	s := answers(t, "HTTP/1.1 200 Fine, thanks\r\nContent-Length: 2\r\nX-A:  one \r\nx-a: two\r\nEmpty:\r\n\r\nhi")
	c := client(t, Config{})
	res := do(t, c, s.get("/"))
	if res.Status != 200 || string(res.Reason) != "Fine, thanks" || string(res.Body) != "hi" {
		t.Errorf("got %d %q %q", res.Status, res.Reason, res.Body)
	}
	if v, ok := res.Get("x-A"); !ok || string(v) != "one" {
		t.Errorf("Get = %q, %v", v, ok)
	}
	if got := res.Values("X-A"); len(got) != 2 || string(got[1]) != "two" {
		t.Errorf("Values = %q", got)
	}
	if v, ok := res.Get("empty"); !ok || len(v) != 0 {
		t.Errorf("empty field = %q, %v", v, ok)
	}
	if _, ok := res.Get("missing"); ok {
		t.Error("found a field that is not there")
	}
	if got, want := res.FinalURL(), "http://"+s.addr+"/"; got != want {
		t.Errorf("FinalURL = %q, want %q", got, want)
	}
	if s := res.Stamps; !(0 < s.Sent && s.Sent <= s.FirstByte && s.FirstByte <= s.Done) {
		t.Errorf("stamps out of order: %+v", s)
	}
	if err := c.Do(context.Background(), s.get("/"), res); err != nil || !res.Reused || res.Phases.Connect != 0 {
		t.Errorf("second: %v, reused %v, connect %v", err, res.Reused, res.Phases.Connect)
	}
	res.Release()
	if res.Status != 200 || res.Body != nil || res.Headers() != 0 {
		t.Error("Release must keep counts and give back contents")
	}
}
