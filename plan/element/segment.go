package element

import "fmt"

// Segment is one of Count equal parts of a load, run by itself: what is numbered
// from 0 and counted on modulo Count belongs to the part Index. The zero value is
// the whole.
type Segment struct {
	Index int // from 0
	Count int // 0 and 1: the whole
}

// IsWhole reports that nothing belongs to other segments.
func (s Segment) IsWhole() bool { return s.Count <= 1 }

// Has reports whether number i belongs to the segment.
func (s Segment) Has(i int64) bool {
	return s.IsWhole() || i >= 0 && i%int64(s.Count) == int64(s.Index)
}

// Of returns how many of the numbers 0 to n−1 belong to the segment.
func (s Segment) Of(n int64) int64 {
	if s.IsWhole() {
		return n
	}
	if n <= int64(s.Index) {
		return 0
	}
	return (n-int64(s.Index)-1)/int64(s.Count) + 1
}

// Nth returns the number that is the segment's k-th, from 0.
func (s Segment) Nth(k int64) int64 {
	if s.IsWhole() {
		return k
	}
	return int64(s.Index) + k*int64(s.Count)
}

// String writes it as on the command line: 2/5, counted from 1.
func (s Segment) String() string {
	if s.IsWhole() {
		return "1/1"
	}
	return fmt.Sprintf("%d/%d", s.Index+1, s.Count)
}
