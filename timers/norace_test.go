//go:build !race

package timers

const raceEnabled = false
