package demo

import (
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"
)

// Misbehaviour is what goes wrong in a shop, for tests that must notice it. The
// zero value is a shop in order. Price, Stock and Name spoil the JSON of
// GET /products/{id}: "wrong" gives another value, "text" another type,
// "missing" leaves the field out. Status, DelayMS, Close and Truncate concern
// every page of the shop, but not /slow, /fail and the like.
type Misbehaviour struct {
	Price    string  `json:"price,omitempty"`
	Stock    string  `json:"stock,omitempty"`
	Name     string  `json:"name,omitempty"`
	Status   int     `json:"status,omitempty"`   // answer with this instead
	DelayMS  int     `json:"delay_ms,omitempty"` // answer later, at most by 10 s
	Close    bool    `json:"close,omitempty"`    // close the connection without an answer
	Truncate bool    `json:"truncate,omitempty"` // close it in the middle of the body
	Share    float64 `json:"share,omitempty"`    // share of the requests concerned, evenly spread; 0 means all
}

func (m Misbehaviour) normal() Misbehaviour {
	m.DelayMS = min(max(m.DelayMS, 0), int(maxDelay/time.Millisecond))
	if m.Status < 200 || m.Status > 599 {
		m.Status = 0
	}
	if !(m.Share > 0 && m.Share < 1) {
		m.Share = 1
	}
	return m
}

// chaos is a misbehaviour at work, with the quotas of its share.
type chaos struct {
	Misbehaviour
	mu             sync.Mutex
	pages, details quota
}

func (c *chaos) take(q *quota) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return q.take(partsPerMillion(c.Share))
}

func (s *shop) showChaos(w http.ResponseWriter, _ *http.Request) {
	sendJSON(w, http.StatusOK, s.chaos.Load().Misbehaviour)
}

// setChaos replaces the misbehaviour; {} puts the shop in order.
func (s *shop) setChaos(w http.ResponseWriter, r *http.Request) {
	var m Misbehaviour
	if !readJSON(w, r, &m) {
		return
	}
	s.chaos.Store(&chaos{Misbehaviour: m.normal()})
	s.showChaos(w, r)
}

// misbehave does what concerns every page and reports whether it answered.
func (s *shop) misbehave(w http.ResponseWriter, r *http.Request) bool {
	c := s.chaos.Load()
	if c.Status == 0 && c.DelayMS == 0 && !c.Close && !c.Truncate || !c.take(&c.pages) {
		return false
	}
	if !s.pause(r.Context(), time.Duration(c.DelayMS)*time.Millisecond) {
		return true
	}
	switch {
	case c.Close:
		panic(http.ErrAbortHandler)
	case c.Truncate:
		w.Header().Set("Content-Length", "1000")
		w.Write([]byte(`{"items":[`))
		http.NewResponseController(w).Flush()
		panic(http.ErrAbortHandler)
	case c.Status != 0:
		sendError(w, c.Status, "misbehaving on purpose")
		return true
	}
	return false
}

// spoil returns the JSON of a product, made wrong if it is told to.
func (s *shop) spoil(p *product) []byte {
	c := s.chaos.Load()
	if c.Price == "" && c.Stock == "" && c.Name == "" || !c.take(&c.details) {
		return p.rendered
	}
	var fields map[string]json.RawMessage
	if json.Unmarshal(p.rendered, &fields) != nil {
		return p.rendered
	}
	spoilField(fields, "price", c.Price, p.Price+1, p.Price.text())
	spoilField(fields, "stock", c.Stock, p.Stock+1, strconv.Itoa(p.Stock))
	spoilField(fields, "name", c.Name, p.Name+" (copy)", p.ID)
	body, err := json.Marshal(fields)
	if err != nil {
		return p.rendered
	}
	return body
}

// spoilField makes one field wrong; "text" needs a value of another type.
func spoilField(fields map[string]json.RawMessage, key, how string, wrong, otherType any) {
	switch how {
	case "wrong":
		fields[key], _ = json.Marshal(wrong)
	case "text":
		fields[key], _ = json.Marshal(otherType)
	case "missing":
		delete(fields, key)
	}
}
