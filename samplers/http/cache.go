package http

import (
	"bytes"
	nethttp "net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"runner/plan/element"
	"runner/samplers/http/h1"
)

// Bounds of a thread's cache; at the limit the entry unused for longest goes.
const (
	maxEntries   = 1000
	maxValidator = 1 << 10
	maxCacheURL  = 2 << 10
)

// cache is what a thread knows of answers that it has received: validators and
// how long they are fresh, not the bodies. Safe for concurrent use.
type cache struct {
	mu      sync.Mutex
	entries map[string]*entry
	turn    uint64
}

// Branch returns the cache itself: the branches of a thread share it.
func (c *cache) Branch() any { return c }

type entry struct {
	etag, modified string
	until          time.Time // fresh before
	used           uint64
}

// kept is the cache's view of one request; the zero value caches nothing.
type kept struct {
	in    *cache
	url   string
	entry entry
	now   time.Time
}

// StartIteration empties the cache for a new user.
func (c *cache) StartIteration(newUser bool) {
	if newUser {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.entries = nil
	}
}

func threadCache(t *element.Thread) *cache {
	return t.Local(cacheKey{}, func() any { return &cache{} }).(*cache)
}

func (c *cache) get(url string, now time.Time) kept {
	c.mu.Lock()
	defer c.mu.Unlock()
	k := kept{in: c, url: url, now: now}
	if e := c.entries[url]; e != nil {
		c.turn++
		e.used = c.turn
		k.entry = *e
	}
	return k
}

func (c *cache) put(url string, e entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.entries == nil {
		c.entries = map[string]*entry{}
	}
	if c.entries[url] == nil && len(c.entries) >= maxEntries {
		oldest := ""
		for u, o := range c.entries {
			if oldest == "" || o.used < c.entries[oldest].used {
				oldest = u
			}
		}
		delete(c.entries, oldest)
	}
	c.turn++
	e.used = c.turn
	c.entries[url] = &e
}

func (c *cache) drop(url string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.entries, url)
}

// cached looks the request up and makes it conditional if there is something to
// compare with. Only GET without a Range is cached.
func (r *request) cached(x *exchange, t *element.Thread) (kept, error) {
	on, err := r.Cache.Eval(t)
	if err != nil || !on || x.req.Method != "GET" || x.origin == nil {
		return kept{}, err
	}
	if hasLine(x.req.Head, "range") || hasLine(x.req.Head, "if-none-match") || hasLine(x.req.Head, "if-modified-since") {
		return kept{}, nil
	}
	x.url = append(append(x.url[:0], x.origin.text...), x.req.Target...)
	k := threadCache(t).get(string(x.url), time.Now())
	if !k.fresh() {
		x.req.Head = k.condition(x.call, x.req.Head)
	}
	return k, nil
}

func (k kept) fresh() bool { return k.in != nil && k.now.Before(k.entry.until) }

// condition returns the header lines with the conditional ones.
func (k kept) condition(x *call, head []byte) []byte {
	if k.entry.etag == "" && k.entry.modified == "" {
		return head
	}
	x.head = append(x.head[:0], head...)
	if k.entry.etag != "" {
		x.head = append(append(append(x.head, "If-None-Match: "...), k.entry.etag...), "\r\n"...)
	}
	if k.entry.modified != "" {
		x.head = append(append(append(x.head, "If-Modified-Since: "...), k.entry.modified...), "\r\n"...)
	}
	return x.head
}

func hasLine(head []byte, name string) bool {
	for line := range bytes.SplitSeq(head, []byte("\r\n")) {
		if len(line) > len(name) && line[len(name)] == ':' && strings.EqualFold(string(line[:len(name)]), name) {
			return true
		}
	}
	return false
}

// answer fills a sample for which nothing has to be sent.
func (k kept) answer(s *element.Sample, t *element.Thread) {
	s.Status, s.Message, s.URL = nethttp.StatusOK, "fresh in the cache, nothing was sent", k.url
	s.Done = t.Now()
}

func (k kept) store(x *exchange) {
	if len(x.res.Hops) == 0 {
		k.learn(&x.res)
	}
}

// learn keeps what an answer says of its own freshness.
func (k kept) learn(res *h1.Response) {
	if k.in == nil || res.Status != 200 && res.Status != 304 || len(k.url) > maxCacheURL {
		return
	}
	get := func(name string) string { v, _ := res.Get(name); return string(v) }
	e := entry{etag: get("ETag"), modified: get("Last-Modified")}
	if res.Status == 304 {
		if e.etag == "" {
			e.etag = k.entry.etag
		}
		if e.modified == "" {
			e.modified = k.entry.modified
		}
	}
	if len(e.etag) > maxValidator || len(e.modified) > maxValidator || !storable(res) {
		k.in.drop(k.url)
		return
	}
	e.until = k.now.Add(freshness(res, k.now))
	if e.etag == "" && e.modified == "" && !e.until.After(k.now) {
		k.in.drop(k.url)
		return
	}
	k.in.put(k.url, e)
}

// storable reports whether an answer may serve later requests: not those that
// vary with more than the coding.
func storable(res *h1.Response) bool {
	for _, v := range res.Values("Cache-Control") {
		if _, found := directive(string(v), "no-store"); found {
			return false
		}
	}
	for _, v := range res.Values("Vary") {
		for name := range strings.SplitSeq(string(v), ",") {
			if name = strings.TrimSpace(name); name != "" && !strings.EqualFold(name, "Accept-Encoding") {
				return false
			}
		}
	}
	return true
}

// freshness is how long an answer need not be asked for again (RFC 9111 4.2),
// without guesses.
func freshness(res *h1.Response, now time.Time) time.Duration {
	const most = 365 * 24 * time.Hour
	control := ""
	for _, v := range res.Values("Cache-Control") {
		control += string(v) + ","
	}
	if _, found := directive(control, "no-cache"); found {
		return 0
	}
	if text, found := directive(control, "max-age"); found {
		seconds, err := strconv.ParseInt(strings.Trim(text, `"`), 10, 32)
		if err != nil {
			return 0
		}
		age, _ := res.Get("Age")
		passed, _ := strconv.ParseInt(string(age), 10, 32) // an unreadable one is none
		return min(most, max(0, time.Duration(seconds-max(0, passed))*time.Second))
	}
	expires, _ := res.Get("Expires")
	at, err := nethttp.ParseTime(string(expires))
	if err != nil {
		return 0
	}
	sent := now
	date, _ := res.Get("Date")
	if d, err := nethttp.ParseTime(string(date)); err == nil {
		sent = d
	}
	return min(most, max(0, at.Sub(sent)))
}

func directive(control, name string) (value string, found bool) {
	for item := range strings.SplitSeq(control, ",") {
		key, value, _ := strings.Cut(strings.TrimSpace(item), "=")
		if strings.EqualFold(strings.TrimSpace(key), name) {
			return strings.TrimSpace(value), true
		}
	}
	return "", false
}
