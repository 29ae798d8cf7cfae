package cmd_test

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"net/textproto"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/reporters/stats"
)

// The tests of cases hold the program against faults that load generators are
// known for, over sockets that log what arrives byte for byte; those that need no
// server of their own are the sessions a*.txtar.

// wire is a server that logs whole requests and answers with raw bytes.
type wire struct {
	addr   string
	answer func(request string) string // "" leaves the request without an answer

	mu       sync.Mutex
	requests []string
}

func newWire(t *testing.T, addr string, answer func(request string) string) *wire {
	t.Helper()
	listener, err := net.Listen("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{addr: listener.Addr().String(), answer: answer}
	var all sync.WaitGroup
	var mu sync.Mutex
	var open []net.Conn
	all.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open = append(open, conn)
			mu.Unlock()
			all.Go(func() { defer conn.Close(); w.serve(conn) })
		}
	})
	t.Cleanup(func() {
		listener.Close()
		mu.Lock()
		for _, c := range open {
			c.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return w
}

func (w *wire) serve(conn net.Conn) {
	in := bufio.NewReader(conn)
	for {
		request, length := "", 0
		for !strings.HasSuffix(request, "\r\n\r\n") {
			line, err := in.ReadString('\n')
			if err != nil {
				return
			}
			request += line
			if name, value, ok := strings.Cut(line, ":"); ok && strings.EqualFold(name, "Content-Length") {
				length, _ = strconv.Atoi(strings.TrimSpace(value))
			}
		}
		body := make([]byte, length)
		if _, err := io.ReadFull(in, body); err != nil {
			return
		}
		request += string(body)
		w.mu.Lock()
		w.requests = append(w.requests, request)
		w.mu.Unlock()
		answer := w.answer(request)
		if _, err := io.WriteString(conn, answer); err != nil || strings.Contains(answer, "Connection: close") {
			return
		}
		if answer == "" {
			_, _ = in.ReadByte() // until the client has had enough
			return
		}
	}
}

func (w *wire) log() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]string{}, w.requests...)
}

// field returns the values of a header, by its name as it was written.
func field(request, name string) []string {
	head, _, _ := strings.Cut(request, "\r\n\r\n")
	var out []string
	for _, line := range strings.Split(head, "\r\n")[1:] {
		if n, value, _ := strings.Cut(line, ": "); n == name {
			out = append(out, value)
		}
	}
	return out
}

func ok(body string, headers ...string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\n%sContent-Length: %d\r\n\r\n%s", strings.Join(append(headers, ""), "\r\n"), len(body), body)
}

// once is a plan that runs some steps once.
func once(steps string) string {
	return "plan: Case\nthread_groups:\n  g:\n    load: {threads: 1, iterations: 1}\n    steps:\n" + steps
}

func passes(t *testing.T, r *execution) {
	t.Helper()
	if r.code != 0 || r.summary.Total.Failed != 0 {
		t.Errorf("exit code %d\n%s", r.code, r.out.String())
	}
}

// A1: names of headers arrive byte for byte, Host may be set, and the names of an
// answer are compared without regard to case.
func TestCaseHeaderNames(t *testing.T) {
	w := newWire(t, "127.0.0.1:0", func(string) string { return ok("{}", "content-TYPE: application/json") })
	passes(t, execute(t, once(fmt.Sprintf(`      - http:
          request: GET http://%s/
          headers: {x-lower: "1", X-MiXeD: "2", Host: virtual.example}
        assertions:
          - header("Content-Type") == "application/json"
          - header: {name: CONTENT-type, contains: json}
`, w.addr))))
	request := w.log()[0]
	for name, want := range map[string]string{"x-lower": "1", "X-MiXeD": "2", "Host": "virtual.example"} {
		if diff := cmp.Diff([]string{want}, field(request, name)); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", name, diff, request)
		}
	}
}

