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
	if d.Kind == element.ExtractorKind { // a text that stands alone is an expression
		for i := range fields {
			fields[i].Short = false
		}
	}
	value := g.fields(fields, partial, d.Name)
	head := object{{"title", d.Name}}
	if partial {
		head[0].value = "defaults of " + d.Name
		head = head.with("description", "Values for every "+d.Name+" step below.")
	} else {
		head = head.with("description", "A "+d.Kind.String()+" that "+strings.TrimSuffix(d.Doc.Summary, ".")+".").with("markdownDescription", markdown(d))
	}
	return append(head, value...)
}

// markdown is the text that an editor shows for an element.
func markdown(d *element.Definition) string {
	var b strings.Builder
	b.WriteString("**" + d.Name + "**, a " + d.Kind.String() + ": " + strings.TrimSuffix(d.Doc.Summary, ".") + ".")
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
	out := append(object{{"description", description}}, value...)
	if f.Default != "" {
		out = out.with("default", defaultOf(f.Go, f.Default))
	}
	return out
}

func defaultOf(word, text string) any {
	switch word {
	case "int", "float", "number", "bool":
		return native(text)
	}
	return text
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
	need := func(key string) object { return object{{"required", []string{key}}} }
	for _, k := range keys {
		var others []any
		for _, o := range keys {
			if o != k {
				others = append(others, need(o))
			}
		}
		if len(others) > 0 {
			out = depends(out, k, "not", object{{"anyOf", others}})
		}
	}
	if !one {
		return out
	}
	var alternatives []any
	for _, k := range keys {
		alternatives = append(alternatives, need(k))
	}
	if all, ok := out.get("allOf").([]any); ok {
		return out.with("allOf", append(slices.Clone(all), object{{"anyOf", alternatives}}))
	}
	return out.with("allOf", []any{object{{"anyOf", alternatives}}})
}

// depends adds a rule about the map where key is given.
func depends(out object, key, keyword string, rule any) object {
	rules, _ := out.get("dependencies").(object)
	have, _ := rules.get(key).(object)
	if have.get(keyword) != nil {
		all, _ := have.get("allOf").([]any)
		have = have.with("allOf", append(all[:len(all):len(all)], object{{keyword, rule}}))
	} else {
		have = have.with(keyword, rule)
	}
	return out.with("dependencies", rules.with(key, have))
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
