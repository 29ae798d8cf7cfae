package engine

import (
	"fmt"

	"runner/plan"
	"runner/plan/element"
)

// A segment runs its share of a plan: thread t of the plan, counted from 0 over
// all groups, belongs to segment t mod n. In a group whose first thread is t0,
// segment s therefore has the threads k with k ≡ s − t0 (mod n). Arrivals, shared
// iterations and throughput are dealt out among the segments that have threads of
// the group, so that nothing falls to one that cannot run it.

// part returns the group's share in threads, and among the segments that have
// threads of it. The latter is false if this segment has none.
func (g *group) part(whole element.Segment) (threads, dealt element.Segment, some bool) {
	if whole.IsWhole() {
		return element.Segment{}, element.Segment{}, true
	}
	n := whole.Count
	threads = element.Segment{Index: ((whole.Index-g.idBase)%n + n) % n, Count: n}
	dealt = element.Segment{Index: threads.Index, Count: min(n, g.maxThreads)}
	return threads, dealt, dealt.Index < dealt.Count
}

// reduce leaves of the group's load what belongs to the segment; a segment
// without a share has no threads.
func (g *group) reduce(whole element.Segment) {
	threads, dealt, some := g.part(whole)
	if whole.IsWhole() {
		return
	}
	shared := sharedPart(g.shared, int64(g.maxThreads), threads)
	some = some && (g.shared == 0 || shared > 0)
	g.members, g.dealt, g.shared = threads, dealt, shared
	g.maxThreads = int(threads.Of(int64(g.maxThreads)))
	if g.threads != nil {
		g.threads = g.threads.Part(threads)
	}
	if g.arrivals != nil {
		g.arrivals = g.arrivals.Part(dealt)
	}
	if !some {
		g.idleSegment()
	}
}

// idleSegment takes all load from a group.
func (g *group) idleSegment() {
	g.shared, g.maxThreads, g.dealt = 0, 0, element.Segment{}
	if g.arrivals != nil {
		g.arrivals = Arrivals([]ArrivalStage{{0, 0, g.arrivals.Length()}}, 0, false)
		return
	}
	g.staged = false
	g.threads = Ramp(0, 0, g.threads.Length())
}

// sharedPart deals total iterations out to threads in turn and returns what falls
// to those of the segment.
func sharedPart(total, threads int64, part element.Segment) int64 {
	if threads == 0 {
		return 0
	}
	return total/threads*part.Of(threads) + part.Of(total%threads)
}

// threadID returns the ID of the group's thread with that number in this segment,
// from 1: the same one that it has when the whole plan runs.
func (g *group) threadID(index int) int {
	return g.idBase + int(g.members.Nth(int64(index-1))) + 1
}

// Part returns the threads of the shape that belong to a segment: number k from 0
// with part.Has(k), at the same times, numbered anew from 1.
func (s *ThreadShape) Part(part element.Segment) *ThreadShape {
	c := *s
	c.part = part
	return &c
}

// Part returns the arrivals of the shape that belong to a segment: number i from
// 0 with part.Has(i), due at the same times.
func (s *ArrivalShape) Part(part element.Segment) *ArrivalShape {
	c := *s
	c.part = part
	return &c
}

// share checks the segment and says in the layout that this is a part.
func (c *compiler) share(p *plan.Plan, threads int) {
	whole := c.program.options.Segment
	if whole.IsWhole() {
		return
	}
	also := ""
	switch setup, teardown := len(p.Setup) > 0, len(p.Teardown) > 0; {
	case setup && teardown:
		also = "setup and teardown ran here too; "
	case setup:
		also = "setup ran here too; "
	case teardown:
		also = "teardown ran here too; "
	}
	c.program.layout.Notes = append(c.program.layout.Notes, fmt.Sprintf(
		"segment %d of %d: threads, arrivals, shared iterations, data rows and throughput are this share of the plan's; "+
			"%srunner merge puts the segments together", whole.Index+1, whole.Count, also))
	c.program.sharers = element.Segment{Index: whole.Index, Count: max(1, min(whole.Count, threads))}
}
