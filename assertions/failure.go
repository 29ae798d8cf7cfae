package assertions

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"runner/plan/element"
	"runner/plan/expr"
)

const (
	maxShown   = 200     // runes of an expected or actual text
	maxSource  = 80      // runes of the plan's text in a message
	maskWindow = 4 << 10 // bytes looked at for secrets before the text is cut
)

// fail returns a failure whose expected and actual texts are cut and hide
// secrets.
func fail(t *element.Thread, message, expected, actual string) error {
	return &element.Failure{Message: t.Masker.Mask(message), Expected: t.Masker.Mask(expected), Actual: t.Masker.Mask(actual)}
}

// quote shows a text: in quotes, on one line, cut, without secrets.
func quote[S string | []byte](t *element.Thread, text S) string {
	head := string(text[:min(len(text), maskWindow)])
	head = t.Masker.Mask(strings.ToValidUTF8(head, "\uFFFD"))
	var b strings.Builder
	b.WriteByte('"')
	n := 0
	for _, r := range head {
		if n++; n > maxShown {
			fmt.Fprintf(&b, "…\" (%d bytes in all)", len(text))
			return b.String()
		}
		writeRune(&b, r)
	}
	b.WriteByte('"')
	return b.String()
}

func writeRune(b *strings.Builder, r rune) {
	switch {
	case r == '\n':
		b.WriteString(`\n`)
	case r == '\r':
		b.WriteString(`\r`)
	case r == '\t':
		b.WriteString(`\t`)
	case !unicode.IsPrint(r) && r != utf8.RuneError:
		fmt.Fprintf(b, `\u%04x`, r)
	default:
		b.WriteRune(r)
	}
}

// show writes a value as a reader of the plan would: text in quotes, so that 1
// and "1" can be told apart.
func show(t *element.Thread, v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case string:
		return quote(t, v)
	case map[string]any, []any:
		text, err := expr.AppendJSONValue(nil, v)
		if err != nil {
			return kindOf(v)
		}
		return strings.TrimSuffix(strings.TrimPrefix(quote(t, text), `"`), `"`)
	}
	text, err := expr.FormatText(v)
	if err != nil {
		return fmt.Sprint(v)
	}
	return text
}

// written returns a value as the plan has it, cut: the same for every sample.
func written(v interface{ Source() string }) string { return cutSource(v.Source()) }

func cutSource(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if r := []rune(text); len(r) > maxSource {
		return string(r[:maxSource]) + "…"
	}
	return text
}
