package demo

import (
	"bytes"
	"fmt"
	"html"
	"net/http"
	"path"
	"strings"
)

const pageHead = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>%s</title>\n" +
	"<link rel=\"stylesheet\" href=\"/static/shop.css\"><script src=\"/static/shop.js\"></script></head><body>\n<h1>%[1]s</h1>\n"

// shelf is the page of a category, for browsers: a style sheet, a script, and a
// picture and a link for each product.
func (s *shop) shelf(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("category")
	var b bytes.Buffer
	fmt.Fprintf(&b, pageHead, html.EscapeString(name))
	found := false
	for i := range s.stock.products {
		p := &s.stock.products[i]
		if p.Category != name {
			continue
		}
		found = true
		fmt.Fprintf(&b, "<a class=\"product\" href=\"/shelves/%s/%s\"><img src=\"/static/%[2]s.svg\" alt=\"\">%s</a> <b>%s</b>\n",
			p.Category, p.SKU, html.EscapeString(p.Name), p.Price.text())
	}
	if !found {
		sendError(w, http.StatusNotFound, "no such category")
		return
	}
	b.WriteString("</body></html>\n")
	send(w, http.StatusOK, typeHTML, b.Bytes())
}

// shelfProduct is the page of a product, for browsers.
func (s *shop) shelfProduct(w http.ResponseWriter, r *http.Request) {
	p := s.stock.bySKU[r.PathValue("sku")]
	if p == nil || p.Category != r.PathValue("category") {
		sendError(w, http.StatusNotFound, "no such product")
		return
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, pageHead, html.EscapeString(p.Name))
	fmt.Fprintf(&b, "<img src=\"/static/%s.svg\" alt=\"\">\n<p id=\"price\">%s %s</p>\n", p.SKU, p.Price.text(), p.Currency)
	fmt.Fprintf(&b, "<form method=\"post\" action=\"/cart/items\"><input type=\"hidden\" name=\"sku\" value=\"%s\"><button>Buy</button></form>\n</body></html>\n", p.SKU)
	send(w, http.StatusOK, typeHTML, b.Bytes())
}

// static serves what the pages embed; it stays fresh for a minute.
func (s *shop) static(w http.ResponseWriter, r *http.Request) {
	file := r.PathValue("file")
	name, kind := strings.TrimSuffix(file, path.Ext(file)), path.Ext(file)
	p := s.stock.bySKU[name]
	h := w.Header()
	h.Set("Cache-Control", "max-age=60")
	h.Set("ETag", `"`+hash([]byte(file))[:8]+`"`)
	switch {
	case file != "shop.css" && file != "shop.js" && (p == nil || kind != ".svg"):
		h.Del("Cache-Control")
		h.Del("ETag")
		sendError(w, http.StatusNotFound, "no such file")
	case r.Header.Get("If-None-Match") == h.Get("ETag"):
		send(w, http.StatusNotModified, nil, nil)
	case kind == ".svg":
		const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 20"><text y="15">%s</text></svg>` + "\n"
		send(w, http.StatusOK, []string{"image/svg+xml"}, fmt.Appendf(nil, picture, p.SKU))
	case kind == ".css":
		send(w, http.StatusOK, []string{"text/css"}, []byte("body { font-family: sans-serif }\n.product { display: block }\n"))
	default:
		send(w, http.StatusOK, []string{"text/javascript"}, []byte("document.body.dataset.ready = 'yes'\n"))
	}
}
