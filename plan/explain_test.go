package plan_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/plan"
)

func TestExplainShowsWhatTakesEffectAndWhereItCameFrom(t *testing.T) {
	p, ds := check(t, "testdata/ok/login_browse.yaml")
	if len(ds) > 0 {
		t.Fatalf("diagnostics:\n%s", render(t, ds))
	}
	var got bytes.Buffer
	if err := plan.WriteExplain(&got, plan.Explain(p)); err != nil {
		t.Fatal(err)
	}
	const golden = "testdata/explain.out"
	if *update {
		if err := os.WriteFile(golden, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("explain (-want +got):\n%s", diff)
	}
}
