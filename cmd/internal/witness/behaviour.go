package witness

import (
	"net/url"
	"strconv"
	"strings"
	"time"
)

// behaviour is what the query of a URL asks for:
//
//	status=N      the status, 200 if unsaid
//	body=N        bytes of body, 12 if unsaid
//	hold=D        answer after D
//	holds=NxD,…   of every ΣN requests of the book N are held for D, in a fixed shuffled order
//	gate=D&stall=D  from D after the book's first request on nothing is answered for the stall
//	serial=D      the book's requests are served one after another, D each
//	chunks=N      the body goes out in N chunks, with a trailer
//	early=N       N answers 103 come first
//	drip=D        the body goes out in ten pieces, D apart
//	close=N       the N-th answer of a connection says that it is closed, and closes it
//	hangup=N      the N-th answer closes the connection without saying so
//	hops=N        a redirect to the same with hops=N-1; with 0 the answer
//	reset=WHEN    a TCP reset after the `request`, after half of the `head`, or half of the `body`
//	cut=N         closes after N bytes of the body
//	garbage=1     answers what is no HTTP
//	silent=1      never answers
//	one=N         only one in N requests of the book misbehaves (reset, cut, garbage, silent)
type behaviour struct {
	book, path                      string
	status, body, chunks, early     int
	close, hangup, hops, cut, one   int
	hold, gate, stall, serial, drip time.Duration
	holds                           []time.Duration
	reset                           string
	garbage, silent                 bool
	query                           url.Values
}

func parseTarget(target string) *behaviour {
	path, query, _ := strings.Cut(target, "?")
	q, _ := url.ParseQuery(query)
	number := func(name string, fallback int) int {
		if n, err := strconv.Atoi(q.Get(name)); err == nil && n >= 0 {
			return n
		}
		return fallback
	}
	span := func(name string) time.Duration {
		d, _ := time.ParseDuration(q.Get(name))
		return max(0, d)
	}
	b := &behaviour{
		path: path, query: q,
		status: number("status", 200), body: number("body", 12), chunks: number("chunks", 0), early: number("early", 0),
		close: number("close", 0), hangup: number("hangup", 0), hops: number("hops", 0), cut: number("cut", -1), one: number("one", 1),
		hold: span("hold"), gate: span("gate"), stall: span("stall"), serial: span("serial"), drip: span("drip"),
		reset: q.Get("reset"), garbage: q.Has("garbage"), silent: q.Has("silent"),
	}
	if parts := strings.SplitN(strings.TrimPrefix(path, "/"), "/", 2); parts[0] != "" {
		b.book = parts[0]
	}
	b.holds = shuffled(q.Get("holds"))
	return b
}

// heldFor is how long the k-th request of the book is held.
func (b *behaviour) heldFor(k int) time.Duration {
	if len(b.holds) > 0 {
		return b.holds[k%len(b.holds)]
	}
	return b.hold
}

// shuffled spreads "900x5ms,100x50ms" over a list: the same order each time.
func shuffled(text string) []time.Duration {
	var all []time.Duration
	for part := range strings.SplitSeq(text, ",") {
		times, hold, ok := strings.Cut(part, "x")
		n, err := strconv.Atoi(times)
		d, bad := time.ParseDuration(hold)
		if !ok || err != nil || bad != nil || n < 0 || n > 1<<20 {
			return nil
		}
		for range n {
			all = append(all, d)
		}
	}
	state := uint64(88172645463325252)
	for i := len(all) - 1; i > 0; i-- {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		j := int(state % uint64(i+1))
		all[i], all[j] = all[j], all[i]
	}
	return all
}

// misbehaves says whether the n-th request of the book is spoiled.
func (b *behaviour) misbehaves(n int) bool {
	return (b.reset != "" || b.cut >= 0 || b.garbage || b.silent) && n%max(1, b.one) == 0
}
