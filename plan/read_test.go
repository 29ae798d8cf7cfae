package plan

import (
	"io"
	"strings"
	"testing"
)

func TestFilesAreReadOnceAndBounded(t *testing.T) {
	opened := map[string]int{}
	r := &reader{kept: map[string][]byte{}, open: func(path string) (io.ReadCloser, error) {
		opened[path]++
		n := 3
		if strings.HasSuffix(path, "huge") {
			n = maxFile + 1
		}
		return io.NopCloser(strings.NewReader(strings.Repeat("x", n))), nil
	}}
	for range 2 {
		if text, err := r.read("dir/plan.yaml", "data/a.txt"); err != nil || string(text) != "xxx" {
			t.Errorf("got %q, %v", text, err)
		}
	}
	if opened["dir/data/a.txt"] != 1 {
		t.Errorf("opened %v, want dir/data/a.txt once", opened)
	}
	if _, err := r.read("dir/plan.yaml", "/huge"); err == nil || opened["/huge"] != 1 {
		t.Errorf("a file of more than %d bytes was read: %v", maxFile, err)
	}
}
