// Package source is the bottom of the plan language: files, places in them, the
// node tree that a parser builds, and diagnostics that point at places.
//
// It imports only the standard library. Everything above it (expr, spec, plan)
// speaks about the user's text in these terms.
package source

import (
	"sort"
	"unicode/utf8"
)

// File is one text file as the user wrote it. It is immutable after New and may
// be shared.
type File struct {
	Name  string // as the user named it, relative to the working directory where possible
	Text  []byte
	lines []int // byte offset of the start of each line
	runes []int // how many runes begin before each block of bytes, so that long lines cost no more
}

// block is the number of bytes between two entries of File.runes.
const block = 512

// New returns a File over text, which must not change afterwards.
func New(name string, text []byte) *File {
	f := &File{Name: name, Text: text, lines: []int{0}}
	for i, b := range text {
		if b == '\n' {
			f.lines = append(f.lines, i+1)
		}
	}
	n := 0
	for i, b := range text {
		if i%block == 0 {
			f.runes = append(f.runes, n)
		}
		if utf8.RuneStart(b) {
			n++
		}
	}
	return f
}

// runesBefore returns how many runes begin before a byte offset.
func (f *File) runesBefore(offset int) int {
	if len(f.runes) == 0 {
		return 0
	}
	i := min(offset/block, len(f.runes)-1)
	n := f.runes[i]
	for _, b := range f.Text[i*block : offset] {
		if utf8.RuneStart(b) {
			n++
		}
	}
	return n
}

// Pos is a place in a file: Line and Column are 1-based, Column counts runes,
// Offset is a 0-based byte offset. The zero Pos means "no place".
type Pos struct{ Line, Column, Offset int }

// IsZero reports whether p is no place at all.
func (p Pos) IsZero() bool { return p.Line == 0 }

// Pos returns the place of a byte offset; an offset outside the file is clamped.
func (f *File) Pos(offset int) Pos {
	offset = max(0, min(offset, len(f.Text)))
	line := sort.Search(len(f.lines), func(i int) bool { return f.lines[i] > offset })
	start := f.lines[line-1]
	if offset-start <= block {
		return Pos{Line: line, Column: utf8.RuneCount(f.Text[start:offset]) + 1, Offset: offset}
	}
	return Pos{Line: line, Column: f.runesBefore(offset) - f.runesBefore(start) + 1, Offset: offset}
}

// PosAt returns the place of a 1-based line and rune column; both are clamped.
func (f *File) PosAt(line, column int) Pos {
	line = max(1, min(line, len(f.lines)))
	start, end := f.lines[line-1], f.lineEnd(line)
	if column <= block {
		offset, col := start, 1
		for ; col < column && offset < end; col++ {
			_, n := utf8.DecodeRune(f.Text[offset:end])
			offset += n
		}
		return Pos{Line: line, Column: col, Offset: offset}
	}
	want := f.runesBefore(start) + column - 1 // runes that begin before the place
	first := sort.Search(len(f.runes), func(i int) bool { return f.runes[i] > want })
	offset := max(start, (first-1)*block)
	for n := f.runesBefore(offset); offset < end && (n < want || !utf8.RuneStart(f.Text[offset])); offset++ {
		if utf8.RuneStart(f.Text[offset]) {
			n++
		}
	}
	return f.Pos(offset)
}

// Line returns the text of a 1-based line without its line ending, "" if there
// is no such line.
func (f *File) Line(n int) string {
	if n < 1 || n > len(f.lines) {
		return ""
	}
	return string(f.Text[f.lines[n-1]:f.lineEnd(n)])
}

// lineEnd returns the offset after the text of a 1-based line.
func (f *File) lineEnd(n int) int {
	start, end := f.lines[n-1], len(f.Text)
	if n < len(f.lines) {
		end = f.lines[n] - 1
	}
	for end > start && (f.Text[end-1] == '\r' || f.Text[end-1] == '\n') {
		end--
	}
	return end
}

// Lines returns the number of lines, counting an empty last one.
func (f *File) Lines() int { return len(f.lines) }

// Range is a half-open stretch of one file. The zero Range means "no place".
type Range struct {
	File       *File
	Start, End Pos
}

// IsZero reports whether r is no place at all.
func (r Range) IsZero() bool { return r.File == nil || r.Start.IsZero() }

// Sub returns the part of r between two byte offsets counted from r's start.
func (r Range) Sub(from, to int) Range {
	if r.File == nil {
		return r
	}
	return Range{r.File, r.File.Pos(r.Start.Offset + from), r.File.Pos(r.Start.Offset + to)}
}

// Text returns the source text that r covers.
func (r Range) Text() string {
	if r.IsZero() || r.End.Offset < r.Start.Offset || r.End.Offset > len(r.File.Text) {
		return ""
	}
	return string(r.File.Text[r.Start.Offset:r.End.Offset])
}
