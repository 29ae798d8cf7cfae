package demo_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"mime/multipart"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"runner/plans/demo"
)

func basic(n int) string {
	text := fmt.Sprintf("shopper%04d@example.com:pass-%04d", n, n)
	return "Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(text))
}

func TestTickets(t *testing.T) {
	c := open(t, demo.Options{})
	c.want(401, "POST", "/tickets", `{"subject":"hat"}`)
	c.want(422, "POST", "/tickets", `{}`, basic(1))
	r := c.want(201, "POST", "/tickets", `{"subject":"hat","ref":"mine"}`, basic(1))
	path := r.header.Get("Location")
	if r.json["ref"] != "mine" || r.json["state"] != "open" {
		t.Errorf("ticket %s", r.body)
	}
	c.want(404, "GET", path, "", basic(2))
	if m := c.want(201, "POST", path+"/messages", `{"id":"m1","text":"where?"}`, basic(1)); m.json["number"] != 1.0 {
		t.Errorf("message %s", m.body)
	}
	c.want(422, "PUT", path, `{"state":"lost"}`, basic(1))
	c.want(200, "PUT", path, `{"state":"closed"}`, basic(1))
	c.want(409, "POST", path+"/messages", `{"text":"still?"}`, basic(1))
	if got := c.want(200, "GET", path, "", basic(1)); len(got.json["messages"].([]any)) != 1 {
		t.Errorf("ticket %s", got.body)
	}
}

func TestReviewsEnd(t *testing.T) {
	c := open(t, demo.Options{})
	next, seen, pages := "0", 0, 0
	for ; next != ""; pages++ {
		r := c.get("/products/7/reviews?after=" + next)
		seen += len(r.json["items"].([]any))
		next, _ = r.json["next"].(string)
		if (next != "") != strings.Contains(r.header.Get("Link"), `rel="next"`) || pages > 10 {
			t.Fatalf("page %d: %s, Link %q", pages, r.body, r.header.Get("Link"))
		}
		if next == "" && r.json["total"] != float64(seen) {
			t.Errorf("%d reviews of %v", seen, r.json["total"])
		}
	}
	if pages < 2 {
		t.Errorf("%d page, want several", pages)
	}
	c.want(404, "GET", "/products/9999/reviews", "")
}

func TestLookupAndCartChange(t *testing.T) {
	c := open(t, demo.Options{})
	r := c.want(200, "POST", "/products/lookup", `{"skus":["HAT-001","OLD-1"]}`)
	if len(r.json["items"].([]any)) != 1 || r.json["missing"].([]any)[0] != "OLD-1" {
		t.Errorf("lookup: %s", r.body)
	}
	c.want(422, "POST", "/products/lookup", `{"skus":[]}`)
	c.want(404, "PUT", "/cart/items/HAT-001", `{"qty":2}`)
	c.want(201, "POST", "/cart/items", `{"sku":"HAT-001"}`)
	c.want(422, "PUT", "/cart/items/HAT-001", `{"qty":0}`)
	if cart := c.want(200, "PUT", "/cart/items/HAT-001", `{"qty":7}`); cart.json["count"] != 7.0 {
		t.Errorf("cart %s", cart.body)
	}
}

func TestShelvesEmbedWhatThereIs(t *testing.T) {
	c := open(t, demo.Options{})
	page := c.get("/shelves/hats").body
	if strings.Count(page, `class="product"`) != 20 {
		t.Errorf("page %s", page)
	}
	for _, path := range []string{"/static/shop.css", "/static/shop.js", "/static/HAT-001.svg", "/shelves/hats/HAT-001"} {
		if !strings.Contains(page, path) {
			t.Errorf("the page does not name %s", path)
		}
		r := c.get(path)
		if tag := r.header.Get("ETag"); tag != "" {
			c.want(304, "GET", path, "", "If-None-Match: "+tag)
		}
	}
	c.want(404, "GET", "/shelves/cars", "")
	c.want(404, "GET", "/static/HAT-001.png", "")
	c.want(404, "GET", "/shelves/shoes/HAT-001", "")
}

func TestTokensExpire(t *testing.T) {
	var clock atomic.Int64
	c := open(t, demo.Options{Now: func() time.Time { return time.Unix(0, clock.Load()) }})
	c.want(401, "POST", "/token", "grant_type=client_credentials&client_id=partner&client_secret=wrong", form)
	c.want(400, "POST", "/token", "grant_type=password", form)
	token, _ := c.want(200, "POST", "/token?ttl_ms=500", "grant_type=client_credentials&client_id=partner&client_secret=partner-secret", form).json["access_token"].(string)
	c.want(200, "GET", "/partner/stock/HAT-001", "", "Authorization: Bearer "+token)
	clock.Add(int64(500 * time.Millisecond))
	c.want(401, "GET", "/partner/stock/HAT-001", "", "Authorization: Bearer "+token)
	c.want(401, "GET", "/partner/stock/HAT-001", "")
}

