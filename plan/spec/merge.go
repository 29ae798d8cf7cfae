package spec

import (
	"reflect"
	"strings"

	"runner/plan/source"
)

// Merge returns inner laid over outer, both written for the struct type t: the
// inner value wins, maps and nested structs merge by key, and a key of a group
// displaces the others of its group. Parts keep the places where they were
// written; the whole has inner's. Either may be nil.
func Merge(outer, inner *source.Node, t reflect.Type) *source.Node {
	l := layoutOf(t)
	inner = long(inner, l)
	if outer == nil || outer.Null {
		return inner
	}
	outer = long(outer, l)
	if inner == nil {
		return outer
	}
	if outer.Kind != source.Map || inner.Kind != source.Map {
		return inner
	}
	return merge(outer, inner, l.find, false)
}

// long writes a short form out.
func long(n *source.Node, l *layout) *source.Node {
	switch {
	case n == nil:
		return nil
	case n.Null && l.short == nil, n.Null && n.Text == "":
		return &source.Node{Kind: source.Map, Range: n.Range}
	case l.short != nil && isShort(n, l):
		key := &source.Node{Kind: source.Scalar, Text: l.short.key, Range: n.Range}
		return &source.Node{Kind: source.Map, Range: n.Range, Fields: []source.Field{{Key: key, Value: n}}}
	}
	return n
}

func merge(outer, inner *source.Node, find func(string) *field, fold bool) *source.Node {
	out := &source.Node{Kind: source.Map, Flow: inner.Flow, Range: inner.Range}
	groups := map[string]bool{}
	for _, in := range inner.Fields {
		if f := find(in.Key.Text); f != nil && f.group != "" {
			groups[f.group] = true
		}
	}
	used := map[int]bool{}
	for _, o := range outer.Fields {
		f := find(o.Key.Text)
		i := index(inner, o.Key.Text, fold)
		switch {
		case i >= 0:
			used[i] = true
			in := inner.Fields[i]
			if in.Value.Null && find(in.Key.Text) == nil {
				continue // a null takes an inherited entry of a map away
			}
			out.Fields = append(out.Fields, source.Field{Key: in.Key, Value: mergeValue(o.Value, in.Value, f)})
		case f != nil && groups[f.group]:
		default:
			out.Fields = append(out.Fields, o)
		}
	}
	for i, in := range inner.Fields {
		if !used[i] {
			out.Fields = append(out.Fields, in)
		}
	}
	return out
}

func mergeValue(outer, inner *source.Node, f *field) *source.Node {
	if f == nil || outer.Kind != source.Map || inner.Kind != source.Map {
		return inner
	}
	t := f.typ
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	none := func(string) *field { return nil }
	switch {
	case isMap(t):
		return merge(outer, inner, none, f.fold)
	case t.Kind() == reflect.Struct && !decodesItself(t) && len(layoutOf(t).fields) > 0:
		return merge(outer, inner, layoutOf(t).find, false)
	}
	return inner
}

func index(m *source.Node, key string, fold bool) int {
	for i, f := range m.Fields {
		if f.Key.Text == key || fold && strings.EqualFold(f.Key.Text, key) {
			return i
		}
	}
	return -1
}
