package data

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
)

const (
	maxPlaces = 1 << 20 // row places kept; above, every 2nd, 4th, 8th … row
	smallFile = 1 << 20 // files up to this size are kept in memory
	maxKept   = 20_000  // rows up to this number too, where the file is
)

// place is where a row starts.
type place struct {
	offset int64
	line   int
}

// index finds rows by number. Safe for concurrent use.
type index struct {
	cfg    Config
	table  table
	comma  rune
	rows   int64
	stride int64 // rows from one place to the next
	places []place

	small []byte // the whole file, or nil
	kept  []row  // all rows, or nil
	mu    sync.Mutex
	file  io.ReadSeekCloser // read under mu
}

// buildIndex reads the whole file once. A bad row is an error now, so that none
// is met by chance later.
func buildIndex(t table, cfg Config, open OpenFunc) (*index, error) {
	file, err := open(cfg.Path)
	if err != nil {
		return nil, fmt.Errorf("open data %q: %w", cfg.Name, err)
	}
	x := &index{cfg: cfg, table: t, stride: 1, file: file}
	if err := x.scan(); err != nil {
		return nil, errors.Join(err, x.close())
	}
	return x, nil
}

func (x *index) scan() error {
	records, table, err := newRecords(x.file, x.cfg)
	if err != nil {
		return err
	}
	x.comma = records.csv.Comma
	for {
		at := records.at()
		fields, line, err := records.next()
		if errors.Is(err, io.EOF) {
			return x.keepSmall(records.at())
		}
		if err != nil {
			return err
		}
		r, err := table.row(fields, line)
		if err != nil {
			return err
		}
		x.keep(r, at)
		x.add(place{at, line})
	}
}

// keep holds on to the rows of a small file.
func (x *index) keep(r row, at int64) {
	switch {
	case x.rows == int64(len(x.kept)) && x.rows < maxKept && at <= smallFile:
		x.kept = append(x.kept, r)
	default:
		x.kept = nil
	}
}

// add notes the place of the next row; when there are too many, every second one
// is dropped.
func (x *index) add(p place) {
	if x.rows%x.stride == 0 {
		if len(x.places) == maxPlaces {
			for i := range len(x.places) / 2 {
				x.places[i] = x.places[2*i]
			}
			x.places = x.places[:len(x.places)/2]
			x.stride *= 2
		}
		if x.rows%x.stride == 0 {
			x.places = append(x.places, p)
		}
	}
	x.rows++
}

func (x *index) keepSmall(size int64) error {
	if size > smallFile {
		return nil
	}
	if _, err := x.file.Seek(0, io.SeekStart); err != nil {
		return fmt.Errorf("read %s: %w", x.cfg.Path, err)
	}
	text, err := io.ReadAll(io.LimitReader(x.file, smallFile))
	if err != nil {
		return fmt.Errorf("read %s: %w", x.cfg.Path, err)
	}
	x.small = text
	return x.close()
}

// row returns row i, from 0.
func (x *index) row(i int64) (row, error) {
	if x.kept != nil {
		return x.kept[i], nil
	}
	p := x.places[i/x.stride]
	if x.small != nil {
		return x.read(bytes.NewReader(x.small[min(p.offset, int64(len(x.small))):]), p, i%x.stride)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.file == nil {
		return nil, fmt.Errorf("data %q is closed", x.cfg.Name)
	}
	if _, err := x.file.Seek(p.offset, io.SeekStart); err != nil {
		return nil, fmt.Errorf("read %s: %w", x.cfg.Path, err)
	}
	return x.read(x.file, p, i%x.stride)
}

// read returns the row that is skip rows below a place.
func (x *index) read(r io.Reader, p place, skip int64) (row, error) {
	records := readRecords(r, x.cfg.Path, x.comma, p.line-1, p.offset)
	records.width = len(x.table.columns)
	for {
		fields, line, err := records.next()
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("read %s: the file has changed", x.cfg.Path)
		}
		if err != nil {
			return nil, err
		}
		if skip == 0 {
			return x.table.row(fields, line)
		}
		skip--
	}
}

func (x *index) close() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.file == nil {
		return nil
	}
	file := x.file
	x.file = nil
	return file.Close()
}
