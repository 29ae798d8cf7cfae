package http_test

import (
	"fmt"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/samplers/http"
)

// Threads of one run lend each other their calls: what a sample says is its own
// until it is released, and an idle thread holds nothing.
func TestLentCallsServeManyThreads(t *testing.T) {
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		id := r.URL.Query().Get("id")
		if r.URL.Path == "/from" {
			nethttp.Redirect(w, r, "/to?id="+id, nethttp.StatusTemporaryRedirect)
			return
		}
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Id", r.Header.Get("X-Id"))
		nethttp.SetCookie(w, &nethttp.Cookie{Name: "sid", Value: id})
		fmt.Fprintf(w, "%s %s", id, body)
	}))
	defer server.Close()
	const threads, rounds = 20, 30
	long := strings.Repeat("x", 3000)
	sampler := step(t, "base_url: "+server.URL, "http:\n  request: POST /from?id=${word}\n  headers: {X-Id: '${word}'}\n  body: 'b ${word}'")
	run, start := &element.Shared{}, time.Now()
	var all sync.WaitGroup
	for id := range threads {
		all.Go(func() {
			th := element.NewThread(id+1, "g", expr.NewMachine(expr.NewFunctions(), 1), nil)
			th.Clock, th.Plan, th.Members = wallClock{start}, run, &element.Shared{}
			defer th.Close()
			s := &element.Sample{}
			for round := range rounds {
				word := fmt.Sprintf("%d-%d-%s", id, round, long[:id*round])
				th.Set("word", word)
				s.Reset()
				s.Needs = element.NeedBody | element.NeedHeaders
				err := sampler.Sample(t.Context(), th, s)
				got, _ := s.Header("x-id")
				sid, _ := s.Private.(element.CookieJar).Cookie("sid")
				if want := word + " b " + word; err != nil || string(s.Body) != want || got != word || sid != word ||
					s.FinalURL() != server.URL+"/to?id="+word || s.Requests != 2 {
					t.Errorf("thread %d: %v, status %d, %d requests, URL %q, cookie %q, X-Id %q, body %.50q", id+1, err, s.Status, s.Requests, s.FinalURL(), sid, got, s.Body)
					return
				}
				if text := sampler.(element.Describer).Describe(th, s); text != "POST "+server.URL+"/to?id="+word {
					t.Errorf("thread %d: described as %q", id+1, text)
				}
				sampler.(element.Releaser).Release(th, s)
				if !http.IsIdle(s.Private) {
					t.Error("an idle thread holds a call")
				}
			}
		})
	}
	all.Wait()
}

// What a sample without an answer says of itself is not another's answer.
func TestNothingIsSaidOfAnothersAnswer(t *testing.T) {
	addr := staticServer(t)
	good := step(t, "base_url: http://"+addr, "http: GET /good")
	bad := step(t, "base_url: http://"+addr, "http:\n  request: GET /bad\n  headers: {X-Id: '${word}'}")
	th := thread(t)
	first, s := &element.Sample{}, &element.Sample{}
	if err := good.Sample(t.Context(), th, first); err != nil {
		t.Fatal(err)
	}
	good.(element.Releaser).Release(th, first)
	if got := first.FinalURL(); got != "http://"+addr+"/" {
		t.Errorf("after release: URL %q", got)
	}
	th.Set("word", "no\r\nheader")
	if err := bad.Sample(t.Context(), th, s); err == nil {
		t.Fatal("a header with a line end was sent")
	}
	if got := bad.(element.Describer).Describe(th, s); got != "GET /bad" {
		t.Errorf("described as %q", got)
	}
	if got := s.FinalURL(); got != "http://"+addr+"/" || s.Status != 0 {
		t.Errorf("URL %q, status %d", got, s.Status)
	}
	bad.(element.Releaser).Release(th, s)
	bad.(element.Releaser).Release(th, s) // a second time does nothing
}
