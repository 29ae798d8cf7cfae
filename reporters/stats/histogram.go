package stats

import (
	"math"
	"math/bits"
	"slices"
	"time"
)

// The layout is HdrHistogram's for 1 µs to 1 h with three significant digits:
// 2,048 sub-buckets of 512 ns, then 1,024 for every doubling. A bucket is at most
// 1/1024 of its value wide.
const (
	lowestValue  = int64(time.Microsecond)
	highestValue = int64(time.Hour)
	valueDigits  = 3

	unitBits = 9  // ⌊log2 lowestValue⌋
	halfBits = 10 // log2 of the sub-buckets in a doubling
	subMask  = int64(1<<(halfBits+1)-1) << unitBits
	slots    = 24 << halfBits

	pageBits  = 7
	pageSlots = 1 << pageBits
	pageCount = slots / pageSlots
)

type page [pageSlots]uint32

// pagePool keeps emptied pages for the next interval, so that a recorder in its
// steady state allocates none. It belongs to one owner at a time.
type pagePool struct {
	free []*page
	made int
}

func (p *pagePool) take() *page {
	if p == nil {
		return new(page)
	}
	if len(p.free) == 0 {
		p.made++
		return new(page)
	}
	last := len(p.free) - 1
	pg := p.free[last]
	p.free = p.free[:last]
	return pg
}

// maxFew is up to how many values a histogram lists their buckets before it
// takes pages: most series see few samples in a second.
const maxFew = 128

// Histogram counts times in nanoseconds. The counts are in HdrHistogram's
// layout, in pages that are allocated on first use; count, minimum, maximum and
// sum are exact. Values outside 0..1 h are clamped in the counts and counted. The
// zero value is empty and ready; not safe for concurrent use, not even reading.
type Histogram struct {
	few      []uint16      // the bucket of each value while there are few
	pages    []*page       // the counts modulo 2^32, once dense
	over     map[int]int64 // by bucket, what its count in the page lacks; hardly ever any
	dense    bool
	n        int64
	min, max int64
	sumHi    uint64
	sumLo    uint64
	squares  wide
	clamped  int64
}

// Record counts one value. Negative values count as 0.
func (h *Histogram) Record(v int64) { h.record(v, nil) }

func (h *Histogram) record(v int64, pool *pagePool) {
	if v < 0 {
		v = 0
		h.clamped++
	}
	slot := v
	if v > highestValue {
		slot = highestValue
		h.clamped++
	}
	if h.n == 0 {
		h.min, h.max = v, v
	} else if v < h.min {
		h.min = v
	} else if v > h.max {
		h.max = v
	}
	h.n++
	lo, carry := bits.Add64(h.sumLo, uint64(v), 0)
	h.sumLo = lo
	h.sumHi += carry
	h.squares.addSquares(v, 1)
	h.bump(indexOf(slot), 1, pool)
}

// bump adds n to a bucket.
func (h *Histogram) bump(index int, n int64, pool *pagePool) {
	if !h.dense {
		if n == 1 && len(h.few) < maxFew {
			if h.few == nil {
				h.few = make([]uint16, 0, maxFew)
			}
			h.few = append(h.few, uint16(index))
			return
		}
		h.spill(pool)
	}
	h.addTo(h.slotPage(index>>pageBits, pool), index, n)
}

// addTo adds n to a bucket of a page.
func (h *Histogram) addTo(p *page, index int, n int64) {
	slot := &p[index&(pageSlots-1)]
	sum := uint64(*slot) + uint64(n)
	*slot = uint32(sum)
	if more := sum >> 32; more > 0 {
		if h.over == nil {
			h.over = map[int]int64{}
		}
		h.over[index] += int64(more << 32)
	}
}

// spill moves the listed buckets into pages.
func (h *Histogram) spill(pool *pagePool) {
	if h.dense {
		return
	}
	h.dense = true
	for _, i := range h.few {
		h.slotPage(int(i>>pageBits), pool)[i&(pageSlots-1)]++
	}
	h.few = h.few[:0]
}

func (h *Histogram) slotPage(i int, pool *pagePool) *page {
	if h.pages == nil {
		h.pages = make([]*page, pageCount)
	}
	p := h.pages[i]
	if p == nil {
		p = pool.take()
		h.pages[i] = p
	}
	return p
}

// indexOf returns the bucket of a value in 0..highestValue; the formula is the
// library's countsIndexFor.
func indexOf(v int64) int {
	bucket := 64 - bits.LeadingZeros64(uint64(v|subMask)) - unitBits - halfBits - 1
	return bucket<<halfBits + int(v>>uint(bucket+unitBits))
}

// upperEnd returns the largest value of a bucket.
func upperEnd(index int) int64 {
	bucket, sub := index>>halfBits-1, index&(1<<halfBits-1)+1<<halfBits
	if bucket < 0 {
		bucket, sub = 0, index
	}
	return int64(sub+1)<<uint(bucket+unitBits) - 1
}

// Count returns how many values were recorded.
func (h *Histogram) Count() int64 { return h.n }

// Min returns the exact smallest value, 0 if there is none.
func (h *Histogram) Min() int64 { return h.min }

// Max returns the exact largest value, 0 if there is none.
func (h *Histogram) Max() int64 { return h.max }

// Clamped returns how many values lay outside the counted range.
func (h *Histogram) Clamped() int64 { return h.clamped }

// Mean returns the exact sum divided by the count, 0 if there is no value.
func (h *Histogram) Mean() float64 {
	if h.n == 0 {
		return 0
	}
	return h.sum() / float64(h.n)
}

func (h *Histogram) sum() float64 { return math.Ldexp(float64(h.sumHi), 64) + float64(h.sumLo) }

