// Package schema publishes what the language is: a JSON Schema of plans for
// editors, and a reference for people. Both are generated from the tags of the
// elements, the grammar of package plan and the functions of package expr, so
// that there is one truth for each key; `go generate ./schema` writes them.
//
// values.go has the schemas of single values, elements.go those of samplers,
// timers, assertions and extractors, structure.go the plan around them;
// reference.go and tables.go fill the prose of reference.tmpl.md.
package schema

import (
	"embed"
	"fmt"
	"strings"

	"runner/plan/element"
)

//go:generate go run ./generate

//go:embed *.schema.json reference.md
var files embed.FS

// PlanSchema returns the JSON Schema (draft-07) of plan files.
func PlanSchema() []byte { return read("plan.schema.json") }

// SummarySchema returns the JSON Schema of summary.json, nil if there is none.
func SummarySchema() []byte { return read("summary.schema.json") }

// Reference returns the reference of the language, in markdown.
func Reference() string { return string(read("reference.md")) }

func read(name string) []byte {
	text, err := files.ReadFile(name)
	if err != nil {
		return nil
	}
	return text
}

// Element returns the sections of the reference about an element or a part of
// the plan ("http", "json", "load"), in markdown. A name may have several.
func Element(name string) (markdown string, ok bool) {
	var found []string
	lines := strings.SplitAfter(Reference(), "\n")
	for i := 0; i < len(lines); i++ {
		level, heading := headingOf(lines[i])
		if level < 3 || heading != name {
			continue
		}
		end := i + 1
		for fenced := false; end < len(lines); end++ {
			if strings.HasPrefix(lines[end], "```") {
				fenced = !fenced
			}
			if l, _ := headingOf(lines[end]); !fenced && l > 0 && l <= level {
				break
			}
		}
		found = append(found, strings.TrimRight(strings.Join(lines[i:end], ""), "\n")+"\n")
		i = end - 1
	}
	return strings.Join(found, "\n"), len(found) > 0
}

// Names returns the names that Element knows, in the order of the reference.
func Names() []string {
	var names []string
	seen := map[string]bool{}
	for line := range strings.Lines(Reference()) {
		level, heading := headingOf(line)
		if level >= 3 && strings.Contains(line, "`") && !seen[heading] {
			seen[heading] = true
			names = append(names, heading)
		}
	}
	return names
}

// headingOf returns the level of a markdown heading and the word in backquotes
// that it is about, or its whole text; level 0 is no heading.
func headingOf(line string) (level int, text string) {
	rest := strings.TrimLeft(line, "#")
	level = len(line) - len(rest)
	if level == 0 || !strings.HasPrefix(rest, " ") {
		return 0, ""
	}
	rest = strings.TrimSpace(rest)
	if parts := strings.SplitN(rest, "`", 3); len(parts) == 3 {
		return level, strings.TrimSuffix(parts[1], ":")
	}
	return level, rest
}

// Generate returns the schema and the reference of the language with the
// elements of a registry.
func Generate(reg *element.Registry) (plan []byte, reference string, err error) {
	g := &generator{reg: reg}
	root := g.plan()
	if g.err != nil {
		return nil, "", fmt.Errorf("make the schema: %w", g.err)
	}
	if plan, err = encode(root); err != nil {
		return nil, "", fmt.Errorf("make the schema: %w", err)
	}
	if reference, err = g.reference(); err != nil {
		return nil, "", fmt.Errorf("make the reference: %w", err)
	}
	return plan, reference, nil
}

// generator makes the schema; the first error is kept.
type generator struct {
	reg *element.Registry
	err error
}

func (g *generator) fail(format string, args ...any) {
	if g.err == nil {
		g.err = fmt.Errorf(format, args...)
	}
}
