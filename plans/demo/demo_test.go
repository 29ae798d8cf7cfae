package demo_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plans/demo"
)

// client is one browser against one shop.
type client struct {
	t    *testing.T
	base string
	http *http.Client
}

type reply struct {
	status int
	header http.Header
	body   string
	json   map[string]any
}

func open(t *testing.T, opts demo.Options) *client {
	t.Helper()
	srv := httptest.NewServer(demo.New(opts))
	t.Cleanup(srv.Close)
	return browser(t, srv.URL)
}

func browser(t *testing.T, base string) *client {
	jar, _ := cookiejar.New(nil)
	return &client{t, base, &http.Client{
		Jar:           jar,
		Transport:     &http.Transport{DisableCompression: true, DisableKeepAlives: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
}

// do sends a request; headers are "Name: value".
func (c *client) do(method, path, body string, headers ...string) reply {
	c.t.Helper()
	r, err := c.try(method, path, body, headers...)
	if err != nil {
		c.t.Fatalf("%s %s: %v", method, path, err)
	}
	return r
}

func (c *client) try(method, path, body string, headers ...string) (reply, error) {
	req, err := http.NewRequest(method, c.base+path, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		req.Header.Set(name, value)
	}
	res, err := c.http.Do(req)
	if err != nil {
		return reply{}, err
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	out := reply{status: res.StatusCode, header: res.Header, body: string(text)}
	json.Unmarshal(text, &out.json)
	return out, err
}

func (c *client) want(status int, method, path, body string, headers ...string) reply {
	c.t.Helper()
	r := c.do(method, path, body, headers...)
	if r.status != status {
		c.t.Fatalf("%s %s %s: status %d, want %d; body %s", method, path, body, r.status, status, r.body)
	}
	return r
}

func (c *client) get(path string) reply { c.t.Helper(); return c.want(200, "GET", path, "") }

const form = "Content-Type: application/x-www-form-urlencoded"

func TestStatuses(t *testing.T) {
	c := open(t, demo.Options{})
	for _, tt := range []struct {
		method, path, body string
		status             int
		contains           string
	}{
		{"GET", "/", "", 200, `<a href="/products?category=shoes">`},
		{"HEAD", "/", "", 200, ""},
		{"GET", "/health", "", 200, `"ready":true`},
		{"GET", "/categories", "", 200, `{"name":"shoes","count":20}`},
		{"GET", "/products/1", "", 200, `"sku":"SHO-001"`},
		{"GET", "/products/SHO-001", "", 200, `"id":1`},
		{"GET", "/products/0", "", 404, `"error"`},
		{"GET", "/products/201", "", 404, `"error"`},
		{"GET", "/products/nothing", "", 404, `"error"`},
		{"GET", "/products?page=0", "", 400, `"error"`},
		{"GET", "/products?page=x", "", 400, `"error"`},
		{"GET", "/products?category=nothing", "", 200, `{"items":[],"page":1,"pages":0,"total":0}`},
		{"GET", "/products?page=99", "", 200, `{"items":[],"page":99,"pages":17,"total":200}`},
		{"GET", "/search", "", 400, `"error"`},
		{"GET", "/search?q=no+such+thing", "", 200, `"items":[]`},
		{"GET", "/account", "", 401, `"error"`},
		{"POST", "/api/login", `{"email":"a@b","password":"c"}`, 401, `"error"`},
		{"POST", "/api/login", `{"email":`, 422, `"error"`},
		{"GET", "/orders/ord-999999", "", 404, `"error"`},
		{"DELETE", "/cart/items/SHO-001", "", 404, `"error"`},
		{"POST", "/cart/items", `{"sku":"NO-1"}`, 422, `no product`},
		{"POST", "/cart/items", `{"sku":"SHO-001","qty":0}`, 422, `qty`},
		{"POST", "/cart/items", `{"sku":"SHO-001","qty":"1"}`, 422, `"error"`},
		{"POST", "/orders", `{"sku":"SHO-001"}`, 201, `"state":"PENDING"`},
		{"POST", "/orders", `{"items":[{"sku":"SHO-001","qty":2}]}`, 201, `"qty":2`},
		{"POST", "/orders", `{"sku":"` + demo.SoldOutSKU + `"}`, 409, `out of stock`},
		{"POST", "/orders", `{}`, 422, `"error"`},
		{"POST", "/orders", `nonsense`, 422, `"error"`},
		{"POST", "/orders", `{"sku":"NO-1"}`, 422, `"error"`},
		{"GET", "/nowhere", "", 404, ""},
		{"DELETE", "/products/1", "", 405, ""},
		{"GET", "/fail?status=204", "", 204, ""},
		{"GET", "/fail?share=0", "", 200, `"ok":true`},
	} {
		r := c.want(tt.status, tt.method, tt.path, tt.body)
		if !strings.Contains(r.body, tt.contains) {
			t.Errorf("%s %s: body %q does not contain %q", tt.method, tt.path, r.body, tt.contains)
		}
	}
}

func TestCatalogueIsRepeatable(t *testing.T) {
	a, b, other := open(t, demo.Options{}), open(t, demo.Options{Seed: 1}), open(t, demo.Options{Seed: 2})
	const page = "/products?page=3"
	if diff := cmp.Diff(a.get(page).body, b.get(page).body); diff != "" {
		t.Errorf("same seed (-first +second):\n%s", diff)
	}
	if a.get(page).body == other.get(page).body {
		t.Error("another seed gives the same catalogue")
	}
}

func TestPagesHoldEachProductOnce(t *testing.T) {
	c := open(t, demo.Options{})
	seen := map[float64]bool{}
	first := c.get("/products")
	for page := 1; page <= int(first.json["pages"].(float64)); page++ {
		for _, it := range c.get(fmt.Sprint("/products?page=", page)).json["items"].([]any) {
			id := it.(map[string]any)["id"].(float64)
			if seen[id] {
				t.Errorf("product %v is on two pages", id)
			}
			seen[id] = true
		}
	}
	if len(seen) != 200 || first.json["total"] != 200.0 {
		t.Errorf("%d products on pages, total %v; want 200", len(seen), first.json["total"])
	}
}

func TestSearchAndCategoryFilter(t *testing.T) {
	c := open(t, demo.Options{})
	for _, path := range []string{"/search?q=SHOES", "/products?category=shoes"} {
		r := c.get(path)
		if r.json["total"] != 20.0 {
			t.Errorf("%s: total %v, want 20", path, r.json["total"])
		}
		for _, it := range r.json["items"].([]any) {
			if cat := it.(map[string]any)["category"]; cat != "shoes" {
				t.Errorf("%s: found %v", path, cat)
			}
		}
	}
}

var csrfField = regexp.MustCompile(`<input type="hidden" name="csrf" value="([0-9a-f]+)">`)

func loginForm(email, password, csrf string) string {
	return url.Values{"email": {email}, "password": {password}, "csrf": {csrf}}.Encode()
}

func TestFormLogin(t *testing.T) {
	c := open(t, demo.Options{})
	csrf := csrfField.FindStringSubmatch(c.get("/login").body)[1]
	if again := csrfField.FindStringSubmatch(c.get("/login").body)[1]; again != csrf {
		t.Error("csrf value changed within a visit")
	}
	const email, password = "shopper0007@example.com", "pass-0007"
	c.want(403, "POST", "/login", loginForm(email, password, "0"), form)
	browser(t, c.base).want(403, "POST", "/login", loginForm(email, password, csrf), form)
	c.want(401, "POST", "/login", loginForm(email, "pass-0008", csrf), form)
	r := c.want(303, "POST", "/login", loginForm(email, password, csrf), form)
	if to := r.header.Get("Location"); to != "/account" {
		t.Errorf("Location %q, want /account", to)
	}
	if !strings.HasPrefix(r.header.Get("Set-Cookie"), "sid=") {
		t.Errorf("Set-Cookie %q, want sid", r.header.Get("Set-Cookie"))
	}
	if page := c.get("/account"); !strings.Contains(page.body, `<p id="email">`+email) {
		t.Errorf("account page %s", page.body)
	}
	got := c.want(200, "GET", "/account", "", "Accept: application/json").json
	want := map[string]any{"user": map[string]any{"id": 7.0, "email": email}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("account (-want +got):\n%s", diff)
	}
}

func TestTokenAndBasicLogin(t *testing.T) {
	c := open(t, demo.Options{})
	r := c.want(200, "POST", "/api/login", `{"email":"shopper0500@example.com","password":"pass-0500"}`)
	token := r.json["token"].(string)
	if r.json["user"].(map[string]any)["id"] != 500.0 {
		t.Errorf("user %v, want id 500", r.json["user"])
	}
	c.get("/account")
	other := browser(t, c.base)
	other.want(200, "GET", "/account", "", "Authorization: Bearer "+token)
	other.want(401, "GET", "/account", "", "Authorization: Bearer "+token[:len(token)-1])
	other.want(401, "GET", "/account", "", "Authorization: Bearer 1-1."+strings.Repeat("x", 32))
	other.want(401, "GET", "/account", "", "Cookie: sid=garbage")
	req, _ := http.NewRequest("GET", c.base+"/account", nil)
	req.SetBasicAuth("shopper3@example.com", "pass-3")
	res, err := other.http.Do(req)
	if err != nil || res.StatusCode != 200 {
		t.Fatalf("basic: %v %v", res, err)
	}
	res.Body.Close()
}

func TestCart(t *testing.T) {
	c := open(t, demo.Options{})
	price := c.get("/products/SHO-001").json["price"].(float64)
	c.want(201, "POST", "/cart/items", `{"sku":"SHO-001","qty":2}`)
	c.want(201, "POST", "/cart/items", `{"sku":"SHO-001"}`)
	c.want(201, "POST", "/cart/items", `{"sku":"HAT-002"}`)
	cart := c.want(200, "DELETE", "/cart/items/HAT-002", "")
	if cart.json["count"] != 3.0 || fmt.Sprintf("%.2f", cart.json["total"]) != fmt.Sprintf("%.2f", 3*price) {
		t.Errorf("cart %s, want 3 at %v", cart.body, price)
	}
	if other := browser(t, c.base).get("/cart"); other.json["count"] != 0.0 {
		t.Errorf("someone else's cart is %s", other.body)
	}
	order := c.want(201, "POST", "/orders", `{}`)
	if fmt.Sprintf("%.2f", order.json["total"]) != fmt.Sprintf("%.2f", 3*price) {
		t.Errorf("order %s, want 3 at %v", order.body, price)
	}
	if empty := c.get("/cart"); empty.json["count"] != 0.0 {
		t.Errorf("cart after the order is %s", empty.body)
	}
}

func TestCartIsLimited(t *testing.T) {
	c := open(t, demo.Options{})
	for i := range 50 {
		c.want(201, "POST", "/cart/items", fmt.Sprintf(`{"sku":"%s-%03d"}`, []string{"SHO", "HAT", "BAG"}[i/20], i%20+1))
	}
	c.want(422, "POST", "/cart/items", `{"sku":"MUG-001"}`)
	c.want(201, "POST", "/cart/items", `{"sku":"SHO-001"}`)
}

func TestOrderIsPaid(t *testing.T) {
	var clock atomic.Int64
	c := open(t, demo.Options{Now: func() time.Time { return time.Unix(0, clock.Load()) }})
	states := func(waits ...time.Duration) []any {
		id := c.want(201, "POST", "/orders", `{"sku":"SHO-001"}`).json["id"].(string)
		var got []any
		for _, wait := range waits {
			clock.Add(int64(wait))
			got = append(got, c.get("/orders/" + id).json["state"])
		}
		return got
	}
	if diff := cmp.Diff([]any{"PENDING", "PENDING", "PAID", "PAID"}, states(0, 0, 0, 0)); diff != "" {
		t.Errorf("by looks (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"PENDING", "PAID"}, states(299*time.Millisecond, time.Millisecond)); diff != "" {
		t.Errorf("by time (-want +got):\n%s", diff)
	}
}

func TestStoresForget(t *testing.T) {
	var clock atomic.Int64
	c := open(t, demo.Options{MaxOrders: 2, MaxCarts: 3, Now: func() time.Time { return time.Unix(0, clock.Load()) }})
	var ids []string
	for range 3 {
		ids = append(ids, c.want(201, "POST", "/orders", `{"sku":"SHO-001"}`).json["id"].(string))
	}
	c.want(404, "GET", "/orders/"+ids[0], "")
	c.get("/orders/" + ids[1])
	clock.Add(int64(2 * time.Hour))
	c.want(404, "GET", "/orders/"+ids[2], "")
	for range 10 {
		browser(t, c.base).want(201, "POST", "/cart/items", `{"sku":"SHO-001"}`)
	}
	if n := c.get("/stats").json["carts"]; n != 3.0 {
		t.Errorf("%v carts are held, want 3", n)
	}
}

func TestFailKeepsItsShare(t *testing.T) {
	for _, tt := range []struct {
		share  string
		n      int
		failed int
	}{{"0.1", 30, 3}, {"0.25", 40, 10}, {"0.333", 1000, 333}, {"1", 5, 5}, {"0", 5, 0}, {"NaN", 5, 0}, {"-1", 5, 0}, {"9", 5, 5}} {
		h, failed := demo.New(demo.Options{}), 0
		for range tt.n {
			w := httptest.NewRecorder()
			h.ServeHTTP(w, httptest.NewRequest("GET", "/fail?status=503&share="+tt.share, nil))
			if w.Code == 503 {
				failed++
			}
		}
		if failed != tt.failed {
			t.Errorf("share %s: %d of %d failed, want %d", tt.share, failed, tt.n, tt.failed)
		}
	}
}

func TestRedirectChain(t *testing.T) {
	c := open(t, demo.Options{})
	path, hops := "/redirect?n=3&status=307", 0
	r := c.do("GET", path, "")
	for ; r.status == 307; hops++ {
		path = r.header.Get("Location")
		r = c.do("GET", path, "")
	}
	if hops != 3 || path != "/health" || r.status != 200 {
		t.Errorf("%d hops to %s, status %d; want 3 to /health, 200", hops, path, r.status)
	}
}

func TestBodies(t *testing.T) {
	c := open(t, demo.Options{})
	for _, n := range []int{0, 1, 1024, 100_000} {
		if r := c.get(fmt.Sprint("/bytes?n=", n)); len(r.body) != n {
			t.Errorf("/bytes?n=%d sent %d", n, len(r.body))
		}
	}
	for name, unpack := range map[string]func(io.Reader) (io.ReadCloser, error){
		"gzip":    func(r io.Reader) (io.ReadCloser, error) { return gzip.NewReader(r) },
		"deflate": zlib.NewReader,
	} {
		r := c.get("/" + name + "?n=5000")
		z, err := unpack(strings.NewReader(r.body))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var v struct{ Compressed, Filler string }
		if err := json.NewDecoder(z).Decode(&v); err != nil || v.Compressed != name || len(v.Filler) != 5000 {
			t.Errorf("%s: %v, %q, %d bytes of filler", name, err, v.Compressed, len(v.Filler))
		}
		if got := r.header.Get("Content-Encoding"); got != name {
			t.Errorf("%s: Content-Encoding %q", name, got)
		}
	}
	if r := c.get("/stream?chunks=3&ms=1"); r.body != "chunk 1\nchunk 2\nchunk 3\n" || r.header.Get("Content-Length") != "" {
		t.Errorf("stream sent %q with length %q", r.body, r.header.Get("Content-Length"))
	}
}

func TestETag(t *testing.T) {
	c := open(t, demo.Options{})
	tag := c.get("/etag").header.Get("ETag")
	c.want(304, "GET", "/etag", "", "If-None-Match: "+tag)
	c.want(200, "GET", "/etag", "", `If-None-Match: "other"`)
}

func TestSlowWaitsAtLeast(t *testing.T) {
	c := open(t, demo.Options{})
	start := time.Now()
	c.get("/slow?ms=30&jitter=10")
	if took := time.Since(start); took < 30*time.Millisecond {
		t.Errorf("answered after %v", took)
	}
}

func TestEcho(t *testing.T) {
	c := open(t, demo.Options{})
	r := c.want(200, "PUT", "/echo?a=1&a=2", `{"n":12345678901234567}`, "Content-Type: application/json", "X-Test: yes")
	if r.json["method"] != "PUT" || r.json["uri"] != "/echo?a=1&a=2" || !strings.Contains(r.body, `"json":{"n":12345678901234567}`) {
		t.Errorf("echo %s", r.body)
	}
	if diff := cmp.Diff(map[string]any{"a": []any{"1", "2"}}, r.json["query"]); diff != "" {
		t.Errorf("query (-want +got):\n%s", diff)
	}
	r = c.want(200, "POST", "/echo", "x=1&y=a+b%26", form)
	if diff := cmp.Diff(map[string]any{"x": []any{"1"}, "y": []any{"a b&"}}, r.json["form"]); diff != "" {
		t.Errorf("form (-want +got):\n%s", diff)
	}
	if r = c.want(200, "POST", "/echo", "\xff\x00"); r.json["body"] != nil || r.json["body_bytes"] != 2.0 {
		t.Errorf("binary body: %s", r.body)
	}
	c.want(400, "POST", "/echo", "{", "Content-Type: application/json")
	w := httptest.NewRecorder()
	demo.New(demo.Options{}).ServeHTTP(w, httptest.NewRequest("POST", "/echo", strings.NewReader(strings.Repeat("x", 8<<20+1))))
	if w.Code != 413 {
		t.Errorf("too large a body: status %d, want 413", w.Code)
	}
}

func TestEchoMultipart(t *testing.T) {
	c := open(t, demo.Options{})
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	m.WriteField("note", "hello")
	f, _ := m.CreateFormFile("photo", "cat.png")
	f.Write([]byte("meow"))
	m.Close()
	r := c.want(200, "POST", "/echo", b.String(), "Content-Type: "+m.FormDataContentType())
	if diff := cmp.Diff(map[string]any{"note": []any{"hello"}}, r.json["form"]); diff != "" {
		t.Errorf("form (-want +got):\n%s", diff)
	}
	want := []any{map[string]any{
		"field": "photo", "filename": "cat.png", "content_type": "application/octet-stream", "size": 4.0,
		"sha256": "404cdd7bc109c432f8cc2443b45bcfe95980f5107215c645236e577929ac3e52",
	}}
	if diff := cmp.Diff(want, r.json["files"]); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	c.want(400, "POST", "/echo", "--x\r\nbroken", "Content-Type: multipart/form-data; boundary=x")
}

func TestStats(t *testing.T) {
	c := open(t, demo.Options{})
	c.get("/health")
	c.get("/products/1")
	c.get("/products/2")
	c.want(404, "GET", "/nowhere", "")
	c.want(503, "GET", "/fail", "")
	c.get("/stats")
	got := c.get("/stats").json
	want := map[string]any{
		"requests": 5.0, "connections": 0.0, "orders": 0.0, "carts": 0.0,
		"status": map[string]any{"200": 3.0, "404": 1.0, "503": 1.0},
		"routes": map[string]any{"GET /health": 1.0, "GET /products/{id}": 2.0, "GET /fail": 1.0},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stats (-want +got):\n%s", diff)
	}
	c.want(200, "POST", "/reset", "")
	if n := c.get("/stats").json["requests"]; n != 0.0 {
		t.Errorf("%v requests after a reset", n)
	}
}

func TestChaos(t *testing.T) {
	c := open(t, demo.Options{})
	healthy := c.get("/products/1").json
	for _, tt := range []struct {
		chaos, field string
		wrong        func(any) bool
	}{
		{`{"price":"wrong"}`, "price", func(v any) bool { _, ok := v.(float64); return ok && v != healthy["price"] }},
		{`{"price":"text"}`, "price", func(v any) bool { _, ok := v.(string); return ok }},
		{`{"stock":"missing"}`, "stock", func(v any) bool { return v == nil }},
		{`{"name":"wrong"}`, "name", func(v any) bool { return v != healthy["name"] }},
	} {
		c.want(200, "POST", "/chaos", tt.chaos)
		got := c.get("/products/1").json
		if !tt.wrong(got[tt.field]) {
			t.Errorf("%s: %s is %v", tt.chaos, tt.field, got[tt.field])
		}
		others := cmp.FilterPath(func(p cmp.Path) bool {
			i, ok := p.Last().(cmp.MapIndex)
			return ok && i.Key().String() == tt.field
		}, cmp.Ignore())
		if diff := cmp.Diff(healthy, got, others); diff != "" {
			t.Errorf("%s changed other fields (-want +got):\n%s", tt.chaos, diff)
		}
	}
	c.want(200, "POST", "/chaos", `{"status":500,"share":0.5}`)
	failed := 0
	for range 10 {
		if c.do("GET", "/health", "").status == 500 {
			failed++
		}
	}
	if failed != 5 {
		t.Errorf("%d of 10 failed, want 5", failed)
	}
	for _, chaos := range []string{`{"close":true}`, `{"truncate":true}`} {
		c.want(200, "POST", "/chaos", chaos)
		if r, err := c.try("GET", "/health", ""); err == nil {
			t.Errorf("%s: no error, status %d", chaos, r.status)
		}
	}
	c.want(200, "POST", "/chaos", `{}`)
	if diff := cmp.Diff(healthy, c.get("/products/1").json); diff != "" {
		t.Errorf("after {} (-want +got):\n%s", diff)
	}
}

func TestLatencyIsAdded(t *testing.T) {
	c := open(t, demo.Options{Latency: 40 * time.Millisecond})
	start := time.Now()
	c.get("/health")
	if took := time.Since(start); took < 20*time.Millisecond {
		t.Errorf("answered after %v, want at least half of the mean", took)
	}
}

func TestServeEndsWithItsContext(t *testing.T) {
	ln, err := demo.Listen()
	if err != nil {
		t.Fatal(err)
	}
	if host := ln.Addr().String(); !strings.HasPrefix(host, "127.0.0.1:") {
		t.Errorf("listens on %s", host)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- demo.Serve(ctx, ln, demo.Options{}) }()
	c := browser(t, "http://"+ln.Addr().String())
	c.get("/health")
	if n := c.get("/stats").json["connections"]; n != 2.0 {
		t.Errorf("%v connections, want 2", n)
	}
	slow := make(chan struct{})
	go func() { defer close(slow); c.try("GET", "/slow?ms=10000", "") }()
	for c.get("/stats").json["requests"] != 2.0 {
		time.Sleep(time.Millisecond)
	}
	cancel()
	<-slow
	if err := <-done; err != nil {
		t.Errorf("Serve: %v", err)
	}
	if _, err := c.try("GET", "/health", ""); err == nil {
		t.Error("still answers after the end")
	}
}

func FuzzRequests(f *testing.F) {
	f.Add("GET", "/products/1", "", "")
	f.Add("POST", "/orders", `{"items":[{"sku":"SHO-001","qty":9}]}`, "application/json")
	f.Add("POST", "/echo", "--x\r\n\r\n", "multipart/form-data; boundary=x")
	f.Add("GET", "/redirect?n=-1&status=x", "", "")
	f.Add("GET", "/gzip?n=99999999999999999999", "", "")
	h := demo.New(demo.Options{})
	f.Fuzz(func(t *testing.T, method, target, body, contentType string) {
		u, err := url.ParseRequestURI(target)
		if err != nil || strings.HasPrefix(u.Path, "/slow") || strings.HasPrefix(u.Path, "/stream") || u.Path == "/chaos" {
			return
		}
		r := httptest.NewRequest("GET", "/", strings.NewReader(body))
		r.Method, r.URL, r.RequestURI = method, u, target
		r.Header.Set("Content-Type", contentType)
		r.Header.Set("Cookie", "sid="+contentType+"; visit="+body)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code < 200 || w.Code == http.StatusInternalServerError && u.Path != "/fail" {
			t.Errorf("%s %s: status %d", method, target, w.Code)
		}
	})
}

func BenchmarkProduct(b *testing.B) {
	h := demo.New(demo.Options{})
	req := httptest.NewRequest("GET", "/products/17", nil)
	b.ReportAllocs()
	for b.Loop() {
		h.ServeHTTP(httptest.NewRecorder(), req)
	}
}
