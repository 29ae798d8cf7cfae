package reporters

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"time"

	"runner/reporters/stats"
)

// SummarySchema returns the JSON Schema of summary.json, derived from the types
// that are written, so that the two cannot disagree.
func SummarySchema() []byte {
	g := schemaMaker{defs: map[string]any{}}
	root := g.object(reflect.TypeFor[stats.Summary]())
	root["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	root["title"] = "Summary of a run"
	root["description"] = "One run of a plan. Times are nanoseconds, shares 0 to 1; null is what was not measured."
	root["$defs"] = g.defs
	props := root["properties"].(map[string]any)
	props["schema"] = map[string]any{"const": stats.SummarySchema}
	props["verdict"] = map[string]any{"enum": []any{stats.Passed, stats.Failed, stats.Invalid, stats.Interrupted}}
	props["exit_code"] = map[string]any{"enum": []any{0, 1, 3, 130, 143}}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(root); err != nil {
		return nil
	}
	return b.Bytes()
}

// schemaMaker turns types into schemas; structs become definitions.
type schemaMaker struct{ defs map[string]any }

func (g schemaMaker) of(t reflect.Type) any {
	switch t.Kind() {
	case reflect.Pointer:
		return map[string]any{"anyOf": []any{g.of(t.Elem()), map[string]any{"type": "null"}}}
	case reflect.Struct:
		return g.structure(t)
	case reflect.Slice:
		return map[string]any{"type": "array", "items": g.of(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": g.of(t.Elem())}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Float64, reflect.Float32:
		return map[string]any{"type": "number"}
	case reflect.Uint64, reflect.Uint:
		return map[string]any{"type": "integer", "minimum": 0}
	}
	return map[string]any{"type": "integer"}
}

func (g schemaMaker) structure(t reflect.Type) any {
	if t == reflect.TypeFor[time.Time]() {
		return map[string]any{"type": "string", "format": "date-time"}
	}
	if _, done := g.defs[t.Name()]; !done {
		g.defs[t.Name()] = nil
		g.defs[t.Name()] = g.object(t)
	}
	return map[string]any{"$ref": "#/$defs/" + t.Name()}
}

// object describes a struct: closed, every key required unless it may be left out.
func (g schemaMaker) object(t reflect.Type) map[string]any {
	props, required := map[string]any{}, []any{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, opts, _ := strings.Cut(f.Tag.Get("json"), ",")
		props[name] = g.of(f.Type)
		if !strings.Contains(opts, "omitempty") {
			required = append(required, name)
		}
	}
	return map[string]any{"type": "object", "properties": props, "required": required, "additionalProperties": false}
}
