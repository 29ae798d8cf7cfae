package http_test

import (
	"fmt"
	"io"
	"log"
	nethttp "net/http"
	"net/http/httptest"
	"runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

func discard() *log.Logger { return log.New(io.Discard, "", 0) }

func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

const page = `<!doctype html><html><head><base href="/static/">
<link rel="Stylesheet" href="a.css"><link rel=canonical href="/no"><link rel="shortcut icon" href="/fav.ico">
<script src="b.js?x=1&amp;y=2"></script><script>var s = "<img src='/no'>"</script></head>
<body background="bg.png"><!-- <img src="/no"> --><img src="c.png"><img src="c.png"><img src="data:image/png;base64,xx"><img alt="none">
<iframe src="//HOST/frame"></iframe><input type=image src=" d.png
"><input type=text src="/no"><object data="e.swf"></object><a href="/no">x</a><img src="javascript:no()"><img src="http://exa mple/no">
</body></html>`

// pages serves a page and what it embeds, and logs requests and how many ran at a time.
func pages(t *testing.T, html string, serve func(w nethttp.ResponseWriter, r *nethttp.Request) bool) (server *httptest.Server, log func() []string, most *atomic.Int64) {
	var mu sync.Mutex
	var got []string
	var now atomic.Int64
	most = &atomic.Int64{}
	server = httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		mu.Lock()
		got = append(got, r.URL.RequestURI()+" "+r.Header.Get("Authorization")+" "+r.Header.Get("Cookie"))
		mu.Unlock()
		n := now.Add(1)
		defer now.Add(-1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		switch {
		case serve != nil && serve(w, r):
		case r.URL.Path == "/":
			nethttp.SetCookie(w, &nethttp.Cookie{Name: "sid", Value: "1"})
			w.Header().Set("Content-Type", "text/html; charset=utf-8")
			fmt.Fprint(w, strings.ReplaceAll(html, "HOST", r.Host))
		default:
			time.Sleep(5 * time.Millisecond)
			fmt.Fprint(w, "0123456789")
		}
	}))
	t.Cleanup(server.Close)
	return server, func() []string {
		mu.Lock()
		defer mu.Unlock()
		out := got
		got = nil
		sort.Strings(out)
		return out
	}, most
}

func TestResourcesOfAPage(t *testing.T) {
	server, log, _ := pages(t, page, nil)
	sampler := step(t, "", "http:\n  request: GET "+server.URL+"/\n  resources: true\n  auth: {bearer: tok}")
	th := thread(t)
	for range 2 {
		s := ok(t, sampler, th)
		want := []string{"/", "/fav.ico", "/frame", "/static/a.css", "/static/b.js?x=1&y=2", "/static/bg.png", "/static/c.png", "/static/d.png", "/static/e.swf"}
		var paths []string
		for _, line := range log() {
			path, rest, _ := strings.Cut(line, " ")
			paths = append(paths, path)
			if !strings.HasPrefix(rest, "Bearer tok") || path != "/" && !strings.HasSuffix(rest, " sid=1") {
				t.Errorf("%s was sent with %q", path, rest)
			}
		}
		if diff := cmp.Diff(want, paths); diff != "" {
			t.Errorf("fetched (-want +got):\n%s", diff)
		}
		if s.Requests != len(want) || s.Class != element.Passed || s.BytesReceived < int64(len(page)+80) || s.BodySize > int64(len(page)+20) {
			t.Errorf("requests %d, class %q, received %d, body %d", s.Requests, s.Class, s.BytesReceived, s.BodySize)
		}
	}
	th.Close()
}

func TestResourcesAreFilteredAndBounded(t *testing.T) {
	var html strings.Builder
	for i := range 30 {
		fmt.Fprintf(&html, "<img src=/i%d.png><script src=/s%d.js></script>", i, i)
	}
	server, log, most := pages(t, html.String(), nil)
	th := thread(t)
	s := ok(t, step(t, "", "http:\n  request: GET "+server.URL+"/\n  resources: {parallel: 3, include: '\\.png$', exclude: 'i1\\d'}"), th)
	th.Close()
	if got := log(); len(got) != 21 || s.Requests != 21 {
		t.Errorf("%d requests, %d counted", len(got), s.Requests)
	}
	if n := most.Load(); n < 2 || n > 3 {
		t.Errorf("%d at a time, want 3", n)
	}
	if s.Done-s.Sent < 30*time.Millisecond { // 20 of 5 ms, three at a time
		t.Errorf("the sample took %v without its resources", s.Done-s.Sent)
	}
}

func TestResourcesThatFail(t *testing.T) {
	server, _, _ := pages(t, "<img src=/ok><img src=/gone><img src=http://127.0.0.1:1/x.png>", func(w nethttp.ResponseWriter, r *nethttp.Request) bool {
		if r.URL.Path != "/gone" {
			return false
		}
		w.WriteHeader(404)
		return true
	})
	th := thread(t)
	s := ok(t, step(t, "", "http:\n  request: GET "+server.URL+"/\n  resources: true"), th)
	th.Close()
	var messages []string
	for _, p := range s.Problems {
		messages = append(messages, string(p.Class)+" "+strings.ReplaceAll(p.Message, server.URL, "URL"))
	}
	want := []string{"status resource URL/gone: status 404", "connect_refused resource http://127.0.0.1:1/x.png: connection refused"}
	if diff := cmp.Diff(want, messages); diff != "" || s.Class != element.Status {
		t.Errorf("class %q, problems (-want +got):\n%s", s.Class, diff)
	}
}

