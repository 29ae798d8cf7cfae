package h1

import (
	"bytes"
	"errors"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/publicsuffix"
)

// Limits of the jar; at a host's limit its oldest cookies give way.
const (
	maxCookies     = 50       // per host
	maxCookieBytes = 16 << 10 // names and values, per host
	maxJar         = 1000     // over all hosts
)

// Cookie is a kept cookie, name and value byte for byte as received.
type Cookie struct {
	Name, Value string
	Domain      string // the host, or the domain with its subdomains
	Path        string
	HostOnly    bool // only to exactly this host
	Secure      bool // only over TLS
	HTTPOnly    bool
	Expires     time.Time // zero for a session cookie
}

// place is where a request goes, as far as cookies care.
type place struct {
	host   string
	target []byte
	tls    bool
}

// Jar keeps cookies in the order in which they are sent: longer paths first,
// then older ones first. Safe for concurrent use; its contents only reach a
// Client that it was given to.
type Jar struct {
	mu      sync.Mutex
	cookies []Cookie
	born    []uint64 // creation number of each cookie
	count   uint64
	now     func() time.Time
}

// NewJar returns an empty Jar; now gives the wall clock by which cookies
// expire, time.Now if it is nil.
func NewJar(now func() time.Time) *Jar { return &Jar{now: now} }

// Branch returns the jar itself: the branches of a thread share its cookies.
func (j *Jar) Branch() any { return j }

func (j *Jar) clock() time.Time {
	if j.now != nil {
		return j.now()
	}
	return time.Now()
}

// ClearCookies empties the jar.
func (c *Client) ClearCookies() {
	c.jar.mu.Lock()
	defer c.jar.mu.Unlock()
	c.jar.cookies, c.jar.born = nil, nil
}

// Cookies returns the cookies that a request to u would carry, in that order.
func (c *Client) Cookies(u URL) []Cookie {
	var found []Cookie
	at := place{u.Host, []byte(u.Target), u.TLS}
	c.jar.mu.Lock()
	defer c.jar.mu.Unlock()
	for i := range c.jar.cookies {
		if k := &c.jar.cookies[i]; k.goesTo(at) && !c.jar.expired(k) {
			found = append(found, *k)
		}
	}
	return found
}

// Cookie returns the value of the first cookie of that name that a request to u would carry.
func (c *Client) Cookie(u URL, name string) (string, bool) {
	for _, k := range c.Cookies(u) {
		if k.Name == name {
			return k.Value, true
		}
	}
	return "", false
}

// SetCookie stores a cookie as if u had answered with this Set-Cookie value.
func (c *Client) SetCookie(u URL, line string) error {
	if strings.ContainsAny(line, "\r\n\x00") {
		return errors.New("a cookie cannot hold a line end or NUL")
	}
	return c.jar.set(place{u.Host, []byte(u.Target), u.TLS}, line)
}

// store takes the Set-Cookie fields of an answer; bad ones are ignored.
func (c *Client) store(res *Response) {
	at := place{hostOf(c.hop.addr), c.hop.target, c.hop.tls}
	for i := range res.fields {
		if h := res.Header(i); equalFold(h.Name, "set-cookie") {
			_ = c.jar.set(at, string(h.Value))
		}
	}
}

// hostOf cuts the port and the brackets off host:port.
func hostOf(addr string) string {
	if i := strings.LastIndexByte(addr, ':'); i >= 0 {
		addr = addr[:i]
	}
	if len(addr) > 2 && addr[0] == '[' {
		return addr[1 : len(addr)-1]
	}
	return addr
}

func (j *Jar) holds() bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.cookies) > 0
}

func (j *Jar) expired(k *Cookie) bool { return !k.Expires.IsZero() && !k.Expires.After(j.clock()) }

// goesTo applies RFC 6265 5.4's domain, path and Secure rules.
func (k *Cookie) goesTo(at place) bool {
	if k.Secure && !at.tls {
		return false
	}
	if at.host != k.Domain && (k.HostOnly || !within(at.host, k.Domain)) {
		return false
	}
	path := at.target
	if i := bytes.IndexByte(path, '?'); i >= 0 {
		path = path[:i]
	}
	n := len(k.Path)
	if len(path) == 0 {
		return k.Path == "/"
	}
	return len(path) >= n && string(path[:n]) == k.Path &&
		(len(path) == n || k.Path[n-1] == '/' || path[n] == '/')
}

// within reports whether host is a subdomain of domain.
func within(host, domain string) bool {
	n := len(host) - len(domain)
	return n > 0 && host[n-1] == '.' && host[n:] == domain && !isIP(host)
}

func isIP(host string) bool {
	_, err := netip.ParseAddr(host)
	return err == nil
}

