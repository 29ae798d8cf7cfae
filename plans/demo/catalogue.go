package demo

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"net/http"
	"strconv"
	"strings"
)

// SoldOutSKU is the one product that POST /orders answers with 409.
const SoldOutSKU = "SHO-013"

const (
	perCategory = 20
	pageSize    = 12
	searchLimit = 20
)

// cents is an amount of money; in JSON it is a number with two decimals.
type cents int64

func (c cents) text() string { return fmt.Sprintf("%d.%02d", c/100, c%100) }

// MarshalJSON writes the amount as a number with exactly two decimals.
func (c cents) MarshalJSON() ([]byte, error) { return []byte(c.text()), nil }

type product struct {
	ID       int     `json:"id"`
	SKU      string  `json:"sku"`
	Name     string  `json:"name"`
	Category string  `json:"category"`
	Price    cents   `json:"price"`
	Currency string  `json:"currency"`
	Stock    int     `json:"stock"`
	Rating   float64 `json:"rating"`

	rendered []byte // the JSON above
	words    string // what a search looks through, in lower case
}

// catalogue is what the shop sells; read-only.
type catalogue struct {
	products   []product // by ID, from 1
	bySKU      map[string]*product
	categories []byte
	pages      map[string][][]byte // category, or "" for all → answers of GET /products
	home       []byte
}

type category struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

func newCatalogue(seed uint64) *catalogue {
	c := &catalogue{bySKU: map[string]*product{}, pages: map[string][][]byte{}}
	kinds := []string{"shoes", "shirts", "jackets", "trousers", "hats", "bags", "socks", "lamps", "mugs", "books"}
	styles := []string{"Alpine", "Classic", "Urban", "Trail", "Coastal"}
	colours := []string{"black", "blue", "green", "red"}
	c.products = make([]product, 0, len(kinds)*perCategory)
	for _, kind := range kinds {
		for i := range perCategory {
			id := len(c.products) + 1
			name := fmt.Sprintf("%s %s in %s", styles[i%len(styles)], kind, colours[i/len(styles)])
			c.products = append(c.products, newProduct(seed, id, i+1, kind, name))
		}
	}
	all := make([]category, 0, len(kinds))
	c.pages[""] = renderPages(c.products)
	for i, kind := range kinds {
		all = append(all, category{kind, perCategory})
		c.pages[kind] = renderPages(c.products[i*perCategory : (i+1)*perCategory])
	}
	for i := range c.products {
		c.bySKU[c.products[i].SKU] = &c.products[i]
	}
	c.categories, _ = json.Marshal(map[string]any{"items": all})
	c.home = renderHome(all)
	return c
}

func newProduct(seed uint64, id, number int, kind, name string) product {
	r := mix(seed*1_000_003 + uint64(id))
	p := product{
		ID: id, SKU: fmt.Sprintf("%s-%03d", strings.ToUpper(kind[:3]), number),
		Name: name, Category: kind, Currency: "EUR",
		Price: cents(495 + 50*(r%400)), Stock: 1 + int(r>>20%200), Rating: float64(20+r>>40%31) / 10,
		words: strings.ToLower(name + " " + kind),
	}
	if p.SKU == SoldOutSKU {
		p.Stock = 0
	}
	p.rendered, _ = json.Marshal(p)
	return p
}

func renderPages(products []product) [][]byte {
	count := (len(products) + pageSize - 1) / pageSize
	pages := make([][]byte, count)
	for i := range pages {
		part := products[i*pageSize : min((i+1)*pageSize, len(products))]
		pages[i] = renderList(refs(part), i+1, count, len(products))
	}
	return pages
}

func refs(products []product) []*product {
	list := make([]*product, len(products))
	for i := range products {
		list[i] = &products[i]
	}
	return list
}

func renderList(products []*product, page, pages, total int) []byte {
	b := make([]byte, 0, 64+160*len(products))
	b = append(b, `{"items":[`...)
	for i, p := range products {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, p.rendered...)
	}
	return fmt.Appendf(b, `],"page":%d,"pages":%d,"total":%d}`+"\n", page, pages, total)
}

func renderHome(all []category) []byte {
	var b bytes.Buffer
	b.WriteString("<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>Demo shop</title></head><body>\n")
	b.WriteString("<h1>Demo shop</h1>\n<p><a href=\"/login\">Sign in</a></p>\n<ul>\n")
	for _, c := range all {
		name := html.EscapeString(c.Name)
		fmt.Fprintf(&b, "<li><a href=\"/products?category=%s\">%s</a> (%d)</li>\n", name, name, c.Count)
	}
	b.WriteString("</ul>\n</body></html>\n")
	return b.Bytes()
}

// find returns the product with an ID or a SKU, or nil.
func (c *catalogue) find(key string) *product {
	if p := c.bySKU[key]; p != nil {
		return p
	}
	id, err := strconv.Atoi(key)
	if err != nil || id < 1 || id > len(c.products) {
		return nil
	}
	return &c.products[id-1]
}

func (s *shop) home(w http.ResponseWriter, _ *http.Request) {
	send(w, http.StatusOK, typeHTML, s.stock.home)
}

func (s *shop) health(w http.ResponseWriter, _ *http.Request) {
	send(w, http.StatusOK, typeJSON, []byte(`{"ready":true,"services":["catalogue","cart","orders"]}`+"\n"))
}

func (s *shop) categories(w http.ResponseWriter, _ *http.Request) {
	send(w, http.StatusOK, typeJSON, s.stock.categories)
}

func (s *shop) products(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	pages, total := s.stock.pages[q.Get("category")], 0
	if len(pages) > 0 {
		total = perCategory
	}
	if q.Get("category") == "" {
		total = len(s.stock.products)
	}
	page := 1
	if text := q.Get("page"); text != "" {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			sendError(w, http.StatusBadRequest, "page must be a number from 1")
			return
		}
		page = n
	}
	if page > len(pages) {
		send(w, http.StatusOK, typeJSON, renderList(nil, page, len(pages), total))
		return
	}
	send(w, http.StatusOK, typeJSON, pages[page-1])
}

func (s *shop) product(w http.ResponseWriter, r *http.Request) {
	p := s.stock.find(r.PathValue("id"))
	if p == nil {
		sendError(w, http.StatusNotFound, "no such product")
		return
	}
	send(w, http.StatusOK, typeJSON, s.spoil(p))
}

func (s *shop) search(w http.ResponseWriter, r *http.Request) {
	q := strings.ToLower(strings.TrimSpace(r.URL.Query().Get("q")))
	if q == "" {
		sendError(w, http.StatusBadRequest, "q is required")
		return
	}
	found, total := make([]*product, 0, searchLimit), 0
	for i := range s.stock.products {
		p := &s.stock.products[i]
		if !strings.Contains(p.words, q) {
			continue
		}
		if total++; len(found) < searchLimit {
			found = append(found, p)
		}
	}
	send(w, http.StatusOK, typeJSON, renderList(found, 1, 1, total))
}
