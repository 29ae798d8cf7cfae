package expr

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"strconv"
	"strings"
)

// maxRandomString bounds random_string.
const maxRandomString = 1 << 20

// randomFunctions are the functions that draw from the thread's seeded source.
func randomFunctions() []Function {
	return []Function{
		{Name: "uuid", Signature: "uuid()", Doc: "a random UUID (version 4)", Result: TextType, Call: func(s Scope, _ ...any) (any, error) { return uuid(s.Machine().Rand()), nil }},
		{Name: "random_int", Signature: "random_int(1, 100)", Doc: "a whole number from the first to the second, both included", Min: 2, Max: 2, Result: IntType, Call: callRandomInt},
		{Name: "random_string", Signature: "random_string(8)", Doc: "so many random letters and digits", Min: 1, Max: 1, Result: TextType, Call: callRandomString},
		{Name: "pick", Signature: "pick(list)", Doc: "a random item of a list", Min: 1, Max: -1, Result: AnyType, Call: callPick},
	}
}

func uuid(r *rand.Rand) string {
	var b [16]byte
	for i := 0; i < 16; i += 8 {
		n := r.Uint64()
		for j := range 8 {
			b[i+j] = byte(n >> (8 * j))
		}
	}
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	out := make([]byte, 0, 36)
	for i, c := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			out = append(out, '-')
		}
		out = append(out, hexDigits[c>>4], hexDigits[c&15])
	}
	return string(out)
}

func callRandomInt(s Scope, args ...any) (any, error) {
	lo, ok1 := toInt(args[0])
	hi, ok2 := toInt(args[1])
	switch {
	case !ok1:
		return nil, wrongArgument("a whole number", args[0])
	case !ok2:
		return nil, wrongArgument("a whole number", args[1])
	case lo > hi:
		return nil, &TypeError{fmt.Sprintf("random_int(%d, %d) runs backwards; write random_int(%d, %d)", lo, hi, hi, lo)}
	}
	width := uint64(hi-lo) + 1
	if width == 0 {
		return int64(s.Machine().Rand().Uint64()), nil
	}
	return lo + int64(s.Machine().Rand().Uint64N(width)), nil
}

const alphanumeric = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"

func callRandomString(s Scope, args ...any) (any, error) {
	n, ok := toInt(args[0])
	if !ok || n < 0 || n > maxRandomString {
		return nil, wrongArgument(fmt.Sprintf("a length from 0 to %d", maxRandomString), args[0])
	}
	out := make([]byte, n)
	for i := range out {
		out[i] = alphanumeric[s.Machine().Rand().IntN(len(alphanumeric))]
	}
	return string(out), nil
}

// callPick takes a list, or the items one by one.
func callPick(s Scope, args ...any) (any, error) {
	if len(args) > 1 {
		return args[s.Machine().Rand().IntN(len(args))], nil
	}
	list, ok := listOf(args[0])
	if !ok {
		return nil, wrongArgument("a list", args[0])
	}
	if len(list) == 0 {
		return nil, &TypeError{"nothing can be picked from an empty list"}
	}
	return list[s.Machine().Rand().IntN(len(list))], nil
}

// listOf returns any list as []any.
func listOf(v any) ([]any, bool) {
	if list, ok := v.([]any); ok {
		return list, true
	}
	r := reflect.ValueOf(v)
	if !r.IsValid() || r.Kind() != reflect.Slice {
		return nil, false
	}
	out := make([]any, r.Len())
	for i := range out {
		out[i] = r.Index(i).Interface()
	}
	return out, true
}

// decodeJSON decodes one JSON value: integers as int64 where they fit.
func decodeJSON(text string) (any, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return nil, errors.New("the text is not JSON: " + err.Error())
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("the text is not JSON: more text follows the value")
	}
	return jsonNumbers(v), nil
}

func jsonNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := strconv.ParseInt(string(v), 10, 64); err == nil {
			return n
		}
		f, _ := v.Float64() // a number too large becomes ±Inf
		return f
	case map[string]any:
		for k := range v {
			v[k] = jsonNumbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = jsonNumbers(v[i])
		}
	}
	return v
}
