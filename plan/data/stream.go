package data

import (
	"errors"
	"fmt"
	"io"
	"sync"

	"runner/plan/element"
)

const batchSize = 256 // rows read ahead in one go

// result is one row, or why there is none in its place.
type result struct {
	row row
	err error
}

// stream hands out rows in file order. One goroutine reads batches ahead; the
// lock is held only to take a row from the current batch.
//
//	state      started  batches      next
//	new        no       nil          starts the reader
//	running    yes      open         takes a row, or waits for a batch
//	ended      yes      closed       always returns final
//	closed     —        —            always returns an error
type stream struct {
	feeder *Feeder

	mu      sync.Mutex
	started bool
	current []result
	batches chan []result
	broken  error // why the reader ended; written before batches is closed
	final   error
	quit    chan struct{}
	once    sync.Once
	wait    sync.WaitGroup
}

func (s *stream) next(*element.Thread) (row, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.final != nil {
		return nil, s.final
	}
	if !s.started {
		s.start()
	}
	if len(s.current) == 0 {
		batch, ok := <-s.batches
		if !ok {
			s.final = s.broken
			if s.final == nil {
				s.final = s.feeder.end()
			}
			return nil, s.final
		}
		s.current = batch
	}
	r := s.current[0]
	s.current[0] = result{}
	s.current = s.current[1:]
	return r.row, r.err
}

func (s *stream) start() {
	s.started = true
	s.batches = make(chan []result, 2)
	s.quit = make(chan struct{})
	s.wait.Go(s.read)
}

// read sends batches until the end, an error that nothing can follow, or close.
func (s *stream) read() {
	defer close(s.batches)
	file, err := s.feeder.open(s.feeder.cfg.Path)
	if err != nil {
		s.broken = fmt.Errorf("open data %q: %w", s.feeder.cfg.Name, err)
		return
	}
	defer file.Close()
	for s.pass(file) && s.feeder.cfg.OnEnd == "recycle" {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			s.broken = fmt.Errorf("read %s: %w", s.feeder.cfg.Path, err)
			return
		}
	}
}

// pass reads the file once; false stops the reading.
func (s *stream) pass(file io.Reader) bool {
	records, table, err := newRecords(file, s.feeder.cfg)
	if err != nil {
		s.broken = err
		return false
	}
	rows := int64(0) // of the whole file
	sent := false
	for {
		batch, n, err := s.readBatch(records, table, rows)
		rows = n
		if err != nil && !errors.Is(err, io.EOF) {
			s.broken = err
			s.send(batch)
			return false
		}
		if len(batch) > 0 && !s.send(batch) {
			return false
		}
		sent = sent || len(batch) > 0
		if err != nil {
			return sent // a file that has become empty is not read for ever
		}
	}
}

// readBatch reads the segment's rows from row number n on, and returns the number
// of the row that follows.
func (s *stream) readBatch(records *records, table table, n int64) ([]result, int64, error) {
	segment := s.feeder.segment()
	batch := make([]result, 0, batchSize)
	for ; len(batch) < batchSize; n++ {
		fields, line, err := records.next()
		var bad *rowError
		if err != nil && !errors.As(err, &bad) {
			return batch, n, err
		}
		if !segment.Has(n) {
			continue
		}
		var r row
		if err == nil {
			r, err = table.row(fields, line)
		}
		batch = append(batch, result{r, err})
	}
	return batch, n, nil
}

// send reports whether the batch was taken before the stream was closed.
func (s *stream) send(batch []result) bool {
	select {
	case s.batches <- batch:
		return true
	case <-s.quit:
		return false
	}
}

// close ends the reader and waits for it. A thread that waits for a batch gets
// the end.
func (s *stream) close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.final = fmt.Errorf("data %q is closed", s.feeder.cfg.Name)
	if s.started {
		s.once.Do(func() { close(s.quit) })
		s.wait.Wait()
	}
	return nil
}
