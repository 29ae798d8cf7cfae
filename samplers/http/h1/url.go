package h1

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// URL is a parsed http or https URL.
type URL struct {
	TLS bool
	// Host is in ASCII and lower case, IPv6 literals without brackets.
	Host string
	// Port is always set.
	Port uint16
	// Target is path and query, safe to send, beginning with "/".
	Target string
	// User is the part before "@", as written; it is never sent.
	User string
}

// Addr returns host:port, to dial and to tell origins apart.
func (u URL) Addr() string { return bracketed(u.Host) + ":" + strconv.Itoa(int(u.Port)) }

// Authority returns the host with the port if it is not the scheme's default.
func (u URL) Authority() string {
	u.Host, _, _ = strings.Cut(u.Host, "%") // a zone means something here only
	if u.Port == defaultPort(u.TLS) {
		return bracketed(u.Host)
	}
	return u.Addr()
}

// Origin returns scheme and authority.
func (u URL) Origin() string {
	if u.TLS {
		return "https://" + u.Authority()
	}
	return "http://" + u.Authority()
}

// String returns the URL without User and fragment.
func (u URL) String() string { return u.Origin() + u.Target }

func bracketed(host string) string {
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

func defaultPort(tls bool) uint16 {
	if tls {
		return 443
	}
	return 80
}

// ParseURL splits an absolute http or https URL. The path is kept as written
// but for bytes that may not go over the wire (see EncodeTarget); host names
// become punycode; a fragment is dropped.
func ParseURL(raw string) (URL, error) {
	scheme, rest, found := strings.Cut(raw, "://")
	if !found || strings.ContainsAny(scheme, "/?#") {
		return URL{}, errors.New("a URL begins with http:// or https://")
	}
	u := URL{}
	switch strings.ToLower(scheme) {
	case "http":
	case "https":
		u.TLS = true
	default:
		return URL{}, fmt.Errorf("unsupported scheme %q: use http or https", clip(scheme, 20))
	}
	end := strings.IndexAny(rest, "/?#\\")
	if end < 0 {
		end = len(rest)
	}
	if err := u.setAuthority(rest[:end]); err != nil {
		return URL{}, err
	}
	u.Target = encodeString(rest[end:])
	return u, nil
}

func (u *URL) setAuthority(authority string) error {
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		u.User, authority = authority[:at], authority[at+1:]
	}
	host, port, err := splitPort(authority)
	if err != nil {
		return err
	}
	u.Port = defaultPort(u.TLS)
	if port != "" {
		n, err := strconv.ParseUint(port, 10, 16)
		if err != nil || n == 0 || port[0] == '+' {
			return fmt.Errorf("invalid port %q: a number from 1 to 65535 is expected", clip(port, 20))
		}
		u.Port = uint16(n)
	}
	u.Host, err = asciiHost(host)
	return err
}

// splitPort cuts "host:port", "[v6]:port" and either without a port; brackets stay.
func splitPort(authority string) (host, port string, err error) {
	if strings.HasPrefix(authority, "[") {
		end := strings.IndexByte(authority, ']')
		if end < 0 {
			return "", "", errors.New("missing ] after an IPv6 address")
		}
		host, rest := authority[:end+1], authority[end+1:]
		if rest != "" && rest[0] != ':' {
			return "", "", errors.New("only a port may follow an IPv6 address in brackets")
		}
		return host, strings.TrimPrefix(rest, ":"), nil
	}
	host, port, _ = strings.Cut(authority, ":")
	if strings.Contains(port, ":") {
		return "", "", errors.New("an IPv6 address needs brackets, as in http://[::1]:8080/")
	}
	return host, port, nil
}

func asciiHost(host string) (string, error) {
	if host == "" {
		return "", errors.New("the URL has no host")
	}
	if host[0] == '[' {
		ip, err := netip.ParseAddr(host[1 : len(host)-1])
		if err != nil || !ip.Is6() {
			return "", fmt.Errorf("invalid IPv6 address %q", clip(host, 50))
		}
		return ip.String(), nil
	}
	host = strings.ToLower(host)
	if !isASCII(host) {
		ascii, err := idna.Lookup.ToASCII(host)
		if err != nil {
			return "", fmt.Errorf("invalid international host name %q", clip(host, 50))
		}
		host = ascii
	}
	for i := range len(host) {
		if c := host[i]; !isHostByte(c) {
			return "", fmt.Errorf("invalid character %q in the host name", c)
		}
	}
	if len(host) > 253 {
		return "", errors.New("the host name is longer than 253 characters")
	}
	return host, nil
}

func isHostByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '.' || c == '_'
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// EncodeTarget appends raw, a path and query as text, to dst as it may go over
// the wire: everything as written, but bytes that HTTP does not allow there
// (spaces, controls, line ends, quotes, non-ASCII) percent-encoded. It ends
// before a fragment ("#") and begins with "/" whatever raw begins with.
func EncodeTarget(dst, raw []byte) []byte { return encodeTarget(dst, raw) }

func encodeString(raw string) string {
	if plainTarget(raw) {
		return raw
	}
	return string(encodeTarget(make([]byte, 0, len(raw)+16), raw))
}

func plainTarget(raw string) bool {
	for i := range len(raw) {
		if !inTarget[raw[i]] {
			return false
		}
	}
	return raw != "" && raw[0] == '/'
}

func encodeTarget[T string | []byte](dst []byte, raw T) []byte {
	const hex = "0123456789ABCDEF"
	if len(raw) == 0 || raw[0] != '/' {
		dst = append(dst, '/')
	}
	for i := range len(raw) {
		switch c := raw[i]; {
		case inTarget[c]:
			dst = append(dst, c)
		case c == '#':
			return dst
		default:
			dst = append(dst, '%', hex[c>>4], hex[c&15])
		}
	}
	return dst
}

func clip(s string, n int) string {
	if len(s) > n {
		return s[:n] + "…"
	}
	return s
}
