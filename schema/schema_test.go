package schema_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"runner/assertions"
	"runner/plan"
	"runner/plan/element"
	"runner/plan/query"
	"runner/plan/source"
	"runner/samplers"
	"runner/samplers/extract"
	"runner/schema"
	"runner/timers"
)

func registry(t testing.TB) *element.Registry {
	t.Helper()
	reg, err := element.NewRegistry(query.Functions(), samplers.All(), timers.All(), assertions.All(), extract.All())
	if err != nil {
		t.Fatal(err)
	}
	return reg
}

func TestGeneratedFilesAreCurrent(t *testing.T) {
	plan, reference, err := schema.Generate(registry(t))
	if err != nil {
		t.Fatal(err)
	}
	again, _, err := schema.Generate(registry(t))
	if err != nil || !bytes.Equal(plan, again) {
		t.Errorf("two runs differ, error %v", err)
	}
	if diff := cmp.Diff(string(schema.PlanSchema()), string(plan)); diff != "" {
		t.Errorf("plan.schema.json is stale: run `go generate ./schema` (-committed +generated)\n%s", diff)
	}
	if diff := cmp.Diff(schema.Reference(), reference); diff != "" {
		t.Errorf("reference.md is stale: run `go generate ./schema` (-committed +generated)\n%s", diff)
	}
}

