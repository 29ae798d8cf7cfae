// Package h1 is the HTTP/1.1 transport of the http sampler: one [Client] a
// thread, one keep-alive connection an origin, requests rendered into a pooled
// buffer, answers parsed in place, nothing allocated when nothing is dynamic.
//
// What goes over the wire is exactly what the caller asked for: no request is
// ever sent twice on its own account, so [Response.Requests] equals the number
// of lines in the server's log.
//
// The parts: client.go runs an exchange and its redirects, render.go writes the
// request, conn.go and dial.go own sockets, deadlines and cancellation, turn.go
// sends a request and awaits its answer in one visit to the poller (raw_linux.go
// does so without the scheduler), head.go and body.go read the answer, memo.go
// knows a head again that came before, decode.go undoes content codings, jar.go
// keeps cookies, url.go splits and joins URLs, errors.go sorts failures into classes.
package h1

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/netip"
	"time"
)

// Limits that hold when a request leaves them at zero.
const (
	DefaultTimeout     = 30 * time.Second
	DefaultMaxBody     = 32 << 20
	DefaultMaxHeader   = 256 << 10
	DefaultMaxRatio    = 200
	DefaultRedirects   = 10
	DefaultIdleCheck   = 10 * time.Millisecond
	DefaultConnections = 32
)

// Config is what all requests of a Client have in common; the zero value works.
// TLS, Pool and the hooks may be shared by any number of clients.
type Config struct {
	// TLS is the base configuration, cloned for each connection; ServerName and
	// NextProtos are filled in when empty. Sessions are cached only if it says so.
	TLS *tls.Config
	// Dial opens one TCP connection to an IP literal and port, and must not try
	// again by itself. Nil means a net.Dialer with keep-alive probes off.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// Resolve gives the addresses of a host name, to be dialled in this order.
	// Nil means the system's resolver. It is not asked for IP literals and localhost.
	Resolve func(ctx context.Context, host string) ([]netip.Addr, error)
	// Accept says which of a name's addresses may be dialled. Nil means all.
	Accept func(netip.Addr) bool
	// Reroute gives the host:port to connect to in place of a request's Addr; TLS
	// and the Host header keep to Addr. Nil, or an empty text, changes nothing.
	Reroute func(addr string) string
	// Proxy gives the proxy for an origin; a nil one goes straight. It must give
	// the same answer each time. Nil means that there is no proxy.
	Proxy func(tls bool, addr string) *Proxy
	// Clock gives the monotonic time since the run's start, in which all stamps
	// are expressed. Nil means time since NewClient.
	Clock func() time.Duration
	// Now gives the wall clock by which cookies expire. Nil means time.Now.
	Now func() time.Time
	// Pool lends the buffers; share one among all clients of a run. Nil means an own one.
	Pool *Pool
	// IdleCheck is the idle time from which a kept connection is checked before
	// use. Zero means DefaultIdleCheck, negative never.
	IdleCheck time.Duration
	// MaxConnections bounds the kept connections (one an origin); the one unused
	// for longest is closed. Zero means DefaultConnections.
	MaxConnections int
}

// Timeouts bound one call of Do.
type Timeouts struct {
	// Connect bounds name resolution, TCP connect and TLS handshake of each
	// connection together. Zero means that only Total bounds them.
	Connect time.Duration
	// Total bounds the whole call, redirects included. Zero means
	// DefaultTimeout, negative no limit.
	Total time.Duration
}

// Redirects says whether 301, 302, 303, 307 and 308 are followed.
type Redirects struct {
	Follow bool
	// Max is the number of redirects that may be followed before the call fails
	// with class redirect. Zero means DefaultRedirects.
	Max int
}

