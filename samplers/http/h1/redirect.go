package h1

import (
	"bytes"
	"errors"
	"io"
	"strings"
)

// follows reports whether the answer is a redirect that the request wants
// followed. One with an empty Location leads nowhere.
func (c *Client) follows(req *Request, res *Response) bool {
	if !req.Redirects.Follow || !res.frame.located {
		return false
	}
	if location, _ := res.Get("Location"); len(location) == 0 {
		return false
	}
	switch res.Status {
	case 301, 302, 303, 307, 308:
		return true
	}
	return false
}

func redirectLimit(req *Request) int {
	if req.Redirects.Max <= 0 {
		return DefaultRedirects
	}
	return req.Redirects.Max
}

// redirect turns the hop into the one that the answer points to.
func (c *Client) redirect(req *Request, res *Response) *Error {
	if len(res.Hops) >= redirectLimit(req) {
		return fail(Redirect, "too many redirects")
	}
	from := res.URL()
	location, _ := res.Get("Location")
	to, err := Resolve(from, string(location))
	if err != nil {
		return &Error{Redirect, "the Location cannot be followed: " + err.Error(), err}
	}
	h := c.hop
	if res.Status != 307 && res.Status != 308 {
		h.noBody = true
		if h.method != "HEAD" {
			h.method = "GET"
		}
	} else if wrong := rewind(req, h); wrong != nil {
		return wrong
	}
	if to.TLS != from.TLS || to.Addr() != from.Addr() {
		h.foreign, h.host = true, ""
	}
	h.tls, h.addr, h.target, h.rounds, h.via = to.TLS, to.Addr(), []byte(to.Target), 0, nil
	res.Hops = append(res.Hops, Hop{from.String(), res.Status})
	res.forget()
	return nil
}

func rewind(req *Request, h *hop) *Error {
	if req.BodyReader == nil || h.noBody {
		return nil
	}
	seeker, ok := req.BodyReader.(io.Seeker)
	if !ok {
		return fail(Redirect, "the body cannot be sent a second time")
	}
	if _, err := seeker.Seek(0, io.SeekStart); err != nil {
		return &Error{Redirect, "the body cannot be sent a second time", err}
	}
	return nil
}

// Resolve returns the URL that the reference ref means on the page base. A
// fragment and credentials are dropped.
func Resolve(base URL, ref string) (URL, error) {
	ref = strings.Trim(ref, " \t")
	to := URL{TLS: base.TLS, Host: base.Host, Port: base.Port}
	path, _, _ := strings.Cut(base.Target, "?")
	scheme, relative := schemeOf(ref)
	switch {
	case scheme != "" && strings.HasPrefix(relative, "//"):
		u, err := ParseURL(scheme + ":" + relative)
		u.User = ""
		return u, err
	case scheme != "":
		return URL{}, errors.New("only http:// and https:// can be followed")
	case strings.HasPrefix(ref, "//"):
		if base.TLS {
			return Resolve(base, "https:"+ref)
		}
		return Resolve(base, "http:"+ref)
	case ref == "" || ref[0] == '#':
		to.Target = base.Target
	case ref[0] == '?':
		to.Target = encodeString(path + ref)
	case ref[0] == '/':
		to.Target = encodeString(withoutDots(ref))
	default:
		to.Target = encodeString(withoutDots(path[:strings.LastIndexByte(path, '/')+1] + ref))
	}
	return to, nil
}

// schemeOf cuts "scheme:" off an absolute reference.
func schemeOf(ref string) (scheme, rest string) {
	for i := range len(ref) {
		switch c := ref[i]; {
		case c == ':' && i > 0:
			return ref[:i], ref[i+1:]
		case c|0x20 >= 'a' && c|0x20 <= 'z':
		case i > 0 && (digit(c) || c == '+' || c == '-' || c == '.'):
		default:
			return "", ref
		}
	}
	return "", ref
}

// withoutDots resolves "." and ".." segments of an absolute path with a query
// (RFC 3986 5.2.4).
func withoutDots(ref string) string {
	end := strings.IndexAny(ref, "?#")
	if end < 0 {
		end = len(ref)
	}
	path, rest := ref[:end], ref[end:]
	if !strings.Contains(path, "/.") {
		return ref
	}
	var kept []string
	segments := strings.Split(path, "/")
	for i, s := range segments[1:] {
		last := i == len(segments)-2
		switch {
		case s == "..":
			kept = kept[:max(0, len(kept)-1)]
		case s != ".":
			kept = append(kept, s)
			continue
		}
		if last {
			kept = append(kept, "")
		}
	}
	return "/" + strings.Join(kept, "/") + rest
}

// FilterHead appends the header lines of head without Host, Content-* and what
// else describes a body, for another origin also without credentials.
func FilterHead(out, head []byte, foreign bool) []byte {
	for len(head) > 0 {
		line := head
		if i := bytes.IndexByte(head, '\n'); i >= 0 {
			line = head[:i+1]
		}
		head = head[len(line):]
		if !equalFold(line[:min(5, len(line))], "host:") {
			out = appendFiltered(out, line, foreign, true)
		}
	}
	return out
}

// appendFiltered appends the header lines of head, without credentials if
// foreign, without those that describe a body if bare.
func appendFiltered(out, head []byte, foreign, bare bool) []byte {
	for len(head) > 0 {
		line := head
		if i := bytes.IndexByte(head, '\n'); i >= 0 {
			line = head[:i+1]
		}
		head = head[len(line):]
		name, _, _ := bytes.Cut(line, []byte(":"))
		if foreign && isCredential(name) || bare && describesBody(name) {
			continue
		}
		out = append(out, line...)
	}
	return out
}

func isCredential(name []byte) bool {
	return equalFold(name, "authorization") || equalFold(name, "cookie") ||
		equalFold(name, "host") || equalFold(name, "proxy-authorization")
}

func describesBody(name []byte) bool {
	return len(name) > 8 && equalFold(name[:8], "content-") ||
		equalFold(name, "transfer-encoding") || equalFold(name, "trailer") || equalFold(name, "expect")
}
