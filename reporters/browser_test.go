package reporters

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"runner/reporters/stats"
)

// tab is a page in a headless Chromium, driven over its debugging pipe: requests
// and answers are JSON texts that end with a zero byte.
type tab struct {
	t       *testing.T
	in      io.Writer
	out     *bufio.Reader
	id      int
	session string
	// requests are the addresses asked for, trouble what the console and the
	// engine complained of.
	requests, trouble []string
}

type message struct {
	ID     int             `json:"id,omitempty"`
	Method string          `json:"method,omitempty"`
	Params json.RawMessage `json:"params,omitempty"`
	Result json.RawMessage `json:"result,omitempty"`
	Error  *struct{ Message string }
}

// openTab starts a browser with an empty page; it ends with the test.
func openTab(t *testing.T, chromium string) *tab {
	t.Helper()
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--host-resolver-rules=MAP * ~NOTFOUND", "--window-size=1280,1600",
		"--user-data-dir="+filepath.Join(t.TempDir(), "profile"), "--remote-debugging-pipe")
	cmd.ExtraFiles = []*os.File{inRead, outWrite}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	_, _ = inRead.Close(), outWrite.Close()
	stop := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() })
	b := &tab{t: t, in: inWrite, out: bufio.NewReader(outRead)}
	t.Cleanup(func() {
		b.session = ""
		b.call("Browser.close", nil)
		_, _ = io.Copy(io.Discard, b.out)
		_ = cmd.Wait()
		stop.Stop()
		_, _ = inWrite.Close(), outRead.Close()
	})
	var target struct{ TargetID string }
	b.into(b.call("Target.createTarget", map[string]any{"url": "about:blank"}), &target)
	var session struct{ SessionID string }
	b.into(b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}), &session)
	b.session = session.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil)
	}
	return b
}

// call sends one command and waits for its answer, noting the events before it.
func (b *tab) call(method string, params map[string]any) json.RawMessage {
	b.t.Helper()
	b.id++
	request := map[string]any{"id": b.id, "method": method}
	if params != nil {
		request["params"] = params
	}
	if b.session != "" {
		request["sessionId"] = b.session
	}
	text, err := json.Marshal(request)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(text, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		m := b.next()
		if m.ID == b.id {
			if m.Error != nil {
				b.t.Fatalf("%s: %s", method, m.Error.Message)
			}
			return m.Result
		}
		b.note(m)
	}
}

func (b *tab) next() message {
	b.t.Helper()
	text, err := b.out.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("the browser ended: %v", err)
	}
	var m message
	b.into(text[:len(text)-1], &m)
	return m
}

func (b *tab) into(text []byte, v any) {
	b.t.Helper()
	if err := json.Unmarshal(text, v); err != nil {
		b.t.Fatal(err)
	}
}

// note keeps what an event tells of requests and trouble.
func (b *tab) note(m message) {
	switch m.Method {
	case "Network.requestWillBeSent":
		var e struct{ Request struct{ URL string } }
		b.into(m.Params, &e)
		b.requests = append(b.requests, e.Request.URL)
	case "Runtime.exceptionThrown", "Log.entryAdded", "Runtime.consoleAPICalled":
		b.trouble = append(b.trouble, string(m.Params))
	}
}

// open goes to a page and waits until it is loaded.
func (b *tab) open(address string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": address})
	for {
		m := b.next()
		b.note(m)
		if m.Method == "Page.loadEventFired" {
			b.eval("new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(0), 50)))")
			return
		}
	}
}

// eval returns the value of a script's expression as text.
func (b *tab) eval(script string) string {
	b.t.Helper()
	var r struct {
		Result           struct{ Value any }
		ExceptionDetails any
	}
	b.into(b.call("Runtime.evaluate", map[string]any{"expression": script, "returnByValue": true, "awaitPromise": true}), &r)
	if r.ExceptionDetails != nil {
		b.t.Fatalf("%s: %v", script, r.ExceptionDetails)
	}
	return fmt.Sprint(r.Result.Value)
}

