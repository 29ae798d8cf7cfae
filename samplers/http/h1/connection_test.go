package h1

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const small = ok + "Content-Length: 2\r\n\r\nhi"

// reset makes the next close send RST.
func reset(p *peer) { p.Conn.(*net.TCPConn).SetLinger(0) }

func TestKeptConnectionClosedWhileIdle(t *testing.T) {
	s := answersOnce(t, small)
	c := client(t, Config{IdleCheck: time.Nanosecond})
	do(t, c, s.get("/1"))
	waitClosed(t, c)
	res := do(t, c, s.get("/2"))
	if res.Reconnects != 1 || res.Reused || res.Requests != 1 || res.Connects != 1 {
		t.Errorf("reconnects %d, reused %v, requests %d", res.Reconnects, res.Reused, res.Requests)
	}
	if got := len(s.requests()); got != 2 {
		t.Errorf("the server saw %d requests, want 2", got)
	}
}

// waitClosed waits until the end of the kept connection has arrived.
func waitClosed(t *testing.T, c *Client) {
	t.Helper()
	for range 500 {
		if !c.conns[0].idle() {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	t.Fatal("the connection stays open")
}

func TestUnaskedBytesWhileIdle(t *testing.T) {
	s := serve(t, func(p *peer) {
		for {
			if _, ok := p.request(); !ok {
				return
			}
			p.say(small, "HTTP/1.1 408 Request Timeout\r\n\r\n")
		}
	})
	c := client(t, Config{IdleCheck: time.Nanosecond})
	do(t, c, s.get("/1"))
	waitClosed(t, c)
	if res := do(t, c, s.get("/2")); res.Reconnects != 1 || res.Status != 200 {
		t.Errorf("reconnects %d, status %d", res.Reconnects, res.Status)
	}
}

func TestLostRace(t *testing.T) {
	for name, end := range map[string]func(p *peer){"closed": func(*peer) {}, "reset": reset} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(p *peer) {
				p.request()
				p.say(small)
				p.request()
				end(p)
			})
			c := client(t, Config{})
			do(t, c, s.get("/1"))
			res := new(Response)
			err := c.Do(context.Background(), s.get("/2"), res)
			if classOf(err) != ResetReused || res.Requests != 1 || !res.Reused {
				t.Errorf("got %v, requests %d, reused %v", err, res.Requests, res.Reused)
			}
			if got := len(s.requests()); got != 2 {
				t.Errorf("the server saw %d requests, want 2: nothing is sent again", got)
			}
			if res := do(t, c, s.get("/3")); res.Reused {
				t.Error("the broken connection was used again")
			}
		})
	}
}

func TestReset(t *testing.T) {
	for name, say := range map[string]string{"before the answer": "", "within the header": ok, "within the body": ok + "Content-Length: 9\r\n\r\nhi"} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(p *peer) {
				p.request()
				p.say(say)
				time.Sleep(20 * time.Millisecond)
				reset(p)
			})
			err := client(t, Config{}).Do(context.Background(), s.get("/"), new(Response))
			if classOf(err) != Reset || !strings.HasSuffix(err.Error(), name) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestTimeout(t *testing.T) {
	for name, say := range map[string]string{"before the answer": "", "within the header": ok, "within the body": ok + "Content-Length: 9\r\n\r\nhi"} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(p *peer) { p.request(); p.say(say); p.request() })
			c, res := client(t, Config{}), new(Response)
			req := s.get("/")
			req.Timeouts.Total = 50 * time.Millisecond
			begin := c.clock()
			err := c.Do(context.Background(), req, res)
			if classOf(err) != Timeout || !strings.HasSuffix(err.Error(), name) {
				t.Errorf("got %v", err)
			}
			if took := res.Stamps.Done - begin; took < req.Timeouts.Total || took > 2*time.Second {
				t.Errorf("took %v", took)
			}
			if len(c.conns) != 0 {
				t.Error("the connection was kept")
			}
		})
	}
}

