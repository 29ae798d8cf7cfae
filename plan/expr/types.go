package expr

import (
	"encoding/json"
	"math"
	"strconv"
	"time"
)

// Type is the kind of a value in the language.
type Type uint8

// The types. AnyType is what is known at run time only; JSONType is AnyType
// whose members may be read one path at a time (see PathScope).
const (
	AnyType Type = iota
	TextType
	IntType
	FloatType
	BoolType
	DurationType
	RateType
	SizeType
	ShareType
	ListType
	MapType
	SecretType
	JSONType
	NilType
)

// String returns the word that messages use for the type.
func (t Type) String() string {
	return [...]string{"any value", "text", "int", "float", "bool", "duration", "rate", "size", "share",
		"list", "map", "secret", "JSON value", "nil"}[t]
}

// phrase returns the type with its article.
func (t Type) phrase() string {
	switch t {
	case IntType:
		return "an int"
	case AnyType, TextType, NilType:
		return t.String()
	}
	return "a " + t.String()
}

func (t Type) unknown() bool { return t == AnyType || t == JSONType }
func (t Type) plain() bool   { return t == IntType || t == FloatType }
func (t Type) unit() bool    { return t >= DurationType && t <= ShareType }
func (t Type) number() bool  { return t.plain() || t.unit() }
func (t Type) text() bool    { return t == TextType || t == SecretType }

// TypeOf returns the type of a run-time value.
func TypeOf(v any) Type {
	switch v.(type) {
	case nil:
		return NilType
	case string, []byte:
		return TextType
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return IntType
	case float32, float64, json.Number:
		return FloatType
	case bool:
		return BoolType
	case time.Duration:
		return DurationType
	case Rate:
		return RateType
	case Size:
		return SizeType
	case Share:
		return ShareType
	case []any, []string, []int, []int64, []float64, []map[string]any:
		return ListType
	case map[string]any, map[string]string:
		return MapType
	case Secret:
		return SecretType
	}
	return AnyType
}

// Rate is a number of events per second.
type Rate float64

// String returns the rate as it is written in a plan, in the largest unit that
// keeps the number whole.
func (r Rate) String() string {
	v := float64(r)
	for _, u := range [...]struct {
		per  float64
		name string
	}{{1, "/s"}, {60, "/min"}, {3600, "/h"}} {
		n := v * u.per
		if whole := math.Round(n); math.Abs(n-whole) <= 1e-9*math.Abs(n) {
			return formatFloat(whole) + u.name
		}
	}
	return formatFloat(v) + "/s"
}

// Size is a number of bytes.
type Size int64

// String returns the size as it is written in a plan.
func (s Size) String() string {
	for _, u := range [...]struct {
		n    int64
		name string
	}{{1 << 30, "GiB"}, {1e9, "GB"}, {1 << 20, "MiB"}, {1e6, "MB"}, {1 << 10, "KiB"}, {1e3, "KB"}} {
		if n := int64(s); n != 0 && n%u.n == 0 {
			return strconv.FormatInt(n/u.n, 10) + u.name
		}
	}
	return strconv.FormatInt(int64(s), 10) + "B"
}

// Share is a part of one: 1% is 0.01.
type Share float64

// String returns the share in percent.
func (s Share) String() string {
	p := float64(s) * 100
	if r := math.Round(p*1e9) / 1e9; math.Abs(r-p) < 1e-9 {
		p = r
	}
	return formatFloat(p) + "%"
}

// Secret is a text that is not to be shown: every way of printing it but Reveal
// gives "***".
type Secret struct{ text string }

// NewSecret returns text as a secret.
func NewSecret(text string) Secret { return Secret{text} }

// Reveal returns the text itself.
func (s Secret) Reveal() string { return s.text }

// String returns the mask.
func (Secret) String() string { return "***" }

// GoString returns the mask.
func (Secret) GoString() string { return "***" }

// MarshalText returns the mask, so that no encoder shows the text.
func (Secret) MarshalText() ([]byte, error) { return []byte("***"), nil }
