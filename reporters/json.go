package reporters

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

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

// Read reads a summary.json. A file that is too large, is not JSON, has another
// layout or something after it is an error; columns of unequal length are repaired.
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
		return nil, err
	}
	if s.Schema != stats.SummarySchema {
		return nil, fmt.Errorf("schema is %q, this version reads %q", s.Schema, stats.SummarySchema)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("something follows the summary")
	}
	return repaired(&s), nil
}