// append adds the pairs that go to at behind those in own, which hide cookies
// of the same names; begin is where the pairs begin in out.
func (j *Jar) append(out []byte, begin int, at place, own []byte) []byte {
	j.mu.Lock()
	defer j.mu.Unlock()
	for i := 0; i < len(j.cookies); i++ {
		k := &j.cookies[i]
		if j.expired(k) {
			j.remove(i)
			i--
			continue
		}
		if !k.goesTo(at) || holdsName(own, k.Name) {
			continue
		}
		if len(out) > begin {
			out = append(out, "; "...)
		}
		out = append(out, k.Name...)
		out = append(out, '=')
		out = append(out, k.Value...)
	}
	return out
}

// holdsName reports whether "a=1; b=2" holds a cookie of this name.
func holdsName(pairs []byte, name string) bool {
	for len(pairs) > 0 {
		pair := pairs
		if i := bytes.IndexByte(pairs, ';'); i >= 0 {
			pair, pairs = pairs[:i], pairs[i+1:]
		} else {
			pairs = nil
		}
		pair = bytes.TrimLeft(pair, " ")
		if len(pair) > len(name) && pair[len(name)] == '=' && string(pair[:len(name)]) == name {
			return true
		}
	}
	return false
}

func (j *Jar) remove(i int) {
	last := len(j.cookies) - 1
	copy(j.cookies[i:], j.cookies[i+1:])
	copy(j.born[i:], j.born[i+1:])
	j.cookies[last] = Cookie{}
	j.cookies, j.born = j.cookies[:last], j.born[:last]
}

// set stores one Set-Cookie value that came from at.
func (j *Jar) set(at place, line string) error {
	k, err := parseCookie(line, j.clock())
	if err != nil {
		return err
	}
	if err := k.settle(at); err != nil {
		return err
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	j.put(k)
	return nil
}

// settle fills in domain and path and refuses what at may not set.
func (k *Cookie) settle(at place) error {
	host := at.host
	switch domain := k.Domain; {
	case domain == "" || domain == host:
		k.HostOnly = domain == "" || isIP(host) || isPublic(host)
		k.Domain = host
	case isPublic(domain):
		return errors.New("a cookie for a public suffix is refused")
	case !within(host, domain):
		return errors.New("a cookie for another domain is refused")
	}
	if k.Path == "" {
		k.Path = defaultPath(at.target)
	}
	if foldPrefix(k.Name, "__Secure-") && !(k.Secure && at.tls) ||
		foldPrefix(k.Name, "__Host-") && !(k.Secure && at.tls && k.HostOnly && k.Path == "/") {
		return errors.New("the cookie does not keep the rules of its name's prefix")
	}
	return nil
}

func isPublic(domain string) bool {
	suffix, _ := publicsuffix.PublicSuffix(domain)
	return suffix == domain
}

func foldPrefix(s, prefix string) bool {
	return len(s) >= len(prefix) && strings.EqualFold(s[:len(prefix)], prefix)
}

// defaultPath is the target's directory (RFC 6265 5.1.4).
func defaultPath(target []byte) string {
	if i := bytes.IndexByte(target, '?'); i >= 0 {
		target = target[:i]
	}
	i := bytes.LastIndexByte(target, '/')
	if i <= 0 || target[0] != '/' {
		return "/"
	}
	return string(target[:i])
}

// put adds or replaces a cookie; a replaced one keeps its age, an expired one removes.
func (j *Jar) put(k Cookie) {
	j.count++
	born := j.count
	for i := range j.cookies {
		if o := &j.cookies[i]; o.Name == k.Name && o.Domain == k.Domain && o.Path == k.Path {
			born = j.born[i]
			j.remove(i)
			break
		}
	}
	if j.expired(&k) || len(k.Name)+len(k.Value) > maxCookieBytes {
		return
	}
	for j.full(k) {
	}
	at := len(j.cookies)
	for at > 0 && after(j.cookies[at-1].Path, j.born[at-1], k.Path, born) {
		at--
	}
	j.cookies = append(j.cookies, Cookie{})
	j.born = append(j.born, 0)
	copy(j.cookies[at+1:], j.cookies[at:])
	copy(j.born[at+1:], j.born[at:])
	j.cookies[at], j.born[at] = k, born
}

// after reports whether cookie a is sent after cookie b.
func after(aPath string, aBorn uint64, bPath string, bBorn uint64) bool {
	if len(aPath) != len(bPath) {
		return len(aPath) < len(bPath)
	}
	return aBorn > bBorn
}

// full makes room for k by removing the oldest cookie in its way; it reports
// whether it had to.
func (j *Jar) full(k Cookie) bool {
	count, bytes, oldest, any := 0, len(k.Name)+len(k.Value), -1, -1
	for i := range j.cookies {
		if any < 0 || j.born[i] < j.born[any] {
			any = i
		}
		if o := &j.cookies[i]; o.Domain == k.Domain {
			count++
			bytes += len(o.Name) + len(o.Value)
			if oldest < 0 || j.born[i] < j.born[oldest] {
				oldest = i
			}
		}
	}
	switch {
	case count >= maxCookies || bytes > maxCookieBytes:
		j.remove(oldest)
	case len(j.cookies) >= maxJar:
		j.remove(any)
	default:
		return false
	}
	return true
}
