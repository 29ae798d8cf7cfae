package stats

import (
	"encoding/binary"
	"errors"
	"math"
	"math/bits"
)

// sparse is a frozen histogram: its totals, and the buckets that are not empty as
// uvarint pairs (gap to the bucket before, count).
type sparse struct {
	n, min, max  int64
	sumHi, sumLo uint64
	squares      wide
	clamped      int64
	data         []byte
}

func (h *Histogram) sparse() sparse {
	s := sparse{n: h.n, min: h.min, max: h.max, sumHi: h.sumHi, sumLo: h.sumLo, squares: h.squares, clamped: h.clamped}
	last := -1
	s.data = make([]byte, 0, 3*len(h.few)+8)
	h.each(func(index int, n int64) bool {
		s.data = appendPair(s.data, &last, index, n)
		return true
	})
	return s
}

func appendPair(data []byte, last *int, index int, n int64) []byte {
	data = binary.AppendUvarint(data, uint64(index-*last-1))
	*last = index
	return binary.AppendUvarint(data, uint64(n))
}

// pairs walks over the buckets of a sparse histogram.
type pairs struct {
	data  []byte
	index int
	n     int64
}

func (s *sparse) pairs() pairs { return pairs{data: s.data, index: -1} }

// next moves to the next bucket; it is false at the end or where the data is not
// well formed.
func (p *pairs) next() bool {
	if len(p.data) >= 2 && p.data[0]|p.data[1] < 0x80 && p.data[1] > 0 { // nearly all: a byte each
		if index := p.index + 1 + int(p.data[0]); index < slots {
			p.index, p.n, p.data = index, int64(p.data[1]), p.data[2:]
			return true
		}
		return false
	}
	return p.nextLong()
}

func (p *pairs) nextLong() bool {
	gap, k := binary.Uvarint(p.data)
	if k <= 0 || gap >= slots {
		return false
	}
	n, m := binary.Uvarint(p.data[k:])
	index := p.index + 1 + int(gap)
	if m <= 0 || n == 0 || n > math.MaxInt64 || index >= slots {
		return false
	}
	p.index, p.n, p.data = index, int64(n), p.data[k+m:]
	return true
}

var errHistogram = errors.New("a histogram in it does not add up")

// check reports whether counts and totals agree, so that nothing read from a file
// can mislead a walk.
func (s *sparse) check() error {
	sum, p := int64(0), s.pairs()
	for p.next() {
		if sum += p.n; sum < 0 {
			return errHistogram
		}
	}
	switch {
	case len(p.data) > 0, sum != s.n, s.n < 0, s.clamped < 0, s.min < 0, s.max < s.min, s.n == 0 && s.max != 0:
		return errHistogram
	}
	return nil
}

// addTo adds the sparse histogram to h.
func (s *sparse) addTo(h *Histogram, pool *pagePool) {
	if s.n == 0 {
		return
	}
	for p := s.pairs(); p.next(); {
		h.bump(p.index, p.n, pool)
	}
	h.mergeTotals(&Histogram{n: s.n, min: s.min, max: s.max, sumHi: s.sumHi, sumLo: s.sumLo, squares: s.squares, clamped: s.clamped})
}

// percentiles returns plain percentiles in ascending order of percent.
func (s *sparse) percentiles(percents ...float64) []int64 {
	out := make([]int64, 0, len(percents))
	p, seen := s.pairs(), int64(0)
	for _, percent := range percents {
		rank := rankOf(percent, max(1, s.n))
		for seen < rank && p.next() {
			seen += p.n
		}
		v := s.max
		if rank < s.n && p.index >= 0 {
			v = min(max(upperEnd(p.index), s.min), s.max)
		}
		out = append(out, v)
	}
	return out
}

// coarse returns the bucket that stands for index where a value may be off by
// 0.8 %: eight buckets become one, fewer below 524 µs, where buckets are wide.
func coarse(index int) int {
	shift := min(max(bits.Len(uint(index))-8, 0), 3)
	return index | (1<<shift - 1)
}

// joined returns the sum of two sparse histograms in coarse buckets.
func joined(a, b *sparse) sparse {
	h := Histogram{n: a.n, min: a.min, max: a.max, sumHi: a.sumHi, sumLo: a.sumLo, squares: a.squares, clamped: a.clamped}
	if b.n > 0 {
		h.mergeTotals(&Histogram{n: b.n, min: b.min, max: b.max, sumHi: b.sumHi, sumLo: b.sumLo, squares: b.squares, clamped: b.clamped})
	}
	out := h.sparse()
	x, y := a.pairs(), b.pairs()
	moreX, moreY := x.next(), y.next()
	last, at, n := -1, -1, int64(0)
	for moreX || moreY {
		p, more := &x, &moreX
		if !moreX || moreY && y.index < x.index {
			p, more = &y, &moreY
		}
		if i := coarse(p.index); i != at {
			if n > 0 {
				out.data = appendPair(out.data, &last, at, n)
			}
			at, n = i, 0
		}
		n += p.n
		*more = p.next()
	}
	if n > 0 {
		out.data = appendPair(out.data, &last, at, n)
	}
	return out
}