// A deadline of an earlier call must neither cut a later call short nor stretch it.
func TestDeadlinesOfOneConnection(t *testing.T) {
	s := serve(t, func(p *peer) {
		for i := 0; ; i++ {
			if _, ok := p.request(); !ok {
				return
			}
			if i > 0 {
				time.Sleep(150 * time.Millisecond)
			}
			p.say(small)
		}
	})
	c := client(t, Config{})
	req := s.get("/")
	req.Timeouts.Total = 120 * time.Millisecond
	do(t, c, req)
	req.Timeouts.Total = 5 * time.Second
	c.conns[0].deadline, c.due = c.clock()+50*time.Millisecond, c.clock()+50*time.Millisecond
	c.arm(c.conns[0], c.due)
	c.conns[0].deadline = c.clock() + 4*time.Second // keep the early one
	if res := do(t, c, req); !res.Reused {
		t.Error("not reused")
	}
	req.Timeouts.Total = -1
	do(t, c, req)
	req.Timeouts.Total = 60 * time.Millisecond
	if err := c.Do(context.Background(), req, new(Response)); classOf(err) != Timeout {
		t.Errorf("got %v, want a timeout", err)
	}
}

func TestCancel(t *testing.T) {
	s := serve(t, func(p *peer) {
		for i := 0; ; i++ {
			if _, ok := p.request(); !ok {
				return
			}
			if i == 0 {
				p.say(small)
			}
		}
	})
	c := client(t, Config{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	res := new(Response)
	if err := c.Do(ctx, s.get("/1"), res); err != nil {
		t.Fatal(err)
	}
	begin := time.Now()
	time.AfterFunc(20*time.Millisecond, cancel)
	if err := c.Do(ctx, s.get("/2"), res); classOf(err) != Cancelled || !errors.Is(c.Do(ctx, s.get("/3"), res), context.Canceled) {
		t.Errorf("got %v", err)
	}
	if took := time.Since(begin); took > 2*time.Second {
		t.Errorf("cancelling took %v", took)
	}
	if err := c.Do(context.Background(), s.get("/4"), res); err != nil || len(s.requests()) != 3 {
		t.Errorf("after the cancelled context: %v, server saw %d", err, len(s.requests()))
	}
}

func TestCancelBetweenCalls(t *testing.T) {
	s := answers(t, small)
	c := client(t, Config{})
	ctx, cancel := context.WithCancel(context.Background())
	res := new(Response)
	if err := c.Do(ctx, s.get("/1"), res); err != nil {
		t.Fatal(err)
	}
	cancel()
	time.Sleep(10 * time.Millisecond) // the kept connection's deadline is in the past now
	other, stop := context.WithCancel(context.Background())
	defer stop()
	if err := c.Do(other, s.get("/2"), res); err != nil || !res.Reused {
		t.Errorf("got %v, reused %v", err, res.Reused)
	}
}

func TestDialErrors(t *testing.T) {
	syscallErr := func(e syscall.Errno) error {
		return &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", e)}
	}
	refuse := func(err error) Config {
		return Config{Dial: func(context.Context, string, string) (net.Conn, error) { return nil, err }}
	}
	resolve := func(err error) Config {
		return Config{Resolve: func(context.Context, string) ([]netip.Addr, error) { return nil, err }}
	}
	silent := Config{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}}
	for name, tc := range map[string]struct {
		cfg  Config
		want Class
	}{
		"refused":     {refuse(syscallErr(syscall.ECONNREFUSED)), ConnectRefused},
		"unreachable": {refuse(syscallErr(syscall.EHOSTUNREACH)), Connect},
		"system":      {refuse(syscallErr(syscall.ETIMEDOUT)), ConnectTimeout},
		"files":       {refuse(syscallErr(syscall.EMFILE)), LocalResource},
		"ports":       {refuse(syscallErr(syscall.EADDRNOTAVAIL)), LocalResource},
		"memory":      {refuse(syscallErr(syscall.ENOBUFS)), LocalResource},
		"other":       {refuse(errors.New("dial tcp 10.0.0.1:80: odd")), Connect},
		"unknown":     {resolve(&net.DNSError{Err: "no such host", IsNotFound: true}), DNS},
		"name files":  {resolve(&net.DNSError{Err: "open: too many open files"}), LocalResource},
		"no address":  {resolve(nil), DNS},
		"silent":      {silent, ConnectTimeout},
	} {
		t.Run(name, func(t *testing.T) {
			tc.cfg.Resolve = orResolve(tc.cfg.Resolve)
			res := new(Response)
			req := &Request{Addr: "shop.test:80", Method: "GET", Timeouts: Timeouts{Connect: 30 * time.Millisecond}}
			err := client(t, tc.cfg).Do(context.Background(), req, res)
			if classOf(err) != tc.want || strings.ContainsAny(AsError(err).Message, "0123456789") {
				t.Errorf("got %v, want class %s and no address", err, tc.want)
			}
			if res.Requests != 0 || res.Stamps.Sent != 0 || res.Stamps.Done == 0 {
				t.Errorf("requests %d, stamps %+v", res.Requests, res.Stamps)
			}
		})
	}
}

func orResolve(f func(context.Context, string) ([]netip.Addr, error)) func(context.Context, string) ([]netip.Addr, error) {
	if f != nil {
		return f
	}
	return func(context.Context, string) ([]netip.Addr, error) {
		return []netip.Addr{netip.MustParseAddr("192.0.2.1")}, nil
	}
}

func TestTotalTimeoutWhileConnecting(t *testing.T) {
	c := client(t, Config{Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}})
	req := &Request{Addr: "127.0.0.1:1", Method: "GET", Timeouts: Timeouts{Total: 30 * time.Millisecond}}
	if err := c.Do(context.Background(), req, new(Response)); classOf(err) != Timeout {
		t.Errorf("got %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	time.AfterFunc(10*time.Millisecond, cancel)
	req.Timeouts.Total = 5 * time.Second
	if err := c.Do(ctx, req, new(Response)); classOf(err) != Cancelled {
		t.Errorf("got %v", err)
	}
}

func TestAddressesInTurn(t *testing.T) {
	s := answers(t, small)
	_, port, _ := net.SplitHostPort(s.addr)
	var tried []string
	c := client(t, Config{
		Resolve: func(context.Context, string) ([]netip.Addr, error) {
			return []netip.Addr{netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("192.0.2.3")}, nil
		},
		Dial: func(ctx context.Context, network, address string) (net.Conn, error) {
			tried = append(tried, address)
			if strings.HasPrefix(address, "192.") {
				return nil, syscall.ECONNREFUSED
			}
			return (&net.Dialer{}).DialContext(ctx, network, address)
		},
	})
	req := s.get("/")
	req.Addr = "shop.test:" + port
	res := do(t, c, req)
	if diff := cmp.Diff([]string{"192.0.2.1:" + port, "127.0.0.1:" + port}, tried); diff != "" || res.Connects != 1 {
		t.Errorf("dialled (-want +got):\n%s", diff)
	}
	if got, want := s.requests()[0], "GET / HTTP/1.1\r\nHost: shop.test:"+port+"\r\n\r\n"; got != want {
		t.Errorf("request %q, want %q", got, want)
	}
}

func TestConnectionsPerOrigin(t *testing.T) {
	c := client(t, Config{MaxConnections: 2})
	servers := []*server{answers(t, small), answers(t, small), answers(t, small)}
	for _, s := range servers {
		do(t, c, s.get("/"))
	}
	if len(c.conns) != 2 || c.find(false, servers[0].addr) != nil {
		t.Errorf("%d connections, the oldest must be gone", len(c.conns))
	}
	if res := do(t, c, servers[1].get("/")); !res.Reused {
		t.Error("the second connection must be kept")
	}
	c.CloseConnections()
	if res := do(t, c, servers[1].get("/")); res.Reused {
		t.Error("CloseConnections must close")
	}
	req := servers[1].get("/")
	req.KeepAlive = false
	if do(t, c, req); len(c.conns) != 0 {
		t.Error("without KeepAlive the connection is closed")
	}
}

func TestIPv6(t *testing.T) {
	l, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		t.Logf("no IPv6 on this machine: %v", err)
		return
	}
	s := serveOn(t, l, func(p *peer) { p.request(); p.say(small) })
	do(t, client(t, Config{}), s.get("/"))
	if got, want := s.requests()[0], "GET / HTTP/1.1\r\nHost: "+s.addr+"\r\n\r\n"; got != want {
		t.Errorf("request %q, want %q", got, want)
	}
}

// A panic of a hook must reach the thread that asked, not end the process.
func TestPanicOfAHook(t *testing.T) {
	c := client(t, Config{Dial: func(context.Context, string, string) (net.Conn, error) { panic("hook") }})
	defer func() {
		if got := recover(); got != "hook" {
			t.Errorf("recovered %v", got)
		}
	}()
	_ = c.Do(context.Background(), requestTo("127.0.0.1:80"), new(Response))
}
