package cmd

import (
	"errors"
	"fmt"
	"path/filepath"

	"runner/reporters"
	"runner/reporters/stats"
)

// finish freezes the summary, writes every report, prints the result and returns
// the verdict as an exit code.
func (s *session) finish(recorder *stats.Recorder, end stats.EndInfo) error {
	return s.conclude(recorder.Summary(end))
}

// conclude is finish for a summary that is there.
func (s *session) conclude(summary *stats.Summary) error {
	paths, err := s.writeReports(summary)
	if err != nil {
		summary.ReportFailed(err.Error())
		again, _ := s.writeReports(summary) // what can be written says that something could not
		paths = again
	}
	s.summary = summary
	if s.journal != nil {
		paths = append(paths, filepath.Join(s.folder, "run.journal"))
	}
	if s.env.Getenv != nil {
		if on, _ := s.env.Getenv("GITHUB_ACTIONS"); on == "true" {
			if err := reporters.WriteAnnotations(s.env.Stdout, summary); err != nil {
				return invalid(err)
			}
		}
	}
	if err := s.console.Finish(summary, paths); err != nil {
		return invalid(fmt.Errorf("print the result: %w", err))
	}
	return exit(summary.ExitCode)
}

// writeReports writes the reports into the results folder and the copies that
// plan and command line ask for, as many as it can.
func (s *session) writeReports(summary *stats.Summary) ([]string, error) {
	var paths []string
	var errs []error
	if !s.reports.none {
		written, err := reporters.WriteAll(s.env.path(s.folder), summary, append(defaultReports(), s.reports.extra...)...)
		for _, path := range written {
			paths = append(paths, filepath.Join(s.folder, filepath.Base(path)))
		}
		errs = append(errs, err)
	}
	for _, c := range s.copies() {
		if err := reporters.WriteFile(s.env.path(c.path), summary, c.reporter); err != nil {
			errs = append(errs, err)
			continue
		}
		paths = append(paths, c.path)
	}
	return paths, errors.Join(errs...)
}

// copies are the reports with a place of their own: the plan's, then the command
// line's.
func (s *session) copies() []reportCopy {
	var all []reportCopy
	if !s.reports.none {
		for _, r := range s.loaded.plan.Reports {
			if reporter, ok := reporters.ByName(r.Format); ok {
				path := r.Path
				if !filepath.IsAbs(path) {
					path = filepath.Join(filepath.Dir(r.Range.File.Name), path)
				}
				all = append(all, reportCopy{reporter, s.place.path(path)})
			}
		}
	}
	for _, c := range s.reports.copies {
		all = append(all, reportCopy{c.reporter, s.place.path(c.path)})
	}
	return all
}