// StdDev returns the standard deviation of the values as a population.
func (h *Histogram) StdDev() float64 {
	if h.n == 0 {
		return 0
	}
	mean := h.Mean()
	return math.Sqrt(max(0, h.squares.float()/float64(h.n)-mean*mean))
}

// Merge adds the values of from, which is left as it is. The outcome equals that
// of recording all values into one histogram.
func (h *Histogram) Merge(from *Histogram) { h.merge(from, nil) }

func (h *Histogram) merge(from *Histogram, pool *pagePool) {
	if from.n == 0 {
		return
	}
	for _, i := range from.few {
		h.bump(int(i), 1, pool)
	}
	if from.dense {
		h.spill(pool)
	}
	for i, src := range from.pages {
		if src == nil {
			continue
		}
		dst := h.slotPage(i, pool)
		for j, n := range src {
			if n != 0 {
				h.addTo(dst, i<<pageBits+j, int64(n))
			}
		}
	}
	for index, n := range from.over {
		h.addTo(h.slotPage(index>>pageBits, pool), index, n)
	}
	h.mergeTotals(from)
}

func (h *Histogram) mergeTotals(from *Histogram) {
	if h.n == 0 {
		h.min, h.max = from.min, from.max
	}
	h.min, h.max = min(h.min, from.min), max(h.max, from.max)
	h.n += from.n
	lo, carry := bits.Add64(h.sumLo, from.sumLo, 0)
	h.sumLo = lo
	h.sumHi += from.sumHi + carry
	h.squares.add(from.squares)
	h.clamped += from.clamped
}

// release empties the histogram and gives its pages to pool.
func (h *Histogram) release(pool *pagePool) {
	if h.n == 0 {
		return
	}
	if h.dense {
		for i, p := range h.pages {
			if p != nil {
				*p = page{}
				pool.free = append(pool.free, p)
				h.pages[i] = nil
			}
		}
	}
	*h = Histogram{pages: h.pages, few: h.few[:0]}
}

// each calls f for every bucket that is not empty, in ascending order, until f
// returns false.
func (h *Histogram) each(f func(index int, n int64) bool) { h.eachFrom(0, f) }

// eachFrom is each without the pages before one.
func (h *Histogram) eachFrom(page int, f func(index int, n int64) bool) {
	if !h.dense {
		h.eachFew(f)
		return
	}
	for i := page; i < len(h.pages); i++ {
		p := h.pages[i]
		if p == nil {
			continue
		}
		for j, low := range p {
			n, index := int64(low), i<<pageBits+j
			if h.over != nil {
				n += h.over[index]
			}
			if n != 0 && !f(index, n) {
				return
			}
		}
	}
}

func (h *Histogram) eachFew(f func(index int, n int64) bool) {
	slices.Sort(h.few)
	for i := 0; i < len(h.few); {
		k := i + 1
		for k < len(h.few) && h.few[k] == h.few[i] {
			k++
		}
		if !f(int(h.few[i]), int64(k-i)) {
			return
		}
		i = k
	}
}

// percentScale is the resolution of percentiles: a millionth of a percent.
const percentScale = 1_000_000

// Percentile returns the ⌈percent/100·n⌉-th smallest value (Hyndman–Fan type 1):
// the upper end of its bucket, clamped to the exact minimum and maximum. It is 0
// for an empty histogram. The rank is computed in integers.
func (h *Histogram) Percentile(percent float64) int64 {
	if h.n == 0 {
		return 0
	}
	rank := rankOf(percent, h.n)
	switch {
	case rank >= h.n:
		return h.max
	case percent <= 0:
		return h.min
	}
	value := h.max
	from, seen := h.pageOf(rank)
	h.eachFrom(from, func(index int, n int64) bool {
		seen += n
		if seen >= rank {
			value = upperEnd(index)
			return false
		}
		return true
	})
	return min(max(value, h.min), h.max)
}

// pageOf returns the page to look for a rank in, and how many values lie before it.
func (h *Histogram) pageOf(rank int64) (from int, before int64) {
	if !h.dense || h.over != nil {
		return 0, 0
	}
	for i, p := range h.pages {
		if p == nil {
			continue
		}
		sum := int64(0)
		for _, n := range p {
			sum += int64(n)
		}
		if before+sum >= rank {
			return i, before
		}
		before += sum
	}
	return len(h.pages), before
}

// rankOf returns ⌈percent/100·n⌉ within 1..n.
func rankOf(percent float64, n int64) int64 {
	if !(percent > 0) {
		return 1
	}
	if percent >= 100 {
		return n
	}
	hi, lo := bits.Mul64(uint64(math.Round(percent*percentScale)), uint64(n))
	quotient, rest := bits.Div64(hi, lo, 100*percentScale)
	if rest > 0 {
		quotient++
	}
	return min(max(int64(quotient), 1), n)
}

// Enough reports whether n values support a percentile: with fewer than
// ⌈ln 0.05 / ln p⌉ the sample maximum lies below it too often (p95 59, p99 299,
// p99.9 2,995).
func Enough(percent float64, n int64) bool { return n >= needed(percent) }

func needed(percent float64) int64 {
	p := percent / 100
	if !(p > 0) || p >= 1 {
		return 1
	}
	return int64(math.Ceil(math.Log(0.05) / math.Log(p)))
}

// supported returns the percentile, or nil with too few values.
func (h *Histogram) supported(percent float64) *int64 {
	if !Enough(percent, h.n) {
		return nil
	}
	v := h.Percentile(percent)
	return &v
}

func (h *Histogram) addSum(v, n int64) {
	hi, lo := bits.Mul64(uint64(v), uint64(n))
	sum, carry := bits.Add64(h.sumLo, lo, 0)
	h.sumLo = sum
	h.sumHi += hi + carry
}
