package schema

import (
	"slices"
	"strings"

	"runner/plan"
	"runner/plan/element"
)

// expression is the name of the assertion that a bare expression is; written as a
// map its key is `that`.
const expression = "expression"

// schemaURI is the version of JSON Schema that editors know best.
const schemaURI = "http://json-schema.org/draft-07/schema#"

// definition names the objects of the grammar as the schema does.
var definition = map[string]string{"group": "thread_group", "assertion": "assertion", "extract": "extractor"}

func nameOf(object string) string {
	if name, ok := definition[object]; ok {
		return name
	}
	return object
}

// plan returns the whole schema.
func (g *generator) plan() object {
	objects := map[string]plan.Object{}
	for _, o := range plan.Grammar() {
		objects[o.Name] = o
	}
	var definitions object
	var root object
	for _, o := range plan.Grammar() {
		if o.Name == "scope" {
			continue
		}
		value := g.object(o, objects)
		if o.Name == "plan" {
			root = value
			continue
		}
		definitions = append(definitions, member{nameOf(o.Name), value})
	}
	definitions = append(definitions, member{"defaults", g.defaults()}, member{"timer", g.timer()})
	for _, kind := range kinds {
		for _, d := range g.elements(kind) {
			if kind == element.ExtractorKind {
				definitions = append(definitions, member{definitionOf(d), g.extractor(d, objects["extract"])})
				continue
			}
			if kind == element.AssertionKind && d.Name == expression {
				continue
			}
			definitions = append(definitions, member{definitionOf(d), g.element(d, false)})
		}
	}
	for _, d := range g.elements(element.SamplerKind) {
		if d.Defaults {
			definitions = append(definitions, member{d.Name + "_defaults", g.element(d, true)})
		}
	}
	head := object{{"$schema", schemaURI}, {"title", "A test plan of runner"}, {"description", "A declarative load-test plan: thread groups, samplers, timers, assertions and thresholds."}}
	for _, m := range root {
		if head.get(m.key) == nil {
			head = append(head, m)
		}
	}
	return head.with("definitions", definitions)
}

var kinds = []element.Kind{element.SamplerKind, element.TimerKind, element.AssertionKind, element.ExtractorKind}

// object returns the schema of one object of the grammar.
func (g *generator) object(o plan.Object, objects map[string]plan.Object) object {
	switch o.Name {
	case "extract":
		return g.extractorForms()
	}
	keys := slices.Clone(o.Keys)
	for _, name := range o.Includes {
		keys = append(keys, objects[name].Keys...)
	}
	var properties object
	var required, exactly []string
	switch o.Name {
	case "step":
		for _, d := range g.elements(element.SamplerKind) {
			properties = append(properties, member{d.Name, ref(definitionOf(d))})
			exactly = append(exactly, d.Name)
		}
	case "assertion":
		for _, d := range g.elements(element.AssertionKind) {
			if d.Name == expression {
				continue // its key is that
			}
			properties = append(properties, member{d.Name, ref(definitionOf(d))})
			exactly = append(exactly, d.Name)
		}
	}
	for _, k := range keys {
		properties = append(properties, member{k.Name, g.key(k, o.Name)})
		if k.Required {
			required = append(required, k.Name)
		}
		if o.Exactly != "" && k.Group == o.Exactly {
			exactly = append(exactly, k.Name)
		}
	}
	out := object{{"title", strings.ReplaceAll(nameOf(o.Name), "_", " ")}, {"description", o.Doc}, {"type", "object"}, {"properties", properties}, {"additionalProperties", false}}
	if required != nil {
		out = out.with("required", required)
	}
	if exactly != nil {
		out = exclusive(out, exactly, true)
	}
	return g.form(o, needs(out, keys, o.Exactly))
}

// form adds the short form of an object.
func (g *generator) form(o plan.Object, long object) object {
	text := func(title, description string, examples ...any) object {
		return object{{"title", title}, {"description", description}, {"type", types("string", "boolean")}, {"examples", examples}}
	}
	switch o.Name {
	case "assertion":
		return object{{"description", o.Doc}, {"anyOf", []any{text("expression", "An expression over the response that must be true.", "status == 200", "json.ready"), long}}}
	case "threshold":
		short := text("comparison", "One figure, an operator and a constant with its unit.", "p95 < 500ms", "errors < 1%").with("type", "string").with("pattern", comparison)
		return object{{"description", o.Doc}, {"anyOf", []any{short, long}}}
	}
	return long
}

// comparison is the form of a threshold, as far as a pattern can tell.
const comparison = `^[^<>=!]+(<=?|>=?|==|!=)[^<>=!]+$`

