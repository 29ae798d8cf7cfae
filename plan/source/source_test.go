package source_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"runner/plan/source"
)

// TestPlacesAgree holds Pos and PosAt against counting, on short lines and on
// lines of many blocks, with runes of every length.
func TestPlacesAgree(t *testing.T) {
	text := "a\r\n日本\n\n" + strings.Repeat("aé日𝄞", 2000) + "\nlast"
	f := source.New("a", []byte(text))
	line, column := 1, 1
	for i, r := range text {
		got := f.Pos(i)
		if want := (source.Pos{Line: line, Column: column, Offset: i}); got != want {
			t.Fatalf("Pos(%d) is %v, want %v", i, got, want)
		}
		if r != '\r' && r != '\n' {
			if back := f.PosAt(line, column); back != got {
				t.Fatalf("PosAt(%d, %d) is %v, want %v", line, column, back, got)
			}
		}
		if column++; r == '\n' {
			line, column = line+1, 1
		}
	}
	if got := f.PosAt(4, 1<<30); got.Column != utf8.RuneCountInString(f.Line(4))+1 {
		t.Errorf("a column behind the line gives %v", got)
	}
	if got := f.PosAt(99, 1); got.Line != 5 {
		t.Errorf("a line behind the text gives %v", got)
	}
}
