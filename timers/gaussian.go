package timers

import (
	"fmt"
	"math"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
)

func defineGaussian() element.Definition {
	return element.DefineTimer[gaussian]("gaussian", element.Doc{
		Summary: "waits a normally distributed random time before each sampler",
		Text: "About two thirds of the times lie within one deviation of the mean, 95 % within two. " +
			"A draw outside `min` and `max` is moved to the nearer of them. " +
			"The time is a think time: it does not count in the response time.",
		Examples: []element.Example{{YAML: "gaussian: {mean: 2s, deviation: 500ms}"}, {YAML: "gaussian: {mean: 2s, deviation: 1s, min: 200ms, max: 5s}"}},
	})
}

type gaussian struct {
	Mean      expr.Duration `plan:"mean,required" doc:"the mean of the waiting times"`
	Deviation expr.Duration `plan:"deviation,required" doc:"the standard deviation of the waiting times"`
	Min       expr.Duration `plan:"min" doc:"the shortest time to wait" default:"0s"`
	Max       expr.Duration `plan:"max" doc:"the longest time to wait; unlimited if absent"`
}

// Check reports bounds that exclude each other.
func (g *gaussian) Check(report func(field, code, summary, detail string)) {
	low, ok1 := g.Min.Literal()
	high, ok2 := g.Max.Literal()
	if ok1 && ok2 && low > high {
		report("max", "bad-range", fmt.Sprintf("max (%s) is below min (%s)", high, low), "write a max that is at least min")
	}
}

// Due returns now plus a time drawn around the mean.
func (g *gaussian) Due(t *element.Thread, now time.Duration) (time.Duration, error) {
	mean, err := g.Mean.Eval(t)
	if err != nil {
		return now, err
	}
	deviation, err := g.Deviation.Eval(t)
	if err != nil {
		return now, err
	}
	low, err := g.Min.Eval(t)
	if err != nil {
		return now, err
	}
	high := time.Duration(math.MaxInt64)
	if g.Max.IsSet() {
		if high, err = g.Max.Eval(t); err != nil {
			return now, err
		}
	}
	if low > high {
		return now, fmt.Errorf("max (%s) is below min (%s)", high, low)
	}
	d := math.Round(float64(mean) + t.Rand.NormFloat64()*float64(deviation))
	switch {
	case d <= float64(low):
		return after(now, low), nil
	case d >= float64(high):
		return after(now, high), nil
	}
	return after(now, time.Duration(d)), nil
}
