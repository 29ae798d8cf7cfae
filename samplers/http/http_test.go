package http_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
	"runner/samplers/http"
)

func TestMain(m *testing.M) {
	http.SpoilReleased(true)
	goleak.VerifyTestMain(m)
}

// wallClock is the run's clock in these tests.
type wallClock struct{ start time.Time }

func (c wallClock) Now() time.Duration { return time.Since(c.start) }

// step parses a plan with one http step, its sampler opened.
func step(t testing.TB, defaults, yaml string) element.Sampler {
	t.Helper()
	sampler, err := parse(t, defaults, yaml)
	if err != nil {
		t.Fatal(err)
	}
	return sampler
}

func parse(t testing.TB, defaults, yaml string) (element.Sampler, error) {
	t.Helper()
	reg, err := element.NewRegistry(nil, http.All())
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "up.txt"), []byte("file content"), 0o600); err != nil {
		t.Fatal(err)
	}
	text := "plan: test\nvars: {host: example.com, id: 7, list: [a b, c], word: 'x y'}\n"
	if defaults != "" {
		text += "defaults:\n  http:\n" + indent(defaults, 4)
	}
	text += "thread_groups:\n  g:\n    load: {threads: 1, iterations: 1}\n    steps:\n      - " + strings.TrimSpace(indent(yaml, 8)) + "\n"
	p, ds := plan.Parse(source.New(filepath.Join(dir, "plan.yaml"), []byte(text)), reg)
	ds = append(ds, plan.Validate(p, reg, plan.Options{})...)
	if ds.HasErrors() {
		var lines []string
		for _, d := range ds.Sorted() {
			lines = append(lines, d.String()+"; "+d.Detail)
		}
		return nil, errors.New(strings.Join(lines, "\n"))
	}
	sampler := p.Groups[0].Steps[0].Action.(*plan.SamplerAction).Element
	return sampler, sampler.(element.Opener).Open(t.Context())
}

func indent(text string, n int) string {
	pad := strings.Repeat(" ", n)
	return pad + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n"+pad) + "\n"
}

func thread(t testing.TB) *element.Thread {
	t.Helper()
	th := element.NewThread(1, "g", expr.NewMachine(expr.NewFunctions(), 1), nil)
	th.Clock, th.Plan, th.Members = wallClock{time.Now()}, &element.Shared{}, &element.Shared{}
	th.Set("host", "example.com")
	th.Set("id", int64(7))
	th.Set("list", []any{"a b", "c"})
	th.Set("word", "x y")
	t.Cleanup(th.Close)
	return th
}

// rawServer answers every request with answer and returns what it received.
func rawServer(t *testing.T, answer string) (addr string, received func() string) {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	got := make(chan string, 10)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			text, _ := readRequest(bufio.NewReader(conn))
			_, _ = io.WriteString(conn, answer)
			_ = conn.Close()
			got <- text
		}
	}()
	t.Cleanup(func() { ln.Close(); <-done })
	return ln.Addr().String(), func() string {
		select {
		case text := <-got:
			return text
		case <-time.After(5 * time.Second):
			t.Fatal("no request came")
			return ""
		}
	}
}

func readRequest(r *bufio.Reader) (string, error) {
	var all bytes.Buffer
	length := 0
	for {
		line, err := r.ReadString('\n')
		all.WriteString(line)
		if err != nil {
			return all.String(), err
		}
		if n, ok := strings.CutPrefix(line, "Content-Length: "); ok {
			fmt.Sscan(n, &length)
		}
		if line == "\r\n" {
			break
		}
	}
	_, err := io.CopyN(&all, r, int64(length))
	return all.String(), err
}

const okAnswer = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"

