// Package demo is the shop that the example plans run against: a small HTTP
// server with a catalogue, sign-in, carts and orders, and a set of endpoints
// that misbehave on purpose.
//
// Its data is the same for the same seed, and nothing in it grows with the
// number of requests: sessions are signed instead of stored, carts and orders
// are held in stores that forget the least recently used entry. New gives the
// handler alone; Listen and Serve run it on a free loopback port.
//
// Guide lists its pages and its accounts.
package demo

import (
	"context"
	_ "embed"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

//go:embed guide.txt
var guide string

// Guide returns what the shop serves and who can sign in, for people.
func Guide() string { return guide }

// Options tune a shop; the zero value is a well-behaved shop with seed 1.
type Options struct {
	// Seed selects the catalogue's prices, ratings and stock; 0 means 1.
	Seed uint64
	// Latency is the mean time that shop pages take before they answer; the
	// time of each request is drawn around it, repeatably. 0 adds none.
	Latency time.Duration
	// MaxCarts and MaxOrders limit what is remembered; 0 means 50,000.
	MaxCarts, MaxOrders int
	// Misbehave is what goes wrong from the start; POST /chaos replaces it.
	Misbehave Misbehaviour
	// Now is the shop's clock; nil means time.Now.
	Now func() time.Time
}

const defaultLimit = 50_000

func (o Options) withDefaults() Options {
	if o.Seed == 0 {
		o.Seed = 1
	}
	if o.MaxCarts <= 0 {
		o.MaxCarts = defaultLimit
	}
	if o.MaxOrders <= 0 {
		o.MaxOrders = defaultLimit
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return o
}

// New returns the handler of a fresh shop, safe for concurrent use.
func New(opts Options) http.Handler { return newShop(opts) }

// Listen opens a free port on 127.0.0.1.
func Listen() (net.Listener, error) { return net.Listen("tcp", "127.0.0.1:0") }

// shutdownGrace is how long Serve waits for answers under way once it is told to end.
const shutdownGrace = 2 * time.Second

// Serve runs a fresh shop on ln until ctx ends, then closes ln and every
// connection and returns nil. It returns early only if ln breaks.
func Serve(ctx context.Context, ln net.Listener, opts Options) error {
	s := newShop(opts)
	srv := &http.Server{
		Handler:           s,
		BaseContext:       func(net.Listener) context.Context { return ctx },
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       time.Minute,
		WriteTimeout:      2 * time.Minute,
		IdleTimeout:       5 * time.Minute,
		MaxHeaderBytes:    64 << 10,
		ErrorLog:          log.New(io.Discard, "", 0),
		ConnState: func(_ net.Conn, st http.ConnState) {
			if st == http.StateNew {
				s.stats.connections.Add(1)
			}
		},
	}
	done := make(chan error, 1)
	go func() { done <- srv.Serve(ln) }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownGrace)
	defer cancel()
	if srv.Shutdown(grace) != nil {
		srv.Close()
	}
	if err := <-done; !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
