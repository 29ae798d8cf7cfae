package plan_test

import (
	"strings"
	"testing"

	"runner/plan"
	"runner/plan/source"
)

// TestHostilePlansEnd feeds large plans that are meant to make some part of the
// work quadratic. Each must end, which for anything much worse than n·log n it
// would not within the time that tests are given.
func TestHostilePlansEnd(t *testing.T) {
	const n = 400 << 10
	fill := func(text string) string { return strings.Repeat(text, n/len(text)) }
	const head = "plan: T\nthread_groups:\n  g:\n    load: {threads: 1, iterations: 1}\n    steps:\n"
	for _, tt := range []struct{ name, text string }{
		{"one line", "plan: [" + fill("a, ") + "a]\n"},
		{"wide runes", "plan: [" + fill("日, ") + "a]\n"},
		{"tags", head + fill("      - !a\n")},
		{"anchors", head + fill("      - &a\n")},
		{"steps", head + fill("      - {if: a, set: {a: 1}}\n")},
		{"same names", head + fill("      - http: GET http://h/\n")},
		{"unknown keys", "plan: T\n" + numbered(n, "k", ": 1\n")},
		{"vars", "plan: T\nvars:\n" + numbered(n, "  v", ": 1\n")},
		{"quotes", head + fill("      - \"a\n")},
		{"brackets", head + fill("      - [a[0]]\n")},
		{"colons", fill("a: b: c\n")},
		{"comment marks", "plan: " + fill("a #b ")},
		{"blank", fill(" ")},
		{"templates", head + "      - log: '" + fill("${a}") + "'\n"},
		{"carets", fill("? ")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			reg := registry(t)
			p, ds := plan.Parse(source.New("t.yaml", []byte(tt.text)), reg)
			ds = append(ds, plan.Validate(p, reg, plan.Options{})...)
			if len(ds) == 0 {
				t.Error("no diagnostics")
			}
			render(t, ds)
		})
	}
}

func numbered(size int, before, after string) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString(before)
		for x := i; ; x /= 26 {
			b.WriteByte(byte('a' + x%26))
			if x < 26 {
				break
			}
		}
		b.WriteString(after)
	}
	return b.String()
}