// needs adds which keys want others beside them, and which exclude each other.
func needs(out object, keys []plan.Key, done string) object {
	var order []string
	groups := map[string][]string{}
	for _, k := range keys {
		if k.Needs != "" {
			out = depends(out, k.Name, "required", []string{k.Needs})
		}
		if k.Group != "" && k.Group != done {
			if groups[k.Group] == nil {
				order = append(order, k.Group)
			}
			groups[k.Group] = append(groups[k.Group], k.Name)
		}
	}
	for _, name := range order {
		out = exclusive(out, groups[name], false)
	}
	return out
}

// key returns the schema of a key of the grammar, with its description.
func (g *generator) key(k plan.Key, where string) object {
	var all []object
	for word := range strings.SplitSeq(k.Type, " | ") {
		all = append(all, g.word(word, k))
	}
	value := either(all...)
	out := object{{"description", sentence(k.Doc, k.Default, "", "")}}
	if target, ok := value.get("$ref").(string); ok {
		kind := "object"
		return append(out, member{"type", kind}, member{"allOf", []any{object{{"$ref", target}}}})
	}
	if value == nil {
		g.fail("%s.%s: no schema for %q", where, k.Name, k.Type)
	}
	out = append(out, value...)
	if k.Default != "" && !strings.Contains(k.Default, " ") {
		out = out.with("default", defaultOf(k.Type, k.Default))
	}
	return out
}

// word returns the schema of one word of a key's type.
func (g *generator) word(word string, k plan.Key) object {
	switch {
	case strings.HasPrefix(word, "["):
		item := g.inner(strings.Trim(word, "[]"), k)
		list := object{{"type", "array"}, {"items", item}}
		if word == "[choice]" { // the only list of which no item may stand alone
			return list
		}
		return either(list, item)
	case strings.HasPrefix(word, "{"):
		var all []object
		for part := range strings.SplitSeq(strings.Trim(word, "{}"), "+") {
			all = append(all, g.inner(part, k))
		}
		return object{{"type", "object"}, {"additionalProperties", either(all...)}}
	}
	return g.inner(word, k)
}

func (g *generator) inner(word string, k plan.Key) object {
	if len(k.Enum) > 0 {
		return enum(k.Enum, false)
	}
	if value := scalar(word, !k.Literal); value != nil {
		return value
	}
	switch word {
	case "match":
		return matchSchema()
	case "of":
		return ofSchema()
	case "column":
		return enum([]string{"int", "float", "bool", "json", "text"}, false)
	}
	return ref(nameOf(word))
}

// defaults returns the schema of `defaults:`.
func (g *generator) defaults() object {
	var properties object
	for _, d := range g.elements(element.SamplerKind) {
		if d.Defaults {
			properties = append(properties, member{d.Name, ref(d.Name + "_defaults")})
		}
	}
	return object{{"title", "defaults"}, {"description", "Values for all samplers of a kind below; the nearest value wins, maps such as headers merge by key."}, {"type", "object"}, {"properties", properties}, {"additionalProperties", false}}
}

// timer returns the schema of one item of `timers:`.
func (g *generator) timer() object {
	var properties object
	for _, d := range g.elements(element.TimerKind) {
		properties = append(properties, member{d.Name, ref(definitionOf(d))})
	}
	return object{{"title", "timer"}, {"description", "One timer: a wait before every sampler in scope."}, {"type", "object"}, {"properties", properties}, {"additionalProperties", false}, {"minProperties", 1}, {"maxProperties", 1}}
}

// extractorForms returns the schema of one value under `extract:`, besides an
// expression.
func (g *generator) extractorForms() object {
	var all []any
	for _, d := range g.elements(element.ExtractorKind) {
		all = append(all, ref(definitionOf(d)))
	}
	return object{{"title", "extractor"}, {"description", "Takes a value out of the response."}, {"anyOf", all}}
}

// extractor returns the schema of an extractor with the keys that all have.
func (g *generator) extractor(d *element.Definition, common plan.Object) object {
	out := g.element(d, false)
	properties, _ := out.get("properties").(object)
	for _, k := range common.Keys {
		if properties.get(k.Name) == nil {
			properties = append(properties, member{k.Name, g.key(k, "extract")})
		}
	}
	out = out.with("type", "object").with("properties", properties)
	return out
}

func matchSchema() object {
	return object{{"anyOf", []any{object{{"type", "integer"}, {"minimum", 1}}, object{{"enum", []any{"random", "all"}}}}}}
}

func ofSchema() object {
	variable := object{{"type", "object"}, {"properties", object{{"variable", object{{"description", "Variable whose text is searched."}, {"type", "string"}}}}}, {"required", []string{"variable"}}, {"additionalProperties", false}}
	return object{{"anyOf", []any{object{{"enum", []any{"body", "headers", "url", "message"}}}, variable}}}
}
