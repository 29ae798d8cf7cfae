//go:build race

package assertions

const raceEnabled = true
