package timers

import (
	"time"

	"runner/plan/element"
	"runner/plan/expr"
)

func defineConstant() element.Definition {
	return element.DefineTimer[constant]("constant", element.Doc{
		Summary:  "waits a fixed time before each sampler",
		Text:     "The time is a think time: it does not count in the response time.",
		Examples: []element.Example{{YAML: "constant: 1s"}, {YAML: "constant: ${think_time}", Note: "the time is a variable of the plan"}},
	})
}

type constant struct {
	Time expr.Duration `plan:"time,required,short" doc:"how long to wait before each sampler" min:"0s"`
}

// Due returns now plus the fixed time.
func (c *constant) Due(t *element.Thread, now time.Duration) (time.Duration, error) {
	d, err := c.Time.Eval(t)
	return after(now, d), err
}
