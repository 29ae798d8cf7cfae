package demo

import (
	"fmt"
	"net/http"
	"time"
)

// An order is paid at its third look or paidAfter its creation, whichever is first.
const (
	paidPolls = 3
	paidAfter = 300 * time.Millisecond
)

type order struct {
	view    orderView
	created time.Time
	polls   int
}

type orderView struct {
	ID    string `json:"id"`
	State string `json:"state"`
	Items []line `json:"items"`
	Total cents  `json:"total"`
}

// orderCreate takes {"sku", "qty"}, {"items": [{"sku", "qty"}]} or, with
// neither, orders what is in the cart and empties it.
func (s *shop) orderCreate(w http.ResponseWriter, r *http.Request) {
	var in struct {
		wanted
		Items []wanted `json:"items"`
	}
	if !readJSON(w, r, &in) {
		return
	}
	list := in.Items
	if in.SKU != "" || in.Qty != nil {
		list = append([]wanted{in.wanted}, list...)
	}
	if len(list) > maxLines {
		sendError(w, http.StatusUnprocessableEntity, "too many items")
		return
	}
	who := s.shopperOf(w, r)
	lines, ok := s.orderLines(w, who, list)
	if !ok {
		return
	}
	o := s.place(lines)
	if len(list) == 0 {
		s.carts.update(who.key, func(c *cart) { c.lines = nil })
	}
	w.Header().Set("Location", "/orders/"+o.ID)
	sendJSON(w, http.StatusCreated, o)
}

// orderLines resolves what is ordered, or answers and reports false.
func (s *shop) orderLines(w http.ResponseWriter, who shopper, list []wanted) ([]line, bool) {
	var lines []line
	for _, in := range list {
		l, message := s.line(in)
		if message != "" {
			sendError(w, http.StatusUnprocessableEntity, message)
			return nil, false
		}
		lines = append(lines, l)
	}
	if len(list) == 0 {
		s.carts.view(who.key, func(c *cart) { lines = append(lines, c.lines...) })
	}
	if len(lines) == 0 {
		sendError(w, http.StatusUnprocessableEntity, "sku, items or a filled cart is required")
		return nil, false
	}
	for _, l := range lines {
		if l.SKU == SoldOutSKU {
			sendError(w, http.StatusConflict, l.SKU+" is out of stock")
			return nil, false
		}
	}
	return lines, true
}

func (s *shop) place(lines []line) orderView {
	o := orderView{
		ID:    fmt.Sprintf("ord-%06d", s.orderNo.Add(1)),
		State: "PENDING",
		Items: lines,
		Total: viewOf(lines).Total,
	}
	s.orders.update(o.ID, func(e *order) { *e = order{view: o, created: s.opts.Now()} })
	return o
}

func (s *shop) orderShow(w http.ResponseWriter, r *http.Request) {
	var view orderView
	found := s.orders.view(r.PathValue("id"), func(o *order) {
		o.polls++
		if o.polls >= paidPolls || s.opts.Now().Sub(o.created) >= paidAfter {
			o.view.State = "PAID"
		}
		view = o.view
	})
	if !found {
		sendError(w, http.StatusNotFound, "no such order")
		return
	}
	sendJSON(w, http.StatusOK, view)
}
