package schema

import (
	"slices"
	"strings"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/spec"
)

// definitionOf names the definition of an element: samplers by their own name,
// as they stand in a step, the others with their kind in front.
func definitionOf(d *element.Definition) string {
	if d.Kind == element.SamplerKind {
		return d.Name
	}
	return d.Kind.String() + "_" + d.Name
}

func ref(name string) object { return object{{"$ref", "#/definitions/" + name}} }

// elements returns the definitions of a kind by name.
func (g *generator) elements(kind element.Kind) []*element.Definition {
	var all []*element.Definition
	for _, name := range g.reg.Names(kind) {
		all = append(all, g.reg.Lookup(kind, name))
	}
	return all
}

// element returns the schema of what stands behind an element's key. Partial, it
// is that of its defaults: without required keys and short forms.
func (g *generator) element(d *element.Definition, partial bool) object {
	fields := spec.Describe(d.Type)
	value := g.fields(long(fields), partial, d.Name)
	for _, f := range fields {
		if f.Short && !partial {
			short := append(object{{"title", d.Name}}, g.field(f, false, d.Name)...)
			value = object{{"anyOf", []any{short, append(object{{"title", d.Name + " with its keys"}}, value...)}}}
		}
	}
	head := object{{"title", d.Name}}
	if partial {
		head[0].value = "defaults of " + d.Name
		head = head.with("description", "Values for every "+d.Name+" step below.")
	} else {
		head = head.with("description", article(d.Kind.String())+" that "+strings.TrimSuffix(d.Doc.Summary, ".")+".").with("markdownDescription", markdown(d))
	}
	return append(head, value...)
}

// long returns the fields without a short form.
func long(fields []spec.Field) []spec.Field {
	out := slices.Clone(fields)
	for i := range out {
		out[i].Short = false
	}
	return out
}

// markdown is the text that an editor shows for an element.
func markdown(d *element.Definition) string {
	var b strings.Builder
	b.WriteString("**" + d.Name + "**, " + strings.ToLower(article(d.Kind.String())) + ": " + strings.TrimSuffix(d.Doc.Summary, ".") + ".")
	if d.Doc.Text != "" {
		b.WriteString("\n\n" + d.Doc.Text)
	}
	for _, e := range d.Doc.Examples {
		b.WriteString("\n\n```yaml\n" + strings.TrimSpace(e.YAML) + "\n```")
	}
	return b.String()
}

// fields returns the schema of a map with the given keys, and of its short form.
func (g *generator) fields(fields []spec.Field, partial bool, where string) object {
	var properties object
	var required []string
	var short object
	for _, f := range fields {
		if f.Doc == "" {
			g.fail("%s: the key %q has no doc", where, f.Key)
		}
		value := g.field(f, partial, where+"."+f.Key)
		if f.Short && !partial {
			short = value
		}
		properties = append(properties, member{f.Key, g.documented(value, f)})
		if f.Required && !partial {
			required = append(required, f.Key)
		}
	}
	out := object{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}}
	if len(required) > 0 {
		out = out.with("required", required)
	}
	if !partial {
		out = groups(out, fields)
	}
	if short != nil {
		return either(short, out)
	}
	return out
}

func (g *generator) documented(value object, f spec.Field) object {
	description := sentence(f.Doc, f.Default, f.Min, f.Max)
	out := append(describe(description), value...)
	return withDefault(out, f.Go, f.Default)
}

// withDefault adds the default of a key as an editor offers it. That of a flag
// is left out: editors would write it beside the keys that are required.
func withDefault(out object, word, text string) object {
	switch {
	case text == "" || word == "bool" || strings.Contains(text, " "):
		return out
	case word == "int" || word == "float" || word == "number" || word == "match":
		if kinds := typesOf(out); len(kinds) == 2 { // an editor writes the default as the first
			out = out.with("type", []string{kinds[1], kinds[0]})
		}
		return out.with("default", native(text))
	}
	return out.with("default", text)
}

