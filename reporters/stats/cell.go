package stats

import (
	"slices"
	"time"

	"runner/plan/element"
)

// Limits on what one series keeps; a target cannot make a recorder grow.
const (
	maxErrorKinds = 50
	maxExamples   = 3
	maxStatuses   = 100
	maxText       = 500 // bytes of any kept text
	exampleTries  = 16  // failures of one kind and second that are looked at for examples
)

// cell holds the figures of one series over some stretch of time: one second in a
// shard, or the whole run.
type cell struct {
	used      bool
	count     int64
	failed    int64
	unsent    int64 // failed before anything was sent: in no time, throughput or apdex limit
	aborted   int64
	requests  int64
	sent      int64
	received  int64
	scheduled int64 // samples with a due time of their own

	satisfied, tolerating int64 // passed samples within the apdex's limit, and within four times it
	firstDue              time.Duration
	lastDue               time.Duration

	success, failure, service, latency Histogram
	connect                            Histogram // of the samples that connected

	phased     int64 // samples with phases
	phases     [6]phase
	statuses   []statusCount
	assertions []assertionTally
	errors     []errorTally
}

type phase struct{ sum, max int64 }

type statusCount struct {
	code int
	n    int64
}

// otherStatus stands for the codes beyond maxStatuses.
const otherStatus = -1 << 31

type assertionTally struct {
	passed, failed int64
	examples       []Example
}

type errorTally struct {
	class, message string
	count          int64
	first, last    time.Duration
	examples       []string
}

// otherKind names the errors beyond maxErrorKinds.
const otherKind = "(other)"

// timed is the number of samples that have a time and count in throughput.
func (c *cell) timed() int64 { return c.count - c.unsent }

// record adds one sample, but for the problems of a failed one (see blame).
func (c *cell) record(k *entry, pool *pagePool, apdex time.Duration) {
	c.requests += int64(k.requests)
	c.sent += k.sent
	c.received += k.received
	if k.scheduled {
		c.scheduled++
	}
	c.took(k.moment, k.response, k.failed, k.unsent, pool, apdex)
	if k.failed && k.unsent {
		return
	}
	if k.served {
		c.service.record(int64(k.service), pool)
		if k.answered {
			c.latency.record(int64(k.latency), pool)
		}
	}
	if k.phases != (element.Phases{}) {
		c.addPhases(&k.phases)
		if k.phases.Connect > 0 {
			c.connect.record(int64(k.phases.Connect), pool)
		}
	}
	if k.status != 0 {
		c.addStatus(k.status, 1)
	}
	if k.failed {
		return
	}
	for _, i := range k.assertions {
		if t := c.assertion(i); t != nil {
			t.passed++
		}
	}
}

// blame counts what a failed sample failed of.
func (c *cell) blame(s *element.Sample, mask *element.Masker) {
	c.judged(s, mask)
	c.fail(s, mask)
}

// took counts a sample or transaction and its time. One that was never sent has
// none: what this machine took to fail says nothing of the target.
func (c *cell) took(due, response time.Duration, failed, unsent bool, pool *pagePool, apdex time.Duration) {
	switch {
	case unsent && failed:
		c.unsent++
		c.failed++
	case failed:
		c.due(due)
		c.failed++
		c.failure.record(int64(response), pool)
	default:
		c.due(due)
		c.success.record(int64(response), pool)
		c.rate(response, apdex)
	}
	c.count++
}

// rate counts a passed sample for the apdex, exactly.
func (c *cell) rate(response, limit time.Duration) {
	if response <= limit {
		c.satisfied++
	} else if response <= 4*limit {
		c.tolerating++
	}
}

func (c *cell) due(at time.Duration) {
	if c.timed() == 0 || at < c.firstDue {
		c.firstDue = at
	}
	if c.timed() == 0 || at > c.lastDue {
		c.lastDue = at
	}
}

func (c *cell) addPhases(p *element.Phases) {
	c.phased++
	for i, d := range [...]time.Duration{p.DNS, p.Connect, p.TLS, p.Send, p.Wait, p.Receive} {
		c.phases[i].sum += int64(d)
		c.phases[i].max = max(c.phases[i].max, int64(d))
	}
}

func (c *cell) addStatus(code int, n int64) {
	for i := range c.statuses {
		if c.statuses[i].code == code {
			c.statuses[i].n += n
			return
		}
	}
	if len(c.statuses) >= maxStatuses && code != otherStatus {
		c.addStatus(otherStatus, n)
		return
	}
	c.statuses = append(c.statuses, statusCount{code, n})
}

// maxAssertions bounds the assertions of one series.
const maxAssertions = 1000

func (c *cell) assertion(i int) *assertionTally {
	if i < 0 || i >= maxAssertions {
		return nil
	}
	for len(c.assertions) <= i {
		c.assertions = append(c.assertions, assertionTally{})
	}
	return &c.assertions[i]
}

