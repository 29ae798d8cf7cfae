package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/plan"
	"runner/plan/source"
)

// TestLongListsReadAsShortOnes holds the diagnostics of many steps, which are read
// side by side, against those of the same steps in groups too small for that.
func TestLongListsReadAsShortOnes(t *testing.T) {
	reg := registry(t)
	step := func(i int) string {
		return fmt.Sprintf("      - name: Step %d\n        http: {request: \"GET http://h/${gone%d}\", jsn: {}}\n        if: other%d == 1\n"+
			"        extract: {v%d: json.id}\n        asertions: []\n      - call: login\n        with: {user: u%d, extra: 1}\n", i, i, i, i, i)
	}
	found := func(steps, perGroup int) []string {
		var b strings.Builder
		b.WriteString("plan: Long\nfragments:\n  login: {params: [user], steps: [{http: \"GET http://h/${user}\"}]}\nthread_groups:\n")
		for i := range steps {
			if i%perGroup == 0 {
				fmt.Fprintf(&b, "  g%d:\n    load: {threads: 1, iterations: 1}\n    steps:\n", i)
			}
			b.WriteString(step(i))
		}
		p, ds := plan.Parse(source.New("long.yaml", []byte(b.String())), reg)
		ds = append(ds, plan.Validate(p, reg, plan.Options{})...)
		var out []string
		for _, d := range ds {
			out = append(out, d.Code+": "+d.Summary+" — "+d.Range.Text())
		}
		return out
	}
	short := found(70, 7)
	for range 3 {
		if diff := cmp.Diff(short, found(70, 70)); diff != "" {
			t.Fatalf("-in short lists +in one list:\n%s", diff)
		}
	}
	if len(short) < 5*70 {
		t.Errorf("%d problems found, want some for each step", len(short))
	}
}
