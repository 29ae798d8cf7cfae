package stats

import (
	"strings"
	"time"
	"unicode/utf8"

	"runner/plan/element"
	"runner/plan/expr"
)

// clean returns a text as it may be kept: without secrets, valid UTF-8 and of
// bounded length.
func clean(text string, mask *element.Masker) string { return cut(mask.Mask(text), maxText) }

// cut shortens a text to limit bytes at a rune boundary, and makes it valid.
func cut(text string, limit int) string {
	if len(text) > limit {
		end := limit
		for end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "…"
	}
	if !utf8.ValidString(text) {
		text = strings.ToValidUTF8(text, "\ufffd")
	}
	return strings.Clone(text)
}

// FormatDuration writes a duration as a plan does: 1m, not 1m0s.
func FormatDuration(d time.Duration) string { return expr.FormatDuration(d) }
