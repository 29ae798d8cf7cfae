package stats

import (
	"math"
	"math/bits"
)

// wide is a sum of 128 bits: adding in any order gives the same.
type wide struct{ hi, lo uint64 }

func (w *wide) add(x wide) {
	lo, carry := bits.Add64(w.lo, x.lo, 0)
	w.lo = lo
	w.hi += x.hi + carry
}

// maxSquared bounds the values whose squares are added: 19 hours, so that 10^10
// of them fit.
const maxSquared = int64(1) << 46

// addSquares adds n times the square of v.
func (w *wide) addSquares(v, n int64) {
	x := uint64(min(v, maxSquared))
	hi, lo := bits.Mul64(x, x)
	if n != 1 {
		carry, low := bits.Mul64(lo, uint64(n))
		hi, lo = hi*uint64(n)+carry, low
	}
	w.add(wide{hi, lo})
}

func (w wide) float() float64 { return math.Ldexp(float64(w.hi), 64) + float64(w.lo) }
