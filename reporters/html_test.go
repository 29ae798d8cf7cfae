package reporters

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"math"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/net/html"

	"runner/reporters/stats"
)

// parts of a page, as a browser's parser sees them.
type parsedPage struct {
	tags    map[string]int
	scripts []string // texts of scripts without a type
	data    string
	style   string
	policy  string
	refs    []string // values of attributes that could fetch something
	events  []string // attributes that would run as script
	inline  int      // style attributes
}

func parsePage(t *testing.T, page []byte) *parsedPage {
	t.Helper()
	root, err := html.Parse(bytes.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	p := &parsedPage{tags: map[string]int{}}
	for n := range root.Descendants() {
		if n.Type == html.ElementNode {
			p.element(n)
		}
	}
	return p
}

func (p *parsedPage) element(n *html.Node) {
	p.tags[n.Data]++
	attrs := map[string]string{}
	for _, a := range n.Attr {
		attrs[a.Key] = a.Val
		switch {
		case strings.HasPrefix(a.Key, "on"):
			p.events = append(p.events, a.Key)
		case slices.Contains([]string{"src", "href", "action", "data", "poster", "srcset", "background"}, a.Key):
			p.refs = append(p.refs, a.Val)
		case a.Key == "style":
			p.inline++
		}
	}
	text := ""
	if n.FirstChild != nil {
		text = n.FirstChild.Data
	}
	switch {
	case n.Data == "script" && attrs["type"] == "application/json":
		p.data = text
	case n.Data == "script":
		p.scripts = append(p.scripts, text)
	case n.Data == "style":
		p.style = text
	case n.Data == "meta" && attrs["http-equiv"] == "Content-Security-Policy":
		p.policy = attrs["content"]
	}
}

func TestPageIsSelfContainedAndStrict(t *testing.T) {
	hostile := tidy(fixed(), func(string) string { return hostileName })
	hostile.Schema = stats.SummarySchema
	pages := map[string]*stats.Summary{"hostile": hostile}
	for _, name := range variants() {
		pages[name] = variant(name)
	}
	for name, s := range pages {
		p := parsePage(t, render(t, "html", s))
		if len(p.scripts) != 2 || p.tags["script"] != 3 || p.tags["style"] != 1 || p.tags["img"]+p.tags["iframe"]+p.tags["object"]+p.tags["base"]+p.tags["form"] != 0 {
			t.Fatalf("%s: elements %v", name, p.tags)
		}
		for _, r := range p.refs {
			if !strings.HasPrefix(r, "#") && r != "data:," {
				t.Errorf("%s: refers to %q", name, r)
			}
		}
		if len(p.events) > 0 || p.inline > 0 {
			t.Errorf("%s: handlers %v, %d inline styles", name, p.events, p.inline)
		}
		want := "default-src 'none'; script-src " + hashOf(p.scripts[0]) + " " + hashOf(p.scripts[1]) + "; style-src " + hashOf(p.style) + "; img-src data:; base-uri 'none'; form-action 'none'"
		if p.policy != want {
			t.Errorf("%s: policy %q, want %q", name, p.policy, want)
		}
		var island struct{ T []float64 }
		if err := json.Unmarshal([]byte(p.data), &island); err != nil || len(island.T) != len(s.Timeline.TS) {
			t.Errorf("%s: island: %v, %d points", name, err, len(island.T))
		}
		if strings.ContainsAny(p.data, "<>&\u2028\u2029") {
			t.Errorf("%s: the island is not escaped", name)
		}
	}
}

func TestPageAnswersWhetherItPassedFirst(t *testing.T) {
	page := string(render(t, "html", fixed()))
	body := page[strings.Index(page, "<body>"):]
	last := -1
	for _, want := range []string{"FAILED", "p95 is 1.12 s, limit &lt; 800 ms", "generator limited", "910,306", "Thresholds", "broken", "<h2>Over time", "Samples</h2>", "Transactions</h2>",
		"<h2>Distribution", "Phases of a sample", "Errors</h2>", "Failed assertions", "Generator <", "Ledger", "Plan</h2>", "Environment</h2>"} {
		i := strings.Index(body, want)
		if i <= last {
			t.Errorf("%q stands at %d, after %d", want, i, last)
		}
		last = max(last, i)
	}
}

func TestPlanLinesAreMarked(t *testing.T) {
	s := fixed()
	views := sourceViews(cleaned(s))
	states := map[int]string{}
	for i, l := range views[0].Lines {
		if l.State != "" {
			states[i+1] = l.State
		}
	}
	for line, want := range map[int]string{38: "bad", 43: "bad", 29: "bad", 15: "warn", 27: "warn", 35: "warn", 22: "", 1: ""} {
		if states[line] != want {
			t.Errorf("line %d is marked %q, want %q", line, states[line], want)
		}
	}
}

func TestPackedColumns(t *testing.T) {
	times := []*int64{nil, pick(int64(1)), pick(int64(0)), pick(int64(812_345_678)), pick(int64(3_600_000_000_000)), pick(int64(math.MaxInt64)), pick(int64(-5))}
	b, err := base64.StdEncoding.DecodeString(packTimes(times))
	if err != nil || len(b) != 2*len(times) {
		t.Fatal(err, len(b))
	}
	for i, p := range times {
		q := binary.LittleEndian.Uint16(b[2*i:])
		if (q == 0) != (p == nil) {
			t.Errorf("%d: null is %d", i, q)
		}
		if p == nil || *p < 1 || *p == math.MaxInt64 {
			continue
		}
		if got := math.Exp(float64(q-1) * logStep); math.Abs(got/float64(*p)-1) > .0003 {
			t.Errorf("%d ns came back as %v", *p, got)
		}
	}
	b, _ = base64.StdEncoding.DecodeString(packCounts([]int64{0, 127, 128, 1 << 40, -1}))
	var got []uint64
	for len(b) > 0 {
		v, n := binary.Uvarint(b)
		got, b = append(got, v), b[n:]
	}
	if !slices.Equal(got, []uint64{0, 127, 128, 1 << 40, 0}) {
		t.Errorf("counts: %v", got)
	}
}

// browser returns a Chromium, or "" when there is none or the run is a short one;
// a CI must have one for the full run.
func browser(t *testing.T) string {
	t.Helper()
	if testing.Short() {
		return ""
	}
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("no Chromium found, which a CI must have")
	}
	return ""
}