func (b *tab) mouse(kind string, x, y float64, buttons int) {
	b.t.Helper()
	button := "none"
	if kind != "mouseMoved" {
		button = "left"
	}
	b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": button, "buttons": buttons, "clickCount": 1})
	b.eval("new Promise((done) => requestAnimationFrame(() => setTimeout(() => done(0), 20)))")
}

// box scrolls an element into view and returns its place.
func (b *tab) box(selector string) (x, y, w, h float64) {
	b.t.Helper()
	var r [4]float64
	b.into([]byte(b.eval(fmt.Sprintf("(() => { const e = document.querySelector(%q); e.scrollIntoView({block: 'center'}); const r = e.getBoundingClientRect(); return JSON.stringify([r.x, r.y, r.width, r.height]); })()", selector))), &r)
	return r[0], r[1], r[2], r[3]
}

// legend is the text of a chart's legend.
func (b *tab) legend(chart string) string {
	b.t.Helper()
	return b.eval(fmt.Sprintf("document.querySelector('#%s .u-legend').innerText.replace(/\\s+/g, ' ')", chart))
}

func TestPageIsUsable(t *testing.T) {
	chromium := browser(t)
	if chromium == "" {
		t.Log("no Chromium, or a short run: only the static tests of the page ran")
		return
	}
	path := filepath.Join(t.TempDir(), "report.html")
	r, _ := ByName("html")
	if err := WriteFile(path, fixed(), r); err != nil {
		t.Fatal(err)
	}
	b := openTab(t, chromium)
	b.open("file://" + path)

	x, y, w, h := b.box("#c-response .u-over")
	b.mouse("mouseMoved", x+w/2, y+h/2, 0)
	if hover := b.legend("c-response"); !strings.Contains(hover, "at4:50") || !strings.Contains(hover, " ms") {
		t.Errorf("hover shows %q", hover)
	}
	if other := b.legend("c-errors"); !strings.Contains(other, "at4:50") {
		t.Errorf("the other charts do not follow: %q", other)
	}

	for chart, want := range map[string]string{"c-threads": "active150planned150busy in open groups4", "c-arrivals": "started40/splanned40/sdropped0/s"} {
		if got := b.legend(chart); !strings.Contains(got, want) {
			t.Errorf("%s shows %q, not %q", chart, got, want)
		}
	}

	pixels := func(id string) string {
		return b.eval("document.querySelector('#" + id + " canvas').toDataURL().length + ':' + document.querySelector('#" + id + " canvas').toDataURL().slice(-4000)")
	}
	whole, otherWhole := pixels("c-response"), pixels("c-threads")
	b.mouse("mousePressed", x+w*.3, y+h/2, 1)
	b.mouse("mouseMoved", x+w*.5, y+h/2, 1)
	b.mouse("mouseReleased", x+w*.5, y+h/2, 0)
	if pixels("c-response") == whole || pixels("c-threads") == otherWhole {
		t.Error("dragging does not zoom all charts")
	}
	b.eval("document.getElementById('reset').click()")
	b.eval("new Promise((done) => setTimeout(() => done(0), 50))")
	if pixels("c-threads") != otherWhole {
		t.Error("the zoom cannot be reset")
	}

	first := "document.querySelector('#t-samples tbody th bdi').textContent"
	b.eval("[...document.querySelectorAll('#t-samples thead button')].find((e) => e.textContent.startsWith('p95')).click()")
	if got := b.eval(first); got != "POST /orders" {
		t.Errorf("the slowest sampler is %q", got)
	}
	b.eval("[...document.querySelectorAll('#t-samples thead button')][0].click()")
	if got := b.eval(first); !strings.HasPrefix(got, "=cmd") {
		t.Errorf("the first by name is %q", got)
	}
	b.eval("(() => { const e = document.querySelector('.filter'); e.value = 'ORDERS'; e.dispatchEvent(new Event('input')); })()")
	if got := b.eval("[...document.querySelectorAll('#t-samples tbody tr')].filter((e) => !e.hidden).length"); got != "1" {
		t.Errorf("the filter leaves %s rows", got)
	}

	before := pixels("c-bars")
	b.eval("(() => { const e = document.getElementById('dist-series'); e.value = '6'; e.dispatchEvent(new Event('change')); })()")
	if got := b.eval("[...document.getElementById('dist-measure').options].map((o) => o.value).join()"); got != "response time,service time,latency,response, failed only" {
		t.Errorf("times to choose from: %s", got)
	}
	if b.eval("new Promise((done) => setTimeout(() => done(0), 50))"); pixels("c-bars") == before {
		t.Error("choosing a series does not change the histogram")
	}
	for _, id := range []string{"6", "11", "12"} {
		b.eval("(() => { const e = document.getElementById('time-series'); e.value = '" + id + "'; e.dispatchEvent(new Event('change')); document.getElementById('log').click(); })()")
	}
	b.eval("new Promise((done) => setTimeout(() => done(0), 50))")

	if len(b.trouble) > 0 {
		t.Errorf("the console said: %s", strings.Join(b.trouble, "\n"))
	}
	if len(b.requests) == 0 || b.requests[0] != "file://"+path {
		t.Errorf("requests are not seen: %v", b.requests)
	}
	for _, u := range b.requests[min(1, len(b.requests)):] {
		if u != "data:," {
			t.Errorf("the page asked for %s", u)
		}
	}
}

