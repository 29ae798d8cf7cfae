package cmd_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/cmd/internal/witness"
	"runner/reporters/stats"
)

// countCase is a kind of traffic of which every figure can be told from the
// witness's log.
type countCase struct {
	name     string
	requests []string // after the path, one a step
	method   string   // with the keys of a body, if any
	http     string   // further keys of http
	tls      bool
	pause    string // after each iteration
	class    string // of the samples that the witness spoiled, or statuses above 399
	total    int    // requests in all, roughly
	rate     string // open model
	threads  int    // so many, whatever the turn
	alive    bool   // only with connections kept alive
}

var countCases = []countCase{
	{name: "plain", requests: []string{"body=1000"}, total: 3000},
	{name: "chunked", requests: []string{"body=5000&chunks=3"}, total: 2000},
	{name: "redirects", requests: []string{"hops=3"}, total: 800},
	{name: "reset", requests: []string{"reset=request&one=7"}, class: "reset", total: 1000},
	{name: "reset in the head", requests: []string{"reset=head&one=5"}, class: "reset", total: 400},
	{name: "reset in the body", requests: []string{"reset=body&one=5&body=4000"}, class: "reset", total: 400},
	{name: "timeouts", requests: []string{"silent=1&one=10"}, http: "timeout: 300ms", class: "timeout", threads: 100, total: 600},
	{name: "tls", requests: []string{"body=1000"}, tls: true, total: 800},
	{name: "tls with all of it", requests: []string{"body=3000&chunks=2", "hops=2", "early=1"}, tls: true, total: 200},
	{name: "early hints", requests: []string{"early=2"}, total: 1000},
	{name: "cut", requests: []string{"body=100&cut=5&one=3"}, class: "truncated", total: 600},
	{name: "statuses", requests: []string{"status=503", "status=404", "status=201"}, class: "status", total: 500},
	{name: "large requests", requests: []string{"body=10"}, method: "POST", total: 500},
	{name: "slow body", requests: []string{"drip=2ms&body=1000"}, total: 300},
	{name: "closed by the server", requests: []string{"close=5"}, total: 1500},
	{name: "closed in silence", requests: []string{"hangup=4"}, pause: "150ms", threads: 50, total: 600, alive: true},
	{name: "garbage", requests: []string{"garbage=1&one=4"}, class: "protocol", total: 600},
	{name: "no body", requests: []string{"status=204", "status=304"}, total: 500},
	{name: "large answers", requests: []string{"body=300000"}, total: 300},
	{name: "five steps", requests: []string{"body=1", "chunks=1", "hops=1", "close=3", "early=1"}, total: 400},
	{name: "rate", requests: []string{"body=50&hold=5ms"}, rate: "500/s", total: 500},
}

// TestTruthCounts holds requests, statuses, bytes and classes of every kind of
// traffic against the witness's log: the difference is 0.
func TestTruthCounts(t *testing.T) {
	t.Parallel()
	w := newWitness(t)
	threads, plans := []int{10, 1, 200}, 0
	for _, alive := range []string{"thread", "none"} {
		for i, c := range countCases {
			if c.alive && alive == "none" {
				continue
			}
			plans++
			n, book := threads[(i+plans)%len(threads)], fmt.Sprintf("b%d", plans)
			if c.threads > 0 {
				n = c.threads
			}
			if testing.Short() && n != 10 {
				continue
			}
			t.Run(fmt.Sprintf("%s, keep_alive %s, %d threads", c.name, alive, n), func(t *testing.T) {
				t.Parallel()
				c.check(t, w, book, alive, n)
			})
		}
	}
	if plans < 30 {
		t.Errorf("only %d plans", plans)
	}
}

