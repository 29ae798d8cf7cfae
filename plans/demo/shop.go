package demo

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"
)

// shop is one running shop. Everything but its stores, counters and
// misbehaviour is fixed at construction.
type shop struct {
	opts      Options
	mux       *http.ServeMux
	stock     *catalogue
	signer    signer
	carts     *store[cart]
	orders    *store[order]
	tickets   *store[ticket]
	exports   *store[export]
	calendars *store[calendar]
	fails     quotas
	gate      gate
	chaos     atomic.Pointer[chaos]
	stats     stats
	serial    atomic.Uint64 // of visits and sessions
	orderNo   atomic.Uint64
	ticks     atomic.Uint64 // draws of latency and jitter
}

// Limits of what is remembered besides carts and orders.
const (
	maxTickets   = 10_000
	maxExports   = 10_000
	maxCalendars = 2_000
)

func newShop(opts Options) *shop {
	opts = opts.withDefaults()
	s := &shop{
		opts:      opts,
		mux:       http.NewServeMux(),
		stock:     newCatalogue(opts.Seed),
		signer:    newSigner(opts.Seed),
		carts:     newStore[cart](opts.MaxCarts, time.Hour, opts.Now),
		orders:    newStore[order](opts.MaxOrders, time.Hour, opts.Now),
		tickets:   newStore[ticket](maxTickets, time.Hour, opts.Now),
		exports:   newStore[export](maxExports, time.Hour, opts.Now),
		calendars: newStore[calendar](maxCalendars, time.Hour, opts.Now),
	}
	s.chaos.Store(&chaos{Misbehaviour: opts.Misbehave.normal()})
	s.stats.routes = map[string]*atomic.Uint64{}
	s.route()
	return s
}

// route fills the mux. Pages answer late by Options.Latency and obey the
// misbehaviour; tools do exactly what their query says; controls are not counted.
func (s *shop) route() {
	s.page("GET /{$}", s.home)
	s.page("GET /health", s.health)
	s.page("GET /categories", s.categories)
	s.page("GET /products", s.products)
	s.page("GET /products/{id}", s.product)
	s.page("GET /products/{id}/reviews", s.reviews)
	s.page("POST /products/lookup", s.lookup)
	s.page("GET /search", s.search)
	s.page("GET /login", s.loginForm)
	s.page("POST /login", s.loginPost)
	s.page("POST /api/login", s.apiLogin)
	s.page("GET /account", s.account)
	s.page("GET /cart", s.cartShow)
	s.page("POST /cart/items", s.cartAdd)
	s.page("PUT /cart/items/{sku}", s.cartChange)
	s.page("DELETE /cart/items/{sku}", s.cartRemove)
	s.page("POST /orders", s.orderCreate)
	s.page("GET /orders/{id}", s.orderShow)
	s.page("GET /shelves/{category}", s.shelf)
	s.page("GET /shelves/{category}/{sku}", s.shelfProduct)
	s.page("GET /static/{file}", s.static)
	s.routeDesk()

	s.tool("GET /slow", s.slow)
	s.tool("GET /fail", s.fail)
	s.tool("GET /redirect", s.redirect)
	s.tool("GET /bytes", s.bytes)
	s.tool("GET /gzip", s.gzip)
	s.tool("GET /deflate", s.deflate)
	s.tool("GET /stream", s.stream)
	s.tool("/echo", s.echo)
	s.tool("GET /etag", s.etag)
	s.tool("GET /limited", s.limited)

	s.mux.HandleFunc("GET /stats", s.showStats)
	s.mux.HandleFunc("POST /reset", s.reset)
	s.mux.HandleFunc("GET /chaos", s.showChaos)
	s.mux.HandleFunc("POST /chaos", s.setChaos)
}

// routeDesk fills in what belongs to the help desk, to partners and to staff.
func (s *shop) routeDesk() {
	s.page("POST /tickets", s.ticketCreate)
	s.page("GET /tickets/{id}", s.ticketShow)
	s.page("PUT /tickets/{id}", s.ticketChange)
	s.page("POST /tickets/{id}/messages", s.ticketAnswer)
	s.page("POST /uploads", s.upload)
	s.page("POST /exports", s.exportCreate)
	s.page("GET /exports/{id}", s.exportShow)
	s.page("GET /exports/{id}/file", s.exportFile)
	s.page("POST /token", s.token)
	s.page("GET /partner/stock/{sku}", s.partnerStock)
	s.page("GET /staff", s.staff)
	s.page("POST /soap", s.soap)
	s.page("PROPFIND /calendars/{owner}/{$}", s.davFind)
	s.page("REPORT /calendars/{owner}/{$}", s.davReport)
	s.page("PUT /calendars/{owner}/{event}", s.davPut)
	s.page("GET /calendars/{owner}/{event}", s.davGet)
	s.page("DELETE /calendars/{owner}/{event}", s.davDelete)
}

func (s *shop) page(pattern string, h http.HandlerFunc) {
	s.tool(pattern, func(w http.ResponseWriter, r *http.Request) {
		if !s.pause(r.Context(), s.latency()) || s.misbehave(w, r) {
			return
		}
		h(w, r)
	})
}

func (s *shop) tool(pattern string, h http.HandlerFunc) {
	n := new(atomic.Uint64)
	s.stats.routes[pattern] = n
	s.mux.HandleFunc(pattern, func(w http.ResponseWriter, r *http.Request) {
		n.Add(1)
		h(w, r)
	})
}

// maxBody is the largest request body that is read.
const maxBody = 8 << 20

// ServeHTTP answers one request and counts it, unless it asks about the counts.
func (s *shop) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Body != nil && r.Body != http.NoBody {
		r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	}
	if isControl(r.URL.Path) {
		s.mux.ServeHTTP(w, r)
		return
	}
	s.stats.requests.Add(1)
	cw := countingWriter{ResponseWriter: w, stats: &s.stats}
	s.mux.ServeHTTP(&cw, r)
	cw.finish()
}

func isControl(path string) bool {
	return path == "/stats" || path == "/reset" || path == "/chaos"
}

// latency draws the time of one page: half of the mean at least, and a tail
// that reaches three times the mean in about one of a hundred.
func (s *shop) latency() time.Duration {
	if s.opts.Latency <= 0 {
		return 0
	}
	u := s.draw()
	f := 0.5 + 0.8*u
	if u > 0.99 {
		f = 3
	}
	return time.Duration(float64(s.opts.Latency) * f)
}

// draw returns the next number of the shop's repeatable sequence in [0, 1).
func (s *shop) draw() float64 {
	return unit(mix(s.opts.Seed ^ mix(s.ticks.Add(1))))
}

// pause waits for d and reports false if ctx ended first.
func (s *shop) pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// mix is the finaliser of splitmix64.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

func unit(x uint64) float64 { return float64(x>>11) / (1 << 53) }
