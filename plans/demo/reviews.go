package demo

import (
	"fmt"
	"net/http"
	"strconv"
)

const (
	reviewsPerPage = 5
	maxLookup      = 500
)

type review struct {
	ID    int    `json:"id"`
	Stars int    `json:"stars"`
	Text  string `json:"text"`
}

// reviews lists what shoppers say of a product, page by page: "next" is the
// cursor of the following page, null on the last one, and so is the Link header.
func (s *shop) reviews(w http.ResponseWriter, r *http.Request) {
	p := s.stock.find(r.PathValue("id"))
	if p == nil {
		sendError(w, http.StatusNotFound, "no such product")
		return
	}
	total := 7 + int(mix(uint64(p.ID))%10) // two to four pages
	from := number(r, "after", 0, 0, total)
	to := min(from+number(r, "limit", reviewsPerPage, 1, 100), total)
	view := struct {
		Items []review `json:"items"`
		Total int      `json:"total"`
		Next  *string  `json:"next"`
	}{[]review{}, total, nil}
	for i := from; i < to; i++ {
		stars := 1 + int(mix(uint64(p.ID*100+i))%5)
		view.Items = append(view.Items, review{i + 1, stars, fmt.Sprintf("%d of 5 for %s", stars, p.Name)})
	}
	if to < total {
		cursor := strconv.Itoa(to)
		view.Next = &cursor
		w.Header().Set("Link", fmt.Sprintf(`</products/%d/reviews?after=%s>; rel="next"`, p.ID, cursor))
	}
	sendJSON(w, http.StatusOK, view)
}

// lookup takes {"skus": […]} and answers with the products, and what there is
// none of: {"items", "missing"}.
func (s *shop) lookup(w http.ResponseWriter, r *http.Request) {
	var in struct{ SKUs []string }
	if !readJSON(w, r, &in) {
		return
	}
	if len(in.SKUs) == 0 || len(in.SKUs) > maxLookup {
		sendError(w, http.StatusUnprocessableEntity, "skus must be from 1 to 500")
		return
	}
	view := struct {
		Items   []*product `json:"items"`
		Missing []string   `json:"missing"`
	}{[]*product{}, []string{}}
	for _, sku := range in.SKUs {
		if p := s.stock.bySKU[sku]; p != nil {
			view.Items = append(view.Items, p)
		} else {
			view.Missing = append(view.Missing, sku)
		}
	}
	sendJSON(w, http.StatusOK, view)
}

// cartChange takes {"qty"}: the cart, 404 if the product is not in it, or 422.
func (s *shop) cartChange(w http.ResponseWriter, r *http.Request) {
	var in wanted
	if !readJSON(w, r, &in) {
		return
	}
	in.SKU = r.PathValue("sku")
	l, message := s.line(in)
	if message != "" {
		sendError(w, http.StatusUnprocessableEntity, message)
		return
	}
	view, found := cartView{Items: []line{}}, false
	s.carts.view(s.shopperOf(w, r).key, func(c *cart) {
		for i := range c.lines {
			if c.lines[i].SKU == l.SKU {
				c.lines[i], found = l, true
			}
		}
		view = viewOf(c.lines)
	})
	if !found {
		sendError(w, http.StatusNotFound, "not in the cart")
		return
	}
	sendJSON(w, http.StatusOK, view)
}
