package http

import (
	"context"
	"fmt"
	"regexp"
	"strconv"
	"sync"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/samplers/http/h1"
)

type resources struct {
	Fetch    expr.Bool `plan:"fetch,short" default:"true" doc:"fetch them; their time, requests and bytes are the sample's"`
	Parallel expr.Int  `plan:"parallel" default:"6" min:"1" max:"32" doc:"how many at a time from one host"`
	Include  string    `plan:"include" doc:"regular expression: only URLs that it finds itself in are fetched"`
	Exclude  string    `plan:"exclude" doc:"regular expression: URLs that it finds itself in are not"`
}

const (
	maxResources = 1000
	maxLanes     = 64
	maxFailures  = 5 // that are told of one sample
)

// Check reports regular expressions that are none.
func (o *resources) Check(report func(field, code, summary, detail string)) {
	for key, text := range map[string]string{"include": o.Include, "exclude": o.Exclude} {
		if _, err := regexp.Compile(text); err != nil {
			report(key, "bad-regex", "`"+key+"` is no regular expression", err.Error())
		}
	}
}

func (r *request) openResources() error {
	if r.Resources == nil {
		return nil
	}
	var err error
	if r.prepared.include, err = regexp.Compile(r.Resources.Include); err != nil {
		return fmt.Errorf("resources.include: %w", err)
	}
	if r.Resources.Exclude != "" {
		if r.prepared.exclude, err = regexp.Compile(r.Resources.Exclude); err != nil {
			return fmt.Errorf("resources.exclude: %w", err)
		}
	}
	return nil
}

// lane fetches resources one after another; the first one of a thread uses the
// page's own client.
type lane struct {
	client *h1.Client
	known  authorizers
	auth   h1.Authorizer
}

// job is one resource.
type job struct {
	url  h1.URL
	text string
	done bool // taken

	class   element.Class
	message string
}

// download is one page's resources.
type download struct {
	mu       sync.Mutex
	jobs     []job
	active   map[string]int // by origin
	parallel int

	run     *common
	own     h1.Request // the page's
	addr    string
	head    []byte // header lines for the page's own origin
	foreign []byte // for others
	due     time.Duration
	now     func() time.Duration
	cache   *cache

	requests, reconnects int
	sent, received       int64
	panicked             any
}

// fetchResources fetches what the page embeds and counts it in s.
func (r *request) fetchResources(ctx context.Context, x *exchange, t *element.Thread, s *element.Sample, started time.Duration) error {
	on, err := r.Resources.Fetch.Eval(t)
	if err != nil || !on || s.Status/100 != 2 || !isHTML(&x.res) {
		return err
	}
	parallel, err := r.Resources.Parallel.Eval(t)
	if err != nil {
		return err
	}
	jobs, err := r.jobs(x.res.URL(), s.Body)
	if err != nil || len(jobs) == 0 {
		return err
	}
	d := &download{jobs: jobs, active: map[string]int{}, parallel: int(max(1, parallel)), run: x.run, own: *x.req, addr: x.req.Addr, now: t.Now}
	d.head = h1.FilterHead(nil, x.req.Head, false)
	d.foreign = h1.FilterHead(nil, x.req.Head, true)
	if limit := x.req.Timeouts.Total; limit > 0 {
		d.due = started + limit
	}
	if cached, err := r.Cache.Eval(t); err != nil {
		return err
	} else if cached {
		d.cache = threadCache(t)
	}
	lanes, err := r.lanes(x, t, d)
	if err != nil {
		return err
	}
	var all sync.WaitGroup
	for _, l := range lanes {
		all.Go(func() { d.work(ctx, l) })
	}
	all.Wait()
	if d.panicked != nil {
		panic(d.panicked) // where the thread's owner catches it
	}
	d.fill(s)
	s.Done = max(s.Done, t.Now())
	return r.judge(d.jobs, s)
}

func (d *download) fill(s *element.Sample) {
	s.Requests += d.requests
	s.Reconnects += d.reconnects
	s.BytesSent += d.sent
	s.BytesReceived += d.received
}

// jobs returns what is to be fetched, each URL once.
func (r *request) jobs(page h1.URL, body []byte) ([]job, error) {
	var jobs []job
	seen := map[string]bool{}
	for _, ref := range embedded(page, body) {
		text := ref.String()
		if seen[text] || !r.prepared.include.MatchString(text) || r.prepared.exclude != nil && r.prepared.exclude.MatchString(text) {
			continue
		}
		seen[text] = true
		if len(jobs) == maxResources {
			return nil, &element.Error{Class: element.Protocol, Message: "the page embeds more than " + strconv.Itoa(maxResources) + " resources"}
		}
		jobs = append(jobs, job{url: ref, text: text})
	}
	return jobs, nil
}

