package spec

import (
	"reflect"

	"runner/plan/expr"
	"runner/plan/source"
)

// Bind binds every expression of the struct that v points at to env.
func Bind(v any, env *expr.Env, ds *source.Diagnostics) {
	walk(reflect.ValueOf(v), func(x any) {
		switch x := x.(type) {
		case NodeBinder:
			x.BindNode(env, ds)
		case expr.Binder:
			x.Bind(env, ds)
		}
	})
}

// Uses returns the names that the expressions of v use; v was bound. Types that
// decode themselves count if they have a method Uses.
func Uses(v any) []expr.Use {
	var uses []expr.Use
	walk(reflect.ValueOf(v), func(x any) {
		if u, ok := x.(interface{ Uses() []expr.Use }); ok {
			uses = append(uses, u.Uses()...)
		}
	})
	return uses
}

// walk calls visit for every part that has a Bind phase, or decodes itself.
func walk(v reflect.Value, visit func(x any)) {
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		if !v.IsNil() {
			walk(v.Elem(), visit)
		}
		return
	case reflect.Slice:
		for i := range v.Len() {
			walk(v.Index(i), visit)
		}
		return
	case reflect.Struct:
	default:
		return
	}
	if !v.CanAddr() || v.Type() == nodeType.Elem() {
		return
	}
	switch x := v.Addr().Interface().(type) {
	case NodeBinder, expr.Binder:
		visit(x)
		return
	case NodeDecoder:
		visit(x)
		return
	}
	if isMap(v.Type()) {
		entries := v.Field(0)
		for i := range entries.Len() {
			walk(entries.Index(i).FieldByName("Value"), visit)
		}
		return
	}
	for _, f := range layoutOf(v.Type()).fields {
		walk(v.FieldByIndex(f.index), visit)
	}
}
