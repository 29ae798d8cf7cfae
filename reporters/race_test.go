//go:build race

package reporters

// raceFactor is how much slower things may be under the race detector.
const raceFactor = 10
