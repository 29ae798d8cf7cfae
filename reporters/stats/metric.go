package stats

import (
	"encoding/binary"
	"math"
	"slices"
	"time"
)

// Types of custom metrics.
const (
	counterMetric = "counter"
	gaugeMetric   = "gauge"
	rateMetric    = "rate"
	trendMetric   = "trend"
)

// maxMetrics bounds the custom metrics of a run.
const maxMetrics = 1000

// metricCell holds what one custom metric was given over some stretch of time.
// It keeps no single value: all types share count, sum, extremes and the last
// value; a trend also has the values' counts.
type metricCell struct {
	n       int64
	truths  int64 // values that are not zero
	sum     float64
	squares float64
	min     float64
	max     float64
	last    float64
	lastAt  time.Duration
	values  sketch
}

// record adds one finite value.
func (c *metricCell) record(v float64, at time.Duration, trend bool) {
	if c.n == 0 {
		c.min, c.max = v, v
	}
	c.min, c.max = min(c.min, v), max(c.max, v)
	c.n++
	if v != 0 {
		c.truths++
	}
	c.sum = finite(c.sum + v)
	c.squares = finite(c.squares + v*v)
	c.last, c.lastAt = v, at
	if trend {
		c.values.add(keyOf(v), 1)
	}
}

// merge adds what from holds; of two last values the later counts.
func (c *metricCell) merge(from *metricCell) {
	if from.n == 0 {
		return
	}
	if c.n == 0 {
		c.min, c.max = from.min, from.max
	}
	if c.n == 0 || from.lastAt >= c.lastAt {
		c.last, c.lastAt = from.last, from.lastAt
	}
	c.min, c.max = min(c.min, from.min), max(c.max, from.max)
	c.n += from.n
	c.truths += from.truths
	c.sum = finite(c.sum + from.sum)
	c.squares = finite(c.squares + from.squares)
	c.values.merge(&from.values)
}

// release empties the cell and keeps its memory.
func (c *metricCell) release() {
	if c.n == 0 {
		return
	}
	c.values.clear()
	*c = metricCell{values: c.values}
}

// percentile is the ⌈percent/100·n⌉-th smallest value: the upper end of its
// bucket, clamped to the exact minimum and maximum.
func (c *metricCell) percentile(percent float64) float64 {
	rank, seen := rankOf(percent, max(1, c.n)), int64(0)
	if rank >= c.n {
		return c.max
	}
	for _, k := range c.values.keys() {
		if seen += c.values.counts[k]; seen >= rank {
			return min(max(c.values.end(k), c.min), c.max)
		}
	}
	return c.max
}

func (c *metricCell) mean() float64 { return c.sum / float64(max(1, c.n)) }

func (c *metricCell) stdDev() float64 {
	m := c.mean()
	return math.Sqrt(max(0, finite(c.squares/float64(max(1, c.n))-m*m)))
}

// sketch counts values of any size and sign in buckets of at most 1/1024 of the
// value: sign, exponent and the first ten bits of the mantissa. Beyond maxKeys
// buckets neighbours are joined, which depends on the set of values alone, so
// that merging in any order gives the same counts.
type sketch struct {
	counts map[int32]int64
	joins  uint8 // how often neighbours were joined
}

const (
	keyShift = 42 // of 64 bits
	maxKeys  = 1 << 14
	maxJoins = 12
)

// keyOf returns the bucket of a finite value; buckets ascend with the values.
func keyOf(v float64) int32 {
	switch magnitude := int32(math.Float64bits(math.Abs(v)) >> keyShift); {
	case v > 0:
		return magnitude + 1
	case v < 0:
		return -magnitude - 1
	}
	return 0
}

// end returns the largest value of a bucket.
func (s *sketch) end(key int32) float64 {
	switch {
	case key > 0:
		return math.Float64frombits(uint64(key)<<s.joins<<keyShift - 1)
	case key < 0:
		return -math.Float64frombits(uint64(-key-1) << s.joins << keyShift)
	}
	return 0
}

// joined returns the bucket of key after n more joins.
func joinedKey(key int32, n uint8) int32 {
	switch {
	case key > 0:
		return (key-1)>>n + 1
	case key < 0:
		return -((-key-1)>>n + 1)
	}
	return 0
}

// add counts n values of a bucket as keyOf gives it.
func (s *sketch) add(key int32, n int64) {
	if s.counts == nil {
		s.counts = map[int32]int64{}
	}
	s.counts[joinedKey(key, s.joins)] += n
	for len(s.counts) > maxKeys && s.joins < maxJoins {
		s.join(s.joins + 1)
	}
}

// join joins neighbours until they were joined that often.
func (s *sketch) join(joins uint8) {
	if joins <= s.joins {
		return
	}
	counts := make(map[int32]int64, len(s.counts)/2)
	for k, n := range s.counts {
		counts[joinedKey(k, joins-s.joins)] += n
	}
	s.counts, s.joins = counts, joins
}

func (s *sketch) merge(from *sketch) {
	if len(from.counts) == 0 {
		return
	}
	s.join(from.joins)
	if s.counts == nil {
		s.counts = make(map[int32]int64, len(from.counts))
	}
	for k, n := range from.counts {
		s.counts[joinedKey(k, s.joins-from.joins)] += n
	}
	for len(s.counts) > maxKeys && s.joins < maxJoins {
		s.join(s.joins + 1)
	}
}

func (s *sketch) clear() {
	clear(s.counts)
	s.joins = 0
}

// keys returns the buckets in ascending order.
func (s *sketch) keys() []int32 {
	out := make([]int32, 0, len(s.counts))
	for k := range s.counts {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// encode appends the sketch: joins, number of buckets, then pairs of the gap to
// the bucket before and the count.
func (s *sketch) encode(b []byte) []byte {
	keys := s.keys()
	b = append(b, s.joins)
	b = binary.AppendUvarint(b, uint64(len(keys)))
	last := int32(0)
	for _, k := range keys {
		b = binary.AppendVarint(b, int64(k)-int64(last))
		b = binary.AppendUvarint(b, uint64(s.counts[k]))
		last = k
	}
	return b
}

// maxKey is the largest bucket of a finite value, and one more for its end.
const maxKey = int64(0x7ff<<10) + 1

func (d *decoder) sketch(s *sketch) (sum int64) {
	if len(d.b) == 0 || d.b[0] > maxJoins {
		d.fail()
		return 0
	}
	s.joins, d.b = d.b[0], d.b[1:]
	at := int64(0)
	for i := range d.len(2 * maxKeys) {
		gap, n := d.int(), d.uint()
		if d.err != nil || i > 0 && gap <= 0 || gap > 2*maxKey || gap < -2*maxKey || n == 0 || n > math.MaxInt64/2 {
			d.fail()
			return 0
		}
		at += gap
		if sum += int64(n); at > maxKey || at < -maxKey || sum < 0 {
			d.fail()
			return 0
		}
		if s.counts == nil {
			s.counts = map[int32]int64{}
		}
		s.counts[int32(at)] += int64(n)
	}
	return sum
}
