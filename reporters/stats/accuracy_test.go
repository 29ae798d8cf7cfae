//go:build accuracy

package stats

import (
	"maps"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestAccuracy measures what docs/accuracy.md tells of the recorder alone:
// `make accuracy`. The plain tests do the same with fewer values.
func TestAccuracy(t *testing.T) {
	t.Run("percentiles against a sort", func(t *testing.T) {
		const n = 10_000_000
		all := distributions(n)
		all["outlier"] = slices.Repeat([]int64{int64(5 * time.Millisecond)}, n)
		all["outlier"][n/3] = highestValue - 1
		for name, values := range all {
			againstSort(t, name, values)
		}
	})
	t.Run("merged in any way", func(t *testing.T) { mergedInAnyWay(t, 1_000_000, 100) })
	t.Run("journal of a day", func(t *testing.T) {
		for _, d := range []day{{24 * time.Hour, 30}, {40 * time.Minute, 1000}} {
			if s := d.record(t); s.largest > dayLimit {
				t.Errorf("%d bytes on the disk at once", s.largest)
			}
		}
	})
}

// againstSort holds each percentile in steps of 0.001 % to within a bucket of the
// value that a sort gives, and count, minimum, maximum and sum exactly.
func againstSort(t *testing.T, name string, values []int64) {
	var h Histogram
	sum, n := new(big.Int), len(values)
	for _, v := range values {
		h.Record(v)
		sum.Add(sum, big.NewInt(v))
	}
	slices.Sort(values)
	worst := 0.0
	for p := range 100_001 {
		want := values[max(1, (p*n+99_999)/100_000)-1]
		got := h.Percentile(float64(p) / 1000)
		if got < want || float64(got-want) > max(float64(want)/1024, 512) {
			t.Fatalf("%s: p%g is %d, a sort gives %d", name, float64(p)/1000, got, want)
		}
		if want > 1<<20 {
			worst = max(worst, float64(got-want)/float64(want))
		}
	}
	whole := new(big.Int).Add(new(big.Int).Lsh(new(big.Int).SetUint64(h.sumHi), 64), new(big.Int).SetUint64(h.sumLo))
	if h.Count() != int64(n) || h.Min() != values[0] || h.Max() != values[n-1] || whole.Cmp(sum) != 0 {
		t.Errorf("%s: count, minimum, maximum or sum is not exact", name)
	}
	t.Logf("%s: %d values, 100,001 percentiles, the worst %.4f %% above the sort's", name, n, 100*worst)
}

// mergedInAnyWay deals values out to 2 to 64 shards at random and merges them in
// any order and any tree: the counts are those of one histogram, bit for bit.
func mergedInAnyWay(t *testing.T, n, times int) {
	values := distributions(n)
	rnd := rand.New(rand.NewPCG(5, 6))
	names := slices.Sorted(maps.Keys(values))
	for k := range times {
		name := names[k%len(names)]
		var one Histogram
		shards := make([]*Histogram, 2+rnd.IntN(63))
		for i := range shards {
			shards[i] = &Histogram{}
		}
		for _, v := range values[name] {
			one.Record(v)
			shards[rnd.IntN(len(shards))].Record(v)
		}
		for count := len(shards); len(shards) > 1; {
			i := rnd.IntN(len(shards))
			from := shards[i]
			shards = slices.Delete(shards, i, i+1)
			shards[rnd.IntN(len(shards))].Merge(from)
			if len(shards) == 1 {
				want, got := one.sparse(), shards[0].sparse()
				if diff := cmp.Diff(want, got, cmp.AllowUnexported(sparse{}, wide{})); diff != "" {
					t.Fatalf("%s in %d shards:\n%s", name, count, diff)
				}
			}
		}
	}
	t.Logf("%d splits of %d values: bit for bit the same", times, n)
}
