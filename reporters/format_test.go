package reporters

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"runner/reporters/stats"
)

func TestFormats(t *testing.T) {
	tests := []struct{ got, want string }{
		{duration(0), "0 ms"}, {duration(999), "999 ns"}, {duration(45_300), "45.3 µs"}, {duration(812e6), "812 ms"}, {duration(1.2349e9), "1.23 s"}, {duration(61e9), "61 s"},
		{duration(-5e6), "-5 ms"}, {durationPtr(nil), "n/a"},
		{span(45 * time.Second), "45 s"}, {span(750 * time.Second), "12 min 30 s"}, {span(65 * time.Minute), "1 h 05 min"}, {span(24 * time.Hour), "24 h 00 min"},
		{clock(0), "0:00"}, {clock(75 * time.Second), "1:15"}, {clock(time.Hour + 2*time.Minute + 3*time.Second), "1:02:03"},
		{share(0), "0%"}, {share(1), "100%"}, {share(.5), "50%"}, {share(.01234), "1.23%"}, {share(.999), "99.9%"}, {share(.99999), ">99.99%"}, {share(1e-6), "<0.001%"}, {share(2.5), "250%"},
		{rate(0), "0.00/s"}, {rate(1.256), "1.26/s"}, {rate(498.21), "498.2/s"}, {rate(12_345.6), "12,346/s"},
		{size(999), "999 B"}, {size(12_345), "12.3 KB"}, {size(4.84e9), "4.84 GB"}, {size(2e12), "2 TB"},
		{count(0), "0"}, {count(999), "999"}, {count(1000), "1,000"}, {count(-1_234_567), "-1,234,567"},
		{plural(1, "error"), "1 error"}, {plural(2000, "error"), "2,000 errors"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("got %q, want %q", tt.got, tt.want)
		}
	}
}

func TestUnequalFiguresLookUnequal(t *testing.T) {
	tests := []struct {
		value, limit        float64
		unit                string
		wantValue, wantLimt string
	}{
		{120.04e6, 120e6, "ns", "120.04 ms", "120 ms"},
		{.0100001, .01, "share", "1.00001%", "1%"},
		{494.9999, 495, "per_second", "494.9999/s", "495/s"},
		{10_000_001, 1e7, "bytes", "10.000001 MB", "10 MB"},
		{1.12e9, 8e8, "ns", "1.12 s", "800 ms"},
		{5, 5, "", "5", "5"},
	}
	for _, tt := range tests {
		v, l := measured(&stats.ThresholdResult{Value: &tt.value, Limit: tt.limit, Unit: tt.unit})
		if v != tt.wantValue || l != tt.wantLimt {
			t.Errorf("%v against %v: %s, %s; want %s, %s", tt.value, tt.limit, v, l, tt.wantValue, tt.wantLimt)
		}
	}
}

func TestClean(t *testing.T) {
	tests := map[string]string{
		"plain ASCII, Ünïcödé 漢字 🛒": "plain ASCII, Ünïcödé 漢字 🛒",
		"a\nb\tc":                   "a\nb\tc",
		"\x1b[2J\x00\x7f\r":         "␛[2J␀␡␍",
		"a\xffb":                    "a�b",
		"\u202egnp\u2069\u200b":     "�gnp��",
		"\u009b2J\ufeff\uffff":      "�2J��",
	}
	for in, want := range tests {
		if got := Clean(in); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
	if got := CleanLine("a\r\nb\tc"); got != "a␍␊b␉c" {
		t.Errorf("line: %q", got)
	}
	if n := testing.AllocsPerRun(100, func() { Clean("GET /products/漢字") }); n != 0 {
		t.Errorf("clean text costs %v allocations", n)
	}
}

func FuzzClean(f *testing.F) {
	f.Add(hostileName)
	f.Fuzz(func(t *testing.T, s string) {
		got := Clean(s)
		if !utf8.ValidString(got) || Clean(got) != got || strings.ContainsAny(got, "\x00\x1b\r\u009b\u202e") {
			t.Errorf("%q became %q", s, got)
		}
		if strings.ContainsAny(CleanLine(s), "\n\t") {
			t.Errorf("%q has more than one line", s)
		}
	})
}

// A table of times has one unit, and the decimals that its smaller values need.
func TestTablesHaveOneUnit(t *testing.T) {
	d := func(p50, largest int64) *stats.Distribution {
		return &stats.Distribution{P50: &p50, Mean: float64(p50), Max: largest}
	}
	tests := []struct {
		ds   []*stats.Distribution
		ns   float64
		want string
	}{
		{[]*stats.Distribution{d(45_300, 9e6), nil}, 45_300, "0.045 ms"},
		{[]*stats.Distribution{d(45_300, 5e9), d(2e9, 4e9)}, 2e9, "2,000.00 ms"},
		{[]*stats.Distribution{d(4e6, 9e8)}, 4_123_456, "4.12 ms"},
		{[]*stats.Distribution{d(4e7, 9e8)}, 41_234_567, "41.2 ms"},
		{[]*stats.Distribution{d(4e9, 2e11)}, 90.5e9, "90.50 s"},
		{nil, 1e6, "1.0 ms"},
	}
	for _, tt := range tests {
		if u := unitOf(tt.ds); u.in(tt.ns)+" "+u.Name != tt.want {
			t.Errorf("%s %s, want %s", u.in(tt.ns), u.Name, tt.want)
		}
	}
}
