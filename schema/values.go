package schema

import (
	"slices"
	"strconv"
	"strings"
)

// The texts of values with a unit. Each may be a text with ${…} instead.
const (
	number    = `[0-9]+(\.[0-9]+)?`
	times     = `(` + number + `(ns|us|µs|ms|s|m|h|d))+`
	rateText  = ` *` + number + ` */ *(s|min|h) *`
	sizeText  = number + `(B|KB|MB|GB|TB|KiB|MiB|GiB|TiB)`
	shareText = number + `%`
	dynamic   = `\$\{`
	plainText = `([^$]|\$+([^{$]|$))*` // without ${
)

// orDynamic returns a pattern for the text as a whole, or one with ${…}.
func orDynamic(pattern string, template bool) string {
	if !template {
		return "^" + pattern + "$"
	}
	return "^" + pattern + "$|" + dynamic
}

func types(names ...string) any {
	if len(names) == 1 {
		return names[0]
	}
	return names
}

// scalar returns the schema of a value by its word, nil if there is no such word.
// template says whether ${…} may stand in it.
func scalar(word string, template bool) object {
	unit := func(pattern, message string, examples ...any) object {
		return object{{"type", "string"}, {"pattern", orDynamic(pattern, template)}, {"errorMessage", message}, {"examples", examples}}
	}
	switch word {
	case "text", "name", "path":
		if !template {
			return object{{"type", types("string", "number", "boolean")}, {"pattern", orDynamic(plainText, false)}, {"patternErrorMessage", "No ${…} can stand here."}}
		}
		return object{{"type", types("string", "number", "boolean")}}
	case "int":
		return object{{"type", types("string", "integer")}, {"pattern", orDynamic(`-?[0-9]+`, template)}, {"errorMessage", "A whole number is needed here."}}
	case "float", "number":
		return object{{"type", types("string", "number")}, {"pattern", orDynamic(`-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?`, template)}, {"errorMessage", "A number is needed here."}}
	case "bool":
		return object{{"type", types("boolean", "string")}, {"pattern", orDynamic(`(true|false)`, template)}, {"errorMessage", "Write true or false."}}
	case "duration":
		return unit(times, "A duration has a unit: 300ms, 2s, 1m30s.", "300ms", "2s", "1m30s")
	case "range":
		return unit(times+` *\.\. *`+times, "A range has two durations: 1s..3s.", "1s..3s")
	case "rate":
		return unit(rateText, "A rate has a unit: 500/s, 30000/min, 10/h.", "50/s", "3000/min")
	case "size":
		return unit(sizeText, "A size has a unit: 512B, 10KB, 1MiB.", "10KB", "1MiB")
	case "share":
		return unit(shareText, "A share has a percent sign: 1%.", "1%")
	case "condition":
		return object{{"type", types("string", "boolean", "number")}}
	case "value", "any":
		return object{}
	}
	return nil
}

// either returns a schema for values that one of the alternatives admits. Where
// no keyword of one can speak about the values of another they are written as
// one schema, because editors then name the key that is wrong.
func either(alternatives ...object) object {
	if len(alternatives) == 1 {
		return alternatives[0]
	}
	if merged, ok := merge(alternatives); ok {
		return merged
	}
	var all []any
	for _, a := range alternatives {
		if inner, ok := a.get("anyOf").([]any); ok && len(a) == 1 {
			all = append(all, inner...)
			continue
		}
		all = append(all, a)
	}
	return object{{"anyOf", all}}
}

// merge joins schemas of disjoint types whose keywords each concern one type.
func merge(alternatives []object) (object, bool) {
	if one, ok := joined(alternatives); ok {
		return one, true
	}
	var names []string
	var rest object
	for i, a := range alternatives {
		if i > 0 && a.get("items") != nil { // editors would begin a list first
			return nil, false
		}
		for _, m := range a {
			switch m.key {
			case "type":
				for _, t := range typesOf(a) {
					if slices.Contains(names, t) {
						return nil, false
					}
					names = append(names, t)
				}
				continue
			case "enum", "const", "anyOf", "oneOf", "allOf", "not", "$ref":
				return nil, false
			case "errorMessage": // would be said of keys, too
				m.key = "patternErrorMessage"
			}
			if rest.get(m.key) == nil {
				rest = append(rest, m)
			}
		}
		if a.get("type") == nil {
			return nil, false
		}
	}
	return append(object{{"type", types(names...)}}, rest...), true
}

// joined returns one schema for texts of several forms.
func joined(alternatives []object) (object, bool) {
	var patterns, messages []string
	var examples []any
	for _, a := range alternatives {
		pattern, _ := a.get("pattern").(string)
		message, _ := a.get("errorMessage").(string)
		if a.get("type") != "string" || pattern == "" || message == "" {
			return nil, false
		}
		some, _ := a.get("examples").([]any)
		patterns, messages, examples = append(patterns, pattern), append(messages, message), append(examples, some...)
	}
	return object{{"type", "string"}, {"pattern", strings.Join(patterns, "|")}, {"errorMessage", strings.Join(messages, " ")}, {"examples", examples}}, true
}

// oneOrMore returns the schema of a list of items of which one may stand alone.
// kinds are the types of
// an item. A branch, unlike alternatives, lets editors say what is wrong in it.
func oneOrMore(list, item object, kinds ...string) object {
	if len(kinds) == 0 {
		return either(list, item)
	}
	out := list.with("type", append([]string{"array"}, kinds...))
	return append(out, member{"if", object{{"type", types(kinds...)}}}, member{"then", item})
}

func typesOf(o object) []string {
	switch t := o.get("type").(type) {
	case string:
		return []string{t}
	case []string:
		return t
	}
	return nil
}

// enum returns the schema of one of several texts.
func enum(words []string, template bool) object {
	var values []any
	for _, w := range words {
		values = append(values, w)
		if v := native(w); v != any(w) {
			values = append(values, v)
		}
	}
	fixed := object{{"enum", values}}
	if !template {
		return fixed
	}
	return object{{"anyOf", []any{fixed, object{{"type", "string"}, {"pattern", dynamic}}}}}
}

// native returns the value that a plain YAML scalar has for an editor.
func native(text string) any {
	if text == "true" || text == "false" {
		return text == "true"
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n
	}
	return text
}

// sentence makes a description of a key's one-line doc and what bounds it.
func sentence(doc, def, low, high string) string {
	if doc != "" {
		doc = strings.ToUpper(doc[:1]) + doc[1:]
	}
	for _, part := range []struct{ what, text string }{{"Default: ", def}, {"At least ", low}, {"At most ", high}} {
		if part.text != "" {
			doc = strings.TrimRight(doc, ".") + ". " + part.what + part.text
		}
	}
	return strings.TrimRight(doc, ".") + "."
}
