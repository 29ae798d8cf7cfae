package expr

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash"
	"net/url"
	"slices"
	"strings"
	"time"
)

// textFunctions are those whose result follows from the arguments, the clock and
// files alone.
func textFunctions() []Function {
	return []Function{
		{Name: "string", Signature: "string(value)", Doc: "the value as text", Min: 1, Max: 1, Result: TextType, Call: callString},
		{Name: "int", Signature: "int(value)", Doc: "the value as a whole number; a fraction is cut off", Min: 1, Max: 1, Result: IntType, Call: callInt},
		{Name: "float", Signature: "float(value)", Doc: "the value as a number", Min: 1, Max: 1, Result: FloatType, Call: callFloat},
		{Name: "now", Signature: `now(layout)`, Doc: "the time as text: RFC 3339, or by a layout like 2006-01-02 15:04:05", Min: 0, Max: 1, Result: TextType, Call: callNow},
		{Name: "timestamp", Signature: "timestamp()", Doc: "seconds since 1970", Result: IntType, Call: func(s Scope, _ ...any) (any, error) { return clock(s).Unix(), nil }},
		{Name: "timestamp_ms", Signature: "timestamp_ms()", Doc: "milliseconds since 1970", Result: IntType, Call: func(s Scope, _ ...any) (any, error) { return clock(s).UnixMilli(), nil }},
		{Name: "base64", Signature: "base64(text)", Doc: "the text in base64", Min: 1, Max: 1, Result: TextType, Call: onText(func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) })},
		{Name: "url_encode", Signature: "url_encode(text)", Doc: "the text percent-encoded for any part of a URL", Min: 1, Max: 1, Result: TextType, Call: onText(urlEncode)},
		{Name: "md5", Signature: "md5(text)", Doc: "the MD5 sum in hex", Min: 1, Max: 1, Result: TextType, Call: onText(func(s string) string { sum := md5.Sum([]byte(s)); return hex.EncodeToString(sum[:]) })},
		{Name: "sha256", Signature: "sha256(text)", Doc: "the SHA-256 sum in hex", Min: 1, Max: 1, Result: TextType, Call: onText(func(s string) string { sum := sha256.Sum256([]byte(s)); return hex.EncodeToString(sum[:]) })},
		{Name: "hmac", Signature: `hmac("sha256", key, text)`, Doc: "the keyed sum of a text in hex, by md5, sha1, sha256 or sha512; a fourth argument \"base64\" gives base64", Min: 3, Max: 4, Result: TextType, Call: callHMAC},
		{Name: "file", Signature: `file("path")`, Doc: "the content of a file, relative to the file of the plan", Min: 1, Max: 1, Result: TextType, Call: callFile},
		{Name: "toJSON", Signature: "toJSON(value)", Doc: "the value as compact JSON", Min: 1, Max: 1, Result: TextType, Call: func(_ Scope, args ...any) (any, error) {
			b, err := AppendJSONValue(nil, args[0])
			return string(b), err
		}},
		{Name: "fromJSON", Signature: "fromJSON(text)", Doc: "the value of a JSON text", Min: 1, Max: 1, Result: AnyType, Call: callFromJSON},
		{Name: "keys", Signature: "keys(map)", Doc: "the keys of a map, sorted", Min: 1, Max: 1, Result: ListType, Call: callKeys},
		{Name: "values", Signature: "values(map)", Doc: "the values of a map, in the order of its keys", Min: 1, Max: 1, Result: ListType, Call: callValues},
		{Name: "repeat", Signature: "repeat(text, n)", Doc: "the text n times", Min: 2, Max: 2, Result: TextType, Call: callRepeat},
		{Name: "replace", Signature: "replace(text, old, new)", Doc: "the text with every old replaced by new", Min: 3, Max: 4, Result: TextType, Call: callReplace},
		{Name: "join", Signature: "join(list, separator)", Doc: "the items as one text", Min: 1, Max: 2, Result: TextType, Call: callJoin},
		{Name: "uniq", Signature: "uniq(list)", Doc: "the list without repeated items", Min: 1, Max: 1, Result: ListType, Call: callUniq},
		{Name: "take", Signature: "take(list, n)", Doc: "the first n items, or all if there are fewer", Min: 2, Max: 2, Result: ListType, Call: callTake},
	}
}

func wrongArgument(what string, v any) error {
	return &TypeError{"expected " + what + ", was " + show(v)}
}

func onText(f func(string) string) func(Scope, ...any) (any, error) {
	return func(_ Scope, args ...any) (any, error) {
		text, err := FormatText(args[0])
		if err != nil {
			return nil, wrongArgument("text", args[0])
		}
		return f(text), nil
	}
}

func callString(_ Scope, args ...any) (any, error) { return FormatText(args[0]) }

func callInt(_ Scope, args ...any) (any, error) {
	if n, ok := integer(args[0]); ok {
		return n, nil
	}
	if f, ok := number(args[0]); ok {
		if f != f || f >= 1<<63 || f < -1<<63 {
			return nil, wrongArgument("a number in the range of an int", args[0])
		}
		return int64(f), nil
	}
	text, ok := textOf(args[0])
	if !ok {
		return nil, wrongArgument("a number or text", args[0])
	}
	n, err := ParseInt(strings.TrimSpace(text))
	return n, err
}

func callFloat(_ Scope, args ...any) (any, error) {
	if f, ok := number(args[0]); ok {
		return f, nil
	}
	text, ok := textOf(args[0])
	if !ok {
		return nil, wrongArgument("a number or text", args[0])
	}
	return ParseFloat(strings.TrimSpace(text))
}

func clock(s Scope) time.Time { return s.Machine().fns.now() }

