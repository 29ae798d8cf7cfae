package cmd

import (
	"fmt"
	"strconv"
	"strings"

	"runner/plan/element"
)

// maxSegments is more machines than anyone has.
const maxSegments = 10_000

// segmentSeed is the seed of segments that are given none: all of them must draw
// the same arrivals and shuffle rows alike.
const segmentSeed = "1"

// segmentOf reads --segment: 2/5 is the second of five.
func segmentOf(text string) (element.Segment, error) {
	if text == "" {
		return element.Segment{}, nil
	}
	k, n, ok := strings.Cut(text, "/")
	index, err := strconv.Atoi(k)
	count, err2 := strconv.Atoi(n)
	if !ok || err != nil || err2 != nil || index < 1 || index > count || count > maxSegments {
		return element.Segment{}, fmt.Errorf("--segment %s: write which part of how many, as 2/5", text)
	}
	return element.Segment{Index: index - 1, Count: count}, nil
}