// compiled returns the committed schema; compiling checks it against draft-07.
func compiled(t testing.TB) *jsonschema.Schema {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.PlanSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("plan.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("plan.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// validate judges a plan by the schema as an editor does.
func validate(s *jsonschema.Schema, text string) error {
	var v any
	if err := yaml.Unmarshal([]byte(text), &v); err != nil {
		return err
	}
	return s.Validate(asJSON(v))
}

func asJSON(v any) any {
	switch v := v.(type) {
	case map[string]any:
		for k := range v {
			v[k] = asJSON(v[k])
		}
	case map[any]any:
		out := map[string]any{}
		for k := range v {
			out[fmt.Sprint(k)] = asJSON(v[k])
		}
		return out
	case []any:
		for i := range v {
			v[i] = asJSON(v[i])
		}
	case time.Time:
		return v.Format(time.DateOnly)
	}
	return v
}

func TestPlansAreValid(t *testing.T) {
	s := compiled(t)
	var files []string
	for _, pattern := range []string{"../plans/*.yaml", "../plan/testdata/ok/*.yaml"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, found...)
	}
	if len(files) < 5 {
		t.Fatalf("only %d plans found", len(files))
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := validate(s, string(text)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// inPlan puts lines into a minimal plan: under the key of the plan, the group or
// the step that they begin with.
func inPlan(what, text string) string {
	indent := func(by string) string {
		return by + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n"+by) + "\n"
	}
	switch what {
	case "plan":
		return "plan: Test\nthread_groups:\n  g:\n    load: {threads: 1, iterations: 1}\n    steps:\n      - pause: 1s\n" + indent("")
	case "group":
		return "plan: Test\nthread_groups:\n  g:\n    load: {threads: 1, iterations: 1}\n    steps:\n      - pause: 1s\n" + indent("    ")
	case "load":
		return "plan: Test\nthread_groups:\n  g:\n    steps:\n      - pause: 1s\n    load:\n" + indent("      ")
	case "steps":
		return "plan: Test\nthread_groups:\n  g:\n    load: {threads: 1, iterations: 1}\n    steps:\n" + indent("      ")
	case "step":
		return "plan: Test\nthread_groups:\n  g:\n    load: {threads: 1, iterations: 1}\n    steps:\n      - http: GET http://127.0.0.1/\n" + indent("        ")
	}
	return text
}

func TestExamplesOfElementsAreValid(t *testing.T) {
	s, reg := compiled(t), registry(t)
	for _, kind := range []element.Kind{element.SamplerKind, element.TimerKind, element.AssertionKind, element.ExtractorKind} {
		for _, name := range reg.Names(kind) {
			section := schema.Section(reg.Lookup(kind, name))
			for i, block := range strings.Split(section, "```yaml fragment\n")[1:] {
				text, _, _ := strings.Cut(block, "```")
				where := "step"
				if kind == element.SamplerKind {
					where, text = "steps", strings.TrimPrefix(text, "steps:\n")
				}
				if err := validate(s, inPlan(where, text)); err != nil {
					t.Errorf("%s %s, example %d: %v", kind, name, i+1, err)
				}
			}
		}
	}
}

// sides are texts with what the schema and the parser must say about them.
var sides = []struct{ name, in, text string }{
	{"unknown key of the plan", "plan", "thread_group: {}"},
	{"unknown key of a group", "group", "threads: 5"},
	{"unknown key of a load", "load", "threads: 5\nusers: 3\niterations: 1"},
	{"unknown key of a step", "step", "sleep: 1s"},
	{"unknown key of a sampler", "steps", "- http: {request: GET http://h/, querry: {a: 1}}"},
	{"unknown key of defaults", "plan", "defaults: {http: {timeot: 1s}}"},
	{"unknown sampler in defaults", "plan", "defaults: {htp: {timeout: 1s}}"},
	{"unknown key of a timer", "group", "timers: [{gaussian: {mean: 1s, deviation: 1s, sigma: 2}}]"},
	{"unknown timer", "group", "timers: [{normal: 1s}]"},
	{"two timers in one item", "group", "timers: [{constant: 1s, uniform: 1s..2s}]"},
	{"unknown assertion", "step", "assertions: [{code: 200}]"},
	{"two assertions in one item", "step", "assertions: [{status: 200, duration: 1s}]"},
	{"unknown key of an assertion", "step", "assertions: [{body: {contain: x}}]"},
	{"unknown extractor", "step", "extract: {x: {jsn: $.a}}"},
	{"unknown key of an extractor", "step", "extract: {x: {css: a, attr: href}}"},
	{"unknown key of a threshold", "plan", "thresholds: [{that: errors < 1%, since: 1s}]"},
	{"threshold that compares nothing", "plan", "thresholds: [p95]"},
	{"wrong word", "group", "on_error: ignore"},
	{"wrong word of a sampler", "steps", "- http: {request: GET http://h/, keep_alive: forever}"},
	{"wrong word of stop", "steps", "- stop: everything"},
	{"duration without a unit", "steps", "- pause: 1"},
	{"duration with a wrong unit", "steps", "- http: {request: GET http://h/, timeout: 5sec}"},
	{"rate without a unit", "load", "rate: 50\nduration: 1m\nmax_threads: 5"},
	{"rate without max_threads", "load", "rate: 50/s\nduration: 1m"},
	{"threads and rate", "load", "threads: 5\nrate: 5/s\nduration: 1m\nmax_threads: 5"},
	{"neither threads nor rate", "load", "duration: 1m"},
	{"max_threads with threads", "load", "threads: 5\nmax_threads: 5\nduration: 1m"},
	{"text for a number", "load", "threads: many\niterations: 1"},
	{"fraction for a whole number", "load", "threads: 1.5\niterations: 1"},
	{"stage with half of its keys", "load", "threads: [{to: 5}]"},
	{"stage of two forms", "load", "threads: [{to: 5, over: 1s, hold: 1s}]"},
	{"two actions", "steps", "- http: GET http://h/\n  pause: 1s"},
	{"no action", "steps", "- name: nothing"},
	{"action and block", "steps", "- pause: 1s\n  steps: [{pause: 1s}]"},
	{"two bodies", "steps", "- http: {request: POST http://h/, json: {}, body: x}"},
	{"no request", "steps", "- http: {timeout: 1s}"},
	{"foreach without as", "step", "foreach: '[1]'"},
	{"as without foreach", "step", "as: x"},
	{"else without if", "step", "else: [{pause: 1s}]"},
	{"max without while", "step", "max: 5"},
	{"loop and while", "step", "loop: 3\nwhile: 'true'"},
	{"yes for true", "step", "once: yes"},
	{"interpolation in a literal", "step", "once: ${true}"},
	{"secret in the open", "plan", "secrets: {key: abc}"},
	{"secret of two sources", "plan", "secrets: {key: {env: A, file: b}}"},
	{"report of an unknown format", "plan", "reports: {pdf: report.pdf}"},
	{"data without a file", "plan", "data: {account: {pick: next}}"},
	{"wrong pick of data", "plan", "data: {account: {file: a.csv, pick: first}}"},
	{"list for a map", "plan", "vars: [1, 2]"},
	{"text for a list", "group", "timers: 1s"},
	{"choice without a weight", "steps", "- choose: [{steps: [{pause: 1s}]}]"},
	{"match of 0", "step", "extract: {x: {css: a, match: 0}}"},
	{"unknown place to look at", "step", "extract: {x: {regex: a, of: cookies}}"},
}

func TestBadPlansAreRefused(t *testing.T) {
	s, reg := compiled(t), registry(t)
	for _, side := range sides {
		t.Run(side.name, func(t *testing.T) {
			text := inPlan(side.in, side.text)
			if validate(s, text) == nil {
				t.Errorf("the schema admits it:\n%s", text)
			}
			if _, ds := plan.Parse(source.New("test.yaml", []byte(text)), reg); !ds.HasErrors() {
				t.Errorf("the parser admits it:\n%s", text)
			}
		})
	}
}

var good = []struct{ name, in, text string }{
	{"one item without a list", "step", "thresholds: p95 < 500ms\nassertions: {status: 2xx}\ntimers: {constant: 1s}"},
	{"interpolated values", "load", "threads: ${n}\nramp_up: ${ramp}\nduration: \"${length}\""},
	{"quoted numbers", "load", "threads: \"5\"\niterations: '1'"},
	{"staged rate", "load", "rate: [{to: 5/s, over: 1m}, {hold: 1m}, {at: 1/min, for: 5s}]\nmax_threads: 5"},
	{"range of a pause", "steps", "- pause: 500ms..1m30s"},
	{"range with a variable", "steps", "- pause: 1s..${longest}"},
	{"one step without a list", "step", "if: 'true'\nelse: {pause: 1s}"},
	{"bodies", "steps", "- http: {request: POST http://h/, body: {file: a.txt}}\n- http: {request: POST http://h/, json: [1, {a: null}]}\n- http: {request: POST http://h/, body: text}"},
	{"flags and maps of redirects", "steps", "- http: {request: GET http://h/, redirects: false}\n- http: {request: GET http://h/, redirects: {max: 3}}"},
	{"forms of a status", "step", "assertions: [{status: 200}, {status: [201, 4xx]}, {status: 2xx}, {that: ok, name: fine}]"},
	{"forms of an extractor", "step", "extract: {a: json.a, b: {css: a, attribute: href, match: all}, c: {regex: 'x(\\d)', of: {variable: a}, default: 5, match: 2}}"},
	{"partial defaults", "plan", "defaults: {http: {headers: {A: b}, body: {}}}"},
	{"numbers as text", "plan", "tags: [1, 2.5, true]\ndescription: 2024"},
	{"data in both forms", "plan", "data: {a: a.csv, b: {file: b.csv, types: {n: int}, columns: [n], delimiter: ;}}"},
	{"all controls", "step", "skip: not now\nif: n > 0\nonce: true\nloop: 3\non_error: stop_thread\nname: A\ntags: a"},
}

func TestGoodPlansAreAdmitted(t *testing.T) {
	s, reg := compiled(t), registry(t)
	for _, side := range good {
		t.Run(side.name, func(t *testing.T) {
			text := inPlan(side.in, side.text)
			if err := validate(s, text); err != nil {
				t.Errorf("the schema refuses it: %v\n%s", err, text)
			}
			if _, ds := plan.Parse(source.New("test.yaml", []byte(text)), reg); ds.HasErrors() {
				t.Errorf("the parser refuses it: %v\n%s", ds, text)
			}
		})
	}
}

// TestParserKnowsTheGrammar holds the parser's keys against the table that schema
// and reference are made of, by what it says the keys are.
func TestParserKnowsTheGrammar(t *testing.T) {
	reg := registry(t)
	places := map[string]struct{ in, text string }{
		"plan":         {"plan", "zzzzqqqq: 1"},
		"secret":       {"plan", "secrets: {a: {zzzzqqqq: 1}}"},
		"environment":  {"plan", "environments: {a: {zzzzqqqq: 1}}"},
		"data":         {"plan", "data: {a: {zzzzqqqq: 1}}"},
		"reports":      {"plan", "reports: {zzzzqqqq: 1}"},
		"group":        {"group", "zzzzqqqq: 1"},
		"load":         {"load", "zzzzqqqq: 1"},
		"thread_stage": {"load", "threads: [{zzzzqqqq: 1}]"},
		"rate_stage":   {"load", "rate: [{zzzzqqqq: 1}]"},
		"step":         {"steps", "- zzzzqqqq: 1"},
		"choice":       {"steps", "- choose: [{zzzzqqqq: 1}]"},
		"counter":      {"plan", "counters: {a: {zzzzqqqq: 1}}"},
		"fragment":     {"plan", "fragments: {a: {zzzzqqqq: 1}}"},
		"switch":       {"steps", "- switch: {zzzzqqqq: 1}"},
		"percent":      {"step", "percent: {zzzzqqqq: 1}"},
		"threshold":    {"plan", "thresholds: [{zzzzqqqq: 1}]"},
		"assertion":    {"step", "assertions: [{that: ok, zzzzqqqq: 1}]"},
	}
	for _, o := range plan.Grammar() {
		place, ok := places[o.Name]
		if !ok {
			if o.Name != "scope" && o.Name != "extract" {
				t.Errorf("no place of %q to look at", o.Name)
			}
			continue
		}
		want := plan.KeysOf(o.Name)
		if o.Name == "step" {
			want = append(want, reg.Names(element.SamplerKind)...)
		}
		if o.Name == "environment" {
			continue // the parser says what an environment is for instead of its keys
		}
		_, ds := plan.Parse(source.New("test.yaml", []byte(inPlan(place.in, place.text))), reg)
		found := false
		for _, d := range ds {
			if list, ok := strings.CutPrefix(d.Detail, "the keys here are "); ok && d.Code == "unknown-key" {
				got := strings.Split(list, ", ")
				slices.Sort(got)
				slices.Sort(want)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: the grammar and the parser differ (-grammar +parser)\n%s", o.Name, diff)
				}
				found = true
			}
		}
		if !found {
			t.Errorf("%s: the parser does not list its keys: %v", o.Name, ds)
		}
	}
}

func TestElementFindsSections(t *testing.T) {
	for _, c := range []struct{ name, contains string }{
		{"http", "`base_url`"}, {"load", "`ramp_up`"}, {"uniform", "1s..3s"}, {"thresholds", "`window`"}, {"scope", "no_inherit"},
	} {
		text, ok := schema.Element(c.name)
		if !ok || !strings.Contains(text, c.contains) || strings.Count(text, "```")%2 != 0 {
			t.Errorf("%s: ok %v\n%s", c.name, ok, text)
		}
		if !slices.Contains(schema.Names(), c.name) {
			t.Errorf("Names lacks %s", c.name)
		}
	}
	if text, _ := schema.Element("json"); strings.Count(text, "### `json`") != 2 {
		t.Errorf("json is an assertion and an extractor, got\n%s", text)
	}
	if _, ok := schema.Element("nothing"); ok {
		t.Error("found an element called nothing")
	}
}

func TestHelp(t *testing.T) {
	for topic, want := range map[string]string{
		"http": "### `http` (sampler)", "setup": "| `setup` |", "teardown": "steps that run once after the load", "if": "| `if` |", "else": "| `else` |", "while": "| `while` |",
		"loop": "| `loop` |", "foreach": "| `foreach` |", "once": "| `once` |", "pause": "| `pause` |", "set": "| `set` |", "stop": "| `stop` |",
		"expressions": "## Expressions", "functions": "### Functions", "units": "## Units", "errors": "## Error classes", "apdex": "| `apdex` |", "p95": "percentiles of the response time",
		"dropped": "| `dropped` |", "pacing": "| `pacing` |", "grace": "| `grace` |", "multipart": "| `multipart` |", "form": "| `form` |", "cookies": "| `cookies` |",
		"random_int": "| `random_int(", "thread groups": "### `thread_groups`", "Exit codes": "| 130 |", "samplers": "runner help dummy, grpc, http", "threshold": "### `thresholds`", "PACING": "| `pacing` |",
	} {
		text, ok := schema.Help(topic)
		if !ok || !strings.Contains(text, want) {
			t.Errorf("%s: no %q in\n%s", topic, want, text)
		}
	}
	if text, ok := schema.Help("nothing such"); ok {
		t.Errorf("help for nothing:\n%s", text)
	}
	if text, _ := schema.Help("p95"); strings.Contains(text, "generator.cpu") {
		t.Errorf("rows of others:\n%s", text)
	}
	for _, topic := range []string{"http", "pacing", "p95", "units", "uuid"} {
		if !slices.Contains(schema.Topics(), topic) {
			t.Errorf("%s is no topic", topic)
		}
	}
}
