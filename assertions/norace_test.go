//go:build !race

package assertions

const raceEnabled = false
