package element

import (
	"time"

	"runner/plan/source"
)

// Class is the one class of a failed sample; the names are stable and stand in
// every report.
type Class string

// The classes. A sample has exactly one: its first cause in the order transport,
// status, extract, other assertions.
const (
	Passed         Class = ""
	DNS            Class = "dns"
	ConnectRefused Class = "connect_refused"
	ConnectTimeout Class = "connect_timeout"
	Connect        Class = "connect"
	TLS            Class = "tls"
	Timeout        Class = "timeout"
	Reset          Class = "reset"
	ResetReused    Class = "reset_reused"
	ClosedEarly    Class = "closed_early"
	Truncated      Class = "truncated"
	Protocol       Class = "protocol"
	Decode         Class = "decode"
	BodyTooLarge   Class = "body_too_large"
	HeaderTooLarge Class = "header_too_large"
	Redirect       Class = "redirect"
	LocalResource  Class = "local_resource"
	Status         Class = "status"
	Assert         Class = "assertion"
	Extract        Class = "extract"
	Expression     Class = "expression"
	Cancelled      Class = "cancelled"
)

// Error is a failed sample with its class; Message is normalised: no ports, no
// addresses, nothing that differs from sample to sample.
type Error struct {
	Class   Class
	Message string
	Err     error // the cause, may be nil
}

// Error returns the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Failure is an assertion that does not hold. Message is one sentence without
// values that differ from sample to sample; Expected and Actual carry those.
type Failure struct {
	Message, Expected, Actual string
}

// Error returns message, expected and actual in one line.
func (f *Failure) Error() string {
	text := f.Message
	if f.Expected != "" || f.Actual != "" {
		text += ": expected " + f.Expected + ", was " + f.Actual
	}
	return text
}

// Problem is one recorded cause of a failed sample.
type Problem struct {
	Class                     Class
	Assertion                 int // index into the series' assertions; -1 if it is none
	Message, Expected, Actual string
	Range                     source.Range // of the assertion, extractor or step in the plan
}

// Phases are the parts of a sample's time. Never negative; zero for a reused
// connection's DNS, Connect and TLS.
type Phases struct{ DNS, Connect, TLS, Send, Wait, Receive time.Duration }

// Header is one header line of a response. The bytes belong to the sampler and
// are valid until its next Sample.
type Header struct{ Name, Value []byte }

// Sample is one sampler's execution. The engine owns it, resets it before each
// sampler and fills the first block; the sampler fills the second; reports see
// it through Shard.Record, which copies what it needs. All times are on the run's
// monotonic clock, counted from the run's start.
type Sample struct {
	// Filled by the engine.
	Series     int           // index into the recorder's series
	Due        time.Duration // without a schedule: = Dispatched
	Dispatched time.Duration
	FreeSince  time.Duration // when the thread had become free for this sample; Due < FreeSince means it waited for the thread
	WarmUp     bool          // counted in the ledger only
	Needs      Needs         // what of the response will be looked at
	Class      Class
	Problems   []Problem
	Assertions []int         // indices of the assertions that were judged; shared, read-only
	Request    string        // what was sent, in one line; only of failed samples
	Unsent     bool          // it failed before anything was sent
	Before     time.Duration // how long it was under way before Dispatched: with earlier tries of an until, with what a sampler takes out of its time

	// Filled by the sampler.
	Sent, FirstByte, Done time.Duration // Sent is 0 if nothing was sent; Done is set by the engine if left 0
	Left                  time.Duration // when the sampler was through with it, if that was after Done: a body still went out; else 0
	Phases                Phases
	Requests              int // attempts on the wire
	Reconnects            int
	BytesSent             int64
	BytesReceived         int64
	Status                int    // HTTP status or the protocol's code; 0 = none
	Message               string // status text
	URL                   string // final URL, of HTTP-like samplers; "" where Private tells it (see FinalURLer)
	Headers               []Header
	Body                  []byte         // decoded; valid until the sampler's next Sample
	BodySize              int64          // decoded size, also where Body was not kept
	Values                map[string]any // the sampler's own names for expressions (rows, code …)
	Private               any            // the sampler's own state between Sample and Describe or Extract

	json       any
	jsonErr    error
	jsonParsed bool
	jsonValid  bool
}

// FinalURLer is implemented by a sample's Private that can build the final URL on
// demand.
type FinalURLer interface{ FinalURL() string }

// CookieJar is implemented by a sample's Private whose sampler keeps cookies.
type CookieJar interface {
	Cookie(name string) (string, bool)
	Cookies() map[string]any
}

// Reset clears the sample for the next sampler, keeping its buffers.
func (s *Sample) Reset() {
	problems, headers := s.Problems[:0], s.Headers[:0]
	*s = Sample{} // in place: a literal with fields would be built on the stack and copied
	s.Problems, s.Headers, s.Series = problems, headers, -1
}

// Response is the response time: done − due, the headline figure.
func (s *Sample) Response() time.Duration { return max(0, s.Done-s.Due) }

// slip is how far behind its schedule a sample may be and still count as taken
// when it was due.
const slip = time.Second

// Moment is when the sample counts as taken in a throughput: when it was due, or
// when it was dispatched where the schedule had slipped by more than a second, so
// that a rate that was not reached is not reported.
func (s *Sample) Moment() time.Duration {
	if s.Dispatched-s.Due > slip {
		return s.Dispatched
	}
	return s.Due
}

// Duration is done − dispatched, what assertions judge.
func (s *Sample) Duration() time.Duration { return max(0, s.Done-s.Dispatched) }

// Underway is how long the sample was in flight: its duration with what came
// before and after it, for Little's law.
func (s *Sample) Underway() time.Duration {
	return s.Before + max(0, s.Done-s.Dispatched, s.Left-s.Dispatched)
}

// Service is done − sent, 0 if nothing was sent.
func (s *Sample) Service() time.Duration {
	if s.Sent == 0 {
		return 0
	}
	return max(0, s.Done-s.Sent)
}

// Latency is first byte − sent, 0 if there was no first byte.
func (s *Sample) Latency() time.Duration {
	if s.Sent == 0 || s.FirstByte == 0 {
		return 0
	}
	return max(0, s.FirstByte-s.Sent)
}

// Fail records a cause. The first cause in the order of engine.md gives the
// sample its class; the engine calls in that order.
func (s *Sample) Fail(p Problem) {
	if s.Class == Passed {
		s.Class = p.Class
	}
	s.Problems = append(s.Problems, p)
}

// Header returns the value of the first header of that name, case-insensitively.
func (s *Sample) Header(name string) (string, bool) {
	for _, h := range s.Headers {
		if equalFold(h.Name, name) {
			return string(h.Value), true
		}
	}
	return "", false
}

func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i := range b {
		if lower(b[i]) != lower(s[i]) {
			return false
		}
	}
	return true
}

func lower(c byte) byte {
	if 'A' <= c && c <= 'Z' {
		return c + 'a' - 'A'
	}
	return c
}