// Request is one request to send. Do only reads it, and keeps no part of it
// longer than the Response is used; slices must not change during Do.
type Request struct {
	// TLS is true for https.
	TLS bool
	// Addr is host:port to connect to, the host in ASCII and lower case, IPv6 in
	// brackets: URL.Addr() gives it. Together with TLS it is the origin.
	Addr string
	// Host is the value of the Host header if the plan sets one; it is dropped
	// when a redirect leaves the origin. Empty means Addr without a default port.
	Host string
	// ServerName is the TLS name (SNI) if it differs from Addr's host.
	ServerName string
	// Method is sent as it is; see ValidMethod.
	Method string
	// Target is path and query as sent; EncodeTarget makes it safe. Empty means "/".
	Target []byte
	// Head holds prebuilt header lines, each ending in CRLF, without Host,
	// Cookie (see Cookie) and Content-Length, which are added. Names go out as
	// they are; AppendHeader builds and checks lines.
	Head []byte
	// Cookie holds the plan's own cookies as "a=1; b=2". They win over cookies
	// of the same name in the jar and are dropped when a redirect leaves the origin.
	Cookie []byte
	// NoCookies switches the jar off: nothing is sent from it, nothing is stored.
	NoCookies bool
	// Body is the body, if BodyReader is nil.
	Body []byte
	// BodyReader is read instead of Body. It is sent again by a 307 or 308 only
	// if it is an io.Seeker.
	BodyReader io.Reader
	// Length is the length of BodyReader; negative means unknown (chunked).
	Length int64
	// ExpectContinue asks the server with "Expect: 100-continue" before the body is
	// sent: it follows on a 100 or after a second of silence, and not at all after
	// a final answer.
	ExpectContinue bool
	// Auth adds credentials to each attempt at the request's own origin. Nil adds none.
	Auth Authorizer
	// OmitLength leaves Content-Length and Transfer-Encoding out, because Head has them.
	OmitLength bool

	Timeouts  Timeouts
	Redirects Redirects
	// KeepAlive keeps the connection for the next request to the same origin if
	// the server agrees. If false, the connection is closed after the answer;
	// "Connection: close" is sent only if Head says so.
	KeepAlive bool
	// NeedBody collects the body in Response.Body. If false it is counted and
	// thrown away, undecoded.
	NeedBody bool
	// Decode undoes Content-Encoding (gzip, deflate, br, zstd, also stacked) of a
	// needed body. An unknown coding is then an error of class decode.
	Decode bool
	// MaxBody bounds the body in bytes, decoded and on the wire. Zero means
	// DefaultMaxBody, negative no limit.
	MaxBody int64
	// MaxHeader bounds status line and header fields in bytes. Zero means
	// DefaultMaxHeader.
	MaxHeader int
	// MaxRatio bounds decoded / wire bytes of bodies that decode to more than
	// 1 MiB. Zero means DefaultMaxRatio, negative no limit.
	MaxRatio int

	ready []byte // all that goes over the wire, if MakeReady could tell
}

// Stamps are moments on the Clock.
type Stamps struct {
	// Sent is taken before the first byte of the (first) request is written;
	// zero if Response.Requests is 0.
	Sent time.Duration
	// FirstByte is when the first byte of the last answer was read; zero if none was.
	FirstByte time.Duration
	// Done is when the last byte of the last answer was read, or when it failed.
	Done time.Duration
	// Left is when a body that still went out at Done had ended; zero if none did.
	Left time.Duration
}

// Phases are parts of the elapsed time, summed over the redirects of a call,
// never negative. A reused connection has zero DNS, Connect and TLS.
type Phases struct{ DNS, Connect, TLS, Send, Wait, Receive time.Duration }

// Hop is a redirect that was followed.
type Hop struct {
	// URL is the one that answered with the redirect.
	URL string
	// Status is 301, 302, 303, 307 or 308.
	Status int
}

// Response is filled by Do, on errors with what was known by then. Everything
// in it is valid until Release or the next Do that it is given to. Reuse one
// per thread: a fresh one costs allocations.
type Response struct {
	Status int
	// Method is what the last attempt was sent with.
	Method string
	// Minor is 0 for HTTP/1.0 and 1 for HTTP/1.1.
	Minor  int
	Reason []byte
	// Body is the decoded body if it was needed; it lies in a lent buffer.
	Body []byte
	// WireBody counts the body's bytes as received, without chunk framing.
	WireBody int64
	// DecodedBody counts the body's bytes after decoding; it equals WireBody if
	// nothing was decoded.
	DecodedBody int64
	// BytesSent and BytesReceived count all bytes of HTTP (above TLS), hops included.
	BytesSent, BytesReceived int64
	Stamps                   Stamps
	Phases                   Phases
	// Requests counts the attempts of which at least one byte was written.
	Requests int
	// Connects counts the connections that were opened.
	Connects int
	// Reconnects counts kept connections that were found closed and replaced
	// before anything was sent.
	Reconnects int
	// Reused is true if the last attempt went over a kept connection.
	Reused bool
	// Hops are the redirects followed, in order; Release forgets them.
	Hops []Hop

	fields []field
	head   *buffer
	body   *buffer
	pool   *Pool
	tls    bool
	addr   string
	target []byte
	hop    hop // of the call that fills it
	reason field
	frame  framing
}
