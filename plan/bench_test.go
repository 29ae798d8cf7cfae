package plan_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"runner/plan"
	"runner/plan/engine"
	"runner/plan/source"
)

// large is a plan of many steps with what steps have in practice.
func large(steps int) string {
	var b strings.Builder
	b.WriteString("plan: Large\nvars: {base: \"http://h\"}\ndefaults: {http: {base_url: \"${base}\", headers: {Accept: application/json}}}\n" +
		"thread_groups:\n  g:\n    load: {threads: 1, iterations: 1}\n    assertions: [{duration: 2s}]\n    steps:\n")
	for i := range steps {
		fmt.Fprintf(&b, "      - name: Step %d\n        http: {request: \"POST /items/%d?x=${thread.id}\", json: {id: %d, name: \"n${thread.iteration}\"}}\n"+
			"        extract: {v%d: json.items.id}\n        assertions:\n          - status: 200\n          - json.ok == true and v%d != nil\n", i, i, i, i, i)
	}
	return b.String()
}

// TestWorkGrowsWithThePlan pins what 1,000 steps cost until they may run: memory
// requests are exact where time is not.
func TestWorkGrowsWithThePlan(t *testing.T) {
	reg := registry(t)
	requests := func(steps int) float64 {
		f := source.New("large.yaml", []byte(large(steps)))
		return testing.AllocsPerRun(1, func() {
			p, ds := plan.Parse(f, reg)
			ds = append(ds, plan.Validate(p, reg, plan.Options{})...)
			values, problems := p.Evaluate(plan.EvalOptions{})
			ds = append(ds, problems...)
			_, problems = engine.Compile(p, values, reg, engine.Options{Masker: values.Masker})
			if ds = append(ds, problems...); len(ds) > 0 {
				t.Fatalf("diagnostics:\n%s", render(t, ds[:1]))
			}
		})
	}
	few, many := requests(250), requests(1000)
	if many > 4.2*few {
		t.Errorf("1,000 steps need %.0f allocations, 250 steps %.0f: the work is not linear", many, few)
	}
	if perStep := many / 1000; perStep > 620 {
		t.Errorf("%.0f allocations per step, want at most 620", perStep)
	}
}

func BenchmarkParseAndValidate1000Steps(b *testing.B) {
	f, reg := source.New("large.yaml", []byte(large(1000))), registry(b)
	b.ReportAllocs()
	for b.Loop() {
		p, _ := plan.Parse(f, reg)
		plan.Validate(p, reg, plan.Options{})
	}
}

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/ok/*.yaml", "testdata/err/*.yaml"} {
		for _, path := range files(f, pattern) {
			text, err := os.ReadFile(path)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(text)
		}
	}
	reg := registry(f)
	f.Fuzz(func(t *testing.T, text []byte) {
		file := source.New("fuzz.yaml", text)
		p, ds := plan.Parse(file, reg)
		if p == nil {
			if !ds.HasErrors() {
				t.Error("no plan and no error")
			}
		} else {
			ds = append(ds, plan.Validate(p, reg, plan.Options{})...)
			if !ds.HasErrors() {
				plan.Explain(p)
				p.Evaluate(plan.EvalOptions{})
			}
		}
		for _, d := range ds {
			if r := d.Range; !r.IsZero() && (r.Start.Offset > len(text) || r.End.Offset > len(text) || r.End.Offset < r.Start.Offset) {
				t.Errorf("%s: range outside the text: %v", d.Code, r)
			}
		}
		render(t, ds)
		source.JSON(ds)
	})
}
