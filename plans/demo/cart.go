package demo

import (
	"net/http"
	"slices"
)

const (
	maxLines = 50
	maxQty   = 99
)

type line struct {
	SKU   string `json:"sku"`
	Qty   int    `json:"qty"`
	Price cents  `json:"price"`
}

type cart struct{ lines []line }

type cartView struct {
	Items []line `json:"items"`
	Count int    `json:"count"`
	Total cents  `json:"total"`
}

func viewOf(lines []line) cartView {
	v := cartView{Items: append([]line{}, lines...)}
	for _, l := range lines {
		v.Count += l.Qty
		v.Total += cents(l.Qty) * l.Price
	}
	return v
}

// add reports false when the cart is full.
func (c *cart) add(more line) bool {
	i := slices.IndexFunc(c.lines, func(l line) bool { return l.SKU == more.SKU })
	if i >= 0 {
		c.lines[i].Qty = min(c.lines[i].Qty+more.Qty, maxQty)
		return true
	}
	if len(c.lines) == maxLines {
		return false
	}
	c.lines = append(c.lines, more)
	return true
}

func (s *shop) cartShow(w http.ResponseWriter, r *http.Request) {
	view := cartView{Items: []line{}}
	s.carts.view(s.shopperOf(w, r).key, func(c *cart) { view = viewOf(c.lines) })
	sendJSON(w, http.StatusOK, view)
}

type wanted struct {
	SKU string `json:"sku"`
	Qty *int   `json:"qty"`
}

// line checks a wish against the catalogue; a missing qty is 1. The message is
// empty when it is fine.
func (s *shop) line(in wanted) (l line, message string) {
	qty := 1
	if in.Qty != nil {
		qty = *in.Qty
	}
	if in.SKU == "" {
		return l, "sku is required"
	}
	if qty < 1 || qty > maxQty {
		return l, "qty must be from 1 to 99"
	}
	p := s.stock.bySKU[in.SKU]
	if p == nil {
		return l, "no product has this sku"
	}
	return line{p.SKU, qty, p.Price}, ""
}

func (s *shop) cartAdd(w http.ResponseWriter, r *http.Request) {
	var in wanted
	if !readJSON(w, r, &in) {
		return
	}
	l, message := s.line(in)
	if message != "" {
		sendError(w, http.StatusUnprocessableEntity, message)
		return
	}
	var view cartView
	fits := true
	s.carts.update(s.shopperOf(w, r).key, func(c *cart) {
		fits = c.add(l)
		view = viewOf(c.lines)
	})
	if !fits {
		sendError(w, http.StatusUnprocessableEntity, "the cart is full")
		return
	}
	sendJSON(w, http.StatusCreated, view)
}

func (s *shop) cartRemove(w http.ResponseWriter, r *http.Request) {
	sku, removed := r.PathValue("sku"), false
	view := cartView{Items: []line{}}
	s.carts.view(s.shopperOf(w, r).key, func(c *cart) {
		n := len(c.lines)
		c.lines = slices.DeleteFunc(c.lines, func(l line) bool { return l.SKU == sku })
		removed = len(c.lines) < n
		view = viewOf(c.lines)
	})
	if !removed {
		sendError(w, http.StatusNotFound, "not in the cart")
		return
	}
	sendJSON(w, http.StatusOK, view)
}
