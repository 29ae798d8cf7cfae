// Package start lets the program begin without collecting garbage: what packages
// make while they initialise stays, so that a collection finds next to nothing and
// costs a short command a sixth of its time.
//
// It imports little, so that it is initialised before the packages that make much.
package start

import (
	"runtime"
	"runtime/debug"
)

// relaxed is the percentage that puts the first collection at 32 MiB of heap in
// place of 4 MiB.
const relaxed = 800

// The value is of no use: a package that others import only for its effect.
var _ = deferFirst()

// deferFirst defers the first collection, with which the percentage that GOGC asks
// for holds again. It returns that percentage.
func deferFirst() int {
	asked := debug.SetGCPercent(relaxed)
	if asked < 0 || asked > relaxed {
		debug.SetGCPercent(asked)
		return asked
	}
	sentinel := new([64]byte) // in a block of its own, so that the first collection finds it
	runtime.AddCleanup(sentinel, func(percent int) { debug.SetGCPercent(percent) }, asked)
	return asked
}
