package schema

import (
	"bytes"
	"encoding/json"
)

// object is a JSON object that keeps the order of its keys.
type object []member

type member struct {
	key   string
	value any
}

// with returns o with one more key, or with the key's value replaced.
func (o object) with(key string, value any) object {
	for i := range o {
		if o[i].key == key {
			out := append(object{}, o...)
			out[i].value = value
			return out
		}
	}
	return append(o[:len(o):len(o)], member{key, value})
}

func (o object) get(key string) any {
	for _, m := range o {
		if m.key == key {
			return m.value
		}
	}
	return nil
}

// MarshalJSON writes the keys in their order.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		for j, part := range []any{m.key, m.value} {
			if j > 0 {
				b.WriteByte(':')
			}
			if err := encodeTo(&b, part); err != nil {
				return nil, err
			}
		}
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encodeTo appends a value without escaping <, > and &.
func encodeTo(b *bytes.Buffer, v any) error {
	e := json.NewEncoder(b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return err
	}
	b.Truncate(b.Len() - 1)
	return nil
}

// encode returns the indented text of a value, with a line break at its end.
func encode(v any) ([]byte, error) {
	var raw, out bytes.Buffer
	if err := encodeTo(&raw, v); err != nil {
		return nil, err
	}
	if err := json.Indent(&out, raw.Bytes(), "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}
