package timers

import (
	"math"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
)

func definePoisson() element.Definition {
	return element.DefineTimer[poisson]("poisson", element.Doc{
		Summary: "waits a random time as between the events of a Poisson process before each sampler",
		Text: "The times are exponentially distributed: most are short, few are long (5 % are longer than three times the mean). " +
			"This is how independent people arrive. The time is a think time: it does not count in the response time.",
		Examples: []element.Example{{YAML: "poisson: 2s"}, {YAML: "poisson: {mean: 2s, max: 10s}", Note: "longer draws are moved to the limit, which lowers the mean a little"}},
	})
}

type poisson struct {
	Mean expr.Duration `plan:"mean,required,short" doc:"the mean of the waiting times" min:"0s"`
	Max  expr.Duration `plan:"max" doc:"the longest time to wait; unlimited if absent" min:"0s"`
}

// Due returns now plus a time drawn from the exponential distribution.
func (p *poisson) Due(t *element.Thread, now time.Duration) (time.Duration, error) {
	mean, err := p.Mean.Eval(t)
	if err != nil {
		return now, err
	}
	high := time.Duration(math.MaxInt64)
	if p.Max.IsSet() {
		if high, err = p.Max.Eval(t); err != nil {
			return now, err
		}
	}
	d := math.Round(t.Rand.ExpFloat64() * float64(max(0, mean)))
	if d >= float64(high) {
		return after(now, max(0, high)), nil
	}
	return after(now, time.Duration(d)), nil
}