func (c *countCase) check(t *testing.T, w *witness.Process, book, alive string, threads int) {
	r := execute(t, c.plan(w, book, alive, threads))
	if len(r.summary.Series) != len(c.requests) {
		t.Fatalf("%d series, want %d:\n%s", len(r.summary.Series), len(c.requests), r.out.String())
	}
	var books []string
	for i := range c.requests {
		name := book + "s" + strconv.Itoa(i)
		books = append(books, name)
		if diff := cmp.Diff(c.truth(logOf(t, w, name)), figuresOf(&r.summary.Series[i])); diff != "" {
			t.Errorf("step %d: witness (-) against report (+):\n%s", i, diff)
		}
	}
	log := logOf(t, w, books...)
	if int64(len(log)) != r.summary.Ledger.Requests || len(logOf(t, w, "?")) > 0 {
		t.Errorf("the witness saw %d requests, the ledger says %d", len(log), r.summary.Ledger.Requests)
	}
	if least := c.total * 9 / 10; len(log) < least {
		t.Errorf("%d requests, want %d or more", len(log), least)
	}
	if err := ledgersAddUp(r.summary); err != nil {
		t.Error(err)
	}
	onlyOnce(t, log)
	reportsAgree(t, r.dir, r.summary, r.out.String())
}

func (c *countCase) plan(w *witness.Process, book, alive string, threads int) string {
	base, extra := "http://"+w.HTTP, ""
	if c.tls {
		base, extra = "https://"+w.HTTPS, ", tls: {insecure: true}"
	}
	if c.http != "" {
		extra += ", " + c.http
	}
	var requests []string
	for i, q := range c.requests {
		target := fmt.Sprintf("/%ss%d/x?%s", book, i, q)
		if c.method != "" {
			requests = append(requests, fmt.Sprintf(`{request: "%s %s", body: "%s"}`, c.method, target, strings.Repeat("b", 20_000)))
		} else {
			requests = append(requests, `"GET `+target+`"`)
		}
	}
	lines := indentedSteps(requests...)
	if c.pause != "" {
		lines += "      - pause: " + c.pause + "\n"
	}
	load := fmt.Sprintf("{threads: %d, iterations: %d}", threads, (c.total+threads-1)/threads)
	if c.rate != "" {
		load = fmt.Sprintf("{rate: %s, iterations: %d, max_threads: %d}", c.rate, c.total, 200)
	}
	return onGroup(load, base, "keep_alive: "+alive+extra, lines+"    thresholds: errors <= 100%\n")
}

// figures are what both sides know.
type figures struct {
	Requests, Samples, Sent, Received int64
	Statuses, Classes                 map[string]int64
}

// truth adds a log up.
func (c *countCase) truth(log []witness.Record) figures {
	f := figures{Statuses: map[string]int64{}, Classes: map[string]int64{}}
	for _, r := range log {
		f.Requests++
		f.Sent += r.In
		f.Received += r.Out
		if r.Status == http.StatusFound {
			continue // a hop, no sample
		}
		f.Samples++
		if r.Status != 0 {
			f.Statuses[strconv.Itoa(r.Status)]++
		}
		if r.End != witness.Answered || r.Status >= 400 {
			f.Classes[c.class]++
		}
	}
	return f
}

func figuresOf(s *stats.Series) figures {
	f := figures{s.Requests, s.Count, s.BytesSent, s.BytesReceived, map[string]int64{}, map[string]int64{}}
	for code, n := range s.Status {
		f.Statuses[code] = n
	}
	for _, e := range s.Errors {
		class := e.Class
		if class == "reset_reused" {
			class = "reset" // the client cannot know whether the server had read the request
		}
		f.Classes[class] += e.Count
	}
	return f
}

// onlyOnce wants every id at most once among the answers that are no hops: nothing
// was repeated behind the reader's back.
func onlyOnce(t *testing.T, log []witness.Record) {
	t.Helper()
	seen := map[string]bool{}
	for _, r := range log {
		key := r.Book + " " + r.ID
		if r.Status != http.StatusFound && seen[key] {
			t.Errorf("the request %s was sent twice", key)
			return
		}
		seen[key] = seen[key] || r.Status != http.StatusFound
	}
}
