package stats

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
	"github.com/google/go-cmp/cmp"
)

func library() *hdr.Histogram { return hdr.New(lowestValue, highestValue, valueDigits) }

// TestLayoutIsTheLibrarys compares index and bucket ends with the library over
// the whole range.
func TestLayoutIsTheLibrarys(t *testing.T) {
	if got := len(library().Export().Counts); got != slots {
		t.Fatalf("the library has %d counts, we have %d", got, slots)
	}
	rng := rand.New(rand.NewPCG(1, 2))
	values := []int64{0, 1, 511, 512, 1023, 1<<20 - 1, 1 << 20, 1<<20 + 1, highestValue - 1, highestValue}
	for range 20000 {
		values = append(values, int64(math.Exp(rng.Float64()*math.Log(float64(highestValue)))))
	}
	lib, ours := library(), make([]int64, slots)
	for i, v := range values {
		if err := lib.RecordValue(v); err != nil {
			t.Fatal(err)
		}
		ours[indexOf(v)]++
		if i >= 100 {
			continue
		}
		one := library()
		if err := one.RecordValue(v); err != nil {
			t.Fatal(err)
		}
		if got, want := upperEnd(indexOf(v)), one.Max(); got != want {
			t.Fatalf("value %d: bucket ends at %d, the library says %d", v, got, want)
		}
	}
	diffEmpty(t, "counts", cmp.Diff(lib.Export().Counts, ours))
}

func distributions(n int) map[string][]int64 {
	rng := rand.New(rand.NewPCG(3, 4))
	out := map[string][]int64{}
	for range n {
		out["uniform"] = append(out["uniform"], rng.Int64N(int64(2*time.Second)))
		out["log-normal"] = append(out["log-normal"], int64(math.Exp(rng.NormFloat64()*1.2+16)))
		two := int64(5 * time.Millisecond)
		if rng.IntN(100) == 0 {
			two = int64(time.Second)
		}
		out["two-point"] = append(out["two-point"], two)
		out["pareto"] = append(out["pareto"], min(highestValue, int64(1e6*math.Pow(1-rng.Float64(), -1/1.1))))
		out["equal"] = append(out["equal"], 12345678)
	}
	return out
}

// TestPercentilesAgainstSort holds every percentile to within one bucket (1/1024)
// of the value that a sort gives, and count, minimum, maximum and sum exactly.
func TestPercentilesAgainstSort(t *testing.T) {
	n := 1_000_000
	if testing.Short() || raceEnabled {
		n = 20_000
	}
	for name, values := range distributions(n) {
		var h Histogram
		sum := new(big.Int)
		for _, v := range values {
			h.Record(v)
			sum.Add(sum, big.NewInt(v))
		}
		slices.Sort(values)
		for p := 0; p <= 100_000; p += 1 + n/50_000 {
			percent := float64(p) / 1000
			rank := max(1, (p*len(values)+99_999)/100_000)
			want := values[rank-1]
			got := h.Percentile(percent)
			if got < want || float64(got-want) > max(float64(want)/1024, 512) {
				t.Fatalf("%s: p%g is %d, a sort gives %d", name, percent, got, want)
			}
		}
		gotSum := new(big.Int).Add(new(big.Int).Lsh(new(big.Int).SetUint64(h.sumHi), 64), new(big.Int).SetUint64(h.sumLo))
		if h.Count() != int64(len(values)) || h.Min() != values[0] || h.Max() != values[len(values)-1] || gotSum.Cmp(sum) != 0 {
			t.Errorf("%s: count, minimum, maximum or sum is not exact", name)
		}
	}
}

// TestRanks pins the ranks where an off-by-one shows, n = 1 to 1,000 of 1..n ms.
func TestRanks(t *testing.T) {
	var h Histogram
	for n := 1; n <= 1000; n++ {
		h.Record(int64(n) * int64(time.Millisecond))
		for _, percent := range []int{1, 50, 90, 95, 99, 100} {
			want := int64((percent*n+99)/100) * int64(time.Millisecond)
			if got := h.Percentile(float64(percent)); got < want || got-want > want/1024 {
				t.Fatalf("n=%d: p%d is %d, want the bucket of %d", n, percent, got, want)
			}
		}
	}
	if got := rankOf(99.9, 1000); got != 999 {
		t.Errorf("rank of p99.9 of 1000 is %d", got)
	}
	if got := rankOf(99, math.MaxInt64); got < math.MaxInt64/100*98 {
		t.Errorf("rank of p99 overflows: %d", got)
	}
}

func TestOutOfRangeIsClampedAndCounted(t *testing.T) {
	var h Histogram
	h.Record(-5)
	h.Record(int64(2 * time.Hour))
	if h.Clamped() != 2 || h.Min() != 0 || h.Max() != int64(2*time.Hour) || h.Percentile(100) != int64(2*time.Hour) {
		t.Errorf("got clamped %d, min %d, max %d, p100 %d", h.Clamped(), h.Min(), h.Max(), h.Percentile(100))
	}
	if h.StdDev() <= 0 || h.Mean() != float64(time.Hour) {
		t.Errorf("mean %g, deviation %g", h.Mean(), h.StdDev())
	}
}

