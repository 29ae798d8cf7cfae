package http

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"strings"
	"sync"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/spec"
	"runner/samplers/http/h1"
)

type dnsOptions struct {
	Hosts  spec.Map[expr.String] `plan:"hosts" doc:"addresses of names, as {shop.example.com: 10.0.0.7}, with a port if it differs: 10.0.0.7:8443; TLS and the Host header keep the name"`
	Policy string                `plan:"policy" enum:"pinned|round_robin|each" default:"pinned" doc:"pinned resolves a name once in the run and keeps to its first address that answers; round_robin resolves once and gives each connection the next address; each resolves for each connection"`
	Family string                `plan:"family" enum:"any|ipv4|ipv6" default:"any" doc:"addresses that are used"`
	Source []string              `plan:"source,single" doc:"local addresses to connect from; thread k takes the k-th, then from the first again"`
}

// Check reports addresses that are none.
func (o *dnsOptions) Check(report func(field, code, summary, detail string)) {
	for _, e := range o.Hosts.Entries {
		if text, ok := e.Value.Literal(); ok {
			if _, err := parseTarget(text); err != nil {
				report("hosts", "bad-address", fmt.Sprintf("%s: %q is no address", e.Name, text), "write an IP address, with :port if it differs from the URL's")
			}
		}
	}
	for _, text := range o.Source {
		ip, err := netip.ParseAddr(text)
		switch {
		case err != nil:
			report("source", "bad-address", fmt.Sprintf("%q is no address", text), "write an IP address of this machine")
		case o.Family == "ipv4" && !ip.Unmap().Is4(), o.Family == "ipv6" && ip.Unmap().Is4():
			report("source", "address-family", text+" does not belong to the family "+o.Family, "")
		}
	}
}

// parseTarget reads ip or ip:port; the port is 0 if there is none.
func parseTarget(text string) (netip.AddrPort, error) {
	if ip, err := netip.ParseAddr(strings.Trim(text, "[]")); err == nil {
		return netip.AddrPortFrom(ip, 0), nil
	}
	return netip.ParseAddrPort(text)
}

// configure adds the settings to a thread's client.
func (o *dnsOptions) configure(c *h1.Config, t *element.Thread) error {
	hosts, err := o.targets(t)
	if err != nil {
		return err
	}
	if len(hosts) > 0 {
		c.Reroute = func(addr string) string { return reroute(hosts, addr) }
	}
	family := o.Family
	if len(o.Source) > 0 {
		ip, err := netip.ParseAddr(o.Source[(t.ID-1+len(o.Source))%len(o.Source)])
		if err != nil {
			return errors.New("dns.source is no address")
		}
		local := &net.TCPAddr{IP: ip.Unmap().AsSlice(), Zone: ip.Zone()}
		c.Dial = (&net.Dialer{KeepAlive: -1, LocalAddr: local}).DialContext
		if family = "ipv6"; ip.Unmap().Is4() {
			family = "ipv4"
		}
	}
	switch family {
	case "ipv4":
		c.Accept = netip.Addr.Is4
	case "ipv6":
		c.Accept = netip.Addr.Is6
	}
	if o.Policy != "each" {
		all := t.Plan.Value(lookupKey{}, func() any { return &lookups{} }).(*lookups)
		rotate := o.Policy == "round_robin"
		c.Resolve = func(ctx context.Context, host string) ([]netip.Addr, error) { return all.resolve(ctx, host, rotate) }
	}
	return nil
}

func (o *dnsOptions) targets(s expr.Scope) (map[string]netip.AddrPort, error) {
	hosts := make(map[string]netip.AddrPort, len(o.Hosts.Entries))
	for i := range o.Hosts.Entries {
		e := &o.Hosts.Entries[i]
		text, err := e.Value.Eval(s)
		if err != nil {
			return nil, err
		}
		target, err := parseTarget(text)
		if err != nil {
			return nil, fmt.Errorf("dns.hosts: %s: %q is no address", e.Name, text)
		}
		hosts[strings.ToLower(e.Name)] = target
	}
	return hosts, nil
}

// reroute returns where host:port is reached, "" where it stands.
func reroute(hosts map[string]netip.AddrPort, addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	target, ok := hosts[addr]
	if !ok {
		if target, ok = hosts[host]; !ok {
			return ""
		}
	}
	if target.Port() != 0 {
		return target.String()
	}
	return net.JoinHostPort(target.Addr().String(), port)
}

type lookupKey struct{}

// maxNames bounds the names that are remembered; further ones are resolved anew.
const maxNames = 10_000

// lookups remembers a run's addresses. A failed lookup is tried again by the
// next connection.
type lookups struct {
	mu    sync.Mutex
	names map[string]*lookup
}

type lookup struct {
	busy  chan struct{} // holds one token while somebody asks
	addrs []netip.Addr  // under busy
	turn  int
}

func (l *lookups) entry(host string) *lookup {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.names[host]
	if e == nil {
		if l.names == nil {
			l.names = map[string]*lookup{}
		}
		e = &lookup{busy: make(chan struct{}, 1)}
		if len(l.names) < maxNames {
			l.names[host] = e
		}
	}
	return e
}

// resolve returns the addresses of a name, looked up once for all threads.
func (l *lookups) resolve(ctx context.Context, host string, rotate bool) ([]netip.Addr, error) {
	e := l.entry(host)
	select {
	case e.busy <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-e.busy }()
	if e.addrs == nil {
		addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
		if err != nil {
			return nil, err
		}
		e.addrs = addrs
	}
	if !rotate || len(e.addrs) < 2 {
		return e.addrs, nil
	}
	at := e.turn % len(e.addrs)
	e.turn++
	return append(append([]netip.Addr{}, e.addrs[at:]...), e.addrs[:at]...), nil
}
