package sql

import (
	"context"
	"net"
	"sync/atomic"
	"time"
)

// network dials for a driver and counts what goes over the wire. Drivers may use it
// from goroutines of their own.
type network struct {
	now            func() time.Duration
	dns            atomic.Int64 // time.Duration
	sent, received atomic.Int64
}

func (n *network) reset() {
	n.dns.Store(0)
	n.sent.Store(0)
	n.received.Store(0)
}

// lookup resolves a host name.
func (n *network) lookup(ctx context.Context, host string) ([]string, error) {
	if net.ParseIP(host) != nil {
		return []string{host}, nil
	}
	began := n.now()
	addresses, err := net.DefaultResolver.LookupHost(ctx, host)
	n.dns.Add(int64(n.now() - began))
	return addresses, err
}

// dial connects to an address whose host is an IP.
func (n *network) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &counted{conn, n}, nil
}

// dialName connects to the first address of a host that answers.
func (n *network) dialName(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if network != "tcp" || err != nil {
		return n.dial(ctx, network, address)
	}
	addresses, err := n.lookup(ctx, host)
	if err != nil {
		return nil, err
	}
	var conn net.Conn
	for _, a := range addresses {
		if conn, err = n.dial(ctx, network, net.JoinHostPort(a, port)); err == nil {
			break
		}
	}
	return conn, err
}

type counted struct {
	net.Conn
	network *network
}

// Read counts what is received.
func (c *counted) Read(b []byte) (int, error) {
	n, err := c.Conn.Read(b)
	c.network.received.Add(int64(n))
	return n, err
}

// Write counts what is sent.
func (c *counted) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	c.network.sent.Add(int64(n))
	return n, err
}