func TestEnough(t *testing.T) {
	for percent, want := range map[float64]int64{50: 5, 90: 29, 95: 59, 99: 299, 99.9: 2995, 100: 1, 0: 1} {
		if Enough(percent, want-1) && want > 1 || !Enough(percent, want) {
			t.Errorf("p%g needs %d, not %d", percent, needed(percent), want)
		}
	}
}

// TestMergeEqualsOne: the merge of parts equals one histogram of all, also
// through the sparse form and the journal's encoding.
func TestMergeEqualsOne(t *testing.T) {
	for name, values := range distributions(3000) {
		var one, merged, thawed, decoded Histogram
		parts := make([]Histogram, 7)
		for i, v := range values {
			one.Record(v)
			parts[i%7].Record(v)
		}
		for i := range parts {
			merged.Merge(&parts[i])
			s := parts[i].sparse()
			s.addTo(&thawed, nil)
			var e encoder
			e.histogram(&parts[i])
			d := decoder{b: e.b}
			d.histogram(&decoded, nil)
			if d.err != nil || len(d.b) > 0 {
				t.Fatalf("%s: decode: %v, %d bytes left", name, d.err, len(d.b))
			}
		}
		for kind, got := range map[string]*Histogram{"merge": &merged, "sparse": &thawed, "codec": &decoded} {
			want, have := one.sparse(), got.sparse()
			diffEmpty(t, name+" "+kind, cmp.Diff(want, have, cmp.AllowUnexported(sparse{}, wide{})))
		}
	}
}

func TestV2RoundTrip(t *testing.T) {
	for name, values := range distributions(3000) {
		var h Histogram
		lib := library()
		for _, v := range values {
			h.Record(v)
			if err := lib.RecordValue(v); err != nil {
				t.Fatal(err)
			}
		}
		text, err := h.EncodeV2()
		if err != nil {
			t.Fatal(err)
		}
		want, err := lib.Encode(hdr.V2CompressedEncodingCookieBase)
		if err != nil {
			t.Fatal(err)
		}
		if text != string(want) {
			t.Errorf("%s: our encoding is not the library's", name)
		}
		back, err := DecodeV2(text)
		if err != nil {
			t.Fatal(err)
		}
		diffEmpty(t, name, cmp.Diff(h.sparse().data, back.sparse().data))
	}
	for _, bad := range []string{"", "x", "HISTFAAAAB4", "AAAAAAAAAAAAAAAA"} {
		if _, err := DecodeV2(bad); err == nil {
			t.Errorf("DecodeV2(%q) gives no error", bad)
		}
	}
}

// TestCoarseJoin: joining two sparse histograms keeps totals and moves no
// percentile by more than 0.8 %.
func TestCoarseJoin(t *testing.T) {
	for name, values := range distributions(4000) {
		var a, b, all Histogram
		for i, v := range values {
			all.Record(v)
			if i%3 == 0 {
				a.Record(v)
			} else {
				b.Record(v)
			}
		}
		x, y := a.sparse(), b.sparse()
		got := joined(&x, &y)
		if err := got.check(); err != nil || got.n != all.n || got.min != all.min || got.max != all.max {
			t.Fatalf("%s: %v, totals %+v", name, err, got)
		}
		percents := []float64{1, 50, 95, 99, 99.9}
		for i, v := range got.percentiles(percents...) {
			want := all.Percentile(percents[i])
			if v < want || float64(v-want) > max(0.008*float64(want), 4096) {
				t.Errorf("%s: p%g is %d, want %d", name, percents[i], v, want)
			}
		}
	}
}

func TestCurveAndBars(t *testing.T) {
	for name, values := range distributions(5000) {
		var h Histogram
		for _, v := range values {
			h.Record(v)
		}
		d := h.describe(effects{})
		if len(d.Curve) > 60 || len(d.Bars) > 60 || len(d.Bars) == 0 {
			t.Fatalf("%s: %d points, %d bars", name, len(d.Curve), len(d.Bars))
		}
		sum := int64(0)
		for i, b := range d.Bars {
			sum += b.Count
			if b.ToNS <= b.FromNS || i > 0 && b.FromNS != d.Bars[i-1].ToNS {
				t.Errorf("%s: bar %d is %+v", name, i, b)
			}
		}
		if sum != h.n {
			t.Errorf("%s: bars hold %d of %d", name, sum, h.n)
		}
		if !slices.IsSortedFunc(d.Curve, func(a, b CurvePoint) int { return int(a.NS - b.NS) }) || d.Curve[len(d.Curve)-1].NS != h.max {
			t.Errorf("%s: curve %v", name, d.Curve)
		}
	}
}
