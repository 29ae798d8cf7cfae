package cmd

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"syscall"

	"runner/plan/element"
	"runner/reporters"
	"runner/reporters/stats"
)

// info is what the summary repeats about the plan.
func (s *session) info() stats.Info {
	p := s.loaded.plan
	info := stats.Info{
		Plan: p.Name, Description: p.Description, RunnerVersion: Version, RunID: s.runID, Seed: s.seed, Started: s.env.Now(),
	}
	if !s.share.IsWhole() {
		info.Segment = s.share.String()
	}
	for _, f := range p.Files {
		info.Sources = append(info.Sources, stats.Source{File: f.Name, Text: string(f.Text)})
	}
	sum := sha256.Sum256(p.File.Text)
	info.PlanSHA256 = hex.EncodeToString(sum[:])
	return info
}

// reserve is how many files the process needs beside one connection a thread.
const reserve = 64

// resourceNotes raises the soft limit of open files to the hard one and says
// where the plan's threads exceed it.
func (s *session) resourceNotes() []string {
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit); err != nil {
		return nil
	}
	if limit.Cur < limit.Max {
		raised := syscall.Rlimit{Cur: limit.Max, Max: limit.Max}
		if syscall.Setrlimit(syscall.RLIMIT_NOFILE, &raised) == nil {
			limit = raised
		}
	}
	threads := s.program.MaxThreads()
	if uint64(threads)+reserve <= limit.Cur {
		return nil
	}
	note := fmt.Sprintf("the plan may run %d threads, but this process may open only %d files, and each connection is one: "+
		"raise the limit (ulimit -n %d), or lower the threads; what fails for it is counted as local_resource",
		threads, limit.Cur, threads+reserve)
	s.console.Note("note: " + note)
	return []string{note}
}

// logHandler writes the run's log lines to the console, one line each.
type logHandler struct {
	console *reporters.Console
	masker  *element.Masker
}

func newLog(console *reporters.Console, masker *element.Masker) *slog.Logger {
	return slog.New(logHandler{console, masker})
}

// Enabled reports that information and worse is shown.
func (logHandler) Enabled(_ context.Context, level slog.Level) bool { return level >= slog.LevelInfo }

// Handle writes one record.
func (h logHandler) Handle(_ context.Context, record slog.Record) error {
	text := record.Message
	record.Attrs(func(a slog.Attr) bool {
		text += " " + a.Key + "=" + a.Value.String()
		return true
	})
	h.console.Note(h.masker.Mask(text))
	return nil
}

// WithAttrs returns the handler itself: the engine uses no attributes of loggers.
func (h logHandler) WithAttrs([]slog.Attr) slog.Handler { return h }

// WithGroup returns the handler itself.
func (h logHandler) WithGroup(string) slog.Handler { return h }
