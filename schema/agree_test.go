package schema_test

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gopkg.in/yaml.v3"

	"runner/plan"
	"runner/plan/source"
)

// mutants makes plans with one change: a key renamed, a value replaced or a key
// left out. Only those that are wanted are made.
func mutants(t *testing.T, text []byte, want func(what string) bool, each func(what, text string)) {
	t.Helper()
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil {
		t.Fatal(err)
	}
	emit := func(what string) {
		if !want(what) {
			return
		}
		var b bytes.Buffer
		e := yaml.NewEncoder(&b)
		if err := e.Encode(&root); err != nil {
			t.Fatal(err)
		}
		each(what, b.String())
	}
	var visit func(n *yaml.Node, path string)
	visit = func(n *yaml.Node, path string) {
		for i, child := range n.Content {
			at := path
			if n.Kind == yaml.MappingNode && i%2 == 0 {
				at += "/" + child.Value
				old := child.Value
				child.Value = "zzqx"
				emit("rename " + at)
				child.Value = old

				content := n.Content
				n.Content = append(append([]*yaml.Node{}, content[:i]...), content[i+2:]...)
				if len(n.Content) > 0 {
					emit("remove " + at)
				}
				n.Content = content
				continue
			}
			if n.Kind == yaml.MappingNode {
				at += "/" + n.Content[i-1].Value
			}
			for _, other := range []string{"zebra", "17", "-3", "true", "[1, 2]", "{zzqx: 1}", "[]", "5s", "10/s", "1s..2s", "${zzqx}", "2xx"} {
				var value yaml.Node
				if err := yaml.Unmarshal([]byte(other), &value); err != nil {
					t.Fatal(err)
				}
				n.Content[i] = value.Content[0]
				emit("set " + at + " to " + other)
			}
			n.Content[i] = child
			visit(child, at)
		}
	}
	visit(root.Content[0], "")
}

// TestSchemaAgreesWithParser changes the example plans in every place. What the
// parser accepts the schema must accept, or editors would cry wolf; an unknown
// key the schema must refuse where the parser does.
func TestSchemaAgreesWithParser(t *testing.T) {
	s, reg := compiled(t), registry(t)
	files, err := filepath.Glob("../plan/testdata/ok/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	files = append(files, "../plans/checkout.yaml", "../plans/load.yaml")
	if testing.Short() {
		files = files[len(files)-2:]
	}
	tried, seen, missed := 0, map[string]bool{}, map[string]int{}
	names := regexp.MustCompile(`thread_groups/\w+`)
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := func(what string) bool {
			place := names.ReplaceAllString(strings.ReplaceAll(what, "steps/steps", "steps"), "thread_groups")
			if seen[place] || strings.Contains(place, "defaults/http to") {
				return false // once is enough; a short form under defaults is legal, but of no use
			}
			seen[place] = true
			return true
		}
		mutants(t, text, want, func(what, text string) {
			tried++
			p, ds := plan.Parse(source.New("test.yaml", []byte(text)), reg)
			problem := validate(s, text)
			if problem != nil && !ds.HasErrors() {
				ds = plan.Validate(p, reg, plan.Options{})
			}
			switch {
			case problem != nil && !ds.HasErrors():
				t.Errorf("%s: %s: the schema refuses what the parser accepts: %v", name, what, problem)
			case problem == nil && ds.HasErrors():
				for _, d := range ds {
					if d.Severity == source.Error {
						missed[d.Code]++
						if d.Code == "unknown-key" || strings.HasPrefix(what, "remove") && d.Code == "missing-key" {
							t.Errorf("%s: %s: the schema accepts %v", name, what, d)
						}
					}
				}
			}
		})
	}
	if tried < 500 {
		t.Errorf("only %d changes were tried", tried)
	}
	t.Logf("%d changes; the parser alone refused: %v", tried, missed)
}
