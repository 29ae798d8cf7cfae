package element

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// JSON returns the body as JSON, parsed once per sample: objects as
// map[string]any, arrays as []any, integers as int64 where they fit, other
// numbers as float64.
func (s *Sample) JSON() (any, error) {
	if !s.jsonParsed {
		s.json, s.jsonErr = DecodeJSON(s.Body)
		s.jsonParsed = true
	}
	return s.json, s.jsonErr
}

// DecodeJSON decodes one JSON value with the number types of the language.
func DecodeJSON(text []byte) (any, error) {
	if len(bytes.TrimSpace(text)) == 0 {
		return nil, errors.New("the body is empty, not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, fmt.Errorf("the body is not JSON: %w", err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the body is not JSON: text follows the value")
	}
	return numbers(v), nil
}

// numbers replaces json.Number in place by int64 or float64.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n
		}
		f, _ := v.Float64() // a number too large becomes ±Inf, as JavaScript has it
		return f
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	}
	return v
}