func TestDigestIsAskedFor(t *testing.T) {
	c := open(t, demo.Options{})
	r := c.want(401, "GET", "/staff", "")
	if ask := r.header.Get("WWW-Authenticate"); !strings.HasPrefix(ask, "Digest ") || !strings.Contains(ask, "nonce=") {
		t.Errorf("asks with %q", ask)
	}
	c.want(401, "GET", "/staff", "", `Authorization: Digest username="shopper0001@example.com", nonce="x", uri="/staff", response="y"`)
}

func TestLimitedBySecond(t *testing.T) {
	var clock atomic.Int64
	c := open(t, demo.Options{Now: func() time.Time { return time.Unix(0, clock.Load()) }})
	for range 3 {
		c.want(200, "GET", "/limited?per_second=3", "")
	}
	if r := c.want(429, "GET", "/limited?per_second=3", ""); r.header.Get("Retry-After") != "1" {
		t.Errorf("Retry-After is %q", r.header.Get("Retry-After"))
	}
	clock.Add(int64(time.Second))
	c.want(200, "GET", "/limited?per_second=3", "")
}

func TestExportsAndUploads(t *testing.T) {
	c := open(t, demo.Options{})
	c.want(422, "POST", "/exports", `{"category":"cars"}`)
	path := c.want(202, "POST", "/exports", `{"category":"hats"}`).header.Get("Location")
	for _, want := range []string{"RUNNING", "RUNNING", "DONE"} {
		if r := c.get(path); r.json["state"] != want {
			t.Errorf("state %v, want %s", r.json["state"], want)
		}
	}
	if csv := c.get(path + "/file").body; strings.Count(csv, "\n") != 21 {
		t.Errorf("file %s", csv)
	}
	c.want(404, "GET", "/exports/exp-0", "")

	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	w.WriteField("title", "a letter")
	part, _ := w.CreateFormFile("file", "letter.txt")
	part.Write([]byte("hello"))
	w.Close()
	r := c.want(201, "POST", "/uploads", body.String(), "Content-Type: "+w.FormDataContentType())
	if !strings.Contains(r.body, `"size":5`) || !strings.Contains(r.body, `"title":"a letter"`) {
		t.Errorf("upload %s", r.body)
	}
	c.want(415, "POST", "/uploads", "{}")
	c.want(422, "POST", "/uploads", body.String()[:body.Len()-20], "Content-Type: "+w.FormDataContentType())
}

func TestSOAP(t *testing.T) {
	c := open(t, demo.Options{})
	ask := `<e:Envelope xmlns:e="http://schemas.xmlsoap.org/soap/envelope/"><e:Body><GetPrice xmlns="urn:demo-shop"><sku>%s</sku></GetPrice></e:Body></e:Envelope>`
	if r := c.want(200, "POST", "/soap", fmt.Sprintf(ask, "HAT-001")); !strings.Contains(r.body, `<price currency="EUR">`) {
		t.Errorf("answer %s", r.body)
	}
	c.want(500, "POST", "/soap", fmt.Sprintf(ask, "OLD-1"))
	c.want(500, "POST", "/soap", "no XML")
}

func TestCalendars(t *testing.T) {
	c := open(t, demo.Options{})
	mine := "/calendars/shopper0001@example.com/"
	event := "BEGIN:VCALENDAR\r\nUID:1\r\nEND:VCALENDAR\r\n"
	c.want(401, "PROPFIND", mine, "")
	c.want(403, "PROPFIND", mine, "", basic(2))
	c.want(400, "REPORT", mine, "<a>", basic(1))
	c.want(415, "PUT", mine+"1.ics", "hello", basic(1))
	c.want(201, "PUT", mine+"1.ics", event, basic(1))
	c.want(204, "PUT", mine+"1.ics", event, basic(1))
	if r := c.want(207, "PROPFIND", mine, "<D:propfind xmlns:D=\"DAV:\"/>", basic(1)); strings.Count(r.body, "<D:response>") != 2 {
		t.Errorf("answer %s", r.body)
	}
	if r := c.want(207, "REPORT", mine, "", basic(1)); !strings.Contains(r.body, "UID:1") {
		t.Errorf("answer %s", r.body)
	}
	c.want(200, "GET", mine+"1.ics", "", basic(1))
	c.want(204, "DELETE", mine+"1.ics", "", basic(1))
	c.want(404, "DELETE", mine+"1.ics", "", basic(1))
	for i := range 100 {
		c.want(201, "PUT", fmt.Sprintf("%sn%d.ics", mine, i), event, basic(1))
	}
	c.want(507, "PUT", mine+"more.ics", event, basic(1))
}
