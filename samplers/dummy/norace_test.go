//go:build !race

package dummy

const raceEnabled = false
