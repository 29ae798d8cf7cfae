package assertions

import (
	"math"
	"time"

	"runner/plan/expr"
)

// plain returns v with the types that JSON has in the language: nil, bool,
// int64, float64, string, []any, map[string]any. Values with units are texts
// there, as they are in a JSON body of the plan.
func plain(v any) any {
	switch v := v.(type) {
	case nil, bool, int64, float64, string, []any, map[string]any:
		return v
	case int:
		return int64(v)
	case float32:
		return float64(v)
	case []byte:
		return string(v)
	case expr.Secret:
		return v.Reveal()
	case time.Duration, expr.Rate, expr.Size, expr.Share:
		text, _ := expr.FormatText(v) // these always have a text
		return text
	}
	return v
}

// equal compares by value: 1 equals 1.0, but not "1".
func equal(a, b any) bool {
	switch a := plain(a).(type) {
	case int64:
		switch b := plain(b).(type) {
		case int64:
			return a == b
		case float64:
			return sameNumber(a, b)
		}
		return false
	case float64:
		switch b := plain(b).(type) {
		case int64:
			return sameNumber(b, a)
		case float64:
			return a == b
		}
		return false
	case []any:
		b, ok := b.([]any)
		return ok && sameList(a, b)
	case map[string]any:
		b, ok := b.(map[string]any)
		return ok && sameMap(a, b)
	case nil, bool, string:
		return a == plain(b)
	}
	return false
}

// sameNumber compares exactly, beyond 2^53 too.
func sameNumber(i int64, f float64) bool {
	return f == math.Trunc(f) && f >= -(1<<63) && f < 1<<63 && int64(f) == i
}

func sameList(a, b []any) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func sameMap(a, b map[string]any) bool {
	if len(a) != len(b) {
		return false
	}
	for k, v := range a {
		w, ok := b[k]
		if !ok || !equal(v, w) {
			return false
		}
	}
	return true
}

// kindOf names the kind of a JSON value.
func kindOf(v any) string {
	switch plain(v).(type) {
	case nil:
		return "null"
	case bool:
		return "a boolean"
	case int64, float64:
		return "a number"
	case string:
		return "text"
	case []any:
		return "a list"
	}
	return "an object"
}

func toFloat(v any) (float64, bool) {
	switch v := plain(v).(type) {
	case int64:
		return float64(v), true
	case float64:
		return v, true
	}
	return 0, false
}