// TestPageOfAShortRun: rates are over what the run lasted, and the axis ends there.
func TestPageOfAShortRun(t *testing.T) {
	chromium := browser(t)
	if chromium == "" {
		t.Log("no Chromium, or a short run: only the static tests of the page ran")
		return
	}
	s := fixed()
	tl := &s.Timeline
	tl.TS, tl.LengthS, tl.IntervalS, tl.Throughput = []float64{0}, []float64{.22}, 1, []float64{50}
	tl.Planned, tl.ClosedThreads, tl.Metrics = []*float64{nil}, nil, nil
	tl.Arrivals = &stats.Arrivals{Planned: []float64{33}, Started: []int64{22}, Dropped: []int64{11}}
	tl.Series = tl.Series[:2]
	for i := range tl.Series {
		x := &tl.Series[i]
		x.Count, x.Failed, x.Unsent = []int64{22}, []int64{22}, []int64{11}
		x.P50, x.P95, x.P99, x.Max, x.Bytes = x.P50[:1], x.P95[:1], x.P99[:1], x.Max[:1], x.Bytes[:1]
	}
	path := filepath.Join(t.TempDir(), "report.html")
	r, _ := ByName("html")
	if err := WriteFile(path, s, r); err != nil {
		t.Fatal(err)
	}
	b := openTab(t, chromium)
	b.open("file://" + path)
	for _, id := range []string{"-1", "0"} {
		b.eval("(() => { const e = document.getElementById('time-series'); e.value = '" + id + "'; e.dispatchEvent(new Event('change')); })()")
		x, y, _, h := b.box("#c-errors .u-over")
		b.mouse("mouseMoved", x+4, y+h/2, 0)
		if got := b.legend("c-errors"); !strings.Contains(got, "failed100/s") {
			t.Errorf("series %s: errors %q", id, got)
		}
		if got := b.legend("c-throughput"); !strings.Contains(got, "samples50/s") {
			t.Errorf("series %s: throughput %q", id, got)
		}
	}
	x, y, _, h := b.box("#c-arrivals .u-over")
	b.mouse("mouseMoved", x+4, y+h/2, 0)
	if got := b.legend("c-arrivals"); !strings.Contains(got, "started100/splanned150/sdropped50/s") {
		t.Errorf("arrivals %q", got)
	}
	if got := b.eval("document.querySelector('#c-arrivals').closest('figure').querySelector('figcaption .hot').innerText"); got != "22 started of 33 planned, 11 dropped" {
		t.Errorf("the missed load is told as %q", got)
	}
	if got := b.eval("document.querySelector('#c-threads .u-legend').innerText"); strings.Contains(got, "planned") {
		t.Errorf("threads are planned by no group: %q", got)
	}
	if len(b.trouble) > 0 {
		t.Errorf("the console said: %s", strings.Join(b.trouble, "\n"))
	}
}
