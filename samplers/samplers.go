// Package samplers lists the built-in samplers; each protocol is a package below.
package samplers

import (
	"slices"

	"runner/plan/element"
	"runner/samplers/dummy"
	"runner/samplers/grpc"
	"runner/samplers/http"
	"runner/samplers/sql"
)

// All returns the definitions of every built-in sampler.
func All() []element.Definition { return slices.Concat(dummy.All(), grpc.All(), http.All(), sql.All()) }
