// Package reporters renders the one frozen stats.Summary of a run: JSON, HTML,
// JUnit XML, XLSX, Markdown and the console. Every format reads the same numbers
// and formats them in format.go, so no two can disagree.
//
// Everything in a Summary that came from a plan or a target is hostile. It passes
// through clean.go once, before any renderer sees it: control bytes, invalid UTF-8
// and direction overrides become visible marks, and figures that are not numbers
// become null. Each format then escapes for itself.
package reporters

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"

	"runner/reporters/stats"
)

// Reporter renders a summary in one format.
type Reporter interface {
	// Name is the word for the format in plans and on the command line.
	Name() string
	// File is the report's file name in the results folder.
	File() string
	// Write renders s to w. It does not change s and keeps no reference to it.
	Write(w io.Writer, s *stats.Summary) error
}

// format is a Reporter made of a function that renders a prepared summary.
type format struct {
	name, file string
	render     func(io.Writer, *stats.Summary) error
	prepare    func(*stats.Summary) *stats.Summary
}

func (f format) Name() string { return f.name }
func (f format) File() string { return f.file }

func (f format) Write(w io.Writer, s *stats.Summary) error {
	if s == nil {
		return errors.New("no summary to report")
	}
	return f.render(w, f.prepare(s))
}

// All returns every file format, in the order in which their files are named:
// summary.json first, since the others can be made from it again.
func All() []Reporter {
	return []Reporter{
		format{"json", "summary.json", writeJSON, repaired},
		format{"html", "report.html", writeHTML, cleaned},
		format{"junit", "junit.xml", writeJUnit, cleaned},
		format{"xlsx", "report.xlsx", writeXLSX, cleaned},
		format{"markdown", "summary.md", writeMarkdown, cleaned},
	}
}

// ByName returns the reporter of a format's name.
func ByName(name string) (Reporter, bool) {
	for _, r := range All() {
		if r.Name() == name {
			return r, true
		}
	}
	return nil, false
}

// WriteAll writes every given report (none given: all of them) into dir, which it
// creates, side by side, and returns the paths written in the order of reports. A
// report that could not be written is absent, never half there; the others are
// still written and the errors joined.
func WriteAll(dir string, s *stats.Summary, reports ...Reporter) ([]string, error) {
	if len(reports) == 0 {
		reports = All()
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, fmt.Errorf("create results folder: %w", err)
	}
	failed := make([]error, len(reports))
	var writing sync.WaitGroup
	for i, r := range reports {
		writing.Go(func() { failed[i] = WriteFile(filepath.Join(dir, r.File()), s, r) })
	}
	writing.Wait()
	var paths []string
	for i, r := range reports {
		if failed[i] == nil {
			paths = append(paths, filepath.Join(dir, r.File()))
		}
	}
	return paths, errors.Join(failed...)
}

// WriteFile writes one report to path: to a temporary name in the same folder,
// synced, then renamed over path. On error path is as it was before. What is no
// ordinary file (a pipe, /dev/stdout) is written to and never replaced.
func WriteFile(path string, s *stats.Summary, r Reporter) (err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("write %s report: %w", r.Name(), err)
		}
	}()
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return writeInto(path, s, r)
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name())
		}
	}()
	if err := fill(f, s, r); err != nil {
		_ = f.Close()
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), path); err != nil {
		return err
	}
	return syncFolder(filepath.Dir(path))
}

// writeInto writes one report to a device or pipe.
func writeInto(path string, s *stats.Summary, r Reporter) error {
	f, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		return err
	}
	return errors.Join(r.Write(f, s), f.Close())
}

// fill renders into f, gives it an ordinary file's mode and syncs it.
func fill(f *os.File, s *stats.Summary, r Reporter) error {
	w := bufio.NewWriterSize(f, 64<<10)
	if err := r.Write(w, s); err != nil {
		return err
	}
	if err := w.Flush(); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	return f.Sync()
}

// syncFolder makes a rename in dir durable. Some file systems cannot sync a
// folder; the rename has happened all the same, so that is not an error.
func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	_ = d.Sync()
	return d.Close()
}