// judged counts the assertions of a failed sample: one that a problem names did
// not hold, the others that were judged did.
func (c *cell) judged(s *element.Sample, mask *element.Masker) {
	for _, i := range s.Assertions {
		if t := c.assertion(i); t != nil && !named(s.Problems, i) {
			t.passed++
		}
	}
	for k := range s.Problems {
		p := &s.Problems[k]
		t := c.assertion(p.Assertion)
		if t == nil || named(s.Problems[:k], p.Assertion) {
			continue
		}
		t.failed++
		if len(t.examples) < maxExamples && t.failed <= exampleTries {
			t.examples = another(t.examples, Example{
				Request: clean(s.Request, mask), Expected: clean(p.Expected, mask),
				Actual: clean(p.Actual, mask), Message: clean(p.Message, mask),
			})
		}
	}
}

func named(problems []element.Problem, assertion int) bool {
	for i := range problems {
		if problems[i].Assertion == assertion {
			return true
		}
	}
	return false
}

// fail counts a failed sample under its class and the message of its first cause
// of that class.
func (c *cell) fail(s *element.Sample, mask *element.Masker) {
	var cause element.Problem
	for i := range s.Problems {
		if s.Problems[i].Class == s.Class {
			cause = s.Problems[i]
			break
		}
	}
	t := c.kind(string(s.Class), clean(cause.Message, mask), s.Done)
	t.count++
	t.first, t.last = min(t.first, s.Done), max(t.last, s.Done)
	if len(t.examples) < maxExamples && t.count <= exampleTries {
		t.examples = another(t.examples, exampleOf(s, &cause, mask))
	}
}

// another adds an example unless the same one is there.
func another[T comparable](list []T, x T) []T {
	if slices.Contains(list, x) {
		return list
	}
	return append(list, x)
}

// exampleOf writes a failed sample in one line.
func exampleOf(s *element.Sample, p *element.Problem, mask *element.Masker) string {
	text := clean(s.Request, mask)
	if p.Expected != "" || p.Actual != "" {
		if text != "" {
			text += ": "
		}
		text += "expected " + clean(p.Expected, mask) + ", was " + clean(p.Actual, mask)
	}
	return text
}

// kind returns the tally of a kind of error, or that of all other kinds.
func (c *cell) kind(class, message string, at time.Duration) *errorTally {
	for i := range c.errors {
		if t := &c.errors[i]; t.class == class && t.message == message {
			return t
		}
	}
	if len(c.errors) >= maxErrorKinds && class != otherKind {
		return c.kind(otherKind, "", at)
	}
	c.errors = append(c.errors, errorTally{class: class, message: message, first: at, last: at})
	return &c.errors[len(c.errors)-1]
}

// merge adds what from holds, which is left as it is.
func (c *cell) merge(from *cell, pool *pagePool) {
	if from.timed() > 0 {
		c.due(from.firstDue)
		c.lastDue = max(c.lastDue, from.lastDue)
	}
	c.used = c.used || from.used
	c.count += from.count
	c.failed += from.failed
	c.unsent += from.unsent
	c.aborted += from.aborted
	c.requests += from.requests
	c.sent += from.sent
	c.received += from.received
	c.scheduled += from.scheduled
	c.satisfied += from.satisfied
	c.tolerating += from.tolerating
	c.success.merge(&from.success, pool)
	c.failure.merge(&from.failure, pool)
	c.service.merge(&from.service, pool)
	c.latency.merge(&from.latency, pool)
	c.connect.merge(&from.connect, pool)
	c.phased += from.phased
	for i := range c.phases {
		c.phases[i].sum += from.phases[i].sum
		c.phases[i].max = max(c.phases[i].max, from.phases[i].max)
	}
	for _, s := range from.statuses {
		c.addStatus(s.code, s.n)
	}
	for i := range from.assertions {
		c.mergeAssertion(i, &from.assertions[i])
	}
	for i := range from.errors {
		c.mergeError(&from.errors[i])
	}
}

func (c *cell) mergeAssertion(i int, from *assertionTally) {
	t := c.assertion(i)
	if t == nil {
		return
	}
	t.passed += from.passed
	t.failed += from.failed
	for _, e := range from.examples {
		if len(t.examples) < maxExamples {
			t.examples = another(t.examples, e)
		}
	}
}

func (c *cell) mergeError(from *errorTally) {
	t := c.kind(from.class, from.message, from.first)
	t.count += from.count
	t.first, t.last = min(t.first, from.first), max(t.last, from.last)
	for _, e := range from.examples {
		if len(t.examples) < maxExamples {
			t.examples = another(t.examples, e)
		}
	}
}

// release empties the cell for the next interval and gives its pages to pool.
func (c *cell) release(pool *pagePool) {
	for _, h := range c.histograms() {
		h.release(pool)
	}
	for i := range c.assertions {
		c.assertions[i] = assertionTally{}
	}
	*c = cell{
		success: c.success, failure: c.failure, service: c.service, latency: c.latency, connect: c.connect,
		statuses: c.statuses[:0], assertions: c.assertions[:0], errors: nil,
	}
}

func (c *cell) histograms() [5]*Histogram {
	return [5]*Histogram{&c.success, &c.failure, &c.service, &c.latency, &c.connect}
}
