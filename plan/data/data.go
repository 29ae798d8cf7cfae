// Package data feeds threads with rows of CSV files.
//
// A Feeder hands out rows by its Config: in order (next), each at most once in
// the run (unique), in a random order without repeats (shuffled) or drawn
// (random). Rows in file order are streamed, with a goroutine reading ahead, so
// that files of any size cost the same memory; the other picks, and rows shared
// by nobody, are read by an index of row places built when the feeder is opened.
// Small files are read and checked as a whole at that time.
package data

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"

	"runner/plan/element"
)

// Config says what a feeder reads and how it hands it out. Empty texts are the
// language's defaults.
type Config struct {
	Name      string            // of the feeder in the plan, for messages
	Path      string            // given to open, and named in messages
	Pick      string            // next (default), random, shuffled, unique
	Per       string            // iteration (default; unique: thread), thread
	Share     string            // plan (default), group, thread
	OnEnd     string            // recycle (default), stop_thread, fail (default of unique)
	Types     map[string]string // column → int, float, bool, json, text; text where absent
	Delimiter string            // one character, or tab; a comma where empty
	Columns   []string          // names of the columns; the file then has no header line
	SkipLines int               // lines left out before the header or the first row
	Seed      uint64            // of the run, for shuffled
	// Segment: of rows shared by the plan or a group only number i from 0 with
	// Segment.Has(i) is handed out, except where they are drawn at random.
	Segment element.Segment
}

// OpenFunc opens a file for reading; it is called once for each reader of it.
type OpenFunc func(path string) (io.ReadSeekCloser, error)

// ErrEnd is what errors.Is finds where a feeder has no rows left.
var ErrEnd = errors.New("no rows left")

// EndError says that a feeder has no rows left and what follows from it.
type EndError struct {
	Name, Path string
	Policy     string // "stop_thread" or "fail"
}

// Error names the feeder and its file.
func (e *EndError) Error() string {
	return fmt.Sprintf("data %q has no rows left in %s", e.Name, e.Path)
}

// Is reports that every EndError is an ErrEnd.
func (e *EndError) Is(target error) bool { return target == ErrEnd }

// Feeder hands out the rows of one file. Safe for concurrent use.
type Feeder struct {
	cfg   Config
	open  OpenFunc
	table table
	index *index // nil where rows are streamed
	size  int64  // of the file

	mu      sync.Mutex
	closed  bool
	cursors map[string]cursor // of share: group
	streams []*stream
}

// cursor hands out rows of one share.
type cursor interface {
	next(t *element.Thread) (row, error)
}

type row = map[string]any

// local is what a feeder keeps for each thread.
type local struct {
	cursor cursor
	row    row // of per: thread
}

// Open reads the header and the first row, builds the index where one is needed,
// and returns the feeder. The caller closes it.
func Open(cfg Config, open OpenFunc) (*Feeder, error) {
	cfg, err := cfg.complete()
	if err != nil {
		return nil, err
	}
	f := &Feeder{cfg: cfg, open: open, cursors: map[string]cursor{}}
	if f.table, err = f.probe(); err != nil {
		return nil, err
	}
	if f.streamed() {
		return f, nil
	}
	if f.index, err = buildIndex(f.table, cfg, open); err != nil {
		return nil, err
	}
	if f.rows() == 0 {
		return nil, errors.Join(fmt.Errorf("data %q: segment %s has none of the %d rows of %s",
			cfg.Name, cfg.Segment, f.index.rows, cfg.Path), f.index.close())
	}
	return f, nil
}

// probe reads the header and the first row, so that both are known to be good.
func (f *Feeder) probe() (table, error) {
	file, err := f.open(f.cfg.Path)
	if err != nil {
		return table{}, fmt.Errorf("open data %q: %w", f.cfg.Name, err)
	}
	defer file.Close()
	if f.size, err = file.Seek(0, io.SeekEnd); err == nil {
		_, err = file.Seek(0, io.SeekStart)
	}
	if err != nil {
		return table{}, fmt.Errorf("open data %q: %w", f.cfg.Name, err)
	}
	records, t, err := newRecords(file, f.cfg)
	if err != nil {
		return table{}, err
	}
	fields, line, err := records.next()
	if errors.Is(err, io.EOF) {
		return table{}, fmt.Errorf("%s: there are no rows below the header", f.cfg.Path)
	}
	if err != nil {
		return table{}, err
	}
	_, err = t.row(fields, line)
	return t, err
}

// Columns returns the names of the columns, in file order.
func (f *Feeder) Columns() []string { return slices.Clone(f.table.columns) }

// Next returns the thread's row: with per thread always the same one, else the
// next one at each call. The map is shared with other threads and must not be
// changed. An *EndError says that there is none; any other error names the file
// and the line.
func (f *Feeder) Next(t *element.Thread) (map[string]any, error) {
	l := t.Local(f, func() any { return &local{} }).(*local)
	if l.row != nil {
		return l.row, nil
	}
	if l.cursor == nil {
		c, err := f.share(t)
		if err != nil {
			return nil, err
		}
		l.cursor = c
	}
	r, err := l.cursor.next(t)
	if err == nil && f.cfg.Per == "thread" {
		l.row = r
	}
	return r, err
}

// share returns the cursor that the thread takes its rows from.
func (f *Feeder) share(t *element.Thread) (cursor, error) {
	if f.cfg.Share == "thread" {
		return f.cursor(uint64(t.ID)), nil
	}
	group := ""
	if f.cfg.Share == "group" {
		group = t.Group
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return nil, fmt.Errorf("data %q is closed", f.cfg.Name)
	}
	if f.cursors[group] == nil {
		f.cursors[group] = f.cursor(hash(group))
	}
	return f.cursors[group], nil
}

// streamed reports whether rows are read in file order by one reader a share.
func (f *Feeder) streamed() bool {
	return f.size > smallFile && f.cfg.Share != "thread" && (f.cfg.Pick == "next" || f.cfg.Pick == "unique")
}

// segment returns which rows are handed out.
func (f *Feeder) segment() element.Segment {
	if f.cfg.Share == "thread" || f.cfg.Pick == "random" {
		return element.Segment{}
	}
	return f.cfg.Segment
}

// rows returns how many rows of an indexed file are handed out.
func (f *Feeder) rows() int64 { return f.segment().Of(f.index.rows) }

func (f *Feeder) cursor(salt uint64) cursor {
	if f.streamed() {
		s := &stream{feeder: f}
		f.streams = append(f.streams, s)
		return s
	}
	return &walk{feeder: f, seed: f.cfg.Seed ^ salt ^ hash(f.cfg.Name)}
}

// Close stops reading and waits until nothing of the feeder runs.
func (f *Feeder) Close() error {
	f.mu.Lock()
	f.closed = true
	streams := f.streams
	f.mu.Unlock()
	var errs []error
	for _, s := range streams {
		errs = append(errs, s.close())
	}
	if f.index != nil {
		errs = append(errs, f.index.close())
	}
	return errors.Join(errs...)
}

func (f *Feeder) end() error {
	return &EndError{Name: f.cfg.Name, Path: f.cfg.Path, Policy: f.cfg.OnEnd}
}
