package cmd_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"runner/cmd"
	"runner/plan"
	"runner/plan/element"
	"runner/plan/source"
	"runner/schema"
)

// block is a fenced block of YAML in a page.
type block struct {
	page     string
	line     int // of the fence
	text     string
	fragment bool
}

// blocks returns the YAML of a page: "```yaml" holds a whole plan, "```yaml
// fragment" a part of one.
func blocks(t *testing.T, page string) []block {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	var open *block
	for i, line := range strings.Split(string(text), "\n") {
		mark := strings.TrimLeft(line, " ")
		switch {
		case open == nil && strings.HasPrefix(mark, "```yaml"):
			info := strings.TrimSpace(strings.TrimPrefix(mark, "```"))
			if info != "yaml" && info != "yaml fragment" {
				t.Errorf("%s:%d: a block of YAML is marked `yaml` or `yaml fragment`, not %q", page, i+1, info)
			}
			open = &block{page: page, line: i + 1, fragment: info == "yaml fragment"}
		case open != nil && mark == "```":
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += line + "\n"
		}
	}
	if open != nil {
		t.Errorf("%s:%d: the block is not closed", page, open.line)
	}
	return all
}

func TestYAMLInPagesIsValid(t *testing.T) {
	reg, err := cmd.Registry()
	if err != nil {
		t.Fatal(err)
	}
	judge := planSchema(t)
	pages := []string{"../schema/reference.md"}
	for _, pattern := range []string{"../README.md", "../docs/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		pages = append(pages, found...)
	}
	plans, fragments := 0, 0
	for _, page := range pages {
		for _, b := range blocks(t, page) {
			where := fmt.Sprintf("%s:%d", b.page, b.line)
			text := b.text
			if b.fragment {
				fragments++
				if text, err = whole(b.text, reg); err != nil {
					t.Errorf("%s: %v", where, err)
					continue
				}
			} else {
				plans++
			}
			for _, problem := range problems(text, reg, b.fragment) {
				t.Errorf("%s: %s", where, problem)
			}
			if err := judge(text); err != nil {
				t.Errorf("%s: the schema refuses it: %v", where, err)
			}
		}
	}
	if plans < 4 || fragments < 20 {
		t.Errorf("found %d plans and %d fragments: the search is broken", plans, fragments)
	}
}

// problems returns what the language has against a plan. In a fragment names may
// be used that its surroundings would define.
func problems(text string, reg *element.Registry, fragment bool) []string {
	var out []string
	p, ds := plan.Parse(source.New("../plans/page.yaml", []byte(text)), reg)
	if !ds.HasErrors() {
		open := func(path string) (io.ReadCloser, error) { return os.Open(path) }
		if fragment {
			open = nil
		}
		ds = append(ds, plan.Validate(p, reg, plan.Options{Open: open})...)
	}
	for _, d := range ds {
		if d.Severity == source.Error && !(fragment && d.Code == "undefined-variable") {
			out = append(out, d.String()+": "+d.Detail)
		}
	}
	return out
}

// whole makes a plan of a fragment: by its first key it is told where it stands.
func whole(fragment string, reg *element.Registry) (string, error) {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(fragment), &root); err != nil {
		return "", err
	}
	top := root.Content[0]
	var keys []string
	list := top.Kind == yaml.SequenceNode
	if list && len(top.Content) > 0 {
		top = top.Content[0]
	}
	if top.Kind == yaml.MappingNode {
		for i := 0; i < len(top.Content); i += 2 {
			keys = append(keys, top.Content[i].Value)
		}
	}
	first := strings.Join(keys[:min(1, len(keys))], "")
	const (
		head  = "plan: Page\ndefaults: {http: {base_url: \"http://127.0.0.1\"}}\n"
		group = "thread_groups:\n  group:\n"
		load  = "    load: {threads: 1, iterations: 1}\n"
		steps = "    steps:\n      - http: GET /\n"
	)
	is := func(object string) bool { return slices.Contains(plan.KeysOf(object), first) }
	switch {
	case list && reg.Lookup(element.TimerKind, first) != nil:
		return head + group + load + "    timers:\n" + indented(fragment, 6) + steps, nil
	case list && (first == "" || first == "that" || reg.Lookup(element.AssertionKind, first) != nil):
		return head + group + load + "    assertions:\n" + indented(fragment, 6) + steps, nil
	case list:
		return head + group + load + "    steps:\n" + indented(fragment, 6), nil
	case first == "steps", first == "load" && slices.Contains(keys, "steps"):
		return head + group + unless(keys, "load", load) + indented(fragment, 4), nil
	case is("scope") && first != "defaults":
		return head + group + load + steps + indented(fragment, 8), nil
	case first == "choose", reg.Lookup(element.SamplerKind, first) != nil, is("step") && !is("group"):
		return head + group + load + "    steps:\n      -\n" + indented(fragment, 8), nil
	case is("plan"):
		text := unless(keys, "plan", "plan: Page\n") + unless(keys, "defaults", "defaults: {http: {base_url: \"http://127.0.0.1\"}}\n")
		return text + fragment + unless(keys, "thread_groups", group+load+steps), nil
	case is("group"):
		return head + group + unless(keys, "load", load) + indented(fragment, 4) + steps, nil
	case is("load"):
		return head + group + "    load:\n" + indented(fragment, 6) + steps, nil
	}
	return "", fmt.Errorf("a fragment that begins with %q has no known place in a plan", first)
}

func unless(keys []string, key, text string) string {
	if slices.Contains(keys, key) {
		return ""
	}
	return text
}

func indented(text string, by int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if strings.TrimSpace(line) != "" {
			b.WriteString(strings.Repeat(" ", by))
		}
		b.WriteString(line)
	}
	return b.String()
}

// planSchema returns a judge of plans by the published schema.
func planSchema(t *testing.T) func(text string) error {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.PlanSchema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("plan.schema.json", doc); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("plan.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return func(text string) error {
		var v any
		if err := yaml.Unmarshal([]byte(text), &v); err != nil {
			return err
		}
		return compiled.Validate(v)
	}
}
