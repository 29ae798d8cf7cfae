// Package element is the contract between the plan language, the engine and
// everything that can be plugged in: samplers, timers, extractors, assertions.
//
// An element is a struct with `plan:"…"` tags and one method. Its Definition,
// made by DefineSampler and its like, is all that the language, the schema, the
// reference and the engine know of it. The engine owns Thread and Sample and
// reuses them; elements fill or read them during one call and keep nothing.
package element

import (
	"context"
	"errors"
	"time"

	"runner/plan/expr"
)

// Sampler does one thing to the target and fills the Sample with what happened.
// An error is a failed sample: *Error gives its class, anything else is of class
// "expression" when it comes from evaluating the plan's own text and "protocol"
// otherwise. One value is shared by all threads and must not change after Open.
type Sampler interface {
	Sample(ctx context.Context, t *Thread, s *Sample) error
}

// Timer says when the next sampler is due, on the run's clock, never before now.
// It never sleeps. One value is shared by all threads.
type Timer interface {
	Due(t *Thread, now time.Duration) (time.Duration, error)
}

// Scheduler is a Timer whose due times are a schedule (constant_throughput): a
// late start counts in the response time. Think times (constant, uniform) are none.
type Scheduler interface{ Scheduled() bool }

// Waiter is a Timer that waits by itself, for other threads: the engine calls
// Wait in place of Due. It returns the context's error if that ends first. The
// time is a think time.
type Waiter interface {
	Wait(ctx context.Context, t *Thread) error
}

// Assertion judges a filled Sample. It returns nil when it holds, *Failure when
// it does not, any other error when the assertion itself is broken.
type Assertion interface {
	Assert(t *Thread, s *Sample) error
}

// Extractor takes a value out of a filled Sample. It returns ErrNotFound when
// there is none. The value must not point into the sample's buffers.
type Extractor interface {
	Extract(t *Thread, s *Sample, pick Pick) (any, error)
}

// Pick says which of several matches an Extractor returns, and where it looks.
type Pick struct {
	Match Match
	Of    string       // "body" (default), "headers", "url", "message"
	Text  *expr.String // `of: {variable: name}` and the like; nil = by Of
}

// Match is the number of the match, from 1, or one of the constants.
type Match int

// The special matches.
const (
	MatchRandom Match = 0  // a random one
	MatchAll    Match = -1 // all, as a list
)

// ErrNotFound is returned by an Extractor that found nothing.
var ErrNotFound = errors.New("nothing found")

// Opener is implemented by elements that need something once per run, before
// the first thread starts: files, pools, compiled schemas.
type Opener interface {
	Open(ctx context.Context) error
}

// Closer is implemented by elements that hold something until the run's end.
type Closer interface {
	Close() error
}

// Describer is implemented by samplers that can say in one line what they sent
// ("GET http://shop/products/7"); called only for failed samples, right after
// Sample, and must not print secrets of headers.
type Describer interface {
	Describe(t *Thread, s *Sample) string
}

// Releaser is implemented by samplers whose samples lie in lent buffers; the
// engine calls it when the sample has been recorded, so that a waiting thread
// holds no buffer.
type Releaser interface {
	Release(t *Thread, s *Sample)
}

// Noter is implemented by elements with something that every report must say,
// such as that certificates are not verified; called once, after names are bound.
type Noter interface {
	Notes() []string
}

// Needs says what of a response somebody will look at after the sampler.
type Needs uint8

// The needs. Without them a sampler may throw the part away.
const (
	NeedBody Needs = 1 << iota
	NeedHeaders
)

// Needer is implemented by assertions and extractors that can do without parts of
// the response; one that does not implement it needs everything. Called once,
// after names are bound.
type Needer interface {
	Needs() Needs
}

// Checker is implemented by elements with rules across their fields ("exactly
// one of json, form, body"); called once after decoding.
type Checker interface {
	Check(report func(field, code, summary, detail string))
}
