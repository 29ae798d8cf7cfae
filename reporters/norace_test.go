//go:build !race

package reporters

// raceFactor is how much slower things may be: not at all.
const raceFactor = 1
