package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"runner/plan"
	"runner/reporters"
	"runner/reporters/stats"
)

type reportOptions struct {
	reports []string
	quiet   bool
}

func newReport(env Env) *cobra.Command {
	var o reportOptions
	c := &cobra.Command{
		Use:   "report FOLDER",
		Short: "Write the reports of a results folder again",
		Long: `Write every report again from summary.json, or from run.journal if the run was
killed before it could write one: the reports are then marked PARTIAL and hold
all but at most the last second. A damaged summary.json is made again from the
journal; of a damaged journal, all before the damage is reported.

Exit codes:
  0    the reports were written, whatever their verdict
  2    the folder holds no results
  3    a report could not be written`,
		Example: "  runner report results/quickstart/20260101T120000Z\n  runner report results/today --report markdown=summary.md",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) != 1 {
				return usage(fmt.Errorf("name one results folder: runner report FOLDER"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runReport(env, c, args[0], o) },
	}
	c.Flags().StringArrayVar(&o.reports, "report", nil, "also write a `format=path` ("+formats()+"); may be repeated")
	c.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "print the verdict and what is wrong, nothing else")
	return c
}

func runReport(env Env, c *cobra.Command, folder string, o reportOptions) error {
	wanted, err := parseReports(o.reports)
	if err != nil {
		return usage(err)
	}
	summary, err := readResults(env.path(folder))
	if err != nil {
		return usage(err)
	}
	s := &session{env: env, folder: folder, reports: wanted, loaded: &loaded{plan: &plan.Plan{}}}
	if err := s.places(folder); err != nil {
		return usage(err)
	}
	paths, err := s.writeReports(summary)
	if err != nil {
		return invalid(err)
	}
	console := reporters.NewConsole(reporters.ConsoleOptions{Result: env.Stdout, Width: env.Width, Quiet: o.quiet, Colour: colour(env, c)})
	if err := console.Finish(summary, paths); err != nil {
		return invalid(err)
	}
	return nil
}

// readResults reads summary.json of a results folder, or its journal where the
// run did not come to write one or the file is damaged.
func readResults(dir string) (*stats.Summary, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file; name a results folder", dir)
	}
	summary, err := reporters.Read(filepath.Join(dir, "summary.json"))
	damaged := errors.Is(err, reporters.ErrDamaged)
	if err == nil || !damaged && !errors.Is(err, fs.ErrNotExist) {
		return summary, err
	}
	recorded, jerr := readJournal(filepath.Join(dir, "run.journal"))
	missing := errors.Is(jerr, fs.ErrNotExist)
	switch {
	case missing && !damaged:
		return nil, fmt.Errorf("%s holds neither summary.json nor run.journal", dir)
	case missing:
		return nil, fmt.Errorf("%w; and there is no run.journal to make it from", err)
	case jerr != nil && damaged:
		return nil, fmt.Errorf("%w; %w", err, jerr)
	case damaged:
		recorded.Notes = append(recorded.Notes, fmt.Sprintf("summary.json could not be read (%v), so the figures are those of run.journal", errors.Unwrap(err)))
	}
	return recorded, jerr
}

func readJournal(path string) (*stats.Summary, error) {
	journal, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer journal.Close()
	summary, err := stats.ReadJournal(journal)
	if err != nil {
		return nil, fmt.Errorf("read run.journal: %w", err)
	}
	return summary, nil
}
