package h1

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"
)

// silentServer reads requests, tells of each and never answers.
func silentServer(t *testing.T, asked chan<- struct{}) *server {
	return serve(t, func(p *peer) {
		if _, err := p.Conn.Read(make([]byte, 4096)); err == nil {
			asked <- struct{}{}
		}
		_, _ = p.Conn.Read(make([]byte, 1))
	})
}

func TestEndOfAContextInterruptsAllItsClients(t *testing.T) {
	const n = 20
	asked := make(chan struct{}, n+1)
	s := silentServer(t, asked)
	pool := NewPool()
	ctx, cancel := context.WithCancel(context.Background())
	other, cancelOther := context.WithCancel(context.Background())
	defer cancelOther()
	wrong := make(chan error, n+1)
	clients := make([]*Client, n+1)
	var all sync.WaitGroup
	for i := range clients {
		clients[i] = NewClient(&Config{Pool: pool}, nil)
		calls := ctx
		if i == n {
			calls = other
		}
		all.Go(func() {
			err := clients[i].Do(calls, s.get("/"), new(Response))
			if i == n && other.Err() == nil {
				t.Error("another context's end has interrupted a call")
			}
			wrong <- err
		})
	}
	for range clients {
		<-asked
	}
	if len(pool.watches) != 2 { // nobody begins a call now
		t.Errorf("%d contexts are watched, want 2", len(pool.watches))
	}
	begin := time.Now()
	cancel()
	for range n {
		if err := <-wrong; classOf(err) != Cancelled {
			t.Errorf("error %v", err)
		}
	}
	if took := time.Since(begin); took > 4*time.Second {
		t.Errorf("it took %v", took)
	}
	cancelOther()
	all.Wait()
	for _, c := range clients {
		c.Close()
	}
	if len(pool.watches) != 0 {
		t.Errorf("%d contexts are watched by nobody", len(pool.watches))
	}
}

func TestClientsComeToAndLeaveContexts(t *testing.T) {
	s := answers(t, small)
	pool := NewPool()
	cfg := &Config{Pool: pool}
	clients := []*Client{NewClient(cfg, nil), NewClient(cfg, nil), NewClient(cfg, nil)}
	ask := func(ctx context.Context, c *Client) error {
		err := c.Do(ctx, s.get("/"), new(Response))
		if err == nil {
			return nil
		}
		return err
	}
	first, end := context.WithCancel(context.Background())
	second, endSecond := context.WithCancel(context.Background())
	for _, c := range clients {
		if err := ask(first, c); err != nil {
			t.Fatal(err)
		}
	}
	if err := ask(second, clients[0]); err != nil { // its seat goes to the last one
		t.Fatal(err)
	}
	clients[2].Close()
	end()
	for deadline := time.Now().Add(5 * time.Second); !clients[1].isCancelled(); {
		if time.Now().After(deadline) {
			t.Fatal("a client was not told")
		}
		time.Sleep(time.Millisecond)
	}
	if clients[0].isCancelled() || clients[2].isCancelled() {
		t.Error("a client was told of a context that it had left")
	}
	late := NewClient(cfg, nil)
	if err := ask(first, late); classOf(err) != Cancelled || !errors.Is(err, context.Canceled) {
		t.Errorf("error %v", err)
	}
	for _, c := range []*Client{clients[0], clients[1], clients[2]} {
		if err := ask(second, c); err != nil {
			t.Errorf("with a new context: %v", err)
		}
	}
	endSecond()
	for _, c := range append(clients, late) {
		c.Close()
	}
	if len(pool.watches) != 0 {
		t.Errorf("%d contexts are watched by nobody", len(pool.watches))
	}
}
