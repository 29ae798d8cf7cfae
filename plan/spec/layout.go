package spec

import (
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"runner/plan/expr"
	"runner/plan/source"
)

// field is one tagged field of a struct, those of inlined structs included.
type field struct {
	index                                   []int
	typ                                     reflect.Type
	key                                     string
	required, short, single, fold, nonempty bool
	doc, def, min, max, group               string
	enum                                    []string
	secret                                  bool
	given                                   *source.Node // def as a value that is read; nil without one
}

type layout struct {
	fields []field
	short  *field
}

// layouts remembers what the tags of a type say: a pure function of the type.
var layouts sync.Map

func layoutOf(t reflect.Type) *layout {
	if l, ok := layouts.Load(t); ok {
		return l.(*layout)
	}
	l := &layout{}
	l.collect(t, nil)
	for i := range l.fields {
		if l.fields[i].short {
			l.short = &l.fields[i]
		}
	}
	layouts.Store(t, l)
	return l
}

func (l *layout) collect(t reflect.Type, index []int) {
	for i := range t.NumField() {
		sf := t.Field(i)
		tag, ok := sf.Tag.Lookup("plan")
		if !ok || tag == "-" {
			continue
		}
		at := append(slices.Clone(index), i)
		key, options, _ := strings.Cut(tag, ",")
		f := field{index: at, typ: sf.Type, key: key, doc: sf.Tag.Get("doc"), def: sf.Tag.Get("default"),
			min: sf.Tag.Get("min"), max: sf.Tag.Get("max"), group: sf.Tag.Get("group")}
		_, f.secret = sf.Tag.Lookup("secret")
		if e := sf.Tag.Get("enum"); e != "" {
			f.enum = strings.Split(e, "|")
		}
		if f.def != "" {
			f.given = &source.Node{Kind: source.Scalar, Text: f.def}
		}
		inline := false
		for option := range strings.SplitSeq(options, ",") {
			switch option {
			case "required":
				f.required = true
			case "short":
				f.short = true
			case "single":
				f.single = true
			case "fold":
				f.fold = true
			case "nonempty":
				f.nonempty = true
			case "inline":
				inline = true
			}
		}
		if inline && sf.Type.Kind() == reflect.Struct {
			l.collect(sf.Type, at)
			continue
		}
		l.fields = append(l.fields, f)
	}
}

func (l *layout) find(key string) *field {
	for i := range l.fields {
		if l.fields[i].key == key {
			return &l.fields[i]
		}
	}
	return nil
}

func (l *layout) keys() []string {
	keys := make([]string, len(l.fields))
	for i := range l.fields {
		keys[i] = l.fields[i].key
	}
	return keys
}

// Keys returns the keys of the struct type t, in order.
func Keys(t reflect.Type) []string { return layoutOf(t).keys() }

// ShortKey returns the key that a bare value stands for, or "".
func ShortKey(t reflect.Type) string {
	if s := layoutOf(t).short; s != nil {
		return s.key
	}
	return ""
}

// Secrets returns the keys of t, and of the objects in it, whose values are
// masked wherever they are shown.
func Secrets(t reflect.Type) []string { return secretKeys(Describe(t)) }

func secretKeys(fields []Field) []string {
	var keys []string
	for _, f := range fields {
		if f.Secret {
			keys = append(keys, f.Key)
		}
		keys = append(keys, secretKeys(f.Children)...)
		if f.Item != nil {
			keys = append(keys, secretKeys(f.Item.Children)...)
		}
	}
	return keys
}

// words names the kinds of value that a field can hold.
var words = map[reflect.Type]string{
	reflect.TypeFor[expr.String]():     "text",
	reflect.TypeFor[expr.Text]():       "any",
	reflect.TypeFor[expr.Int]():        "int",
	reflect.TypeFor[expr.Float]():      "float",
	reflect.TypeFor[expr.Bool]():       "bool",
	reflect.TypeFor[expr.Duration]():   "duration",
	reflect.TypeFor[expr.RateValue]():  "rate",
	reflect.TypeFor[expr.SizeValue]():  "size",
	reflect.TypeFor[expr.ShareValue](): "share",
	reflect.TypeFor[expr.Condition]():  "condition",
	reflect.TypeFor[expr.Expression](): "condition",
	reflect.TypeFor[expr.Tree]():       "any",
	reflect.TypeFor[Node]():            "any",
	reflect.TypeFor[time.Duration]():   "duration",
	reflect.TypeFor[expr.Rate]():       "rate",
	reflect.TypeFor[expr.Size]():       "size",
	reflect.TypeFor[expr.Share]():      "share",
}

var (
	nodeDecoder = reflect.TypeFor[NodeDecoder]()
	treeType    = reflect.TypeFor[expr.Tree]()
	nodeType    = reflect.TypeFor[Node]()
)

// traits are what is asked of a type again and again.
type traits struct {
	word        string
	isMap, self bool
}

// types remembers the traits of types: a pure function of the type.
var types sync.Map

func traitsOf(t reflect.Type) traits {
	if x, ok := types.Load(t); ok {
		return x.(traits)
	}
	x := traits{
		isMap: t.Kind() == reflect.Struct && t.Implements(reflect.TypeFor[mapType]()),
		self:  reflect.PointerTo(t).Implements(nodeDecoder),
	}
	x.word = kindWord(t, x.isMap)
	types.Store(t, x)
	return x
}

// wordOf names the kind of value of a Go type.
func wordOf(t reflect.Type) string { return traitsOf(t).word }

// isMap reports whether t is a Map.
func isMap(t reflect.Type) bool { return traitsOf(t).isMap }

// decodesItself reports whether *t has DecodeNode.
func decodesItself(t reflect.Type) bool { return traitsOf(t).self }

func kindWord(t reflect.Type, isMap bool) string {
	if w := words[t]; w != "" {
		return w
	}
	if isMap {
		return "map"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wordOf(t.Elem())
	case reflect.String:
		return "text"
	case reflect.Bool:
		return "bool"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return "int"
	case reflect.Float32, reflect.Float64:
		return "float"
	case reflect.Slice:
		return "list"
	case reflect.Struct:
		return "object"
	}
	return "any"
}

type mapType interface{ isMap() }

func (Map[T]) isMap() {}
