//go:build unix

package reporters

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

func TestAPipeIsWrittenToNotReplaced(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	pipe, err := os.OpenFile(path, os.O_RDWR, 0) // both ends, so that no open waits
	if err != nil {
		t.Fatal(err)
	}
	defer pipe.Close()
	markdown, _ := ByName("markdown")
	done := make(chan error, 1)
	go func() { done <- WriteFile(path, fixed(), markdown) }()
	start := make([]byte, 16)
	if _, err := io.ReadFull(pipe, start); err != nil || !strings.HasPrefix(string(start), "#") {
		t.Errorf("the pipe gave %q, %v", start, err)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().IsRegular() {
		t.Errorf("the pipe was replaced: %v", err)
	}
}
