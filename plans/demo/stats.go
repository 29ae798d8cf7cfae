package demo

import (
	"net/http"
	"strconv"
	"sync/atomic"
)

// stats counts what the shop answered. GET /stats, POST /reset and /chaos are
// not counted, so that a test can compare requests with its own figure.
type stats struct {
	requests    atomic.Uint64
	connections atomic.Uint64
	status      [600]atomic.Uint64
	routes      map[string]*atomic.Uint64 // fixed once the mux is filled
}

type statsView struct {
	Requests    uint64            `json:"requests"`
	Connections uint64            `json:"connections"`
	Orders      uint64            `json:"orders"`
	Carts       int               `json:"carts"`
	Status      map[string]uint64 `json:"status"`
	Routes      map[string]uint64 `json:"routes"`
}

func (s *shop) showStats(w http.ResponseWriter, _ *http.Request) {
	v := statsView{
		Requests:    s.stats.requests.Load(),
		Connections: s.stats.connections.Load(),
		Orders:      s.orderNo.Load(),
		Carts:       s.carts.len(),
		Status:      map[string]uint64{},
		Routes:      map[string]uint64{},
	}
	for code := range s.stats.status {
		if n := s.stats.status[code].Load(); n > 0 {
			v.Status[strconv.Itoa(code)] = n
		}
	}
	for pattern, n := range s.stats.routes {
		if n := n.Load(); n > 0 {
			v.Routes[pattern] = n
		}
	}
	sendJSON(w, http.StatusOK, v)
}

// reset sets the counters and the quotas of /fail back to zero; carts, orders
// and misbehaviour stay.
func (s *shop) reset(w http.ResponseWriter, _ *http.Request) {
	s.stats.requests.Store(0)
	s.stats.connections.Store(0)
	for code := range s.stats.status {
		s.stats.status[code].Store(0)
	}
	for _, n := range s.stats.routes {
		n.Store(0)
	}
	s.fails.clear()
	sendJSON(w, http.StatusOK, map[string]bool{"reset": true})
}

// countingWriter notes the status of one answer.
type countingWriter struct {
	http.ResponseWriter
	stats *stats
	code  int
}

// WriteHeader notes the first final status.
func (w *countingWriter) WriteHeader(code int) {
	if w.code == 0 && code >= 200 {
		w.code = code
	}
	w.ResponseWriter.WriteHeader(code)
}

// Unwrap lets http.ResponseController reach flushing and hijacking.
func (w *countingWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (w *countingWriter) finish() {
	code := w.code
	if code == 0 {
		code = http.StatusOK
	}
	if code < len(w.stats.status) {
		w.stats.status[code].Add(1)
	}
}
