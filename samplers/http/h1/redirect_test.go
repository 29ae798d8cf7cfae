package h1

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// redirector answers /from with the redirect, anything else with 200.
func redirector(t *testing.T, status int, location string) *server {
	return serve(t, func(p *peer) {
		for {
			r, more := p.request()
			if !more {
				return
			}
			if strings.Contains(r, " /dir/from") {
				p.say(fmt.Sprintf("HTTP/1.1 %d Moved\r\nLocation: %s\r\nSet-Cookie: hop=1; Path=/\r\nContent-Length: 4\r\n\r\ngone", status, location))
				continue
			}
			p.say(small)
		}
	})
}

func TestRedirectMethods(t *testing.T) {
	for _, tc := range []struct {
		status       int
		method, want string
	}{
		{301, "POST", "GET /to HTTP/1.1\r\nHost: HOST\r\nX: 1\r\nCookie: hop=1\r\n\r\n"},
		{302, "PUT", "GET /to HTTP/1.1\r\nHost: HOST\r\nX: 1\r\nCookie: hop=1\r\n\r\n"},
		{303, "DELETE", "GET /to HTTP/1.1\r\nHost: HOST\r\nX: 1\r\nCookie: hop=1\r\n\r\n"},
		{303, "HEAD", "HEAD /to HTTP/1.1\r\nHost: HOST\r\nX: 1\r\nCookie: hop=1\r\n\r\n"},
		{307, "POST", "POST /to HTTP/1.1\r\nHost: HOST\r\nContent-Type: text/plain\r\nX: 1\r\nCookie: hop=1\r\nContent-Length: 3\r\n\r\nabc"},
		{308, "PUT", "PUT /to HTTP/1.1\r\nHost: HOST\r\nContent-Type: text/plain\r\nX: 1\r\nCookie: hop=1\r\nContent-Length: 3\r\n\r\nabc"},
	} {
		t.Run(fmt.Sprint(tc.status, tc.method), func(t *testing.T) {
			for _, streamed := range []bool{false, true} {
				s := redirector(t, tc.status, "/to")
				if tc.method == "HEAD" {
					s = answerEach(t, "HTTP/1.1 303 See Other\r\nLocation: /to\r\nSet-Cookie: hop=1; Path=/\r\n\r\n", ok+"Content-Length: 2\r\n\r\n")
				}
				req := s.get("/dir/from")
				req.Method, req.Redirects.Follow = tc.method, true
				req.Head, req.Body = []byte("Content-Type: text/plain\r\nX: 1\r\n"), []byte("abc")
				if streamed {
					req.BodyReader, req.Length = bytes.NewReader(req.Body), 3
				}
				req.MakeReady() // what is not streamed
				res := do(t, client(t, Config{}), req)
				if diff := cmp.Diff(hostIn(tc.want, s.addr), s.requests()[1]); diff != "" {
					t.Errorf("second request (-want +got):\n%s", diff)
				}
				if res.Requests != 2 || res.Status != 200 || res.FinalURL() != "http://"+s.addr+"/to" {
					t.Errorf("requests %d, status %d, URL %s", res.Requests, res.Status, res.FinalURL())
				}
				want := []Hop{{"http://" + s.addr + "/dir/from", tc.status}}
				if diff := cmp.Diff(want, res.Hops); diff != "" {
					t.Errorf("hops (-want +got):\n%s", diff)
				}
			}
		})
	}
}

// answerEach answers the requests of each connection in turn.
func answerEach(t *testing.T, texts ...string) *server {
	return serve(t, func(p *peer) {
		for _, text := range texts {
			if _, more := p.request(); !more {
				return
			}
			p.say(text)
		}
		p.request()
	})
}

func TestRedirectOverOneConnection(t *testing.T) {
	s := redirector(t, 302, "../to?a=b c#part")
	req := s.get("/dir/from")
	req.Redirects.Follow = true
	res := do(t, client(t, Config{}), req)
	if res.Connects != 1 || !res.Reused || string(res.Body) != "hi" {
		t.Errorf("connects %d, body %q", res.Connects, res.Body)
	}
	if got := s.requests()[1]; !strings.HasPrefix(got, "GET /to?a=b%20c HTTP/1.1\r\n") {
		t.Errorf("second request %q", got)
	}
}