func TestRequestOnTheWire(t *testing.T) {
	const tail = "User-Agent: runner/1\r\nAccept-Encoding: gzip, deflate, br, zstd\r\n"
	for _, tc := range []struct{ name, yaml, want string }{
		{"short form", "http: GET /a%2Fb c", "GET /a%2Fb%20c HTTP/1.1\r\nHost: ADDR\r\n" + tail + "\r\n"},
		{"interpolated path", "http: GET /p/${id}?w=${word}", "GET /p/7?w=x%20y HTTP/1.1\r\nHost: ADDR\r\n" + tail + "\r\n"},
		{"query", "http:\n  request: GET /s?x=1\n  query: {q: \"${word}&\", tag: [a, 2]}", "GET /s?x=1&q=x+y%26&tag=a&tag=2 HTTP/1.1\r\nHost: ADDR\r\n" + tail + "\r\n"},
		{"header bytes as written", "http:\n  request: GET /\n  headers: {x-LOWER: \"${id}\", User-Agent: me, Accept-Encoding: identity}", "GET / HTTP/1.1\r\nHost: ADDR\r\nx-LOWER: 7\r\nUser-Agent: me\r\nAccept-Encoding: identity\r\n\r\n"},
		{"host may be set", "http:\n  request: GET /\n  headers: {Host: \"${host}\"}", "GET / HTTP/1.1\r\nHost: example.com\r\n" + tail + "\r\n"},
		{"json numbers as written", "http:\n  request: POST /o\n  json: {price: 100.00, id: \"${id}\", text: \"${id}x\", list: [1, true, null]}",
			"POST /o HTTP/1.1\r\nHost: ADDR\r\n" + tail + "Content-Type: application/json\r\nContent-Length: 56\r\n\r\n" + `{"price":100.00,"id":7,"text":"7x","list":[1,true,null]}`},
		{"form", "http:\n  request: POST /f\n  form: {a: \"${word}\", b: [1, 2]}",
			"POST /f HTTP/1.1\r\nHost: ADDR\r\n" + tail + "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 13\r\n\r\na=x+y&b=1&b=2"},
		{"body text", "http:\n  request: PUT /b\n  body: hello ${id}", "PUT /b HTTP/1.1\r\nHost: ADDR\r\n" + tail + "Content-Length: 7\r\n\r\nhello 7"},
		{"body file", "http:\n  request: PUT /b\n  body: {file: up.txt}\n  headers: {Content-Type: text/plain}", "PUT /b HTTP/1.1\r\nHost: ADDR\r\nContent-Type: text/plain\r\n" + tail + "Content-Length: 12\r\n\r\nfile content"},
		{"basic auth", "http:\n  request: GET /\n  auth: {basic: {username: ann, password: \"${word}\"}}", "GET / HTTP/1.1\r\nHost: ADDR\r\nAuthorization: Basic YW5uOnggeQ==\r\n" + tail + "\r\n"},
		{"bearer", "http:\n  request: GET /\n  auth: {bearer: \"t-${id}\"}", "GET / HTTP/1.1\r\nHost: ADDR\r\nAuthorization: Bearer t-7\r\n" + tail + "\r\n"},
		{"own cookies", "http:\n  request: GET /\n  cookies: {a: '{\"x\": 1}', b: \"${id}\"}", "GET / HTTP/1.1\r\nHost: ADDR\r\nCookie: a={\"x\": 1}; b=7\r\n" + tail + "\r\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			addr, received := rawServer(t, okAnswer)
			sampler := step(t, "base_url: http://"+addr, tc.yaml)
			s := element.Sample{Needs: element.NeedBody}
			if err := sampler.Sample(t.Context(), thread(t), &s); err != nil {
				t.Fatal(err)
			}
			// The order of lines is the transport's; the set of bytes is ours.
			if diff := cmp.Diff(sortedHead(strings.ReplaceAll(tc.want, "ADDR", addr)), sortedHead(received())); diff != "" {
				t.Errorf("request (-want +got):\n%s", diff)
			}
			if s.Status != 200 || string(s.Body) != "ok" || s.Requests != 1 {
				t.Errorf("status %d, body %q, requests %d", s.Status, s.Body, s.Requests)
			}
		})
	}
}

// sortedHead returns the request line, the header lines as a set, and the body.
func sortedHead(text string) map[string]string {
	head, body, _ := strings.Cut(text, "\r\n\r\n")
	lines := strings.Split(head, "\r\n")
	out := map[string]string{"request": lines[0], "body": body}
	for _, line := range lines[1:] {
		name, value, _ := strings.Cut(line, ": ")
		out["header "+name] = value
	}
	return out
}

