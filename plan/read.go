package plan

import (
	"fmt"
	"io"
	"path/filepath"
	"sync"
)

// Limits of what file() reads and of what is kept of it.
const (
	maxFile      = 16 << 20
	maxKeptFiles = 64 << 20
)

// reader reads files for file(); small ones are read once in a run, since threads
// ask for them again and again.
type reader struct {
	open func(path string) (io.ReadCloser, error)

	mu   sync.Mutex
	kept map[string][]byte
	size int
}

// read returns the content of a file that is named in the plan file from. The
// caller must not change it.
func (r *reader) read(from, path string) ([]byte, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(from), path)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if text, ok := r.kept[path]; ok {
		return text, nil
	}
	f, err := r.open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxFile+1))
	if err != nil {
		return nil, err
	}
	if len(text) > maxFile {
		return nil, fmt.Errorf("%s is larger than %d MiB", path, maxFile>>20)
	}
	if r.size+len(text) <= maxKeptFiles {
		r.kept[path] = text
		r.size += len(text)
	}
	return text, nil
}
