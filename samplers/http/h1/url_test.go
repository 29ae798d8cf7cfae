package h1

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseURL(t *testing.T) {
	for raw, want := range map[string]URL{
		"http://shop.test":                  {Host: "shop.test", Port: 80, Target: "/"},
		"HTTPS://Shop.Test/a%2Fb c?x=1 2#f": {TLS: true, Host: "shop.test", Port: 443, Target: "/a%2Fb%20c?x=1%202"},
		"http://shop.test:8080?q=http://x/": {Host: "shop.test", Port: 8080, Target: "/?q=http://x/"},
		"http://shop.test:/x":               {Host: "shop.test", Port: 80, Target: "/x"},
		"http://[::1]:90/[x]":               {Host: "::1", Port: 90, Target: "/[x]"},
		"http://[2001:DB8::0:1]/":           {Host: "2001:db8::1", Port: 80, Target: "/"},
		"http://bücher.example/ü":           {Host: "xn--bcher-kva.example", Port: 80, Target: "/%C3%BC"},
		"http://a:b@c@shop.test/":           {Host: "shop.test", Port: 80, Target: "/", User: "a:b@c"},
		"http://127.0.0.1:1/":               {Host: "127.0.0.1", Port: 1, Target: "/"},
		"http://my_service/":                {Host: "my_service", Port: 80, Target: "/"},
	} {
		got, err := ParseURL(raw)
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Errorf("ParseURL(%q): %v (-want +got):\n%s", raw, err, diff)
		}
	}
}

func TestParseURLErrors(t *testing.T) {
	for raw, want := range map[string]string{
		"":                                   "begins with http",
		"/path":                              "begins with http",
		"shop.test/x":                        "begins with http",
		"ftp://shop.test":                    `unsupported scheme "ftp"`,
		"http://":                            "no host",
		"http:///x":                          "no host",
		"http://shop.test:0/":                "invalid port",
		"http://shop.test:99999":             "invalid port",
		"http://shop.test:http/":             "invalid port",
		"http://::1/":                        "needs brackets",
		"http://[::1/":                       "missing ]",
		"http://[::1]x/":                     "only a port",
		"http://[1.2.3.4]/":                  "invalid IPv6",
		"http://a b/":                        "invalid character ' '",
		"http://a\r\nX/":                     "invalid character '\\r'",
		"http://a\\b/":                       "",
		"http://xn--\u00e9\uffff./":          "invalid international",
		"http://" + strings.Repeat("a", 300): "longer than 253",
	} {
		_, err := ParseURL(raw)
		if want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("ParseURL(%q) = %v, want %q", raw, err, want)
		}
	}
}

func TestAuthority(t *testing.T) {
	for raw, want := range map[string][2]string{
		"https://shop.test:443/":  {"shop.test:443", "shop.test"},
		"http://shop.test:443/":   {"shop.test:443", "shop.test:443"},
		"http://[::1]/":           {"[::1]:80", "[::1]"},
		"http://[fe80::1%eth0]:9": {"[fe80::1%eth0]:9", "[fe80::1]:9"},
	} {
		u, err := ParseURL(raw)
		if err != nil || u.Addr() != want[0] || u.Authority() != want[1] {
			t.Errorf("%s: %q, %q, %v", raw, u.Addr(), u.Authority(), err)
		}
		if got := string(appendAuthority(nil, u.Addr(), u.TLS)); got != want[1] {
			t.Errorf("%s: Host %q", raw, got)
		}
	}
}

func TestEncodeTarget(t *testing.T) {
	for raw, want := range map[string]string{
		"/a%2Fb c":                   "/a%2Fb%20c",
		"/x?a[]=1&b={1}|\"<>\\^`":    "/x?a[]=1&b=%7B1%7D%7C%22%3C%3E%5C%5E%60",
		"/x HTTP/1.1\r\nEvil: 1\r\n": "/x%20HTTP/1.1%0D%0AEvil:%201%0D%0A",
		"/100%":                      "/100%",
		"/ü\x00\x7f\xff":             "/%C3%BC%00%7F%FF",
		"/x#frag":                    "/x",
		"?q":                         "/?q",
		"":                           "/",
		"/a+b;c=d,e!$&'()*@:~_.-/..": "/a+b;c=d,e!$&'()*@:~_.-/..",
	} {
		if got := string(EncodeTarget(nil, []byte(raw))); got != want {
			t.Errorf("EncodeTarget(%q) = %q, want %q", raw, got, want)
		}
	}
}

func TestFields(t *testing.T) {
	if got, err := AppendHeader([]byte("A: 1\r\n"), "x-Y", "ü; \"z\""); err != nil || string(got) != "A: 1\r\nx-Y: ü; \"z\"\r\n" {
		t.Errorf("AppendHeader = %q, %v", got, err)
	}
	for _, pair := range [][2]string{{"", "x"}, {"a b", "x"}, {"a:", "x"}, {"a\r\n", "x"}, {"é", "x"}, {"a", "x\r\ny: z"}, {"a", "\n"}, {"a", "\x00"}} {
		if got, err := AppendHeader(nil, pair[0], pair[1]); err == nil || got != nil {
			t.Errorf("AppendHeader(%q) = %q, want an error", pair, got)
		}
	}
	for method, valid := range map[string]bool{"GET": true, "M-SEARCH": true, "": false, "GET /": false, "G\r\n": false} {
		if err := ValidMethod(method); (err == nil) != valid {
			t.Errorf("ValidMethod(%q) = %v", method, err)
		}
	}
}
