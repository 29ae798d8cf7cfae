// Package timers has the timers of the language, one file each. A timer is a
// pure answer to "when is the next sampler due"; the engine does the waiting.
package timers

import (
	"math"
	"time"

	"runner/plan/element"
)

// All returns the definitions of all timers.
func All() []element.Definition {
	return []element.Definition{
		defineConstant(), defineUniform(), defineGaussian(), definePoisson(),
		defineConstantThroughput(), definePreciseThroughput(), defineSynchronizing(),
	}
}

// after returns now + delay, however long the delay is.
func after(now, delay time.Duration) time.Duration {
	if delay > math.MaxInt64-now {
		return math.MaxInt64
	}
	return now + delay
}
