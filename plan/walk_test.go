package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"runner/plan"
	"runner/plan/source"
)

const walked = `plan: T
timers: {constant: 1s}
assertions: status == 1
setup: [{http: GET http://h/s}]
thread_groups:
  g:
    load: {threads: 1, iterations: 1}
    extract: {a: json.a}
    steps:
      - name: Block
        timers: {constant: 2s}
        no_inherit: [assertions]
        assertions: status == 2
        steps:
          - http: GET http://h/1
            timers: {constant: 3s}
      - if: true
        http: GET http://h/2
        no_inherit: [timers, extract]
        else:
          - choose: [{weight: 1, steps: [{http: GET http://h/3}]}]
teardown: [{http: GET http://h/t}]
`

func TestWalkGivesEachSamplerWhatApplies(t *testing.T) {
	p, ds := plan.Parse(source.New("t.yaml", []byte(walked)), registry(t))
	if len(ds) > 0 {
		t.Fatalf("diagnostics:\n%s", render(t, ds))
	}
	var got []string
	plan.Walk(p, plan.Visitor{Step: func(s *plan.Step, at plan.Place) {
		a, ok := s.Action.(*plan.SamplerAction)
		if !ok {
			return
		}
		line := []string{string(at.Phase), a.Title}
		for _, b := range at.Blocks {
			line = append(line, "in "+b.Name)
		}
		for _, x := range at.Timers() {
			line = append(line, x.Text)
		}
		for _, x := range at.Extracts() {
			line = append(line, x.Variable)
		}
		for _, x := range at.Assertions() {
			line = append(line, x.Title)
		}
		got = append(got, strings.Join(line, ", "))
	}})
	want := []string{
		"setup, GET http://h/s, constant: 1s, status == 1",
		"load, GET http://h/1, in Block, constant: 1s, constant: 2s, constant: 3s, a, status == 2",
		"load, GET http://h/2, status == 1",
		"load, GET http://h/3, in , constant: 1s, a, status == 1",
		"teardown, GET http://h/t, constant: 1s, status == 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("walk (-want +got):\n%s", diff)
	}
}

func TestMergedConfigKeepsPlaces(t *testing.T) {
	text := "plan: T\ndefaults: {http: {headers: {A: \"1\", B: \"2\"}, timeout: 1s}}\nthread_groups:\n  g:\n    load: {threads: 1, iterations: 1}\n" +
		"    defaults: {http: {timeout: 2s}}\n    steps:\n      - http: {request: GET http://h/, headers: {b: \"3\"}}\n"
	p, ds := plan.Parse(source.New("t.yaml", []byte(text)), registry(t))
	if len(ds) > 0 {
		t.Fatalf("diagnostics:\n%s", render(t, ds))
	}
	config := p.Groups[0].Steps[0].Action.(*plan.SamplerAction).Config
	var got []string
	for _, path := range [][]string{{"headers", "A"}, {"headers", "b"}, {"timeout"}, {"request"}} {
		n := config
		for _, k := range path {
			n = n.Get(k)
		}
		got = append(got, fmt.Sprintf("%s line %d", n.Text, n.Range.Start.Line))
	}
	if diff := cmp.Diff([]string{"1 line 2", "3 line 8", "2s line 6", "GET http://h/ line 8"}, got); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
}
