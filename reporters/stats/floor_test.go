package stats

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

func TestNewFloor(t *testing.T) {
	var times []time.Duration
	for k := range 200 {
		times = append(times, time.Duration(200-k)*time.Microsecond)
	}
	diffEmpty(t, "of 1 to 200 µs", cmp.Diff(&Floor{P50: 100_000, P99: 198_000, N: 200}, NewFloor(times)))
	if NewFloor(nil) != nil {
		t.Error("a floor of nothing")
	}
}

// floored is a run with that floor whose rows of the load take so long each; the
// kind of the second may differ from http.
func floored(floor *Floor, kind string, times ...time.Duration) *rig {
	l := testLayout()
	l.Series[1].Kind = kind
	for k := 4; k < len(times); k++ {
		l.Series = append(l.Series, element.Series{ID: k, Group: 0, Name: "more", Kind: "http", Phase: element.Load})
	}
	r := &rig{clock: &fakeClock{}}
	r.Recorder = New(l, Options{Now: r.clock.now, Process: noProcess, Journal: &r.journal, Shards: 1, Info: Info{Floor: floor}})
	for row, took := range times {
		for range 10 {
			if took > 0 {
				r.run(0, sample(row, r.clock.at, took))
			}
		}
	}
	r.second()
	return r
}

// TestNearTheFloor injects the floor: medians below five times of it are named, at
// most three, and only those of the http sampler.
func TestNearTheFloor(t *testing.T) {
	const µs = time.Microsecond
	floor := &Floor{P50: 35_000, P99: 90_000, N: 200}
	tests := map[string]struct {
		r    *rig
		want string // "" is no mark
	}{
		"5 ms":                        {floored(floor, "http", 5*time.Millisecond, 6*time.Millisecond), ""},
		"just above":                  {floored(floor, "http", 176*µs), ""},
		"just below":                  {floored(floor, "http", 174*µs), "of closed / GET / (174 µs) is below 5 × 35 µs"},
		"one of two":                  {floored(floor, "http", 100*µs, 5*time.Millisecond), "of the total (100 µs), closed / GET / (100 µs) is"},
		"both":                        {floored(floor, "http", 100*µs, 110*µs), "of the total (100 µs), closed / GET / (100 µs), open / POST / (110 µs) is"},
		"setup too":                   {floored(floor, "http", 100*µs, 100*µs, 90*µs), "of the total (100 µs), closed / GET / (100 µs), open / POST / (100 µs) and 1 other is"},
		"another sampler":             {floored(floor, "dummy", 0, 50*µs), ""},
		"http beside another sampler": {floored(floor, "dummy", 100*µs, 50*µs), "of closed / GET / (100 µs) is"},
		"many":                        {floored(floor, "http", 100*µs, 100*µs, 0, 0, 100*µs, 100*µs), "open / POST / (100 µs) and 2 others is"},
		"no floor":                    {floored(nil, "http", 1*µs), ""},
	}
	for name, tt := range tests {
		s := tt.r.Summary(EndInfo{})
		got := s.Generator.NearFloor
		if (got != "") != (tt.want != "") || !strings.Contains(got, tt.want) || got != "" && !strings.HasPrefix(got, "near the floor of this machine: ") {
			t.Errorf("%s: %q, want %q", name, got, tt.want)
		}
		again, err := ReadJournal(bytes.NewReader(tt.r.journal.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		diffEmpty(t, name, cmp.Diff(s.Generator, again.Generator))
	}
}

func TestMergeTakesTheLargestFloor(t *testing.T) {
	small, large := &Floor{P50: 35_000, P99: 90_000, N: 200}, &Floor{P50: 80_000, P99: 85_000, N: 150}
	for _, floors := range [][]*Floor{{small, large}, {large, small}, {nil, large}, {large, nil}} {
		var parts []Part
		for _, f := range floors {
			r := floored(f, "http", 300*time.Microsecond)
			r.Summary(EndInfo{})
			parts = append(parts, partOf(t, "a", r))
		}
		s, err := Merge(parts)
		if err != nil {
			t.Fatal(err)
		}
		diffEmpty(t, "merged", cmp.Diff(large, s.Generator.Floor))
		if s.Generator.NearFloor == "" {
			t.Error("300 µs are not marked beside a floor of 80 µs")
		}
	}
}

func TestImpossibleFloorsAreRefused(t *testing.T) {
	for _, f := range []Floor{{0, 1, 1}, {-5, 1, 1}, {2, 1, 1}, {1, 1, 0}, {1 << 62, 1 << 62, 1}} {
		r := floored(&f, "http", time.Millisecond)
		if _, err := ReadJournal(bytes.NewReader(r.journal.Bytes())); err == nil {
			t.Errorf("%+v is read", f)
		}
	}
}
