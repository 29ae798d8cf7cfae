//go:build race

package timers

const raceEnabled = true
