package reporters

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"

	"runner/reporters/stats"
)

// maxSummaryBytes bounds what Read takes into memory: about ten times the
// summary of 1,000 series over 1,200 intervals.
const maxSummaryBytes = 1 << 30

// writeJSON writes summary.json: compact columns, one top-level key a line would
// not help a reader of 1,200 points, so it is plain JSON with a final newline.
func writeJSON(w io.Writer, s *stats.Summary) error {
	return json.NewEncoder(w).Encode(s)
}

// ErrDamaged is that of a summary.json which is empty, cut off, incomplete, no JSON,
// or has a value of a wrong type: not as it was written.
var ErrDamaged = errors.New("it is damaged")

// Read reads a summary.json. A file that is too large, has another layout or is
// damaged (ErrDamaged) is an error; columns of unequal length are repaired.
func Read(path string) (*stats.Summary, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read summary: %w", err)
	}
	defer f.Close()
	s, err := decode(f, maxSummaryBytes)
	if err != nil {
		return nil, fmt.Errorf("read summary %s: %w", path, err)
	}
	return s, nil
}

// decode reads one summary of at most limit bytes from r.
func decode(r io.Reader, limit int64) (*stats.Summary, error) {
	limited := &io.LimitedReader{R: r, N: limit + 1}
	dec := json.NewDecoder(limited)
	var s stats.Summary
	if err := dec.Decode(&s); err != nil {
		if limited.N <= 0 {
			return nil, fmt.Errorf("larger than %d bytes", limit)
		}
		return nil, damaged(err)
	}
	if s.Schema != stats.SummarySchema {
		return nil, fmt.Errorf("schema is %q, this version reads %q", s.Schema, stats.SummarySchema)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%w: something follows the summary", ErrDamaged)
	}
	switch s.Verdict {
	case stats.Passed, stats.Failed, stats.Invalid, stats.Interrupted:
		return repaired(&s), nil
	case "":
		return nil, fmt.Errorf("%w: it is incomplete, as it has no verdict", ErrDamaged)
	}
	return nil, fmt.Errorf("%w: its verdict is %q", ErrDamaged, s.Verdict)
}

// damaged says in plain words why a summary cannot be decoded.
func damaged(err error) error {
	var file *fs.PathError
	var wrong *json.UnmarshalTypeError
	switch {
	case errors.As(err, &file):
		return err
	case errors.Is(err, io.EOF):
		return fmt.Errorf("%w: it is empty", ErrDamaged)
	case errors.Is(err, io.ErrUnexpectedEOF):
		return fmt.Errorf("%w: it is cut off", ErrDamaged)
	case errors.As(err, &wrong) && wrong.Field == "":
		return fmt.Errorf("%w: it is a JSON %s and not an object", ErrDamaged, wrong.Value)
	case errors.As(err, &wrong):
		return fmt.Errorf("%w: the field %s is a %s, where %s belongs", ErrDamaged, wrong.Field, wrong.Value, kindName(wrong.Type))
	}
	return fmt.Errorf("%w: %w", ErrDamaged, err)
}

// kindName names what JSON has for a type.
func kindName(t reflect.Type) string {
	switch t.Kind() {
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "true or false"
	case reflect.Slice:
		return "an array"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Float64:
		return "a number"
	}
	return "a whole number"
}
