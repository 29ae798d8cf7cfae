package http

import (
	"testing"
	"time"

	"runner/samplers/http/h1"
)

func FuzzEmbedded(f *testing.F) {
	f.Add("http://shop.test/a/b?c", `<base href=x><img src="../y.png"><link rel=icon href=//z>`)
	f.Add("https://[::1]:8443/", "<img src='\x00'><object data=a:b><body background=?")
	f.Fuzz(func(t *testing.T, page, html string) {
		u, err := h1.ParseURL(page)
		if err != nil {
			return
		}
		for _, found := range embedded(u, []byte(html)) {
			if again, err := h1.ParseURL(found.String()); err != nil || again.Addr() != found.Addr() {
				t.Errorf("%q is no URL: %v", found.String(), err)
			}
		}
	})
}

func FuzzToken(f *testing.F) {
	f.Add(`{"access_token": "x", "expires_in": 1e400}`)
	f.Add(`{"access_token": "x", "expires_in": "-5"}`)
	f.Fuzz(func(t *testing.T, body string) {
		if text, life, err := parseToken([]byte(body)); err == nil && (text == "" || life <= 0) {
			t.Errorf("token %q for %v", text, life)
		}
	})
}

func FuzzProxyURL(f *testing.F) {
	f.Add("http://a:b@c:1")
	f.Add("[::1]:3128")
	f.Fuzz(func(t *testing.T, text string) {
		p, err := parseProxy(text, "", "")
		if err == nil && h1.ValidHeader("Proxy-Authorization", p.Auth) != nil {
			t.Errorf("%q gives the header %q", text, p.Auth)
		}
		bypassed("shop.test:80", []string{text})
	})
}

func TestBypass(t *testing.T) {
	for _, tc := range []struct {
		addr, rule string
		want       bool
	}{
		{"shop.test:80", "shop.test", true}, {"a.shop.test:80", "shop.test", true}, {"a.shop.test:80", ".shop.test", true},
		{"myshop.test:80", "shop.test", false}, {"a.shop.test:443", "*.shop.test", true}, {"any.test:1", "*", true},
		{"shop.test:80", "shop.test:80", true}, {"shop.test:81", "shop.test:80", false},
		{"10.1.2.3:80", "10.0.0.0/8", true}, {"11.1.2.3:80", "10.0.0.0/8", false}, {"10.1.2.3:80", "10.1.2.3", true},
		{"210.1.2.3:80", "10.1.2.3", false}, {"[::1]:80", "::1", true}, {"[::1]:80", "[::1]:80", true}, {"shop.test:80", "", false},
	} {
		if got := bypassed(tc.addr, []string{"other.test", tc.rule}); got != tc.want {
			t.Errorf("%s with %q: %v", tc.addr, tc.rule, got)
		}
	}
}

func TestTheCacheIsBounded(t *testing.T) {
	c := &cache{}
	for i := range maxEntries + 50 {
		c.put(string(rune('a'+i%26))+time.Duration(i).String(), entry{etag: "x"})
	}
	if n := len(c.entries); n != maxEntries {
		t.Errorf("%d entries", n)
	}
}
