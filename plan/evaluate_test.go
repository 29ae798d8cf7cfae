package plan_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan"
	"runner/plan/expr"
	"runner/plan/source"
)

const evaluated = `plan: T
vars:
  base: ${env.BASE ?? "http://h"}
  users: 5
  length: 1m
  slow: false
  rate: 10/s
  greeting: "to ${base}"
  must: ${env.MUST}
  list: [1, two]
secrets:
  key: {env: KEY}
  file: {file: secret.txt}
environments:
  staging: {vars: {users: 200, greeting: hi}, secrets: {key: {env: STAGING_KEY}}}
thread_groups:
  g:
    load: {threads: "${users}", duration: "${length}"}
    steps:
      - http: GET ${base}/
        name: Home of ${greeting}
`

func evaluate(t *testing.T, opts plan.EvalOptions) (*plan.Plan, *plan.Values, source.Diagnostics) {
	t.Helper()
	p, ds := plan.Parse(source.New("dir/t.yaml", []byte(evaluated)), registry(t))
	ds = append(ds, plan.Validate(p, registry(t), plan.Options{})...)
	if len(ds) > 0 {
		t.Fatalf("diagnostics:\n%s", render(t, ds))
	}
	v, ds := p.Evaluate(opts)
	return p, v, ds
}

func env(pairs map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) { v, ok := pairs[name]; return v, ok }
}

func readSecret(path string) ([]byte, error) {
	if path != "dir/secret.txt" {
		return nil, errors.New("no such file")
	}
	return []byte("from file\n"), nil
}

func TestEvaluate(t *testing.T) {
	p, v, ds := evaluate(t, plan.EvalOptions{
		Getenv:      env(map[string]string{"MUST": "m", "STAGING_KEY": "sk-123456"}),
		Environment: "staging",
		Vars:        map[string]string{"length": "2h", "slow": "true", "base": "http://other"},
		ReadFile:    readSecret,
		RunID:       "r1",
	})
	if len(ds) > 0 {
		t.Fatalf("diagnostics:\n%s", render(t, ds))
	}
	want := map[string]any{"base": "http://other", "users": int64(200), "length": 2 * time.Hour, "slow": true,
		"rate": expr.Rate(10), "greeting": "hi", "must": "m", "list": []any{int64(1), "two"}}
	if diff := cmp.Diff(want, v.Vars); diff != "" {
		t.Errorf("vars (-want +got):\n%s", diff)
	}
	if id, _ := v.Lookup("run.id"); id != "r1" {
		t.Errorf("run.id is %v", id)
	}
	if s, _ := v.Lookup("secrets.key"); s.(expr.Secret).Reveal() != "sk-123456" {
		t.Error("the environment's secret is not used")
	}
	if s, _ := v.Lookup("secrets.file"); s.(expr.Secret).Reveal() != "from file" {
		t.Error("the secret's file is not read, or keeps its line break")
	}
	if got := v.Masker.Mask("x sk-123456 y"); got != "x *** y" {
		t.Errorf("masked: %q", got)
	}
	if got := p.Groups[0].Steps[0].Name; got != "Home of hi" {
		t.Errorf("the step's name is %q", got)
	}
}

func TestEvaluateListsEverythingThatIsMissing(t *testing.T) {
	_, _, ds := evaluate(t, plan.EvalOptions{Environment: "stagin", Vars: map[string]string{"usrs": "3", "users": "many", "length": "5", "list": "[]"}})
	want := `error: --env stagin: the plan has no such environment [unknown-environment]
   = help: did you mean ` + "`staging`" + `?

error: --var usrs: the plan has no such variable [unknown-var]
   = help: did you mean ` + "`users`" + `?
`
	got := ""
	codes := map[string]int{}
	for _, d := range ds {
		codes[d.Code]++
	}
	for _, d := range ds {
		if d.Range.IsZero() {
			if got != "" {
				got += "\n"
			}
			got += render(t, source.Diagnostics{d})
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
	wantCodes := map[string]int{"unknown-environment": 1, "unknown-var": 1, "missing-secret": 2, "missing-env": 1, "bad-var": 3}
	if diff := cmp.Diff(wantCodes, codes); diff != "" {
		t.Errorf("codes (-want +got):\n%s\n%s", diff, render(t, ds))
	}
}
