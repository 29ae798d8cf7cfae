package http

import (
	"errors"
	"fmt"
	"io"
	"os"

	"runner/plan/spec"
)

// inMemory is the size up to which files are read once and kept; larger ones
// are read from the disk for each request, shared by all threads.
const inMemory = 1 << 20

// content is a file that bodies are made of.
type content struct {
	data []byte
	file *os.File // of a large one
	size int64
}

func openContent(path spec.Path) (*content, error) {
	f, err := os.Open(path.Full)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path.Written, err)
	}
	info, err := f.Stat()
	switch {
	case err != nil:
	case !info.Mode().IsRegular():
		err = errors.New("it is not a regular file")
	case info.Size() > inMemory:
		return &content{file: f, size: info.Size()}, nil
	}
	var data []byte
	if err == nil {
		data, err = io.ReadAll(io.LimitReader(f, inMemory))
	}
	_ = f.Close() // it was only read
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path.Written, err)
	}
	return &content{data: data, size: int64(len(data))}, nil
}

// stream is a body of rendered text with files between: io.ReadSeeker of one
// thread, in constant memory.
type stream struct {
	text   []byte
	pieces []piece
	at     int   // piece that is read
	off    int64 // in it
}

// piece is a part of the text, or a whole file.
type piece struct {
	from, to int
	file     *content
}

func (s *stream) reset() { s.pieces, s.at, s.off = s.pieces[:0], 0, 0 }

// cut ends a piece of text at the length end, and adds the file, if there is one.
func (s *stream) cut(end int, file *content) {
	from := 0
	for i := len(s.pieces) - 1; i >= 0; i-- {
		if s.pieces[i].file == nil {
			from = s.pieces[i].to
			break
		}
	}
	s.pieces = append(s.pieces, piece{from: from, to: end})
	if file != nil {
		s.pieces = append(s.pieces, piece{file: file})
	}
}

func (p *piece) length() int64 {
	if p.file != nil {
		return p.file.size
	}
	return int64(p.to - p.from)
}

func (s *stream) length() (n int64) {
	for i := range s.pieces {
		n += s.pieces[i].length()
	}
	return n
}

// Read reads on.
func (s *stream) Read(b []byte) (int, error) {
	for s.at < len(s.pieces) {
		p := &s.pieces[s.at]
		if s.off >= p.length() {
			s.at, s.off = s.at+1, 0
			continue
		}
		if p.file == nil {
			n := copy(b, s.text[p.from+int(s.off):p.to])
			s.off += int64(n)
			return n, nil
		}
		n, err := p.file.file.ReadAt(b[:min(int64(len(b)), p.length()-s.off)], s.off)
		s.off += int64(n)
		if n > 0 {
			return n, nil
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF // it became shorter during the run
		}
		return 0, err
	}
	return 0, io.EOF
}

// Seek goes back to the start, the only place that it knows.
func (s *stream) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekStart {
		return 0, errors.New("a body can only be read from its start")
	}
	s.at, s.off = 0, 0
	return 0, nil
}