func TestResourcesOfAHostilePage(t *testing.T) {
	for name, html := range map[string]string{
		"too many":  manyImages(1001),
		"huge tag":  "<img src=\"" + strings.Repeat("x", 2<<20),
		"many keys": "<img " + strings.Repeat("a ", 100_000) + ">",
	} {
		server, _, _ := pages(t, html, nil)
		th := thread(t)
		s, err := sampled(t, step(t, "", "http:\n  request: GET "+server.URL+"/\n  resources: true"), th)
		th.Close()
		if s.Requests != 1 || (name == "too many") != (classOf(err) == element.Protocol) {
			t.Errorf("%s: requests %d, error %v", name, s.Requests, err)
		}
	}
}

func manyImages(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "<img src=/i%d>", i)
	}
	return b.String()
}

func TestResourcesWithinTheTimeout(t *testing.T) {
	release := make(chan struct{})
	server, _, _ := pages(t, "<img src=/slow>", func(_ nethttp.ResponseWriter, r *nethttp.Request) bool {
		if r.URL.Path == "/slow" {
			<-release
		}
		return r.URL.Path == "/slow"
	})
	defer close(release)
	th := thread(t)
	defer th.Close()
	sampler := step(t, "", "http:\n  request: GET "+server.URL+"/\n  resources: true\n  timeout: 200ms")
	start := th.Now()
	s := ok(t, sampler, th)
	if s.Class != element.Timeout || s.Done-start < 200*time.Millisecond {
		t.Errorf("class %q after %v", s.Class, s.Done-start)
	}
}

func TestCache(t *testing.T) {
	for _, tc := range []struct {
		name, header, value string
		want                string // what the second request is: none, plain or conditional
	}{
		{"etag", "ETag", `"v1"`, "conditional"},
		{"modified", "Last-Modified", "Mon, 02 Jan 2006 15:04:05 GMT", "conditional"},
		{"fresh", "Cache-Control", "public, max-age=60", "none"},
		{"fresh till", "Expires", time.Now().Add(time.Hour).UTC().Format(nethttp.TimeFormat), "none"},
		{"stale", "Cache-Control", "max-age=0", "plain"},
		{"nonsense", "Cache-Control", "max-age=99999999999999999999", "plain"},
		{"not stored", "Cache-Control", "no-store, max-age=60", "plain"},
		{"checked", "Cache-Control", "no-cache, max-age=60", "plain"},
		{"nothing", "X-A", "b", "plain"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var got []string
			server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
				condition := r.Header.Get("If-None-Match") + r.Header.Get("If-Modified-Since")
				got = append(got, condition)
				w.Header().Set(tc.header, tc.value)
				if condition != "" {
					w.WriteHeader(304)
					return
				}
				fmt.Fprint(w, "body")
			}))
			defer server.Close()
			sampler := step(t, "", "http:\n  request: GET "+server.URL+"/a?b\n  cache: true")
			th := thread(t)
			first, second := ok(t, sampler, th), ok(t, sampler, th)
			th.StartIteration(true)
			third := ok(t, sampler, th)
			th.Close()
			if first.Status != 200 || third.Status != 200 || third.Requests != 1 || string(third.Body) != "body" {
				t.Errorf("status %d, then for a new user %d with %d requests", first.Status, third.Status, third.Requests)
			}
			want := map[string][]string{"none": {"", ""}, "plain": {"", "", ""}, "conditional": {"", tc.value, ""}}[tc.want]
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the server saw (-want +got):\n%s", diff)
			}
			status := map[string]int{"none": 200, "plain": 200, "conditional": 304}[tc.want]
			if second.Status != status || second.Requests != len(want)-2 || second.FinalURL() != server.URL+"/a?b" || second.Done == 0 {
				t.Errorf("second sample: status %d, requests %d, url %s", second.Status, second.Requests, second.FinalURL())
			}
		})
	}
}

func TestCachedResourcesAreNotFetchedAgain(t *testing.T) {
	server, log, _ := pages(t, "<img src=/fresh><img src=/tag>", func(w nethttp.ResponseWriter, r *nethttp.Request) bool {
		switch {
		case r.URL.Path == "/fresh":
			w.Header().Set("Cache-Control", "max-age=60")
		case r.URL.Path == "/tag" && r.Header.Get("If-None-Match") == `"x"`:
			w.WriteHeader(304)
			return true
		case r.URL.Path == "/tag":
			w.Header().Set("ETag", `"x"`)
		}
		return false
	})
	sampler := step(t, "", "http:\n  request: GET "+server.URL+"/\n  resources: true\n  cache: true\n  cookie_jar: false")
	th := thread(t)
	var requests []int
	for range 2 {
		s := ok(t, sampler, th)
		requests = append(requests, s.Requests)
		if s.Class != element.Passed {
			t.Errorf("class %q", s.Class)
		}
	}
	th.Close()
	if diff := cmp.Diff([]int{3, 2}, requests); diff != "" {
		t.Errorf("requests (-want +got):\n%s\n%q", diff, log())
	}
}
