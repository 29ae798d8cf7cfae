package grpc

import (
	"context"
	"crypto/tls"
	"errors"
	"math"
	"net"
	"net/http/httptrace"
	"sync"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/connectivity"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"

	"runner/plan/element"
)

// linkKey tells apart the connections of a thread.
type linkKey struct{ settings string }

// link is a thread's connection and what is kept beside it.
type link struct {
	tls               *tls.Config
	target, authority string
	conn              *grpc.ClientConn
	opened            bool // there has been one before
	perPass           bool // connections: iteration was used since the last iteration began

	body     []byte
	received []byte
}

// Close closes the connection.
func (l *link) Close() error {
	if l.conn == nil {
		return nil
	}
	err := l.conn.Close()
	l.conn = nil
	return err
}

// StartIteration drops a connection that does not outlive an iteration.
func (l *link) StartIteration(bool) {
	if l.perPass {
		_ = l.Close() // nothing is lost with it
		l.perPass = false
	}
}

// ready makes sure that there is a connection to the target; s gets the times of a
// new one.
func (l *link) ready(ctx context.Context, t *element.Thread, s *element.Sample, target, authority string) error {
	if l.conn != nil && (l.target != target || l.authority != authority) {
		_ = l.Close() // nothing is lost with it
		l.opened = false
	}
	if l.conn != nil && l.conn.GetState() == connectivity.Ready {
		return nil
	}
	_ = l.Close() // the server has closed it
	l.target, l.authority = target, authority
	began := t.Now()
	d := newDialing(t.Clock.Now)
	conn, err := d.open(ctx, l.tls, target, authority)
	dns, handshake := d.times()
	s.Phases.DNS += dns
	s.Phases.TLS += handshake
	s.Phases.Connect += max(0, t.Now()-began-dns-handshake)
	if err != nil {
		return err
	}
	if l.opened {
		s.Reconnects++
	}
	l.conn, l.opened = conn, true
	return nil
}

// dialing is the making of one connection. There is a first dial only: a
// connection that is lost is not made again behind the plan's back.
type dialing struct {
	now            func() time.Duration
	mu             sync.Mutex
	dialled        bool
	dns, handshake time.Duration
	err            error
}

func newDialing(now func() time.Duration) *dialing { return &dialing{now: now} }

func (d *dialing) times() (dns, handshake time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.dns, d.handshake
}

func (d *dialing) cause() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.err
}

var errGone = errors.New("the connection is gone")

// open makes a connection and waits until it can be used.
func (d *dialing) open(ctx context.Context, cfg *tls.Config, target, authority string) (*grpc.ClientConn, error) {
	creds := insecure.NewCredentials()
	if cfg != nil {
		creds = &watched{credentials.NewTLS(cfg), d}
	}
	options := []grpc.DialOption{
		grpc.WithTransportCredentials(creds), grpc.WithContextDialer(d.dial), grpc.WithStatsHandler(watcher{}),
		grpc.WithDisableRetry(), grpc.WithDisableServiceConfig(), grpc.WithDisableHealthCheck(), grpc.WithIdleTimeout(0), grpc.WithNoProxy(),
		grpc.WithUserAgent("runner/1"), grpc.WithReadBufferSize(8 << 10), grpc.WithWriteBufferSize(8 << 10),
		grpc.WithDefaultCallOptions(grpc.MaxCallSendMsgSize(math.MaxInt32)),
	}
	if authority != "" {
		options = append(options, grpc.WithAuthority(authority))
	}
	conn, err := grpc.NewClient("passthrough:///"+target, options...)
	if err != nil {
		return nil, &element.Error{Class: element.Expression, Message: "the target is wrong", Err: err}
	}
	conn.Connect()
	for {
		state := conn.GetState()
		switch state {
		case connectivity.Ready:
			return conn, nil
		case connectivity.TransientFailure, connectivity.Shutdown:
			_ = conn.Close() // it was never used
			return nil, connectFailure(d.cause())
		}
		if !conn.WaitForStateChange(ctx, state) {
			_ = conn.Close() // it was never used
			return nil, &element.Error{Class: element.ConnectTimeout, Message: "no connection within the timeout", Err: ctx.Err()}
		}
	}
}

// dial connects, once.
func (d *dialing) dial(ctx context.Context, addr string) (net.Conn, error) {
	d.mu.Lock()
	again := d.dialled
	d.dialled = true
	d.mu.Unlock()
	if again {
		return nil, errGone
	}
	var began time.Duration
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { began = d.now() },
		DNSDone: func(httptrace.DNSDoneInfo) {
			d.mu.Lock()
			d.dns = d.now() - began
			d.mu.Unlock()
		},
	})
	var dialer net.Dialer
	conn, err := dialer.DialContext(ctx, "tcp", addr)
	d.failed(err)
	return conn, err
}

func (d *dialing) failed(err error) {
	if err != nil {
		d.mu.Lock()
		d.err = err
		d.mu.Unlock()
	}
}

// watched are credentials whose handshake is timed.
type watched struct {
	credentials.TransportCredentials
	dialing *dialing
}

// handshakeError is why there is no TLS.
type handshakeError struct{ err error }

// Error returns the cause.
func (e *handshakeError) Error() string { return e.err.Error() }

// Unwrap returns the cause.
func (e *handshakeError) Unwrap() error { return e.err }

// ClientHandshake makes the handshake.
func (w *watched) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	began := w.dialing.now()
	conn, info, err := w.TransportCredentials.ClientHandshake(ctx, authority, raw)
	w.dialing.mu.Lock()
	w.dialing.handshake = w.dialing.now() - began
	w.dialing.mu.Unlock()
	if err != nil {
		w.dialing.failed(&handshakeError{err})
	}
	return conn, info, err
}

// Clone returns the same: they are not changed.
func (w *watched) Clone() credentials.TransportCredentials { return w }