// A2: which method, body and credentials a redirect keeps.
func TestCaseRedirects(t *testing.T) {
	other := newWire(t, "127.0.0.1:0", func(string) string { return ok("done") })
	w := newWire(t, "127.0.0.1:0", func(request string) string {
		_, target, _ := strings.Cut(request, " /")
		target, _, _ = strings.Cut(target, " ")
		status, where, _ := strings.Cut(target, "-")
		if where == "" {
			return ok("done")
		}
		to := "/"
		if where == "away" {
			to = "http://" + other.addr + "/away"
		}
		return fmt.Sprintf("HTTP/1.1 %s Found\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", status, to)
	})
	r := execute(t, once(fmt.Sprintf(`      - foreach: '["301-here", "302-here", "303-here", "307-here", "308-here", "307-away"]'
        as: target
        name: Post
        http:
          request: POST http://%s/${target}
          headers: {Content-Type: text/plain, Authorization: Bearer abc}
          cookies: {c: "1"}
          body: hello
        assertions: {status: 200}
`, w.addr)))
	passes(t, r)
	if r.summary.Ledger.Requests != 12 || r.summary.Total.Count != 6 {
		t.Errorf("%d requests in %d samples, want 12 in 6", r.summary.Ledger.Requests, r.summary.Total.Count)
	}
	log := w.log()
	for i, status := range []int{301, 302, 303, 307, 308} {
		hop, keeps := log[2*i+1], status >= 307
		method, _, _ := strings.Cut(hop, " ")
		_, body, _ := strings.Cut(hop, "\r\n\r\n")
		kinds := len(field(hop, "Content-Type"))
		if keeps && (method != "POST" || body != "hello" || kinds != 1) || !keeps && (method != "GET" || body != "" || kinds != 0) {
			t.Errorf("%d was followed by\n%s", status, hop)
		}
		if len(field(hop, "Authorization")) != 1 || len(field(hop, "Cookie")) != 1 {
			t.Errorf("%d lost the credentials of its own origin:\n%s", status, hop)
		}
	}
	away := other.log()
	if len(away) != 1 || !strings.HasSuffix(away[0], "hello") || len(field(away[0], "Authorization"))+len(field(away[0], "Cookie")) != 0 {
		t.Errorf("another port got\n%s", strings.Join(away, "\n"))
	}
}

// A3: a redirect that leads nowhere is an answer like any other.
func TestCaseRedirectsWithoutTarget(t *testing.T) {
	w := newWire(t, "127.0.0.1:0", func(request string) string {
		if strings.Contains(request, "/empty") {
			return "HTTP/1.1 302 Found\r\nLocation: \r\nContent-Length: 0\r\n\r\n"
		}
		return "HTTP/1.1 302 Found\r\nContent-Length: 0\r\n\r\n"
	})
	passes(t, execute(t, once(fmt.Sprintf(`      - http: GET http://%[1]s/empty
        assertions: {status: 302}
      - http: GET http://%[1]s/none
        assertions: {status: 302}
`, w.addr))))
	if n := len(w.log()); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}

// A4: parts of a form keep their order, and have a file name only if they are files.
func TestCaseMultipart(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"a.txt": "first\r\nfile", "b.bin": "\x00\xff second"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := newWire(t, "127.0.0.1:0", func(string) string { return ok("{}") })
	passes(t, execute(t, once(fmt.Sprintf(`      - http:
          request: POST http://%s/
          headers: {Content-Type: multipart/form-data; boundary=--myBoundary}
          multipart:
            - {name: meta, value: '{"n":1}', content_type: application/json}
            - {name: files, file: %s/a.txt}
            - {name: files, file: %[2]s/b.bin, content_type: application/x-thing}
`, w.addr, dir))))
	request := w.log()[0]
	_, params, err := mime.ParseMediaType(field(request, "Content-Type")[0])
	if err != nil {
		t.Fatal(err)
	}
	if params["boundary"] != "--myBoundary" {
		t.Errorf("the boundary is %q", params["boundary"])
	}
	_, body, _ := strings.Cut(request, "\r\n\r\n")
	type part struct{ Header, Body string }
	var got []part
	for parts := multipart.NewReader(strings.NewReader(body), params["boundary"]); ; {
		p, err := parts.NextRawPart()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("%v\n%s", err, request)
		}
		text, _ := io.ReadAll(p)
		got = append(got, part{disposition(p.Header), string(text)})
	}
	want := []part{
		{`form-data; name="meta" application/json`, `{"n":1}`},
		{`form-data; name="files"; filename="a.txt" application/octet-stream`, "first\r\nfile"},
		{`form-data; name="files"; filename="b.bin" application/x-thing`, "\x00\xff second"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("parts (-want +got):\n%s", diff)
	}
	if n := field(request, "Content-Length"); len(n) != 1 || n[0] != strconv.Itoa(len(body)) {
		t.Errorf("Content-Length %v, the body has %d bytes", n, len(body))
	}
}

