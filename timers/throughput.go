package timers

import (
	"fmt"
	"time"

	"runner/plan/element"
)

func defineConstantThroughput() element.Definition {
	return element.DefineTimer[constantThroughput]("constant_throughput", element.Doc{
		Summary: "spaces samplers evenly, so that at most a given number of them starts per time",
		Text: "All samplers below take slots of one clock: that of the group, or of the plan, or of each thread by itself. " +
			"The first sample takes a slot too, so there is no burst at the start. " +
			"The timer can only slow down: if the threads cannot keep up, slots are lost, unless `catch_up: true` repays them " +
			"by starting late samplers at once.\n\n" +
			"The slot is the time at which the sample was due, so a late start counts in the response time. " +
			"With `catch_up: true` a repaid slot keeps its time, so that the percentiles show a stall of the target in full; " +
			"slots that are lost are missing from them.",
		Examples: []element.Example{
			{YAML: "constant_throughput: 3000/min"},
			{YAML: "constant_throughput: {rate: 50/s, per: plan, catch_up: true}"},
			{YAML: "constant_throughput: {rate: [{to: 100/s, over: 1m}, {hold: 5m}, {at: 20/s, for: 1m}]}", Note: "a rate that changes, counted from the first sample"},
		},
	})
}

type constantThroughput struct {
	Rate    rates  `plan:"rate,required,short" doc:"how many samplers start per time, as 50/s, or a list of stages; after the last stage its rate stays"`
	Per     string `plan:"per" doc:"who shares the rate" enum:"thread|group|plan" default:"group"`
	CatchUp bool   `plan:"catch_up" doc:"whether slots that were missed are repaid" default:"false"`
}

// Scheduled reports that due times are a schedule: lateness counts.
func (*constantThroughput) Scheduled() bool { return true }

// Notes returns what every report must say: a lost slot is a sample that would have
// shown the stall.
func (c *constantThroughput) Notes() []string {
	if c.CatchUp {
		return nil
	}
	return []string{"constant_throughput without catch_up loses the slots that come while all threads wait for the target, " +
		"so its stalls are under-represented in the percentiles"}
}

// Due returns the next free slot of the clock that the thread shares.
func (c *constantThroughput) Due(t *element.Thread, now time.Duration) (time.Duration, error) {
	clock := t.Local(c, func() any { return c.clock(t, now) }).(*slots)
	if clock.err != nil {
		return now, clock.err
	}
	if clock.profile != nil {
		return clock.take(now, 0, c.CatchUp), nil
	}
	rate, err := c.Rate.Rate.Eval(t)
	if err != nil {
		return now, err
	}
	if !(rate > 0) {
		return now, fmt.Errorf("the rate of constant_throughput is %s; it must be above 0", rate)
	}
	return clock.take(now, period(rate), c.CatchUp), nil
}

// clock returns the clock of the thread, its group or the plan. It is asked for
// once per thread.
func (c *constantThroughput) clock(t *element.Thread, now time.Duration) *slots {
	var segment element.Segment
	fresh := func() any {
		s := newSlots(now, segment)
		if len(c.Rate.Stages) > 0 {
			s.profile, s.err = c.Rate.profile(t)
		}
		return s
	}
	switch c.Per {
	case "thread":
		return fresh().(*slots)
	case "plan":
		segment = t.Plan.Segment
		return t.Plan.Value(c, fresh).(*slots)
	}
	segment = t.Members.Segment
	return t.Members.Value(c, fresh).(*slots)
}