func callNow(s Scope, args ...any) (any, error) {
	if len(args) == 0 {
		return clock(s).Format(time.RFC3339), nil
	}
	layout, ok := textOf(args[0])
	if !ok {
		return nil, wrongArgument("a layout like \"2006-01-02\"", args[0])
	}
	return clock(s).Format(layout), nil
}

// urlEncode encodes everything but the unreserved characters of RFC 3986.
func urlEncode(s string) string { return strings.ReplaceAll(url.QueryEscape(s), "+", "%20") }

func callHMAC(_ Scope, args ...any) (any, error) {
	texts := make([]string, len(args))
	for i, a := range args {
		text, err := FormatText(a)
		if err != nil {
			return nil, wrongArgument("text", a)
		}
		texts[i] = text
	}
	hashes := map[string]func() hash.Hash{"md5": md5.New, "sha1": sha1.New, "sha256": sha256.New, "sha512": sha512.New}
	h, ok := hashes[texts[0]]
	if !ok {
		return nil, &TypeError{fmt.Sprintf("hmac knows no %q; write md5, sha1, sha256 or sha512", texts[0])}
	}
	mac := hmac.New(h, []byte(texts[1]))
	mac.Write([]byte(texts[2]))
	sum := mac.Sum(nil)
	if len(texts) < 4 || texts[3] == "hex" {
		return hex.EncodeToString(sum), nil
	}
	if texts[3] == "base64" {
		return base64.StdEncoding.EncodeToString(sum), nil
	}
	return nil, &TypeError{fmt.Sprintf("hmac writes hex or base64, not %q", texts[3])}
}

// callFile gets the name of the plan file as its last argument, put there when
// the call was bound.
func callFile(s Scope, args ...any) (any, error) {
	path, ok := textOf(args[0])
	if !ok {
		return nil, wrongArgument("a path", args[0])
	}
	read := s.Machine().fns.ReadFile
	if read == nil {
		return nil, &TypeError{"files cannot be read here"}
	}
	from, _ := args[len(args)-1].(string)
	b, err := read(from, path)
	return string(b), err
}

func callFromJSON(_ Scope, args ...any) (any, error) {
	text, ok := textOf(args[0])
	if !ok {
		return nil, wrongArgument("text", args[0])
	}
	return decodeJSON(text)
}

func callKeys(_ Scope, args ...any) (any, error) {
	m, ok := args[0].(map[string]any)
	if !ok {
		return nil, wrongArgument("a map", args[0])
	}
	names := keysOf(m)
	slices.Sort(names)
	out := make([]any, len(names))
	for i, k := range names {
		out[i] = k
	}
	return out, nil
}

func callValues(s Scope, args ...any) (any, error) {
	names, err := callKeys(s, args...)
	if err != nil {
		return nil, err
	}
	out := slices.Clone(names.([]any))
	for i, k := range out {
		out[i] = args[0].(map[string]any)[k.(string)]
	}
	return out, nil
}

func callTake(_ Scope, args ...any) (any, error) {
	list, ok := listOf(args[0])
	n, isInt := toInt(args[1])
	switch {
	case !ok:
		return nil, wrongArgument("a list", args[0])
	case !isInt || n < 0:
		return nil, wrongArgument("a number of items", args[1])
	}
	return list[:min(int64(len(list)), n)], nil
}

func callRepeat(_ Scope, args ...any) (any, error) {
	text, ok := textOf(args[0])
	n, isInt := toInt(args[1])
	switch {
	case !ok:
		return nil, wrongArgument("text", args[0])
	case !isInt || n < 0:
		return nil, wrongArgument("a number of times", args[1])
	case len(text) > 0 && n > int64(maxText/len(text)):
		return nil, errTooLong
	}
	return strings.Repeat(text, int(n)), nil
}

func callReplace(_ Scope, args ...any) (any, error) {
	var texts [3]string
	for i := range texts {
		text, ok := textOf(args[i])
		if !ok {
			return nil, wrongArgument("text", args[i])
		}
		texts[i] = text
	}
	n := -1
	if len(args) > 3 {
		limit, ok := toInt(args[3])
		if !ok {
			return nil, wrongArgument("a number of times", args[3])
		}
		n = int(limit)
	}
	if grown := len(texts[2]) - len(texts[1]); grown > 0 && strings.Count(texts[0], texts[1]) > maxText/grown {
		return nil, errTooLong
	}
	return strings.Replace(texts[0], texts[1], texts[2], n), nil
}

func callJoin(_ Scope, args ...any) (any, error) {
	list, ok := listOf(args[0])
	if !ok {
		return nil, wrongArgument("a list", args[0])
	}
	var glue string
	if len(args) > 1 {
		if glue, ok = textOf(args[1]); !ok {
			return nil, wrongArgument("a separator", args[1])
		}
	}
	var out []byte
	for i, item := range list {
		if i > 0 {
			out = append(out, glue...)
		}
		var err error
		if out, err = appendText(out, item); err != nil {
			return nil, err
		}
		if len(out) > maxText {
			return nil, errTooLong
		}
	}
	return string(out), nil
}

// callUniq compares items by their JSON, so that it is linear.
func callUniq(_ Scope, args ...any) (any, error) {
	list, ok := listOf(args[0])
	if !ok {
		return nil, wrongArgument("a list", args[0])
	}
	seen := map[string]bool{}
	out := make([]any, 0, len(list))
	for _, item := range list {
		key, err := AppendJSONValue(nil, item)
		if err != nil {
			return nil, err
		}
		if !seen[string(key)] {
			seen[string(key)] = true
			out = append(out, item)
		}
	}
	return out, nil
}
