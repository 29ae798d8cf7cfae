package spec

import "reflect"

// Describe returns what the struct type t (or a pointer to it) accepts, in the
// order of its fields.
func Describe(t reflect.Type) []Field {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return describeFields(t, 0)
}

func describeFields(t reflect.Type, depth int) []Field {
	if t.Kind() != reflect.Struct || depth > 8 {
		return nil
	}
	l := layoutOf(t)
	out := make([]Field, 0, len(l.fields))
	required := map[string]bool{}
	for i := range l.fields {
		if l.fields[i].required {
			required[l.fields[i].group] = true
		}
	}
	for i := range l.fields {
		f := &l.fields[i]
		d := describeType(f.typ, depth)
		d.Key, d.Doc, d.Default, d.Enum, d.Min, d.Max = f.key, f.doc, f.def, f.enum, f.min, f.max
		d.Required, d.Short, d.Single, d.Fold, d.Secret = f.required && f.group == "", f.short, f.single, f.fold, f.secret
		d.Group, d.GroupReq = f.group, f.group != "" && required[f.group]
		out = append(out, d)
	}
	return out
}

func describeType(t reflect.Type, depth int) Field {
	for t.Kind() == reflect.Pointer && t != nodeType {
		t = t.Elem()
	}
	f := Field{Go: wordOf(t), Type: t}
	if d, ok := reflect.New(t).Interface().(NodeDescriber); ok {
		f.Go, f.OneOf = "any", d.DescribeNode()
		return f
	}
	_, f.Template = reflect.New(t).Interface().(nodeValue)
	switch {
	case decodesItself(t) || f.Go == "any":
		f.Go = "any"
	case f.Go == "list":
		item := describeType(t.Elem(), depth+1)
		f.Item = &item
	case f.Go == "map":
		item := describeType(t.Field(0).Type.Elem().Field(2).Type, depth+1)
		f.Item = &item
	case f.Go == "object" && words[t] == "":
		f.Children = describeFields(t, depth+1)
	}
	return f
}
