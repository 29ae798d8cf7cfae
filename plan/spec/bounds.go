package spec

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"runner/plan/expr"
	"runner/plan/source"
)

// bounds checks enum, min, max and nonempty of a literal. What a ${…} gives is
// checked by whoever evaluates it.
func (d *Decoder) bounds(n *source.Node, v reflect.Value, f *field) {
	if n == nil || n.Range.IsZero() {
		return
	}
	switch n.Kind {
	case source.List:
		d.length(n, len(n.Items), f)
		return
	case source.Map:
		d.length(n, len(n.Fields), f)
		return
	}
	if strings.Contains(n.Text, "${") {
		return
	}
	if f.nonempty && strings.TrimSpace(n.Text) == "" {
		d.Diagnostics.Add(n.Range, "empty-value", d.subject(f)+" must not be empty", "")
	}
	if len(f.enum) > 0 && !slices.Contains(f.enum, n.Text) {
		detail := "write one of " + list(f.enum)
		if word := expr.DidYouMean(n.Text, f.enum); word != "" {
			detail = fmt.Sprintf("did you mean `%s`?", word)
		}
		d.Diagnostics.Add(n.Range, "bad-value", fmt.Sprintf("%s cannot be %q; it is one of %s", d.subject(f), n.Text, list(f.enum)), detail)
	}
	word := wordOf(v.Type())
	value, ok := measure(n.Text, word)
	if !ok {
		return
	}
	if low, ok := measure(f.min, word); ok && value < low {
		d.Diagnostics.Add(n.Range, "out-of-range", fmt.Sprintf("%s must be at least %s", d.subject(f), f.min), "write "+f.min+" or more")
	}
	if high, ok := measure(f.max, word); ok && value > high {
		d.Diagnostics.Add(n.Range, "out-of-range", fmt.Sprintf("%s must be at most %s", d.subject(f), f.max), "write "+f.max+" or less")
	}
}

func (d *Decoder) length(n *source.Node, size int, f *field) {
	if f.nonempty && size == 0 {
		d.Diagnostics.Add(n.Range, "empty-value", d.subject(f)+" must not be empty", "")
	}
	if low, ok := measure(f.min, "int"); ok && float64(size) < low {
		d.Diagnostics.Add(n.Range, "out-of-range", fmt.Sprintf("%s needs at least %s items", d.subject(f), f.min), "")
	}
	if high, ok := measure(f.max, "int"); ok && float64(size) > high {
		d.Diagnostics.Add(n.Range, "out-of-range", fmt.Sprintf("%s takes at most %s items", d.subject(f), f.max), "")
	}
}

// measure reads text as a value of the kind and returns it as a plain number.
func measure(text, word string) (float64, bool) {
	if text == "" {
		return 0, false
	}
	switch word {
	case "int", "float":
		x, err := expr.ParseFloat(text)
		return x, err == nil
	case "duration":
		x, err := expr.ParseDuration(text)
		return float64(x), err == nil
	case "rate":
		x, err := expr.ParseRate(text)
		return float64(x), err == nil
	case "size":
		x, err := expr.ParseSize(text)
		return float64(x), err == nil
	case "share":
		x, err := expr.ParseShare(text)
		return float64(x), err == nil
	}
	return 0, false
}
