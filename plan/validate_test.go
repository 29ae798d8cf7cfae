package plan_test

import (
	"testing"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/source"
	"runner/samplers"
)

// TestElementsOfOtherVersions uses a registry without timers, assertions and
// extractors: their words are known, and said to be not available.
func TestElementsOfOtherVersions(t *testing.T) {
	reg, err := element.NewRegistry(nil, samplers.All())
	if err != nil {
		t.Fatal(err)
	}
	text := "plan: T\ntimers: {synchronizing: {threads: 3}}\nassertions: {xpath: a}\nextract: {a: {css: b}}\n" +
		"thread_groups: {g: {load: {threads: 1, iterations: 1}, steps: [{http: GET http://h/}]}}\n"
	_, ds := plan.Parse(source.New("t.yaml", []byte(text)), reg)
	if len(ds) != 3 {
		t.Fatalf("diagnostics:\n%s", render(t, ds))
	}
	for _, d := range ds {
		if d.Code != "not-available" {
			t.Errorf("%v, want not-available", d)
		}
	}
}
