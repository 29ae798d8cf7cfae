package elementtest

import (
	"context"

	"runner/plan/element"
)

// idle is the sampler under which other elements stand.
type idle struct{}

// Sample does nothing.
func (*idle) Sample(context.Context, *element.Thread, *element.Sample) error { return nil }
