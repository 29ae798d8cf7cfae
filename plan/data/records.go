package data

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

const maxRecord = 1 << 20 // bytes of one row, so that an unclosed quote does not read the whole file

// records reads the rows of one file in order, below its header.
type records struct {
	path   string
	csv    *csv.Reader
	source *guard
	lines  int   // lines before the part that csv reads
	offset int64 // bytes before it
	width  int
	last   int // line of the last row that was read
}

// Header returns the names of the columns: those of the Config, else the file's
// header line. It reads no further than that.
func Header(r io.Reader, cfg Config) ([]string, error) {
	_, t, err := newRecords(r, cfg)
	return t.columns, err
}

// newRecords reads the header and stands before the first row.
func newRecords(r io.Reader, cfg Config) (*records, table, error) {
	comma, err := cfg.comma()
	if err != nil {
		return nil, table{}, err
	}
	in := bufio.NewReaderSize(r, 64<<10)
	start, err := preamble(in, cfg)
	if err != nil {
		return nil, table{}, err
	}
	rs := readRecords(in, cfg.Path, comma, cfg.SkipLines, start)
	columns := cfg.Columns
	if len(columns) == 0 {
		if columns, err = rs.header(); err != nil {
			return nil, table{}, err
		}
	}
	rs.width = len(columns)
	t, err := newTable(cfg, columns)
	return rs, t, err
}

// readRecords reads rows from a place that is lines and bytes below the start.
func readRecords(r io.Reader, path string, comma rune, lines int, offset int64) *records {
	source := &guard{r: r}
	c := csv.NewReader(source)
	c.Comma, c.FieldsPerRecord, c.ReuseRecord = comma, -1, true
	return &records{path: path, csv: c, source: source, lines: lines, offset: offset}
}

// preamble skips the byte order mark and the lines to be left out, and returns
// how many bytes that was.
func preamble(in *bufio.Reader, cfg Config) (int64, error) {
	var n int64
	mark, _ := in.Peek(3) // a file shorter than that has no mark
	switch {
	case bytes.Equal(mark, []byte("\xef\xbb\xbf")):
		n += 3
		in.Discard(3)
	case bytes.HasPrefix(mark, []byte("\xff\xfe")), bytes.HasPrefix(mark, []byte("\xfe\xff")):
		return 0, fmt.Errorf("%s: the file is UTF-16; save it as UTF-8", cfg.Path)
	}
	for range cfg.SkipLines {
		for {
			part, err := in.ReadSlice('\n')
			n += int64(len(part))
			if errors.Is(err, bufio.ErrBufferFull) {
				continue
			}
			if err != nil && !errors.Is(err, io.EOF) {
				return 0, fmt.Errorf("read %s: %w", cfg.Path, err)
			}
			break
		}
	}
	return n, nil
}

func (r *records) header() ([]string, error) {
	fields, line, err := r.next()
	if errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: the file is empty; it needs a header line and rows", r.path)
	}
	if err != nil {
		return nil, err
	}
	columns := make([]string, len(fields))
	for i, f := range fields {
		columns[i] = strings.TrimSpace(f)
		if columns[i] == "" {
			return nil, fmt.Errorf("%s:%d: column %d of the header has no name", r.path, line, i+1)
		}
		if slices.Contains(columns[:i], columns[i]) {
			return nil, fmt.Errorf("%s:%d: the header names the column %q twice", r.path, line, columns[i])
		}
	}
	return columns, nil
}

// rowError is a row that cannot be used; the rows after it can.
type rowError struct {
	path string
	line int
	text string
}

// Place returns the file, the line in it and what is wrong there.
func (e *rowError) Place() (path string, line int, text string) { return e.path, e.line, e.text }

func (e *rowError) Error() string { return fmt.Sprintf("%s:%d: %s", e.path, e.line, e.text) }

// next returns the fields of the next row and the line it starts on; the slice
// is reused. After a *rowError the rows that follow can be read, after any other
// error none can. io.EOF is the end.
func (r *records) next() ([]string, int, error) {
	r.source.left = maxRecord
	fields, err := r.csv.Read()
	var parse *csv.ParseError
	switch {
	case errors.Is(err, errLong):
		return nil, 0, fmt.Errorf("%s: a row after line %d is longer than 1 MiB; is a quote left open?", r.path, r.last)
	case errors.As(err, &parse):
		return nil, 0, &rowError{r.path, parse.StartLine + r.lines, parse.Err.Error()}
	case errors.Is(err, io.EOF):
		return nil, 0, io.EOF
	case err != nil:
		return nil, 0, fmt.Errorf("read %s: %w", r.path, err)
	}
	line, _ := r.csv.FieldPos(0)
	line += r.lines
	r.last = line
	if r.width > 0 && len(fields) != r.width {
		return nil, 0, &rowError{r.path, line, fmt.Sprintf("the row has %d columns, expected %d", len(fields), r.width)}
	}
	for i, f := range fields {
		if !utf8.ValidString(f) {
			return nil, 0, &rowError{r.path, line, fmt.Sprintf("column %d is not UTF-8", i+1)}
		}
	}
	return fields, line, nil
}

// at returns how many bytes of the file have been read as rows.
func (r *records) at() int64 { return r.offset + r.csv.InputOffset() }

var errLong = errors.New("row too long")

// guard refuses to read more than is allowed for one row.
type guard struct {
	r    io.Reader
	left int
}

func (g *guard) Read(p []byte) (int, error) {
	if g.left <= 0 {
		return 0, errLong
	}
	n, err := g.r.Read(p)
	g.left -= n
	return n, err
}