func disposition(h textproto.MIMEHeader) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return h.Get("Content-Disposition") + " " + kind
}

// A5: cookies come back byte for byte, whatever they hold.
func TestCaseCookies(t *testing.T) {
	cookies := []string{"ds.auth=abc.def", `q="quoted val"`, `j={"a":1}`, "sp=hello world", "eq=a=b==", "[id]=5", "comma=a,b"}
	w := newWire(t, "127.0.0.1:0", func(request string) string {
		if !strings.Contains(request, "/set") {
			return ok("{}")
		}
		var lines []string
		for _, c := range cookies {
			lines = append(lines, "Set-Cookie: "+c+"; Path=/")
		}
		return ok("{}", lines...)
	})
	passes(t, execute(t, once(fmt.Sprintf(`      - http: GET http://%[1]s/set
        extract: {auth: {cookie: ds.auth}}
        assertions:
          - auth == "abc.def"
          - cookie: {name: j, equals: '{"a":1}'}
      - http: GET http://%[1]s/get
`, w.addr))))
	if diff := cmp.Diff([]string{strings.Join(cookies, "; ")}, field(w.log()[1], "Cookie")); diff != "" {
		t.Errorf("Cookie (-want +got):\n%s", diff)
	}
}

// A9: so many iterations as were asked for, and every thread has its share.
func TestCaseIterations(t *testing.T) {
	for _, tc := range []struct {
		load string
		want int64
	}{{"{threads: 2, shared_iterations: 5}", 5}, {"{threads: 10, shared_iterations: 3}", 3}, {"{threads: 2, iterations: 5}", 10}} {
		w := newWire(t, "127.0.0.1:0", func(string) string { time.Sleep(20 * time.Millisecond); return ok("{}") })
		r := execute(t, "plan: Case\nthread_groups:\n  g:\n    load: "+tc.load+
			"\n    steps:\n      - http: {request: GET http://"+w.addr+"/, headers: {X-Thread: \"${thread.id}\"}}\n")
		passes(t, r)
		threads := map[string]int{}
		for _, request := range w.log() {
			threads[field(request, "X-Thread")[0]]++
		}
		if got := int64(len(w.log())); got != tc.want || r.summary.Ledger.Requests != tc.want {
			t.Errorf("%s: %d requests arrived, %d in the ledger", tc.load, got, r.summary.Ledger.Requests)
		}
		if len(threads) != min(int(tc.want), map[bool]int{true: 2, false: 10}[strings.Contains(tc.load, ": 2")]) {
			t.Errorf("%s: iterations by thread are %v", tc.load, threads)
		}
	}
}

// A10: percentiles are those of the nearest rank, lie within the extremes, and are
// left out where there are too few samples for them.
func TestCasePercentiles(t *testing.T) {
	cases := map[string][]int{
		"1": {150}, "2": {100, 300}, "5": {150, 200, 350, 400, 500}, "10": {50, 60, 70, 80, 90, 100, 110, 120, 130, 240},
	}
	beside(t, len(cases), func(i int) error {
		name := []string{"1", "2", "5", "10"}[i]
		delays := cases[name]
		var err error
		for range attempts { // a busy machine may be late once, a wrong rank is wrong each time
			if err = rankRun(filepath.Join(t.TempDir(), name), delays); err == nil {
				break
			}
		}
		return err
	})
}

// rankRun runs dummies with these delays and checks the percentiles of the run.
func rankRun(dir string, delays []int) error {
	r, err := startRun(dir, once(fmt.Sprintf(`      - foreach: '%s'
        as: ms
        name: D
        dummy: ${ms}ms
        thresholds:
          - p50 < 30s
          - p90 < 30s
          - p95 < 30s
          - p99 < 30s
`, strings.ReplaceAll(fmt.Sprint(delays), " ", ","))), nil)
	if err == nil {
		err = r.end()
	}
	if err != nil {
		return err
	}
	return nearestRank(r.summary, delays)
}

