package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/spec"
)

// cell makes text fit for a cell of a table.
func cell(text string) string {
	return strings.ReplaceAll(strings.Join(strings.Fields(text), " "), "|", `\|`)
}

func code(text string) string {
	if text == "" {
		return ""
	}
	return "`" + text + "`"
}

func row(b *strings.Builder, key, kind, def, meaning string) {
	fmt.Fprintf(b, "| `%s` | %s | %s | %s |\n", key, kind, cell(def), cell(meaning))
}

const tableHead = "| key | value | default | meaning |\n|---|---|---|---|\n"

// keyTable returns the table of keys of the grammar.
func keyTable(keys []plan.Key) string {
	var b strings.Builder
	b.WriteString(tableHead)
	for _, k := range keys {
		kind := wordsOf(k)
		def := k.Default
		if def != "" && !strings.Contains(def, " ") {
			def = code(def)
		}
		if k.Required {
			def = "required"
		}
		meaning := k.Doc
		if k.Needs != "" {
			meaning += "; with `" + strings.ReplaceAll(k.Needs, " | ", "` or `") + "`"
		}
		row(&b, k.Name, kind, def, meaning)
	}
	return b.String()
}

// wordsOf describes the type of a key of the grammar in words.
func wordsOf(k plan.Key) string {
	if len(k.Enum) > 0 {
		text := choices(k.Enum)
		if strings.HasPrefix(k.Type, "[") {
			text = "list of " + text
		}
		return text
	}
	var all []string
	for word := range strings.SplitSeq(k.Type, " | ") {
		inner := strings.ReplaceAll(strings.Trim(word, "[]{}"), "+", " or ")
		inner = plain(inner)
		switch {
		case strings.HasPrefix(word, "{["):
			inner = "value: list of " + plural(inner)
		case word[0] == '[':
			inner = "list of " + plural(inner)
		case word[0] == '{':
			inner = "name: " + inner
		}
		all = append(all, inner)
	}
	return strings.Join(all, " or ")
}

// plain puts words of the grammar as a reader knows them.
func plain(word string) string {
	if word == "of" {
		return "`body` `headers` `url` `message` or `{variable: name}`"
	}
	return strings.NewReplacer("group", "thread group", "thread_stage", "stage", "rate_stage", "stage", "extract", "extractor", "int", "whole number",
		"bool", "`true` or `false`", "condition", "expression", "match", "number, `random` or `all`", "column", "type", "metric", "`counter` `gauge` `rate` `trend`").Replace(word)
}

func plural(word string) string { return word + "s" }

func choices(list []string) string {
	quoted := make([]string, len(list))
	for i, w := range list {
		quoted[i] = "`" + w + "`"
	}
	return strings.Join(quoted, " ")
}

var headings = map[string]element.Kind{"sampler": element.SamplerKind, "timer": element.TimerKind, "assertion": element.AssertionKind, "extractor": element.ExtractorKind}

