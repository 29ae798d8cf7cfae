package h1

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

var noon = time.Date(2030, 1, 2, 12, 0, 0, 0, time.UTC)

func mustURL(t testing.TB, raw string) URL {
	t.Helper()
	u, err := ParseURL(raw)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// sentTo gives the Cookie value for a request to raw.
func sentTo(t *testing.T, c *Client, raw, own string) string {
	u := mustURL(t, raw)
	return string(c.jar.append([]byte(own), 0, place{u.Host, []byte(u.Target), u.TLS}, []byte(own)))
}

func TestCookieRules(t *testing.T) {
	for name, tc := range map[string]struct {
		from string
		set  []string
		to   map[string]string
	}{
		"bytes as they are": {"http://shop.test/", []string{`j={"a": [1, "x"]}==; Path=/`, `q="quoted value"`, "b=  a b\tc  ", "e="},
			map[string]string{"http://shop.test/": `j={"a": [1, "x"]}==; q="quoted value"; b=a b` + "\tc; e="}},
		"host only": {"http://shop.test/", []string{"a=1"},
			map[string]string{"http://shop.test/x": "a=1", "http://www.shop.test/": "", "http://hop.test/": ""}},
		"domain": {"http://www.shop.test/", []string{"a=1; Domain=.Shop.Test"},
			map[string]string{"http://shop.test/": "a=1", "http://x.y.shop.test/": "a=1", "http://myshop.test/": ""}},
		"other domains":   {"http://shop.test/", []string{"a=1; Domain=other.test", "b=1; Domain=www.shop.test"}, map[string]string{"http://shop.test/": "", "http://www.shop.test/": ""}},
		"public suffixes": {"http://shop.co.uk/", []string{"a=1; Domain=co.uk", "b=1; Domain=uk"}, map[string]string{"http://shop.co.uk/": "", "http://other.co.uk/": ""}},
		"localhost":       {"http://localhost/", []string{"a=1; Domain=localhost"}, map[string]string{"http://localhost:99/": "a=1", "http://x.localhost/": ""}},
		"address":         {"http://127.0.0.1/", []string{"a=1; Domain=127.0.0.1", "b=2; Domain=0.0.1"}, map[string]string{"http://127.0.0.1/": "a=1"}},
		"paths": {"http://shop.test/dir/page?x=/y/", []string{"a=1", "b=2; Path=/", "c=3; Path=/dir/sub/", "d=4; Path=relative"},
			map[string]string{"http://shop.test/dir/sub/x": "c=3; a=1; d=4; b=2", "http://shop.test/dir": "a=1; d=4; b=2", "http://shop.test/directory": "b=2", "http://shop.test/dir?q": "a=1; d=4; b=2"}},
		"secure": {"https://shop.test/", []string{"a=1; Secure; HttpOnly"}, map[string]string{"http://shop.test/": "", "https://shop.test/": "a=1"}},
		"prefixes": {"http://shop.test/", []string{"__Secure-a=1; Secure", "__host-b=1; Secure; Path=/"},
			map[string]string{"https://shop.test/": ""}},
		"max-age wins": {"http://shop.test/", []string{"a=1; Max-Age=0", "b=2; Max-Age=60; Expires=Thu, 01 Jan 1970 00:00:00 GMT", "c=3; Expires=Thu, 01 Jan 1970 00:00:00 GMT; Max-Age=60", "d=4; Max-Age=-5", "e=5; Max-Age=x"},
			map[string]string{"http://shop.test/": "b=2; c=3; e=5"}},
		"expires": {"http://shop.test/", []string{"a=1; Expires=Wed, 02 Jan 2030 12:00:01 GMT", "b=2; expires=Wednesday, 02-Jan-30 11:59:59 GMT", "c=3; Expires=Wed Jan  2 13:00:00 2030", "d=4; Expires=nonsense", "e=5; Expires=Sun, 30 Feb 2020 00:00:00 GMT"},
			map[string]string{"http://shop.test/": "a=1; c=3; d=4; e=5"}},
		"replaced": {"http://shop.test/", []string{"a=1", "b=2", "a=3"}, map[string]string{"http://shop.test/": "a=3; b=2"}},
		"removed":  {"http://shop.test/", []string{"a=1", "b=2", "a=; Max-Age=0"}, map[string]string{"http://shop.test/": "b=2"}},
		"refused":  {"http://shop.test/", []string{"", "novalue", "=x", "a=\x01", "a=\x7f", "big=" + strings.Repeat("x", 17<<10)}, map[string]string{"http://shop.test/": ""}},
	} {
		t.Run(name, func(t *testing.T) {
			c := client(t, Config{Now: func() time.Time { return noon }})
			for _, line := range tc.set {
				_ = c.SetCookie(mustURL(t, tc.from), line)
			}
			for to, want := range tc.to {
				if diff := cmp.Diff(want, sentTo(t, c, to, "")); diff != "" {
					t.Errorf("to %s (-want +got):\n%s", to, diff)
				}
			}
		})
	}
}

func TestCookiesExpireLater(t *testing.T) {
	now := noon
	c := client(t, Config{Now: func() time.Time { return now }})
	u := mustURL(t, "http://shop.test/")
	_ = c.SetCookie(u, "a=1; Max-Age=10")
	if v, found := c.Cookie(u, "a"); !found || v != "1" {
		t.Errorf("cookie %q, %v", v, found)
	}
	now = now.Add(10 * time.Second)
	if _, found := c.Cookie(u, "a"); found || sentTo(t, c, "http://shop.test/", "") != "" || len(c.jar.cookies) != 0 {
		t.Error("the cookie outlives its age")
	}
}

func TestCookieLimits(t *testing.T) {
	c := client(t, Config{})
	u := mustURL(t, "http://shop.test/")
	for i := range 60 {
		_ = c.SetCookie(u, fmt.Sprintf("c%d=x", i))
	}
	if all := c.Cookies(u); len(all) != maxCookies || all[0].Name != "c10" {
		t.Errorf("%d cookies, first %q", len(all), all[0].Name)
	}
	c.ClearCookies()
	for i := range 5 {
		_ = c.SetCookie(u, fmt.Sprintf("c%d=%s", i, strings.Repeat("x", 4<<10)))
	}
	if all := c.Cookies(u); len(all) != 3 {
		t.Errorf("%d cookies of 4 KiB, want 3", len(all))
	}
	for i := range 2000 {
		_ = c.SetCookie(mustURL(t, fmt.Sprintf("http://h%d.test/", i)), "a=1")
	}
	if len(c.jar.cookies) != maxJar {
		t.Errorf("%d cookies in all", len(c.jar.cookies))
	}
	if err := c.SetCookie(u, "a=1\r\nEvil: 1"); err == nil {
		t.Error("a cookie with a line end was taken")
	}
}

func TestCookiesOverTheWire(t *testing.T) {
	s := answers(t, ok+"Set-Cookie: sid=a b=\"c\"; Path=/\r\nset-cookie: x=1; Path=/\r\nContent-Length: 0\r\n\r\n")
	c := client(t, Config{})
	off := s.get("/")
	off.NoCookies = true
	off.MakeReady()
	do(t, c, off)
	do(t, c, s.get("/"))
	own := s.get("/")
	own.Cookie = []byte("y=2; x=mine")
	own.MakeReady() // the jar's go with its own
	do(t, c, own)
	do(t, c, off)
	var got []string
	for _, r := range s.requests() {
		_, cookies, _ := strings.Cut(r, "Cookie: ")
		got = append(got, strings.TrimSpace(cookies))
	}
	if diff := cmp.Diff([]string{"", "", `y=2; x=mine; sid=a b="c"`, ""}, got); diff != "" {
		t.Errorf("Cookie headers (-want +got):\n%s", diff)
	}
}
