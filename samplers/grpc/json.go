package grpc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"math"
	"strconv"
	"strings"

	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
)

// writer writes messages as JSON: field names of the .proto file, fields without
// presence always, 64-bit integers as numbers.
type writer struct {
	dst   []byte
	types types
	limit int // of dst
}

var errTooLarge = errors.New("the answer is too large as JSON")

func (w *writer) message(m protoreflect.Message) error {
	d := m.Descriptor()
	if rest, ok := strings.CutPrefix(string(d.FullName()), "google.protobuf."); ok && wellKnown(rest) {
		if strings.HasSuffix(rest, "Value") && d.Fields().Len() == 1 && rest != "ListValue" {
			f := d.Fields().Get(0)
			return w.value(f, m.Get(f))
		}
		return w.special(m)
	}
	w.dst = append(w.dst, '{')
	comma := false
	for i := range d.Fields().Len() {
		f := d.Fields().Get(i)
		if f.HasPresence() && !m.Has(f) {
			continue
		}
		if comma {
			w.dst = append(w.dst, ',')
		}
		comma = true
		w.text(f.TextName())
		w.dst = append(w.dst, ':')
		if err := w.field(f, m.Get(f)); err != nil {
			return err
		}
	}
	w.dst = append(w.dst, '}')
	if len(w.dst) > w.limit {
		return errTooLarge
	}
	return nil
}

// wellKnown reports whether a type of google.protobuf has a JSON form of its own.
func wellKnown(name string) bool {
	switch name {
	case "Any", "Timestamp", "Duration", "Struct", "Value", "ListValue", "FieldMask", "Empty", "StringValue", "BytesValue", "BoolValue",
		"Int32Value", "Int64Value", "UInt32Value", "UInt64Value", "FloatValue", "DoubleValue":
		return true
	}
	return false
}

// special writes what has a JSON form of its own.
func (w *writer) special(m protoreflect.Message) error {
	text, err := protojson.MarshalOptions{Resolver: w.types, UseProtoNames: true, AllowPartial: true}.Marshal(m.Interface())
	if err != nil && m.Descriptor().Name() == "Any" { // of a type that nobody has described
		w.dst = append(w.dst, `{"@type":`...)
		w.text(m.Get(m.Descriptor().Fields().ByNumber(1)).String())
		w.dst = append(w.dst, '}')
		return nil
	}
	if err != nil {
		return err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, text); err != nil {
		return err
	}
	w.dst = append(w.dst, compact.Bytes()...)
	return nil
}

func (w *writer) field(f protoreflect.FieldDescriptor, v protoreflect.Value) error {
	switch {
	case f.IsList():
		w.dst = append(w.dst, '[')
		for i := range v.List().Len() {
			if i > 0 {
				w.dst = append(w.dst, ',')
			}
			if err := w.value(f, v.List().Get(i)); err != nil {
				return err
			}
		}
		w.dst = append(w.dst, ']')
		return nil
	case f.IsMap():
		return w.mapField(f, v.Map())
	}
	return w.value(f, v)
}

func (w *writer) mapField(f protoreflect.FieldDescriptor, m protoreflect.Map) (err error) {
	w.dst = append(w.dst, '{')
	comma := false
	m.Range(func(k protoreflect.MapKey, v protoreflect.Value) bool {
		if comma {
			w.dst = append(w.dst, ',')
		}
		comma = true
		w.text(k.String())
		w.dst = append(w.dst, ':')
		err = w.value(f.MapValue(), v)
		return err == nil
	})
	w.dst = append(w.dst, '}')
	return err
}

func (w *writer) value(f protoreflect.FieldDescriptor, v protoreflect.Value) error {
	switch x := v.Interface().(type) {
	case bool:
		w.dst = strconv.AppendBool(w.dst, x)
	case int32:
		w.dst = strconv.AppendInt(w.dst, int64(x), 10)
	case int64:
		w.dst = strconv.AppendInt(w.dst, x, 10)
	case uint32:
		w.dst = strconv.AppendUint(w.dst, uint64(x), 10)
	case uint64:
		w.dst = strconv.AppendUint(w.dst, x, 10)
	case float32:
		w.float(float64(x), 32)
	case float64:
		w.float(x, 64)
	case string:
		w.text(x)
	case []byte:
		w.dst = append(base64.StdEncoding.AppendEncode(append(w.dst, '"'), x), '"')
	case protoreflect.EnumNumber:
		w.enum(f, x)
	case protoreflect.Message:
		return w.message(x)
	}
	return nil
}

func (w *writer) enum(f protoreflect.FieldDescriptor, n protoreflect.EnumNumber) {
	switch v := f.Enum().Values().ByNumber(n); {
	case f.Enum().FullName() == "google.protobuf.NullValue":
		w.dst = append(w.dst, "null"...)
	case v == nil:
		w.dst = strconv.AppendInt(w.dst, int64(n), 10)
	default:
		w.text(string(v.Name()))
	}
}

func (w *writer) float(x float64, bits int) {
	switch {
	case math.IsNaN(x):
		w.dst = append(w.dst, `"NaN"`...)
	case math.IsInf(x, 1):
		w.dst = append(w.dst, `"Infinity"`...)
	case math.IsInf(x, -1):
		w.dst = append(w.dst, `"-Infinity"`...)
	default:
		w.dst = strconv.AppendFloat(w.dst, x, 'g', -1, bits)
	}
}

// text writes a string.
func (w *writer) text(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c >= 0x7f || c == '"' || c == '\\' {
			quoted, _ := json.Marshal(s) // a string is always JSON
			w.dst = append(w.dst, quoted...)
			return
		}
	}
	w.dst = append(append(append(w.dst, '"'), s...), '"')
}