// elementSections returns the sections of all elements of a kind.
func (g *generator) elementSections(kind string) string {
	var b strings.Builder
	for _, d := range g.elements(headings[kind]) {
		b.WriteString(Section(d))
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// Section returns the section of the reference about one element, in markdown.
func Section(d *element.Definition) string {
	var b strings.Builder
	summary := strings.TrimSuffix(d.Doc.Summary, ".")
	if summary != "" {
		summary = strings.ToUpper(summary[:1]) + summary[1:] + "."
	}
	fmt.Fprintf(&b, "### `%s` (%s)\n\n%s\n\n", d.Name, d.Kind, summary)
	if d.Doc.Text != "" {
		b.WriteString(d.Doc.Text + "\n\n")
	}
	b.WriteString(tableHead)
	fieldRows(&b, "", spec.Describe(d.Type))
	b.WriteByte('\n')
	rules(&b, spec.Describe(d.Type))
	if len(d.Roots) > 0 {
		b.WriteString("Names of its response in assertions and `extract`:")
		for _, name := range slices.Sorted(mapKeys(d.Roots)) {
			fmt.Fprintf(&b, " `%s` (%s)", name, plain(d.Roots[name].String()))
		}
		b.WriteString(".\n\n")
	}
	for _, e := range d.Doc.Examples {
		if e.Note != "" {
			b.WriteString(strings.ToUpper(e.Note[:1]) + strings.TrimSuffix(e.Note[1:], ".") + ":\n\n")
		}
		b.WriteString("```yaml fragment\n" + strings.TrimSpace(example(d, e)) + "\n```\n\n")
	}
	return b.String()
}

// example returns an example in the place where it stands in a plan.
func example(d *element.Definition, e element.Example) string {
	text := strings.TrimSpace(e.YAML)
	indent := func(first, rest string) string {
		return first + strings.ReplaceAll(text, "\n", "\n"+rest)
	}
	switch d.Kind {
	case element.SamplerKind:
		return "steps:\n" + indent("  - ", "    ")
	case element.TimerKind:
		return "timers:\n" + indent("  - ", "    ")
	case element.AssertionKind:
		return "assertions:\n" + indent("  - ", "    ")
	}
	if strings.Contains(text, "\n") || !strings.HasPrefix(text, "{") && strings.Contains(text, ": ") {
		return "extract:\n  value:\n" + indent("    ", "    ")
	}
	return "extract:\n  value: " + text
}

// fieldRows writes the rows of an element's keys; those of nested maps stand
// below with the path to them.
func fieldRows(b *strings.Builder, path string, fields []spec.Field) {
	for _, f := range fields {
		def := code(f.Default)
		if f.Required {
			def = "required"
		}
		meaning := f.Doc
		for _, limit := range []struct{ word, text string }{{"at least ", f.Min}, {"at most ", f.Max}} {
			if limit.text != "" {
				meaning += "; " + limit.word + limit.text
			}
		}
		if f.Short && len(fields) > 1 {
			meaning += "; may stand alone in place of the map"
		}
		row(b, path+f.Key, kindOf(f), def, meaning)
		nested, mark := f.Children, "."
		if f.Item != nil && f.Item.Children != nil {
			nested, mark = f.Item.Children, "[]."
		}
		for _, form := range f.OneOf {
			if form.Item != nil && form.Item.Children != nil {
				nested, mark = form.Item.Children, "[]."
			} else if form.Children != nil {
				nested = form.Children
			}
		}
		fieldRows(b, path+f.Key+mark, nested)
	}
}

// rules says which keys exclude each other.
func rules(b *strings.Builder, fields []spec.Field) {
	var order []string
	members, exactly := map[string][]string{}, map[string]bool{}
	for _, f := range fields {
		if f.Group == "" {
			continue
		}
		if members[f.Group] == nil {
			order = append(order, f.Group)
		}
		members[f.Group] = append(members[f.Group], f.Key)
		exactly[f.Group] = f.GroupReq
	}
	for _, name := range order {
		word := "At most"
		if exactly[name] {
			word = "Exactly"
		}
		if len(members[name]) > 1 {
			fmt.Fprintf(b, "%s one of %s may be given.\n\n", word, choices(members[name]))
		}
	}
}

// kindOf describes the value of an element's key in words.
func kindOf(f spec.Field) string {
	if f.Type == reflect.TypeFor[spec.Path]() {
		return "path"
	}
	if len(f.OneOf) > 0 {
		var all []string
		for _, form := range f.OneOf {
			if word := kindOf(form); !slices.Contains(all, word) {
				all = append(all, word)
			}
		}
		return strings.Join(all, " or ")
	}
	if len(f.Enum) > 0 && f.Go != "list" {
		return choices(f.Enum)
	}
	switch f.Go {
	case "int":
		return "whole number"
	case "float":
		return "number"
	case "bool":
		return "`true` or `false`"
	case "any":
		return "any value"
	case "condition":
		return "expression"
	case "object":
		return "map"
	case "map":
		if f.Item != nil {
			return "name: " + kindOf(*f.Item)
		}
	case "list":
		if f.Item == nil {
			return "list"
		}
		item := *f.Item
		item.Enum = append(item.Enum, f.Enum...)
		text := "list of " + kindOf(item)
		if f.Single {
			return kindOf(item) + " or " + text
		}
		return text
	}
	return f.Go
}

// functionsOf returns all functions that a plan with the registry may call.
func functionsOf(reg *element.Registry) *expr.Functions { return expr.NewFunctions(reg.Functions()...) }
