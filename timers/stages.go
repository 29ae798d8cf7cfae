package timers

import (
	"fmt"
	"math"
	"reflect"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
	"runner/plan/spec"
)

// rates is R or a list of stages.
type rates struct {
	Rate   expr.RateValue
	Stages []stage
}

// stage is {to, over}, {hold} or {at, for}.
type stage struct {
	To   expr.RateValue `plan:"to,required" doc:"the rate to reach evenly" group:"form"`
	Over expr.Duration  `plan:"over" doc:"the time in which to reach it"`
	Hold expr.Duration  `plan:"hold" doc:"a time during which the rate stays" group:"form"`
	At   expr.RateValue `plan:"at" doc:"the rate to jump to" group:"form"`
	For  expr.Duration  `plan:"for" doc:"the time during which it stays"`
}

// Check reports a stage with half of its keys.
func (s *stage) Check(report func(field, code, summary, detail string)) {
	for _, pair := range [...]struct {
		a, b       string
		setA, setB bool
		example    string
	}{
		{"to", "over", s.To.IsSet(), s.Over.IsSet(), "{to: 100/s, over: 1m}"},
		{"at", "for", s.At.IsSet(), s.For.IsSet(), "{at: 100/s, for: 1m}"},
	} {
		have, lacks := pair.a, pair.b
		if pair.setB {
			have, lacks = pair.b, pair.a
		}
		if pair.setA != pair.setB {
			report(have, "missing-key", fmt.Sprintf("a stage with `%s` needs `%s`", have, lacks), "write it like "+pair.example)
		}
	}
}

// DecodeNode reads a rate, or a list of stages.
func (r *rates) DecodeNode(n *source.Node, ds *source.Diagnostics) {
	if n.Kind == source.Map {
		unknownKeys(n, "constant_throughput", ds, "rate", "per", "catch_up")
		return
	}
	if n.Kind != source.List {
		r.Rate.Decode(n, ds)
		if rate, ok := r.Rate.Literal(); ok && rate == 0 && n.Kind == source.Scalar {
			ds.Add(n.Range, "out-of-range", "the rate must be above 0", "write one like 50/s, 3000/min or 10/h")
		}
		return
	}
	if len(n.Items) == 0 {
		ds.Add(n.Range, "empty-list", "the rate has no stages", "write at least one, as [{at: 50/s, for: 1m}]")
	}
	r.Stages = make([]stage, len(n.Items))
	for i, item := range n.Items {
		(&spec.Decoder{What: "stage", Diagnostics: ds}).Decode(item, &r.Stages[i])
	}
	if len(n.Items) > 0 && r.Stages[0].Hold.IsSet() {
		ds.Add(n.Items[0].Range, "first-hold", "the first stage has no rate to hold", "begin with {at: 50/s, for: 1m} or {to: 50/s, over: 1m}")
	}
}

// BindNode binds the rate or the stages.
func (r *rates) BindNode(env *expr.Env, ds *source.Diagnostics) {
	r.Rate.Bind(env, ds)
	for i := range r.Stages {
		spec.Bind(&r.Stages[i], env, ds)
	}
}

// Uses returns the names that the rate or the stages read.
func (r *rates) Uses() []expr.Use {
	uses := r.Rate.Uses()
	for i := range r.Stages {
		uses = append(uses, spec.Uses(&r.Stages[i])...)
	}
	return uses
}

// DescribeNode says that there are two forms.
func (*rates) DescribeNode() []spec.Field {
	item := spec.Field{Go: "object", Children: spec.Describe(reflect.TypeFor[stage]())}
	return []spec.Field{{Go: "rate", Template: true}, {Go: "list", Item: &item}}
}

// profile evaluates the stages.
func (r *rates) profile(t *element.Thread) (*profile, error) {
	p := &profile{}
	rate, at := 0.0, 0.0
	for i := range r.Stages {
		from, to, length, err := r.Stages[i].eval(t, rate)
		if err != nil {
			return nil, err
		}
		p.parts = append(p.parts, ramp{at, at + length, from, to})
		at, rate = at+length, to
	}
	return p, nil
}

func (s *stage) eval(t *element.Thread, rate float64) (from, to, seconds float64, err error) {
	var length time.Duration
	from, to = rate, rate
	switch {
	case s.To.IsSet():
		length, err = s.Over.Eval(t)
		to, err = rateOf(&s.To, t, err)
	case s.At.IsSet():
		length, err = s.For.Eval(t)
		to, err = rateOf(&s.At, t, err)
		from = to
	default:
		length, err = s.Hold.Eval(t)
	}
	return from, to, length.Seconds(), err
}

func rateOf(v *expr.RateValue, t *element.Thread, err error) (float64, error) {
	if err != nil {
		return 0, err
	}
	r, err := v.Eval(t)
	return float64(r), err
}

// ramp is a rate per second that goes evenly from one value to another between
// two times in seconds.
type ramp struct{ start, end, from, to float64 }

// profile is a rate over time; after the last ramp its rate stays.
type profile struct{ parts []ramp }

// next returns the time at which the rate's integral from t on reaches need, +Inf
// if it never does.
func (p *profile) next(t, need float64) float64 {
	last := 0.0
	for _, r := range p.parts {
		last = r.to
		if t >= r.end {
			continue
		}
		slope := (r.to - r.from) / (r.end - r.start)
		rate := r.from + slope*(t-r.start)
		if area := (rate + r.to) / 2 * (r.end - t); area < need {
			need, t = need-area, r.end
			continue
		}
		// rate·x + slope·x²/2 = need, in the form that is stable for a small slope
		return min(r.end, t+2*need/(rate+math.Sqrt(max(0, rate*rate+2*slope*need))))
	}
	if last <= 0 {
		return math.Inf(1)
	}
	return t + need/last
}