func TestMultipartIsReadByNetHTTP(t *testing.T) {
	type file struct{ Name, Type, Content string }
	got := make(chan map[string]any, 1)
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if err := r.ParseMultipartForm(1 << 20); err != nil {
			t.Error(err)
		}
		h := r.MultipartForm.File["up"][0]
		f, err := h.Open()
		if err != nil {
			t.Error(err)
			return
		}
		defer f.Close()
		content, _ := io.ReadAll(f)
		got <- map[string]any{"note": r.FormValue("note"), "up": file{h.Filename, h.Header.Get("Content-Type"), string(content)}}
	}))
	defer server.Close()
	sampler := step(t, "base_url: "+server.URL, "http:\n  request: POST /u\n  multipart:\n    - {name: note, value: \"${word}\"}\n    - {name: up, file: up.txt, content_type: text/plain}")
	th := thread(t)
	if err := sampler.Sample(t.Context(), th, &element.Sample{}); err != nil {
		t.Fatal(err)
	}
	th.Close()
	want := map[string]any{"note": "x y", "up": file{"up.txt", "text/plain", "file content"}}
	if diff := cmp.Diff(want, <-got); diff != "" {
		t.Errorf("form (-want +got):\n%s", diff)
	}
}

func TestDefaultsMergeByKey(t *testing.T) {
	addr, received := rawServer(t, okAnswer)
	sampler := step(t, "base_url: http://"+addr+"\nheaders: {Accept: text/html, X-A: outer, X-Gone: x}", "http:\n  request: GET /\n  headers: {x-a: inner, X-Gone: null}")
	if err := sampler.Sample(t.Context(), thread(t), &element.Sample{}); err != nil {
		t.Fatal(err)
	}
	head := sortedHead(received())
	if head["header Accept"] != "text/html" || head["header x-a"] != "inner" || head["header X-A"] != "" || head["header X-Gone"] != "" {
		t.Errorf("merged headers are %v", head)
	}
}

func TestFailuresHaveAClass(t *testing.T) {
	closed, _ := rawServer(t, "")
	for _, tc := range []struct {
		name, yaml string
		class      element.Class
	}{
		{"refused", "http: GET http://127.0.0.1:1/", element.ConnectRefused},
		{"closed early", "http: GET http://" + closed + "/", element.ClosedEarly},
		{"bad host", "http: GET http://${'exa mple'}/", element.Expression},
		{"line break in a header", "http:\n  request: GET http://" + closed + "/\n  headers: {X: \"${id}\\r\\nInjected: 1\"}", element.Expression},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s := element.Sample{}
			err := step(t, "", tc.yaml).Sample(t.Context(), thread(t), &s)
			var failure *element.Error
			if !errors.As(err, &failure) || failure.Class != tc.class {
				t.Fatalf("error %v, want class %s", err, tc.class)
			}
			if tc.class == element.Expression && s.Requests != 0 {
				t.Errorf("%d requests were sent", s.Requests)
			}
		})
	}
}

