package expr

import (
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/source"
)

func TestParseUnits(t *testing.T) {
	for text, want := range map[string]string{
		"300ms": "300ms", "2s": "2s", "1m30s": "1m30s", "2h": "2h0m0s", "1.5s": "1.5s", "1d": "24h0m0s", "0s": "0s", "100us": "100µs",
		"60": `"60" has no unit; write 60s, 60ms or 60m`, "1s1m": `"1s1m" has its units out of order; write the largest first, as 1m30s`, "5sec": `"5sec" has the unknown unit "sec"; write 5s`,
		"5min": `"5min" has the unknown unit "min"; write 5m`, "5S": `"5S" has the unit "S" in the wrong case; write 5s`, "-1s": `"-1s" is negative; write 1s`, "abc": `"abc" is not a duration; write one like 300ms, 2s or 1m30s`,
		"": "a duration is missing; write one like 300ms, 2s or 1m30s", "1s ": "*", "1..2s": "*", "999999999h": `"999999999h" is too long for a duration; write a shorter one, as 24h`, "5x": `"5x" has the unknown unit "x"; the units are ns us ms s m h d`,
	} {
		got, err := ParseDuration(text)
		said := got.String()
		if err != nil {
			said = err.Error()
		}
		if said != want && (want != "*" || err == nil) {
			t.Errorf("duration %q: got %s, want %s", text, said, want)
		}
	}
	for text, want := range map[string]string{
		"500/s": "500/s", "0.5/s": "30/min", "30000/min": "500/s", "10/h": "10/h", "7/min": "7/min", "0/s": "0/s",
		"500": `"500" has no unit; write 500/s, 500/min or 500/h`, "5/m": `"5/m" has no unit of a rate after the slash; write 5/min`, "x/s": `"x/s" is not a rate; write one like 500/s, 30000/min or 10/h`,
	} {
		got, err := ParseRate(text)
		said := got.String()
		if err != nil {
			said = err.Error()
		}
		if said != want {
			t.Errorf("rate %q: got %s, want %s", text, said, want)
		}
	}
	for text, want := range map[string]string{
		"10KB": "10KB", "1MiB": "1MiB", "1024B": "1KiB", "1.5KB": "1500B", "10": `"10" has no unit; write 10B, 10KB or 10KiB`, "10kb": `"10kb" has the unit "kb" in the wrong case; write 10KB`, "0B": "0B",
	} {
		got, err := ParseSize(text)
		said := got.String()
		if err != nil {
			said = err.Error()
		}
		if said != want && !(text == "10kb" && strings.Contains(said, "wrong case")) {
			t.Errorf("size %q: got %s, want %s", text, said, want)
		}
	}
	for text, want := range map[string]string{"1%": "1%", "0.1%": "0.1%", "33.3%": "33.3%", "50": `"50" has no unit; write 50%`, "x%": `"x%" is not a share; write one like 1% or 0.5%`} {
		got, err := ParseShare(text)
		said := got.String()
		if err != nil {
			said = err.Error()
		}
		if said != want {
			t.Errorf("share %q: got %s, want %s", text, said, want)
		}
	}
	if lo, hi, err := ParseRange("1s..3s"); lo != time.Second || hi != 3*time.Second || err != nil {
		t.Error(lo, hi, err)
	}
	if _, _, err := ParseRange("3s..1s"); err == nil || err.Error() != `the range "3s..1s" runs backwards; write 1s..3s` {
		t.Error(err)
	}
}

