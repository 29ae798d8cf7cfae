package expr

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"sort"
	"strconv"
	"time"
	"unicode/utf8"
)

var errNil = errors.New("the value is nil")

// FormatText returns v as it is interpolated into text. nil is an error; whole
// numbers never get an exponent; lists and maps become compact JSON; a Secret is
// revealed.
func FormatText(v any) (string, error) {
	switch v := v.(type) {
	case string:
		return v, nil
	case Secret:
		return v.text, nil
	case bool:
		return strconv.FormatBool(v), nil
	}
	b, err := appendText(nil, v)
	return string(b), err
}

// appendText appends what FormatText returns.
func appendText(dst []byte, v any) ([]byte, error) {
	switch v := v.(type) {
	case nil:
		return dst, errNil
	case string:
		return append(dst, v...), nil
	case []byte:
		return append(dst, v...), nil
	case Secret:
		return append(dst, v.text...), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case time.Time:
		return v.AppendFormat(dst, time.RFC3339Nano), nil
	case fmt.Stringer:
		return append(dst, v.String()...), nil
	}
	if n, ok := toInt(v); ok {
		return strconv.AppendInt(dst, n, 10), nil
	}
	if f, ok := toFloat(v); ok {
		return appendFloat(dst, f), nil
	}
	return AppendJSONValue(dst, v)
}

// formatFloat prints the shortest decimal that reads back as f, without an
// exponent for anything a person would write out.
func formatFloat(f float64) string { return string(appendFloat(nil, f)) }

func appendFloat(dst []byte, f float64) []byte {
	if a := math.Abs(f); a != 0 && (a < 1e-9 || a >= 1e21) {
		return strconv.AppendFloat(dst, f, 'g', -1, 64)
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// toInt returns v as int64 where it is of an integer type without a unit.
func toInt(v any) (int64, bool) {
	switch v := v.(type) {
	case int64:
		return v, true
	case int:
		return int64(v), true
	case int32:
		return int64(v), true
	case uint64:
		return int64(v), v <= math.MaxInt64
	case uint32:
		return int64(v), true
	case int16:
		return int64(v), true
	case int8:
		return int64(v), true
	case uint8:
		return int64(v), true
	case uint16:
		return int64(v), true
	case uint:
		return int64(v), v <= math.MaxInt64
	}
	return 0, false
}

// toFloat returns v as float64 where it is of a float type without a unit.
func toFloat(v any) (float64, bool) {
	switch v := v.(type) {
	case float64:
		return v, true
	case float32:
		return float64(v), true
	case uint64:
		return float64(v), true
	case uint:
		return float64(v), true
	}
	return 0, false
}

// AppendJSONValue appends v as compact JSON with sorted keys. Values with units
// and times become strings as they are interpolated; a Secret is revealed.
func AppendJSONValue(dst []byte, v any) ([]byte, error) { return appendJSON(dst, v, 0) }

const maxJSONDepth = 1000

func appendJSON(dst []byte, v any, depth int) ([]byte, error) {
	if depth > maxJSONDepth {
		return dst, errors.New("the value is nested too deeply for JSON")
	}
	if depth > 0 && len(dst) > maxText {
		return dst, errTooLong
	}
	switch v := v.(type) {
	case nil:
		return append(dst, "null"...), nil
	case string:
		return appendJSONString(dst, v), nil
	case []byte:
		return appendJSONString(dst, v), nil
	case Secret:
		return appendJSONString(dst, v.text), nil
	case bool:
		return strconv.AppendBool(dst, v), nil
	case json.Number:
		return append(dst, v...), nil
	case []any:
		return appendJSONList(dst, v, depth)
	case map[string]any:
		return appendJSONMap(dst, v, depth)
	case time.Time:
		return appendJSONString(dst, v.Format(time.RFC3339Nano)), nil
	case fmt.Stringer:
		return appendJSONString(dst, v.String()), nil
	}
	if n, ok := toInt(v); ok {
		return strconv.AppendInt(dst, n, 10), nil
	}
	if f, ok := toFloat(v); ok {
		if math.IsNaN(f) || math.IsInf(f, 0) {
			return dst, fmt.Errorf("%v cannot be written as JSON", f)
		}
		return appendFloat(dst, f), nil
	}
	b, err := json.Marshal(v)
	if err != nil {
		return dst, fmt.Errorf("a value of type %T cannot be written as JSON", v)
	}
	return append(dst, b...), nil
}

func appendJSONList(dst []byte, v []any, depth int) (_ []byte, err error) {
	dst = append(dst, '[')
	for i, item := range v {
		if i > 0 {
			dst = append(dst, ',')
		}
		if dst, err = appendJSON(dst, item, depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func appendJSONMap(dst []byte, v map[string]any, depth int) (_ []byte, err error) {
	keys := keysOf(v)
	sort.Strings(keys)
	dst = append(dst, '{')
	for i, k := range keys {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(appendJSONString(dst, k), ':')
		if dst, err = appendJSON(dst, v[k], depth+1); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

const hexDigits = "0123456789abcdef"

// appendJSONString quotes s for JSON; unlike encoding/json it leaves <, > and &
// as they are.
func appendJSONString[T string | []byte](dst []byte, s T) []byte {
	dst = append(dst, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c >= utf8.RuneSelf {
			r, n := utf8.DecodeRuneInString(string(s[i:min(i+utf8.UTFMax, len(s))]))
			if r == utf8.RuneError && n == 1 {
				dst = append(append(dst, s[start:i]...), "\ufffd"...)
				start = i + 1
			}
			i += n
			continue
		}
		if c >= ' ' && c != '"' && c != '\\' {
			i++
			continue
		}
		dst = append(dst, s[start:i]...)
		switch c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hexDigits[c>>4], hexDigits[c&15])
		}
		i++
		start = i
	}
	return append(append(dst, s[start:]...), '"')
}
