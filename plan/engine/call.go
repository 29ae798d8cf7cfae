package engine

import (
	"context"
	"strconv"
	"strings"
	"sync/atomic"

	"runner/plan"
)

// call runs a fragment, whose names are its own.
type call struct {
	control
	plan    *plan.Call
	params  []string    // run-time names, as plan.With
	locals  []string    // run-time names of what the fragment sets
	outputs [][2]string // run-time names: of the fragment's variable, of the caller's
	body    node
}

func (n *call) run(ctx context.Context, th *thread) signal {
	for i, v := range n.plan.With {
		value, err := v.Value.Eval(th)
		if err != nil {
			th.begin()
			return th.fail(ctx, n.control, err)
		}
		th.Set(n.params[i], value)
	}
	for _, name := range n.locals {
		if !n.param(name) {
			th.Unset(name)
		}
	}
	sig := n.body.run(ctx, th)
	for _, o := range n.outputs {
		if v, ok := th.Lookup(o[0]); ok {
			th.Set(o[1], v)
		} else {
			th.Unset(o[1])
		}
	}
	return sig
}

func (n *call) param(name string) bool {
	for _, p := range n.params {
		if p == name {
			return true
		}
	}
	return false
}

// nextRow takes a row of a data set within the iteration.
type nextRow struct{ feed *feed }

func (n *nextRow) run(ctx context.Context, th *thread) signal {
	th.begin()
	return th.take(ctx, n.feed)
}

// tally advances once per iteration of a thread that uses it.
type tally struct {
	name           string
	from, step     int64
	length         int64 // how many numbers before it begins again; 0: no end
	slot           int   // of the thread, or of the run
	perThread      bool
	prefix, suffix string // around the number, if it is text
	digits         int
}

// advance gives the counters their next numbers.
func (th *thread) advance(counters []*tally) {
	for _, c := range counters {
		var k int64
		if c.perThread {
			k = th.slots[c.slot]
			th.slots[c.slot]++
		} else {
			k = th.run.shared.Segment.Nth(th.run.next(c.slot))
		}
		th.Set(c.name, c.value(k))
	}
}

func (x *run) next(slot int) int64 { return add1(&x.counts[slot]) }

func add1(n *atomic.Int64) int64 { return n.Add(1) - 1 }

// value returns number k of the counter, from 0.
func (c *tally) value(k int64) any {
	if c.length > 0 {
		k %= c.length
	}
	n := c.from + k*c.step
	if c.digits == 0 {
		return n
	}
	text := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, text = "-", text[1:]
	}
	return c.prefix + sign + strings.Repeat("0", max(0, c.digits-len(text))) + text + c.suffix
}

// shape reads the format: its run of zeros stands for the number.
func (c *tally) shape(format string) {
	at := strings.IndexByte(format, '0')
	if at < 0 {
		return
	}
	end := at
	for end < len(format) && format[end] == '0' {
		end++
	}
	c.prefix, c.suffix, c.digits = format[:at], format[end:], end-at
}