func TestInfer(t *testing.T) {
	for text, want := range map[string]any{
		"5": int64(5), "-5": int64(-5), "1.5": 1.5, "1e3": 1000.0, "true": true, "false": false, "True": "True", "yes": "yes", "012": "012", "1_000": "1_000",
		"1m": time.Minute, "10/s": Rate(10), "1 / s": "1 / s", "10KB": Size(10000), "1%": Share(0.01), "": "", "abc": "abc", "2024-01-02": "2024-01-02", "1.2.3": "1.2.3", "0x10": "0x10",
		"99999999999999999999": "99999999999999999999", ".5": ".5", "1.10": 1.1, "NaN": "NaN", "-": "-", "10.0.0.1": "10.0.0.1",
	} {
		if diff := cmp.Diff(want, Infer(text)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestFormatText(t *testing.T) {
	for _, c := range []struct {
		v    any
		want string
	}{
		{int64(1200000000), "1200000000"}, {1.2e9, "1200000000"}, {1.2e9 + 0.5, "1200000000.5"}, {0.1, "0.1"}, {math.MaxInt64, "9223372036854775807"}, {true, "true"},
		{[]any{int64(1), "a<b", nil}, `[1,"a<b",null]`}, {map[string]any{"b": 1.0, "a": Secret{"x"}}, `{"a":"x","b":1}`}, {NewSecret("s"), "s"}, {90 * time.Second, "1m30s"}, {[]int{1, 2}, "[1,2]"},
	} {
		if got, err := FormatText(c.v); got != c.want || err != nil {
			t.Errorf("%v: %q, %v", c.v, got, err)
		}
	}
	if _, err := FormatText(nil); err == nil {
		t.Error("nil is text")
	}
	if got := fmt.Sprintf("%v %s %#v %+v", NewSecret("x"), NewSecret("x"), NewSecret("x"), map[string]any{"a": NewSecret("x")}); got != "*** *** *** map[a:***]" {
		t.Error(got)
	}
}

func TestDidYouMean(t *testing.T) {
	keys := []string{"threads", "duration", "ramp_up", "iterations", "rate", "steps", "n"}
	for word, want := range map[string]string{
		"thread": "threads", "treads": "threads", "threasd": "threads", "durration": "duration", "rampup": "ramp_up", "Rate": "rate", "rat": "rate", "xyz": "", "m": "", "step": "steps", "": "",
	} {
		if got := DidYouMean(word, keys); got != want {
			t.Errorf("%q: got %q, want %q", word, got, want)
		}
	}
}

func TestReserved(t *testing.T) {
	have := strings.Join(Reserved(nil), " ")
	for _, name := range []string{"status", "json", "len", "uuid", "fake", "secrets", "env", "and", "thread"} {
		if !strings.Contains(" "+have+" ", " "+name+" ") {
			t.Errorf("%s is not reserved", name)
		}
	}
	if strings.Contains(have, "fake.") || strings.Contains(have, "@") {
		t.Error(have)
	}
}

func TestParseComparison(t *testing.T) {
	metrics := map[string]string{"orders": "counter", "cart": "trend", "paid": "rate"}
	for text, want := range map[string]string{
		"p95 < 500ms": "p95 < 5e+08 duration", "p(99.9)<=2s": "p99.9 <= 2e+09 duration", "p(95) < 1s": "p95 < 1e+09 duration", "latency.p95 < 100ms": "latency.p95 < 1e+08 duration", "latency.p(99.9) < 1s": "latency.p99.9 < 1e+09 duration",
		"errors < 1%": "errors < 0.01 share", "error_count == 0": "error_count == 0 int", "throughput >= 495/s": "throughput >= 495 rate", "received < 10MB": "received < 1e+07 size", "apdex > 0.9": "apdex > 0.9 float",
		"generator.lag.p99 < 1ms": "generator.lag.p99 < 1e+06 duration", "generator.cpu < 80%": "generator.cpu < 0.8 share", "orders.rate > 5/s": "orders.rate > 5 rate", "cart.p95 < 100": "cart.p95 < 100 float", "paid.rate >= 99%": "paid.rate >= 0.99 share",
		"p95 < 500":          "6-9 unit-missing: `p95` is a duration, and 500 has no unit; write p95 < 500ms",
		"p95 < 10KB":         "6-10 unit-mismatch: `p95` is a duration, and 10KB is a size; write 500ms",
		"errors < 1":         "9-10 unit-missing: `errors` is a share, and 1 has no unit; write errors < 1%",
		"errors = 1%":        "7-8 assignment-in-expression: a single = does not compare; write ==",
		"500ms > p95":        "0-11 bad-threshold: the figure stands on the left of a threshold; write p95 < 500ms",
		"p59 < 1s":           "0-3 unknown-figure: `p59` is not a figure of a threshold; write p(59)",
		"avg < 1s":           "0-3 unknown-figure: `avg` is not a figure of a threshold; write mean",
		"error_rate < 1%":    "0-10 unknown-figure: `error_rate` is not a figure of a threshold; write errors",
		"p95 < 1s and p99<2": "8-13 bad-threshold: a threshold is one comparison; write two thresholds in a list",
		"p95":                "0-3 bad-threshold: `p95` is not a comparison; write a figure, an operator and a constant, as in p95 < 500ms or errors < 1%",
		"p95 < ${x}":         "6-8 interpolation-in-expression: a threshold is written without ${ }; write a constant, as in p95 < 500ms",
		"orders < 5":         "0-6 unknown-figure: `orders` is not a figure of a threshold; write a figure of the metric, as orders.count",
		"p999 < 1s":          "0-4 unknown-figure: `p999` is not a figure of a threshold; write p(99.9)",
		"p99.9 < 1s":         "0-5 unknown-figure: `p99.9` is not a figure of a threshold; write p(99.9)",
	} {
		var ds source.Diagnostics
		c, ok := ParseComparison(scalar(text, false), metrics, &ds)
		got := render(ds)
		if ok {
			got = fmt.Sprintf("%s %s %g %s", c.Figure, c.Op, c.Limit, c.Unit)
		}
		if got != want {
			t.Errorf("%s\n got %s\nwant %s", text, got, want)
		}
	}
	p, ok := Comparison{Figure: "latency.p99.9"}.Percentile()
	if math.Abs(p-0.999) > 1e-12 || !ok {
		t.Error(p, ok)
	}
	if _, ok := (Comparison{Figure: "paid.rate"}).Percentile(); ok {
		t.Error("paid.rate is no percentile")
	}
}