// visit opens a page headless and returns its document, what the console said and
// the addresses it asked for.
func visit(t *testing.T, chromium, path string) (dom, console string, requests []string) {
	t.Helper()
	dir := t.TempDir()
	netlog := filepath.Join(dir, "net.json")
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
		"--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-dev-shm-usage", "--disable-default-apps",
		"--disable-features=OptimizationHints,MediaRouter", "--host-resolver-rules=MAP * ~NOTFOUND",
		"--user-data-dir="+filepath.Join(dir, "profile"), "--log-net-log="+netlog, "--enable-logging=stderr", "--window-size=1280,2400",
		"--virtual-time-budget=5000", "--dump-dom", "file://"+path)
	var out, logs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &logs
	if err := cmd.Run(); err != nil {
		t.Fatalf("chromium: %v\n%s", err, logs.String())
	}
	for l := range strings.Lines(logs.String()) {
		if strings.Contains(l, "CONSOLE") {
			console += l
		}
	}
	return out.String(), console, requested(t, netlog)
}

// requested lists the addresses of a net log's requests that a page could have
// made: not the browser's own.
func requested(t *testing.T, netlog string) []string {
	t.Helper()
	b, err := os.ReadFile(netlog)
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, m := range regexp.MustCompile(`"url":"([^"]+)"`).FindAllSubmatch(b, -1) {
		u, err := url.Parse(string(m[1]))
		if err == nil && (u.Scheme == "http" || u.Scheme == "https" || u.Scheme == "ws" || u.Scheme == "wss") && !slices.Contains(out, u.String()) {
			out = append(out, u.String())
		}
	}
	return slices.DeleteFunc(out, func(u string) bool { return strings.Contains(u, "google") || strings.Contains(u, "gvt1.com") })
}

func TestPageInBrowser(t *testing.T) {
	chromium := browser(t)
	if chromium == "" {
		t.Log("no Chromium, or a short run: only the static tests of the page ran")
		return
	}
	hostile := tidy(fixed(), func(string) string { return hostileName })
	for name, tt := range map[string]struct {
		s      *stats.Summary
		charts string
	}{"fixed": {fixed(), "8"}, "hostile": {hostile, "8"}, "zero": {zero(), "0"}} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "report.html")
			r, _ := ByName("html")
			if err := WriteFile(path, tt.s, r); err != nil {
				t.Fatal(err)
			}
			dom, console, requests := visit(t, chromium, path)
			if console != "" {
				t.Errorf("the console said:\n%s", console)
			}
			if len(requests) > 0 {
				t.Errorf("the page asked for %v", requests)
			}
			if !strings.Contains(dom, `data-charts="`+tt.charts+`"`) || (strings.Count(dom, "<canvas") >= 8) != (tt.charts == "8") {
				t.Errorf("%d canvases, want %s charts", strings.Count(dom, "<canvas"), tt.charts)
			}
			opening, _, _ := strings.Cut(dom[strings.Index(dom, "<html"):], ">")
			if strings.Contains(opening, "pwned") {
				t.Errorf("hostile text ran: %s", opening)
			}
		})
	}
}

// A page that breaks its own policy must be noticed, or the test above proves nothing.
func TestBrowserTestNoticesTrouble(t *testing.T) {
	chromium := browser(t)
	if chromium == "" {
		return
	}
	page := string(render(t, "html", zero()))
	page = strings.Replace(page, "</main>", `</main><img src="http://127.0.0.1:9/x.png"><script>document.documentElement.dataset.pwned=1</script>`, 1)
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	dom, console, _ := visit(t, chromium, path)
	if !strings.Contains(console, "Content Security Policy") || strings.Contains(dom, `data-pwned`) {
		t.Errorf("unnoticed; console: %q", console)
	}
}

func TestOnlyPassedThresholdsAreFolded(t *testing.T) {
	s := huge()
	for _, i := range []int{50, 98} {
		s.Thresholds[i].Passed = false
	}
	p, err := newPage(cleaned(s))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Thresholds) != maxThresholds/2 || len(p.Thresholds)+len(p.Passing) != 100 {
		t.Errorf("%d shown, %d folded", len(p.Thresholds), len(p.Passing))
	}
	for _, v := range p.Passing {
		if v.State != "good" {
			t.Errorf("%s is folded away: %s", v.Scope, v.Outcome)
		}
	}
	if p, _ = newPage(cleaned(fixed())); len(p.Passing) != 0 {
		t.Errorf("%d of a few are folded", len(p.Passing))
	}
}
