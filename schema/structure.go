package schema

import (
	"slices"
	"strings"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/spec"
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

// kinds are the elements with definitions of their own; extractors share one.
var kinds = []element.Kind{element.SamplerKind, element.TimerKind, element.AssertionKind}

// object returns the schema of one object of the grammar.
func (g *generator) object(o plan.Object, objects map[string]plan.Object) object {
	if o.Name == "extract" {
		return g.extractor(o)
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
	out := object{{"title", strings.ReplaceAll(nameOf(o.Name), "_", " ")}, {"type", "object"}, {"properties", properties}, {"additionalProperties", false}}
	out = append(out[:1:1], append(describe(o.Doc), out[1:]...)...)
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
	switch o.Name {
	case "assertion":
		return append(long.with("type", kindsOf["assertion"]), member{"examples", []any{"status == 200", "json.ready"}})
	case "threshold":
		return append(long.with("type", kindsOf["threshold"]), member{"pattern", comparison}, member{"patternErrorMessage", "Write a figure, an operator and a constant: p95 < 500ms."},
			member{"examples", []any{"p95 < 500ms", "errors < 1%"}})
	}
	return long
}

// kindsOf are the JSON types of objects of which one may stand without a list.
var kindsOf = map[string][]string{
	"step": {"object"}, "timer": {"object"}, "thread_stage": {"object"}, "rate_stage": {"object"},
	"assertion": {"string", "boolean", "object"}, "threshold": {"string", "object"},
}

// comparison is the form of a threshold, as far as a pattern can tell.
const comparison = `^[^<>=!]+(<=?|>=?|==|!=)[^<>=!]+$`

// needs adds which keys want others beside them, and which exclude each other.
func needs(out object, keys []plan.Key, done string) object {
	var order []string
	groups := map[string][]string{}
	for _, k := range keys {
		if one, other, ok := strings.Cut(k.Needs, " | "); ok {
			out = depends(out, k.Name, object{{"anyOf", []any{object{{"required", []string{one}}}, object{{"required", []string{other}}}}}})
		} else if k.Needs != "" {
			out = depends(out, k.Name, object{{"required", []string{k.Needs}}})
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
	out := describe(sentence(k.Doc, k.Default, "", ""))
	if target, ok := value.get("$ref").(string); ok {
		kind := "object"
		return append(out, member{"type", kind}, member{"allOf", []any{object{{"$ref", target}}}})
	}
	if value == nil {
		g.fail("%s.%s: no schema for %q", where, k.Name, k.Type)
	}
	return withDefault(append(out, value...), k.Type, k.Default)
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
		return oneOrMore(list, item, kindsOf[strings.Trim(word, "[]")]...)
	case strings.HasPrefix(word, "{"):
		var all []object
		parts := strings.Split(strings.Trim(word, "{}"), "+")
		for _, part := range parts {
			if part != "condition" || len(parts) == 1 { // the schema of extractors has it
				all = append(all, g.inner(part, k))
			}
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
	if strings.HasPrefix(word, "[") {
		return g.word(word, k)
	}
	switch word {
	case "metric":
		return enum([]string{"counter", "gauge", "rate", "trend"}, false)
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

// extractor returns the schema of one value under `extract:`: an expression, or
// a map with the keys of one extractor and those that all have.
func (g *generator) extractor(common plan.Object) object {
	var properties object
	var names []string
	owners := map[string][]string{}
	needs := map[string][]string{}
	for _, d := range g.elements(element.ExtractorKind) {
		names = append(names, d.Name)
		for _, f := range spec.Describe(d.Type) {
			value := g.documented(g.field(f, false, d.Name+"."+f.Key), f)
			if f.Key == d.Name {
				value = value.with("markdownDescription", markdown(d))
			} else if owners[f.Key] = append(owners[f.Key], d.Name); f.Required {
				needs[d.Name] = append(needs[d.Name], f.Key)
			}
			if properties.get(f.Key) == nil {
				properties = append(properties, member{f.Key, value})
			}
		}
	}
	for _, k := range common.Keys {
		if properties.get(k.Name) == nil {
			properties = append(properties, member{k.Name, g.key(k, "extract")})
		}
	}
	out := append(object{{"title", "extractor"}}, describe(common.Doc)...)
	out = append(out, object{{"type", types("string", "boolean", "number", "object")}, {"examples", []any{"json.id"}}, {"properties", properties}, {"additionalProperties", false}}...)
	out = exclusive(out, names, true)
	for _, name := range names {
		if needs[name] != nil {
			out = depends(out, name, object{{"required", needs[name]}})
		}
	}
	for _, m := range properties {
		if of := owners[m.key]; of != nil {
			var alternatives []any
			for _, name := range of {
				alternatives = append(alternatives, object{{"required", []string{name}}, {"errorMessage", m.key + " belongs to " + strings.Join(of, ", ") + "."}})
			}
			out = depends(out, m.key, object{{"anyOf", alternatives}})
		}
	}
	return out
}

func matchSchema() object {
	return object{{"anyOf", []any{object{{"type", "integer"}, {"minimum", 1}}, object{{"enum", []any{"random", "all"}}}}}}
}

func ofSchema() object {
	variable := object{{"type", "object"}, {"properties", object{{"variable", object{{"description", "Variable whose text is searched."}, {"type", "string"}}}}}, {"required", []string{"variable"}}, {"additionalProperties", false}}
	return object{{"anyOf", []any{object{{"enum", []any{"body", "headers", "url", "message"}}}, variable}}}
}