// describe returns the keywords that tell a meaning. Editors show the second as
// markdown.
func describe(text string) object {
	if strings.ContainsAny(text, "`") {
		return object{{"description", text}, {"markdownDescription", text}}
	}
	return object{{"description", text}}
}

func article(noun string) string {
	if strings.ContainsAny(noun[:1], "aeiou") {
		return "An " + noun
	}
	return "A " + noun
}

// groups adds the rules of keys that exclude each other.
func groups(out object, fields []spec.Field) object {
	members := map[string][]string{}
	exactly := map[string]bool{}
	var order []string
	for _, f := range fields {
		if f.Group == "" {
			continue
		}
		if members[f.Group] == nil {
			order = append(order, f.Group)
		}
		members[f.Group] = append(members[f.Group], f.Key)
		exactly[f.Group] = exactly[f.Group] || f.GroupReq
	}
	for _, name := range order {
		out = exclusive(out, members[name], exactly[name])
	}
	return out
}

// exclusive adds that at most one of keys is given, and with one that one is.
// The rules say nothing about values that are not maps, so that they can stand
// beside a short form.
func exclusive(out object, keys []string, one bool) object {
	for _, k := range keys {
		var others object
		for _, o := range keys {
			if o != k {
				others = append(others, member{o, false})
			}
		}
		if len(others) > 0 {
			out = depends(out, k, object{{"properties", others}, {"errorMessage", "Only one of " + strings.Join(keys, ", ") + " can be given."}})
		}
	}
	if !one {
		return out
	}
	var alternatives []any
	for _, k := range keys {
		alternatives = append(alternatives, object{{"required", []string{k}}, {"errorMessage", "One of " + strings.Join(keys, ", ") + " is needed."}})
	}
	all, _ := out.get("allOf").([]any)
	return out.with("allOf", append(all[:len(all):len(all)], object{{"anyOf", alternatives}}))
}

// depends adds a rule about the map where key is given.
func depends(out object, key string, rule object) object {
	rules, _ := out.get("dependencies").(object)
	if have, ok := rules.get(key).(object); ok {
		all, ok := have.get("allOf").([]any)
		if !ok {
			all = []any{have}
		}
		rule = object{{"allOf", append(all[:len(all):len(all)], rule)}}
	}
	return out.with("dependencies", rules.with(key, rule))
}

// field returns the schema of one key's value.
func (g *generator) field(f spec.Field, partial bool, where string) object {
	if len(f.OneOf) > 0 {
		var all []object
		for _, form := range f.OneOf {
			form.Template = form.Template || form.Go == "text" // texts that decode themselves
			all = append(all, g.field(form, partial, where))
		}
		return either(all...)
	}
	switch f.Go {
	case "list":
		return g.list(f, partial, where)
	case "map":
		out := object{{"type", "object"}}
		if f.Item != nil {
			out = out.with("additionalProperties", g.field(*f.Item, partial, where))
		}
		return bounds(out, f, "minProperties", "maxProperties")
	case "object":
		return g.fields(f.Children, partial, where)
	}
	if len(f.Enum) > 0 {
		return enum(f.Enum, f.Template)
	}
	value := scalar(f.Go, f.Template)
	if value == nil {
		g.fail("%s: no schema for a value of kind %q", where, f.Go)
	}
	if f.Go == "int" || f.Go == "float" {
		value = bounds(value, f, "minimum", "maximum")
	}
	return value
}

func (g *generator) list(f spec.Field, partial bool, where string) object {
	out := object{{"type", "array"}}
	if f.Item == nil {
		return out
	}
	entry := *f.Item
	entry.Enum = append(entry.Enum, f.Enum...)
	item := g.field(entry, partial, where)
	out = bounds(out.with("items", item), f, "minItems", "maxItems")
	if f.Single {
		return either(out, item)
	}
	return out
}

func bounds(out object, f spec.Field, low, high string) object {
	for _, b := range []struct{ key, text string }{{low, f.Min}, {high, f.Max}} {
		if x, err := expr.ParseFloat(b.text); err == nil {
			out = out.with(b.key, x)
		}
	}
	return out
}