func TestCancelledWithinAMoment(t *testing.T) {
	release := make(chan struct{})
	server := httptest.NewServer(nethttp.HandlerFunc(func(nethttp.ResponseWriter, *nethttp.Request) { <-release }))
	defer server.Close()
	defer close(release)
	sampler := step(t, "", "http: GET "+server.URL+"/")
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	s := element.Sample{}
	th := thread(t)
	start := time.Now()
	err := sampler.Sample(ctx, th, &s)
	var failure *element.Error
	if !errors.As(err, &failure) || failure.Class != element.Cancelled {
		t.Fatalf("error %v, want class cancelled", err)
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	th.Close()
}

func TestCookiesFollowTheThreadAndTheUser(t *testing.T) {
	server := httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if _, err := r.Cookie("sid"); err != nil {
			nethttp.SetCookie(w, &nethttp.Cookie{Name: "sid", Value: "abc"})
		}
		fmt.Fprint(w, r.Header.Get("Cookie"))
	}))
	defer server.Close()
	sampler := step(t, "", "http: GET "+server.URL+"/")
	th := thread(t)
	body := func() string {
		s := element.Sample{Needs: element.NeedBody | element.NeedHeaders}
		if err := sampler.Sample(t.Context(), th, &s); err != nil {
			t.Fatal(err)
		}
		text := string(s.Body)
		if v, ok := s.Private.(element.CookieJar).Cookie("sid"); !ok || v != "abc" {
			t.Errorf("the jar has sid=%q", v)
		}
		sampler.(element.Releaser).Release(th, &s)
		return text
	}
	got := []string{body(), body()}
	th.StartIteration(false)
	got = append(got, body())
	th.StartIteration(true)
	got = append(got, body())
	if diff := cmp.Diff([]string{"", "sid=abc", "sid=abc", ""}, got); diff != "" {
		t.Errorf("cookies (-want +got):\n%s", diff)
	}
	th.Close()
}

func TestPlanMistakes(t *testing.T) {
	for _, tc := range []struct{ yaml, code string }{
		{"http: /path", "request-without-method"},
		{"http: GET", "request-without-url"},
		{"http: GET /path", "no-base-url"},
		{"http: GET /path/${thread.id}", "no-base-url"},
		{"http: GET 127.0.0.1:18080/", "write GET http://127.0.0.1:18080/"},
		{"http: GET shop.example.com", "write GET http://shop.example.com"},
		{"http: GET $base/x", "write GET ${base}/x"},
		{"http: GET '{{base}}/x'", "bad-url"},
		{"http: GET ftp://x/", "write GET http://x/"},
		{"http: GET http://local host/", "bad-url"},
		{"http: GET http://h:99999/", "invalid port"},
		{"http: GET http://h:99999/${thread.id}", "invalid port"},
		{"http: GET http:/h/", "write GET http://h/"},
		{"http: GET http://", "bad-url"},
		{"http: get http://h/", "write GET http://h/"},
		{"http: \"GET\\thttp://h/\"", "write GET http://h/"},
		{"http: {request: GET /, base_url: 'h:8080'}", "write base_url: http://h:8080"},
		{"http: {request: GET products/1, base_url: 'http://h'}", "write GET /products/1"},
		{"http: {request: GET http://h/, headers: {'X-${thread.id}': a}}", "no-template"},
		{"http: {request: GET http://x/, json: {a: 1}, body: b}", "exclusive"},
		{"http: {request: POST http://x/, headers: {Content-Type: text/plain}, multipart: [{name: a, value: b}]}", "content-type"},
	} {
		if _, err := parse(t, "", tc.yaml); err == nil || !strings.Contains(err.Error(), tc.code) {
			t.Errorf("%s: diagnostics %v, want %s", tc.yaml, err, tc.code)
		}
	}
}

func TestRightRequestsPass(t *testing.T) {
	for _, yaml := range []string{
		"http: GET http://h/a b?c=d e", "http: PURGE http://h:65535/", "http: GET HTTP://h", "http: GET http://[::1]:80/", "http: GET ${thread.id}/x",
		"http: GET http://${thread.id}", "http: GET http${thread.id}://h/", "http: GET http://h:${thread.id}/", "http: GET  http://h/", "http: {request: 'GET /x', base_url: '${thread.id}'}",
		"http: GET http://ann:word@h/", "http: GET http://bücher.example/",
	} {
		if _, err := parse(t, "", yaml); err != nil {
			t.Errorf("%s: %v", yaml, err)
		}
	}
}

func TestMethodMayBeComputed(t *testing.T) {
	if _, err := parse(t, "", "http: ${upper('put')} http://x/${thread.id}"); err != nil {
		t.Error(err)
	}
	if _, err := parse(t, "", "http: http://${thread.id} /x"); err == nil || !strings.Contains(err.Error(), "request-without-method") {
		t.Errorf("a URL in place of the method: %v", err)
	}
}
