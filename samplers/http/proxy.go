package http

import (
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"os"
	"strings"

	"runner/plan/expr"
	"runner/samplers/http/h1"
)

type proxyOptions struct {
	URL      expr.Text `plan:"url,required,short" doc:"http://host:port, with user:password@ where it asks for them; env takes HTTP_PROXY, HTTPS_PROXY and NO_PROXY; none goes straight"`
	Username expr.Text `plan:"username" doc:"user name for the proxy"`
	Password expr.Text `plan:"password" secret:"true" doc:"password for the proxy"`
	NoProxy  []string  `plan:"no_proxy,single" doc:"hosts that are reached straight: a name with its subdomains, an address, a network as 10.0.0.0/8, each with :port if wanted, or *"`
}

// Check reports a URL that is no proxy.
func (o *proxyOptions) Check(report func(field, code, summary, detail string)) {
	text, literal := o.URL.Literal()
	if !literal || text == "env" || text == "none" {
		return
	}
	if _, err := parseProxy(text, "", ""); err != nil {
		report("url", "bad-proxy", "the proxy "+err.Error(), "write it as http://proxy.example.com:3128, env or none")
	}
}

// route is what Config.Proxy asks; without it nothing is proxied.
type route func(tls bool, addr string) *h1.Proxy

// open evaluates the settings for a thread.
func (o *proxyOptions) open(s expr.Scope) (route, error) {
	text, err := textOf(&o.URL, s)
	if err != nil || text == "none" {
		return nil, err
	}
	if text == "env" {
		return environmentRoute()
	}
	user, err := optionalText(&o.Username, s)
	if err != nil {
		return nil, err
	}
	password, err := optionalText(&o.Password, s)
	if err != nil {
		return nil, err
	}
	p, err := parseProxy(text, user, password)
	if err != nil {
		return nil, errors.New("the proxy " + err.Error())
	}
	except := o.NoProxy
	return func(_ bool, addr string) *h1.Proxy {
		if bypassed(addr, except) {
			return nil
		}
		return p
	}, nil
}

func optionalText(v *expr.Text, s expr.Scope) (string, error) {
	if !v.IsSet() {
		return "", nil
	}
	return textOf(v, s)
}

// parseProxy reads a proxy's URL; its own credentials give way to user's.
func parseProxy(text, user, password string) (*h1.Proxy, error) {
	if !strings.Contains(text, "://") {
		text = "http://" + text
	}
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, errors.New("is no URL") // the error would repeat its password
	case u.Scheme != "http":
		return nil, fmt.Errorf("has the scheme %q; only http:// is supported", u.Scheme)
	case u.Path != "" && u.Path != "/" || u.RawQuery != "":
		return nil, errors.New("has a path")
	}
	parsed, err := h1.ParseURL("http://" + u.Host + "/")
	if err != nil {
		return nil, fmt.Errorf("has no valid host: %w", err)
	}
	if u.Port() == "" {
		return nil, errors.New("has no port")
	}
	if user == "" && u.User != nil {
		user = u.User.Username()
		password, _ = u.User.Password()
	}
	p := &h1.Proxy{Addr: parsed.Addr()}
	if user != "" || password != "" {
		p.Auth = "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
	}
	return p, nil
}

// environmentRoute reads the variables that other programs read, too.
func environmentRoute() (route, error) {
	get := func(name string) string {
		if v := os.Getenv(name); v != "" {
			return v
		}
		return os.Getenv(strings.ToLower(name))
	}
	var plain, secure *h1.Proxy
	for name, p := range map[string]**h1.Proxy{"HTTP_PROXY": &plain, "HTTPS_PROXY": &secure} {
		text := get(name)
		if text == "" {
			continue
		}
		var err error
		if *p, err = parseProxy(text, "", ""); err != nil {
			return nil, errors.New("the proxy of " + name + " " + err.Error())
		}
	}
	except := strings.FieldsFunc(get("NO_PROXY"), func(c rune) bool { return c == ',' || c == ' ' })
	return func(tls bool, addr string) *h1.Proxy {
		switch {
		case bypassed(addr, except):
			return nil
		case tls:
			return secure
		}
		return plain
	}, nil
}

// bypassed reports whether host:port is on a no_proxy list.
func bypassed(addr string, list []string) bool {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	ip, _ := netip.ParseAddr(host)
	for _, rule := range list {
		rule = strings.ToLower(strings.TrimSpace(rule))
		if network, err := netip.ParsePrefix(rule); err == nil {
			if ip.IsValid() && network.Contains(ip.Unmap()) {
				return true
			}
			continue
		}
		name, want := rule, ""
		if h, p, err := net.SplitHostPort(rule); err == nil {
			name, want = h, p
		}
		name = strings.TrimPrefix(strings.TrimPrefix(strings.Trim(name, "[]"), "*"), ".")
		switch {
		case rule == "" || want != "" && want != port:
		case name == "" && strings.HasPrefix(rule, "*"), name == host, name != "" && !ip.IsValid() && strings.HasSuffix(host, "."+name):
			return true
		}
	}
	return false
}
