package timers

import (
	"time"

	"runner/plan/element"
)

func defineUniform() element.Definition {
	return element.DefineTimer[uniform]("uniform", element.Doc{
		Summary: "waits a random time between two bounds before each sampler",
		Text: "Every time between the bounds is equally likely. The draw comes from the thread's random source, " +
			"so a run with the same `--seed` waits the same times. The time is a think time: it does not count in the response time.",
		Examples: []element.Example{{YAML: "uniform: 1s..3s"}, {YAML: "uniform: 500ms..${longest}", Note: "each bound may be a variable"}},
	})
}

type uniform struct {
	Between durationRange `plan:"between,required,short" doc:"the shortest and the longest time to wait, as 1s..3s"`
}

// Due returns now plus a time drawn between the bounds, both included.
func (u *uniform) Due(t *element.Thread, now time.Duration) (time.Duration, error) {
	from, to, err := u.Between.eval(t)
	if err != nil {
		return now, err
	}
	return after(now, from+time.Duration(t.Rand.Uint64N(uint64(to-from)+1))), nil
}
