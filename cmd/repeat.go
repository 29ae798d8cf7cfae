package cmd

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"runner/plan/element"
	"runner/reporters/compare"
)

// maxRepeat is the most runs of one exec.
const maxRepeat = 1000

// repeated is the place of a run among those of --repeat; the zero value is a run
// by itself.
type repeated struct{ run, of int }

// folder returns the run's folder in the results folder of all.
func (r repeated) folder(out string) string {
	if r.of < 2 {
		return out
	}
	return filepath.Join(out, fmt.Sprintf("run-%d", r.run))
}

// path returns a report's own path for this run: build/junit-2.xml.
func (r repeated) path(path string) string {
	if r.of < 2 {
		return path
	}
	ext := filepath.Ext(path)
	return fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, ext), r.run, ext)
}

// repeat runs the plan n times, one after the other, and prints a table of the
// runs. Its exit code is the worst one; an interrupt ends it.
func repeat(ctx context.Context, env Env, c *cobra.Command, reg *element.Registry, path string, o execOptions, n int) error {
	var text []byte
	if path == "-" {
		var err error
		if text, err = io.ReadAll(io.LimitReader(env.Stdin, readLimit)); err != nil {
			return usage(fmt.Errorf("read the plan from standard input: %w", err))
		}
	}
	if next := (repeated{n + 1, n + 1}).folder(o.out); o.out != "" && exists(env.path(next)) {
		return usage(fmt.Errorf("%s is of an earlier repetition with more runs; remove it or name another folder", next))
	}
	var runs []compare.Run
	var worst error
	for k := range n {
		env.Stdin = bytes.NewReader(text)
		o.place = repeated{k + 1, n}
		if !o.quiet {
			printf(env.Stderr, "run %d of %d\n", k+1, n)
		}
		s, err := prepare(env, c, reg, path, &o)
		if err != nil {
			return err
		}
		if k == 0 {
			defer s.closeJournal() // no sooner: all the folder stays taken between runs
			err = s.run(ctx)
		} else {
			err = s.runAndClose(ctx)
		}
		if s.summary != nil {
			runs = append(runs, compare.Run{Name: fmt.Sprintf("run-%d", k+1), Summary: s.summary})
		}
		worst = worse(worst, err)
		if code := codeOf(err); code > 128 {
			break
		}
	}
	if err := compare.WriteRuns(env.Stdout, runs); err != nil {
		return invalid(err)
	}
	return worst
}

// worse returns the error with the worse exit code: interrupted, invalid, failed,
// passed.
func worse(a, b error) error {
	order := []int{exitPassed, exitFailed, exitInvalid, exitUsage}
	rank := func(err error) int {
		if i := slices.Index(order, codeOf(err)); i >= 0 {
			return i
		}
		return len(order)
	}
	if rank(b) > rank(a) {
		return b
	}
	return a
}