// nearestRank checks the percentiles of a run with these delays in milliseconds,
// in order; a busy machine may add a little.
func nearestRank(s *stats.Summary, delays []int) error {
	times := s.Total.ResponseNS
	if times.P999 != nil {
		return fmt.Errorf("p99.9 of %d samples is told", len(delays))
	}
	last := float64(times.Min)
	for _, limit := range s.Thresholds {
		p, err := strconv.ParseFloat(strings.TrimPrefix(limit.Figure, "p"), 64)
		if err != nil {
			continue // the implied one
		}
		rank := max(1, int(math.Ceil(p/100*float64(len(delays)))))
		low := float64(delays[rank-1]) * 1e6
		if v := *limit.Value; v < low || v > low+float64(90*time.Millisecond) || v < last || v > float64(times.Max) {
			return fmt.Errorf("p%g of %v is %g, %s", p, delays, v, limit.Message)
		}
		last = *limit.Value
		if few := limit.Figure == "p99"; few && !limit.FewSamples || !limit.Passed {
			return fmt.Errorf("p%g of %d samples: %+v", p, len(delays), limit)
		}
	}
	return nil
}

// A11: what goes wrong has a class, takes no longer than it may, and no time of it
// is negative.
func TestCaseFailures(t *testing.T) {
	answers := map[string]string{
		"/short":   "HTTP/1.1 200 OK\r\nContent-Length: 100\r\nConnection: close\r\n\r\nabc",
		"/chunk":   "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n10\r\nabc",
		"/silence": "",
	}
	w := newWire(t, "127.0.0.1:0", func(request string) string {
		for path, answer := range answers {
			if strings.Contains(request, " "+path+" ") {
				return answer
			}
		}
		time.Sleep(2 * time.Second)
		return ok("late")
	})
	refused, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := refused.Addr().String()
	refused.Close()
	r := execute(t, once(fmt.Sprintf(`      - {name: late, http: {request: "GET http://%[1]s/late", timeout: 300ms}}
      - {name: silence, http: {request: "GET http://%[1]s/silence", timeout: 300ms}}
      - {name: refused, http: "GET http://%[2]s/"}
      - {name: short, http: "GET http://%[1]s/short"}
      - {name: chunk, http: "GET http://%[1]s/chunk"}
`, w.addr, nobody)))
	if r.code != 1 {
		t.Errorf("exit code %d\n%s", r.code, r.out.String())
	}
	want := map[string]int64{"timeout": 2, "connect_refused": 1, "truncated": 2}
	if diff := cmp.Diff(want, r.summary.Ledger.Samples.Errors); diff != "" {
		t.Errorf("errors (-want +got):\n%s", diff)
	}
	for _, s := range r.summary.Series {
		for _, times := range []*stats.Distribution{s.ResponseNS, s.ServiceNS, s.LatencyNS} {
			if times != nil && times.Min < 0 {
				t.Errorf("%s has a negative time: %+v", s.Name, times)
			}
		}
		if limit := int64(300 * time.Millisecond); s.Failed != 1 ||
			(s.Name == "late" || s.Name == "silence") && (s.ResponseNS.Max < limit || s.ResponseNS.Max > limit+int64(time.Second)) {
			t.Errorf("%s: %d failed, gave up after %d ns", s.Name, s.Failed, s.ResponseNS.Max)
		}
	}
}

// A12: addresses of IPv6 keep their brackets on the wire and in the report.
func TestCaseIPv6(t *testing.T) {
	probe, err := net.Listen("tcp", "[::1]:0")
	if err != nil {
		r, err := startRun(t.TempDir(), once("      - http: GET http://[::1]:1/x\n"), nil)
		if err == nil {
			err = r.end()
		}
		if err != nil || r.code == 0 || !strings.Contains(r.out.String(), "[::1]") {
			t.Errorf("without IPv6: %v, exit code %d\n%s", err, r.code, r.out.String())
		}
		return
	}
	probe.Close()
	w := newWire(t, "[::1]:0", func(string) string { return ok("{}") })
	r := execute(t, once("      - http: GET http://"+w.addr+"/x\n"))
	passes(t, r)
	if diff := cmp.Diff([]string{w.addr}, field(w.log()[0], "Host")); diff != "" || !strings.HasPrefix(w.addr, "[::1]:") {
		t.Errorf("Host (-want +got):\n%s", diff)
	}
	if name := r.summary.Series[0].Name; name != "GET http://"+w.addr+"/x" {
		t.Errorf("the row is named %s", name)
	}
	if _, err := http.Get("http://" + w.addr); err != nil {
		t.Error(err)
	}
}
