// Package demo is the shop that the example plans run against: a small HTTP
// server with a catalogue, sign-in, carts and orders, and a set of endpoints
// that misbehave on purpose.
//
// Its data is the same for the same seed, and nothing in it grows with the
// number of requests: sessions are signed instead of stored, carts and orders
// are held in stores that forget the least recently used entry. New gives the
// handler alone; Listen and Serve run it on a free loopback port.
//
// The shop's pages; JSON unless said otherwise, errors are {"error": text}:
//
//	GET  /                            home page, HTML
//	GET  /health                      {"ready": true, "services": […]}
//	GET  /categories                  {"items": [{"name", "count"}]}
//	GET  /products?category=&page=    {"items", "page", "pages", "total"}
//	GET  /products/{id or sku}        a product, or 404
//	GET  /products/{id}/reviews       {"items", "total", "next"}, page by page: ?after=next
//	POST /products/lookup             {"skus": […]}: {"items", "missing"}
//	GET  /search?q=                   like a page of products, at most 20 items
//	GET  /login                       form with a hidden csrf value, HTML
//	POST /login                       form email, password, csrf: 303 to /account, 401, 403
//	POST /api/login                   {"email", "password"}: {"token", "user": {"id", "email"}} or 401
//	GET  /account                     for the sid cookie, a bearer token or basic credentials, else 401
//	GET  /cart                        {"items", "count", "total"}
//	POST /cart/items                  {"sku", "qty"}: 201 and the cart, or 422
//	PUT  /cart/items/{sku}            {"qty"}: the cart, 404 or 422
//	DELETE /cart/items/{sku}          the cart, or 404
//	POST /orders                      {"sku", "qty"}, {"items"} or the cart: 201, 409 if sold out, 422
//	GET  /orders/{id}                 PENDING, and PAID from the third look or after 300 ms
//	GET  /shelves/{category}[/{sku}]  pages for browsers, HTML with a style sheet, a script and pictures
//	GET  /static/{file}               what those embed; fresh for a minute
//
// The help desk, which wants one to be signed in, partners and staff:
//
//	POST /tickets                     {"subject", "ref"?}: 201; GET, PUT {"subject"?, "state"?} /tickets/{id}
//	POST /tickets/{id}/messages       {"text", "id"?}: 201, or 409 if the ticket is closed
//	POST /uploads                     a form with files: 201 and what has arrived
//	POST /exports                     {"category"}: 202; GET /exports/{id} is RUNNING, and DONE from
//	                                  the third look or after 300 ms; GET /exports/{id}/file, CSV
//	POST /token?ttl_ms=60000          OAuth 2 client credentials partner, partner-secret
//	GET  /partner/stock/{sku}         for a token of /token that has not expired, else 401
//	GET  /staff                       for digest credentials
//	POST /soap                        GetPrice as SOAP, or a fault with status 500
//	PROPFIND, REPORT /calendars/{email}/        delivery dates as WebDAV has them, for basic
//	PUT, GET, DELETE /calendars/{email}/{name}  credentials
//
// Tools that do what their query says, whatever the misbehaviour:
//
//	GET  /slow?ms=200&jitter=0        answers late, at most by 10 s
//	GET  /fail?status=503&share=0.1   fails for exactly this share of the requests
//	GET  /redirect?n=2&status=302     n redirects that end at /health
//	GET  /bytes?n=1024                n bytes; /gzip and /deflate send JSON compressed
//	GET  /stream?chunks=5&ms=10       text in chunks
//	any  /echo                        the request as the server read it
//	GET  /etag                        304 if If-None-Match says so
//	GET  /limited?per_second=10       429 with Retry-After for more in a second
//
// Controls, which are not counted:
//
//	GET  /stats                       requests, connections, by status, by route
//	POST /reset                       sets the counters back
//	GET, POST /chaos                  the Misbehaviour
package demo

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"time"
)

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