func TestRedirectToAnotherOrigin(t *testing.T) {
	target := answers(t, small)
	s := redirector(t, 307, "http://user:secret@"+target.addr+"/to")
	c := client(t, Config{})
	req := s.get("/dir/from")
	req.Redirects.Follow, req.Host, req.Cookie = true, "named.example", []byte("own=1")
	req.Head = []byte("authorization: Bearer x\r\nCOOKIE: a=b\r\nhost: x\r\nAccept: */*\r\n")
	do(t, c, req)
	want := "GET /to HTTP/1.1\r\nHost: " + target.addr + "\r\nAccept: */*\r\nCookie: hop=1\r\n\r\n"
	if diff := cmp.Diff(want, target.requests()[0]); diff != "" {
		t.Errorf("request to the other origin (-want +got):\n%s", diff)
	}
}

func TestRedirectsThatFail(t *testing.T) {
	for name, tc := range map[string]struct {
		location string
		edit     func(*Request)
		requests int
	}{
		"endless":    {"/dir/from", func(*Request) {}, 11},
		"own limit":  {"/dir/from", func(r *Request) { r.Redirects.Max = 2 }, 3},
		"scheme":     {"ftp://x/", func(*Request) {}, 1},
		"javascript": {"javascript:alert(1)", func(*Request) {}, 1},
		"bad host":   {"http://a b/", func(*Request) {}, 1},
		"no seeker":  {"/to", func(r *Request) { r.BodyReader, r.Length = io.LimitReader(strings.NewReader("abc"), 3), 3 }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := redirector(t, 307, tc.location)
			req, res := s.get("/dir/from"), new(Response)
			req.Redirects.Follow = true
			tc.edit(req)
			err := client(t, Config{}).Do(context.Background(), req, res)
			if classOf(err) != Redirect || res.Status != 307 || res.Requests != tc.requests {
				t.Errorf("got %v, status %d, requests %d, want %d", err, res.Status, res.Requests, tc.requests)
			}
		})
	}
}

func TestRedirectNotFollowed(t *testing.T) {
	s := redirector(t, 302, "/to")
	if res := do(t, client(t, Config{}), s.get("/dir/from")); res.Status != 302 || string(res.Body) != "gone" {
		t.Errorf("status %d, body %q", res.Status, res.Body)
	}
	plain := answers(t, "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n")
	req := plain.get("/")
	req.Redirects.Follow = true
	if res := do(t, client(t, Config{}), req); res.Status != 302 || len(res.Hops) != 0 {
		t.Errorf("a redirect without Location: status %d", res.Status)
	}
}

func TestResolve(t *testing.T) {
	base, err := ParseURL("https://shop.test:8443/a/b/c?q=1")
	if err != nil {
		t.Fatal(err)
	}
	for ref, want := range map[string]string{
		"":                          "https://shop.test:8443/a/b/c?q=1",
		"#x":                        "https://shop.test:8443/a/b/c?q=1",
		"?z":                        "https://shop.test:8443/a/b/c?z",
		"d":                         "https://shop.test:8443/a/b/d",
		"./d/":                      "https://shop.test:8443/a/b/d/",
		"../d?x=../y":               "https://shop.test:8443/a/d?x=../y",
		"../../../d":                "https://shop.test:8443/d",
		"..":                        "https://shop.test:8443/a/",
		"/x%2Fy z":                  "https://shop.test:8443/x%2Fy%20z",
		"/é":                        "https://shop.test:8443/%C3%A9",
		"/x?r=http://y/":            "https://shop.test:8443/x?r=http://y/",
		"//other.test/p":            "https://other.test/p",
		"http://other.test":         "http://other.test/",
		"HTTP://Other.Test:80?q":    "http://other.test/?q",
		"https://u:p@other.test/#f": "https://other.test/",
		"http://[::1]:90/x":         "http://[::1]:90/x",
	} {
		if got, err := Resolve(base, ref); err != nil || got.String() != want || got.User != "" {
			t.Errorf("Resolve(%q) = %v, %v, want %s", ref, got, err, want)
		}
	}
}

func TestReadyRequestIsRedirected(t *testing.T) {
	s := answerEach(t, "HTTP/1.1 302 Found\r\nLocation: /to\r\nContent-Length: 0\r\n\r\n", ok+"Content-Length: 2\r\n\r\nhi")
	req := s.get("/from")
	req.Redirects.Follow = true
	req.MakeReady()
	do(t, client(t, Config{}), req)
	if got := s.requests(); len(got) != 2 || !strings.HasPrefix(got[1], "GET /to HTTP/1.1\r\n") {
		t.Errorf("sent %q", got)
	}
}
