package reporters

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"runner/reporters/stats"
)

// Clean returns s as it may be shown: invalid UTF-8 becomes U+FFFD, control
// characters other than newline and tab become their visible pictures (ESC is ␛),
// and characters that turn the direction of text or are not allowed in XML become
// U+FFFD. It is the only door from a target's text to a terminal or a report.
func Clean(s string) string {
	if isClean(s) {
		return s
	}
	var b strings.Builder
	b.Grow(len(s) + 8)
	for _, r := range s { // an invalid byte ranges as U+FFFD
		b.WriteRune(visible(r))
	}
	return b.String()
}

// CleanLine is Clean for one line: newlines and tabs become pictures too.
func CleanLine(s string) string {
	s = Clean(s)
	if !strings.ContainsAny(s, "\n\t") {
		return s
	}
	return strings.NewReplacer("\n", "␊", "\t", "␉").Replace(s)
}

// isClean reports in one pass whether Clean would change nothing.
func isClean(s string) bool {
	ascii := true
	for i := range len(s) {
		c := s[i]
		if c < 0x20 && c != '\n' && c != '\t' || c == 0x7f {
			return false
		}
		ascii = ascii && c < utf8.RuneSelf
	}
	if ascii {
		return true
	}
	if !utf8.ValidString(s) {
		return false
	}
	for _, r := range s {
		if visible(r) != r {
			return false
		}
	}
	return true
}

// visible returns what stands for r.
func visible(r rune) rune {
	switch {
	case r == '\n', r == '\t':
		return r
	case r < 0x20:
		return 0x2400 + r
	case r == 0x7f:
		return 0x2421
	case r >= 0x80 && r < 0xa0, // C1: some terminals obey them
		r == 0x061c, r >= 0x200b && r <= 0x200f, // zero width and direction marks
		r >= 0x2028 && r <= 0x202e, r >= 0x2060 && r <= 0x206f, // separators, overrides, isolates
		r == 0xfeff, r >= 0xfff9 && r <= 0xfffb, r == 0xfffe, r == 0xffff,
		r >= 0xe0000 && r <= 0xe007f: // tags
		return utf8.RuneError
	}
	return r
}

// cleaned returns a copy of s that may be rendered: texts cleaned, and repaired.
func cleaned(s *stats.Summary) *stats.Summary {
	return tidy(s, Clean)
}

// repaired returns a copy of s without NaN, infinities, null lists and columns of
// unequal length; texts stay byte for byte.
func repaired(s *stats.Summary) *stats.Summary {
	return tidy(s, nil)
}

func tidy(s *stats.Summary, text func(string) string) *stats.Summary {
	out := reflect.New(reflect.TypeFor[stats.Summary]()).Elem()
	tidier{text}.copy(out, reflect.ValueOf(s).Elem())
	c := out.Addr().Interface().(*stats.Summary)
	levelTimeline(&c.Timeline)
	return c
}

// tidier copies values of the summary's types by reflection, so that a field
// added to them can never be forgotten.
type tidier struct{ text func(string) string }

func (t tidier) copy(dst, src reflect.Value) {
	switch src.Kind() {
	case reflect.String:
		dst.SetString(t.str(src.String()))
	case reflect.Float64:
		if f := src.Float(); !math.IsNaN(f) && !math.IsInf(f, 0) {
			dst.SetFloat(f)
		}
	case reflect.Pointer:
		t.pointer(dst, src)
	case reflect.Struct:
		t.structure(dst, src)
	case reflect.Slice:
		t.slice(dst, src)
	case reflect.Map:
		t.mapping(dst, src)
	default:
		dst.Set(src)
	}
}

func (t tidier) str(s string) string {
	if t.text == nil {
		return s
	}
	return t.text(s)
}

func (t tidier) pointer(dst, src reflect.Value) {
	if src.IsNil() {
		return
	}
	if e := src.Elem(); e.Kind() == reflect.Float64 && (math.IsNaN(e.Float()) || math.IsInf(e.Float(), 0)) {
		return
	}
	dst.Set(reflect.New(src.Type().Elem()))
	t.copy(dst.Elem(), src.Elem())
}

func (t tidier) structure(dst, src reflect.Value) {
	if src.Type().PkgPath() != reflect.TypeFor[stats.Summary]().PkgPath() {
		dst.Set(src) // time.Time
		return
	}
	for i := range src.NumField() {
		t.copy(dst.Field(i), src.Field(i))
	}
}

func (t tidier) slice(dst, src reflect.Value) {
	switch v := src.Interface().(type) {
	case []*int64: // the bulk of a summary: shared, since nothing in it can be hostile
		dst.Set(reflect.ValueOf(notNil(v)))
		return
	case []int64:
		dst.Set(reflect.ValueOf(notNil(v)))
		return
	}
	out := reflect.MakeSlice(src.Type(), src.Len(), src.Len())
	for i := range src.Len() {
		t.copy(out.Index(i), src.Index(i))
	}
	dst.Set(out)
}

func notNil[T any](v []T) []T {
	if v == nil {
		return []T{}
	}
	return v
}

func (t tidier) mapping(dst, src reflect.Value) {
	out := reflect.MakeMapWithSize(src.Type(), src.Len())
	for it := src.MapRange(); it.Next(); {
		k, v := reflect.New(src.Type().Key()).Elem(), reflect.New(src.Type().Elem()).Elem()
		t.copy(k, it.Key())
		t.copy(v, it.Value())
		for out.MapIndex(k).IsValid() { // two keys became one by cleaning
			k.SetString(k.String() + "'")
		}
		out.SetMapIndex(k, v)
	}
	dst.Set(out)
}

// levelTimeline makes every column as long as the time axis.
func levelTimeline(t *stats.Timeline) {
	n := len(t.TS)
	t.ActiveThreads = level(t.ActiveThreads, n)
	t.Planned = level(t.Planned, n)
	if len(t.ClosedThreads) > 0 {
		t.ClosedThreads = level(t.ClosedThreads, n)
	}
	if a := t.Arrivals; a != nil {
		a.Planned, a.Started, a.Dropped = level(a.Planned, n), level(a.Started, n), level(a.Dropped, n)
	}
	t.Throughput = level(t.Throughput, n)
	t.Dropped = level(t.Dropped, n)
	t.LengthS = level(t.LengthS, n)
	recorded := slices.ContainsFunc(t.LengthS, func(v float64) bool { return v > 0 })
	for i, v := range t.LengthS {
		if !recorded || !(v >= 0) {
			t.LengthS[i] = t.IntervalS
		}
	}
	for i := range t.Series {
		s := &t.Series[i]
		s.Count, s.Failed, s.Bytes = level(s.Count, n), level(s.Failed, n), level(s.Bytes, n)
		if len(s.Unsent) > 0 {
			s.Unsent = level(s.Unsent, n)
		}
		s.P50, s.P95, s.P99, s.Max = level(s.P50, n), level(s.P95, n), level(s.P99, n), level(s.Max, n)
	}
	for i := range t.Metrics {
		m := &t.Metrics[i]
		m.Count, m.Value = level(m.Count, n), level(m.Value, n)
		for _, col := range []*[]*float64{&m.P50, &m.P95, &m.Max} {
			if len(*col) > 0 {
				*col = level(*col, n)
			}
		}
	}
}

func level[T any](col []T, n int) []T {
	if len(col) == n {
		return col
	}
	out := make([]T, n)
	copy(out, col)
	return out
}
