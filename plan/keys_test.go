package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/plan"
	"runner/plan/source"
)

// TestParserAndGrammarAgree asks the parser for the keys that it accepts at each
// place, and compares them with the table that schema and reference are made of.
func TestParserAndGrammarAgree(t *testing.T) {
	const group = "thread_groups:\n  g:\n    load: {threads: 1, iterations: 1}\n    steps:\n"
	for _, tt := range []struct{ object, yaml string }{
		{"plan", "qqqqqqqqqqqq: 1"},
		{"secret", "secrets: {a: {qqqqqqqqqqqq: 1}}"},
		{"data", "data: {a: {qqqqqqqqqqqq: 1}}"},
		{"reports", "reports: {qqqqqqqqqqqq: 1}"},
		{"group", "thread_groups: {a: {qqqqqqqqqqqq: 1}}"},
		{"load", "thread_groups: {a: {load: {qqqqqqqqqqqq: 1}}}"},
		{"thread_stage", "thread_groups: {a: {load: {threads: [{qqqqqqqqqqqq: 1}]}}}"},
		{"rate_stage", "thread_groups: {a: {load: {rate: [{qqqqqqqqqqqq: 1}]}}}"},
		{"step", group + "      - {qqqqqqqqqqqq: 1}"},
		{"counter", "counters: {a: {qqqqqqqqqqqq: 1}}"},
		{"fragment", "fragments: {a: {qqqqqqqqqqqq: 1}}"},
		{"switch", group + "      - switch: {qqqqqqqqqqqq: 1}"},
		{"percent", group + "      - {percent: {qqqqqqqqqqqq: 1}, pause: 1s}"},
		{"choice", group + "      - choose: [{qqqqqqqqqqqq: 1}]"},
		{"threshold", "thresholds: {qqqqqqqqqqqq: 1}"},
	} {
		t.Run(tt.object, func(t *testing.T) {
			_, ds := plan.Parse(source.New("t.yaml", []byte(tt.yaml+"\n")), registry(t))
			i := slices.IndexFunc(ds, func(d source.Diagnostic) bool { return d.Code == "unknown-key" })
			if i < 0 {
				t.Fatalf("no unknown key in:\n%s", render(t, ds))
			}
			list := strings.TrimPrefix(ds[i].Detail, "the keys here are ")
			got := slices.DeleteFunc(strings.Split(list, ", "), func(k string) bool { return tt.object == "step" && registry(t).Lookup(1, k) != nil })
			want := plan.KeysOf(tt.object)
			slices.Sort(got)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("keys (-grammar +parser):\n%s", diff)
			}
		})
	}
}