// lanes makes ready as many lanes as may be busy at a time.
func (r *request) lanes(x *exchange, t *element.Thread, d *download) ([]*lane, error) {
	each, want := map[string]int{}, 0
	for i := range d.jobs {
		origin := d.jobs[i].url.Origin()
		if each[origin]++; each[origin] <= d.parallel {
			want++
		}
	}
	want = min(want, maxLanes)
	for len(x.lanes) < want {
		client := x.client
		if len(x.lanes) > 0 {
			client = x.client.Sibling()
		}
		x.lanes = append(x.lanes, &lane{client: client})
	}
	lanes := x.lanes[:want]
	for _, l := range lanes {
		l.auth = nil
		if r.Auth == nil || x.authorizer == nil || x.authorized {
			continue
		}
		authorizer, stale, err := r.Auth.authorizer(&l.known, t)
		if err != nil {
			return nil, err
		}
		if stale && l.client != x.client {
			l.client.CloseConnections()
		}
		l.auth = authorizer
	}
	if len(lanes) > 0 && x.authorizer != nil && !x.authorized {
		lanes[0].auth = x.authorizer // which knows what the page's connection has proven
	}
	return lanes, nil
}

// work fetches until nothing is left that this lane may take.
func (d *download) work(ctx context.Context, l *lane) {
	defer func() {
		if v := recover(); v != nil {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.panicked = v
		}
	}()
	c := d.run.borrow()
	for {
		j := d.take()
		if j == nil {
			d.run.giveBack(c) // not after a panic
			return
		}
		d.fetch(ctx, l, c, j)
		d.mu.Lock()
		d.active[j.url.Origin()]--
		d.mu.Unlock()
	}
}

func (d *download) take() *job {
	d.mu.Lock()
	defer d.mu.Unlock()
	for i := range d.jobs {
		j := &d.jobs[i]
		if origin := j.url.Origin(); !j.done && d.active[origin] < d.parallel {
			j.done = true
			d.active[origin]++
			return j
		}
	}
	return nil
}

func (d *download) fetch(ctx context.Context, l *lane, c *call, j *job) {
	q, res := &c.own, &c.res
	*q = h1.Request{TLS: j.url.TLS, Addr: j.url.Addr(), Method: "GET", Target: []byte(j.url.Target), Head: d.foreign,
		NoCookies: d.own.NoCookies, Redirects: d.own.Redirects, KeepAlive: d.own.KeepAlive,
		MaxBody: d.own.MaxBody, Timeouts: h1.Timeouts{Connect: d.own.Timeouts.Connect, Total: -1}}
	if j.url.TLS == d.own.TLS && q.Addr == d.addr {
		q.Head, q.Host, q.Cookie, q.ServerName, q.Auth = d.head, d.own.Host, d.own.Cookie, d.own.ServerName, l.auth
	}
	if d.due > 0 {
		q.Timeouts.Total = max(time.Millisecond, d.due-d.now())
	}
	var k kept
	if d.cache != nil {
		if k = d.cache.get(j.text, time.Now()); k.fresh() {
			return
		}
		q.Head = k.condition(c, q.Head)
	}
	err := l.client.Do(ctx, q, res)
	if err == nil && len(res.Hops) == 0 {
		k.learn(res)
	}
	d.mu.Lock()
	d.requests += res.Requests
	d.reconnects += res.Reconnects
	d.sent += res.BytesSent
	d.received += res.BytesReceived
	d.mu.Unlock()
	switch failure := h1.AsError(err); {
	case failure != nil:
		j.class, j.message = element.Class(failure.Class), failure.Message
	case res.Status >= 400:
		j.class, j.message = element.Status, "status "+strconv.Itoa(res.Status)
	}
	res.Release()
}

// judge fails the sample for resources that failed, in the page's order. What
// the page itself holds can still be extracted.
func (r *request) judge(jobs []job, s *element.Sample) error {
	told, failed := 0, 0
	for i := range jobs {
		j := &jobs[i]
		switch {
		case j.class == element.Passed:
			continue
		case j.class == element.Cancelled:
			return &element.Error{Class: element.Cancelled, Message: "cancelled while fetching resources"}
		}
		if failed++; told < maxFailures {
			told++
			s.Fail(element.Problem{Class: j.class, Assertion: -1, Message: "resource " + j.text + ": " + j.message, Range: r.Request.Range()})
		}
	}
	if failed > told {
		s.Fail(element.Problem{Class: s.Class, Assertion: -1, Message: strconv.Itoa(failed-told) + " more resources failed", Range: r.Request.Range()})
	}
	return nil
}
