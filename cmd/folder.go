package cmd

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"runner/reporters"
)

// openFolder creates the results folder, the journal in it and the folders of the
// copies, and removes what an earlier run left there under the names of this
// run's reports. The journal is locked until it is closed, so that no other run
// takes the folder in between.
func (s *session) openFolder(out string) error {
	for _, c := range s.copies() { // now, so that a long run does not end without a place for its report
		if err := os.MkdirAll(filepath.Dir(s.env.path(c.path)), 0o755); err != nil {
			return invalid(fmt.Errorf("create the folder of %s: %w", c.path, err))
		}
	}
	if s.reports.none {
		return nil
	}
	dir := s.env.path(out)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return invalid(fmt.Errorf("create the results folder: %w", err))
	}
	journal, err := os.OpenFile(filepath.Join(dir, "run.journal"), os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return invalid(fmt.Errorf("create the journal: %w", err))
	}
	if pid, held := lock(journal); held {
		_ = journal.Close() // nothing was written
		who := ""
		if pid > 0 {
			who = fmt.Sprintf(" (process %d)", pid)
		}
		return usage(fmt.Errorf("--out %s is in use by another run%s, which would lose its results; name another folder", out, who))
	}
	if earlier := earlierRun(dir, journal); earlier != "" && !s.quiet {
		printf(s.env.Stderr, "replaces the results of %s in %s\n", earlier, out)
	}
	if err := clearFolder(dir, journal); err != nil {
		_ = journal.Close()
		return invalid(fmt.Errorf("clear the results folder: %w", err))
	}
	s.folder, s.journal = out, journal
	return nil
}

// maxEarlier bounds what is read of an earlier run's summary: its head, where its
// number and time stand.
const maxEarlier = 16 << 20

// earlierRun names the run whose results a folder holds, "" if there is none.
func earlierRun(dir string, journal *os.File) string {
	f, err := os.Open(filepath.Join(dir, "summary.json"))
	if err != nil {
		if info, err := journal.Stat(); err == nil && info.Size() > 0 {
			return "an unfinished run of " + info.ModTime().UTC().Format(time.RFC3339)
		}
		return ""
	}
	defer f.Close()
	id, started := headOf(io.LimitReader(f, maxEarlier))
	if id == "" || started.IsZero() {
		return "an earlier run"
	}
	return fmt.Sprintf("run %s of %s", slug(id), started.UTC().Format(time.RFC3339))
}

// headOf reads the run's number and start from a summary, no more of it than that
// takes.
func headOf(r io.Reader) (id string, started time.Time) {
	d := json.NewDecoder(r)
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return "", time.Time{}
	}
	for d.More() && (id == "" || started.IsZero()) {
		key, err := d.Token()
		if err != nil {
			return id, started
		}
		var value any = new(json.RawMessage)
		switch key {
		case "run_id":
			value = &id
		case "started":
			value = &started
		}
		if err := d.Decode(value); err != nil {
			return id, started
		}
	}
	return id, started
}

// clearFolder removes the reports of an earlier run and empties the journal.
func clearFolder(dir string, journal *os.File) error {
	for _, r := range reporters.All() {
		if err := os.Remove(filepath.Join(dir, r.File())); err != nil && !errors.Is(err, os.ErrNotExist) {
			return err
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "failures")); err != nil {
		return err
	}
	return journal.Truncate(0)
}
