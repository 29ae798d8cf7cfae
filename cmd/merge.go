package cmd

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"runner/plan"
	"runner/reporters"
	"runner/reporters/stats"
)

type mergeOptions struct {
	out     string
	reports []string
	quiet   bool
	force   bool
}

func newMerge(env Env) *cobra.Command {
	var o mergeOptions
	c := &cobra.Command{
		Use:   "merge FOLDER FOLDER... --out FOLDER",
		Short: "Put the results of several machines or runs together",
		Long: `Read the journals of several results folders, of segments on several machines or
of runs one after the other, and write one results folder with every report.
Percentiles are those of all samples together, and thresholds are judged again
over the merged figures. A folder of exec --repeat stands for all runs in it.

Rates of runs that overlap in time add up. Runs that do not are laid one after
the other: three runs of 50 requests per second make 50 per second.

Exit codes: those of exec, for the merged result.
` + exitCodes,
		Example: "  runner merge results/1 results/2 results/3 --out results/all",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usage(fmt.Errorf("name the results folders: runner merge results/1 results/2 --out results/all"))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runMerge(env, c, args, o) },
	}
	c.Flags().StringVar(&o.out, "out", "", "write the merged results into this `folder`")
	c.Flags().StringArrayVar(&o.reports, "report", nil, "also write a `format=path` ("+formats()+"); may be repeated")
	c.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "print the verdict and what is wrong, nothing else")
	c.Flags().BoolVar(&o.force, "force", false, "merge although segments are missing or doubled, or loads differ")
	return c
}

func runMerge(env Env, c *cobra.Command, args []string, o mergeOptions) error {
	wanted, err := parseReports(o.reports)
	if err != nil {
		return usage(err)
	}
	if o.out == "" && !wanted.none {
		return usage(fmt.Errorf("say where the merged results go: --out FOLDER"))
	}
	folders := expandFolders(env, args)
	if err := mergeable(env, folders, o); err != nil {
		return usage(err)
	}
	var parts []stats.Part
	for _, folder := range folders {
		part, err := readPart(env, folder)
		if err != nil {
			return usage(err)
		}
		parts = append(parts, part)
	}
	summary, err := merged(parts, o.force)
	if err != nil {
		return usage(err)
	}
	s := &session{
		env: env, folder: o.out, reports: wanted, loaded: &loaded{plan: &plan.Plan{}},
		console: reporters.NewConsole(reporters.ConsoleOptions{Result: env.Stdout, Width: env.Width, Quiet: o.quiet, Colour: colour(env, c)}),
	}
	if err := s.places(o.out); err != nil {
		return usage(err)
	}
	return s.conclude(summary)
}

// merged merges the parts. With force it only notes what speaks against it, unless
// a run would count twice.
func merged(parts []stats.Part, force bool) (*stats.Summary, error) {
	if err := stats.Distinct(parts); err != nil {
		return nil, err
	}
	summary, err := stats.Merge(parts)
	if err != nil {
		return nil, err
	}
	for _, check := range []func([]stats.Part) error{stats.Whole, stats.SameLoad} {
		if err := check(parts); err != nil && !force {
			return nil, fmt.Errorf("%w; --force merges all the same", err)
		} else if err != nil {
			summary.Notes = append(summary.Notes, "merged all the same: "+err.Error())
		}
	}
	return summary, nil
}

// expandFolders puts the runs in place of a folder of exec --repeat.
func expandFolders(env Env, args []string) []string {
	var out []string
	for _, arg := range args {
		if exists(env.path(filepath.Join(arg, "summary.json"))) || exists(env.path(filepath.Join(arg, "run.journal"))) {
			out = append(out, arg)
			continue
		}
		var runs []string
		for k := 1; k <= maxRepeat; k++ {
			run := filepath.Join(arg, fmt.Sprintf("run-%d", k))
			if !exists(env.path(run)) {
				break
			}
			runs = append(runs, run)
		}
		if len(runs) == 0 {
			runs = []string{arg} // whoever reads it says what is wrong
		}
		out = append(out, runs...)
	}
	return out
}

// mergeable refuses one folder given twice, and results that would be overwritten
// by themselves.
func mergeable(env Env, folders []string, o mergeOptions) error {
	for i, folder := range folders {
		clean := filepath.Clean(env.path(folder))
		if slices.ContainsFunc(folders[:i], func(other string) bool { return filepath.Clean(env.path(other)) == clean }) {
			return fmt.Errorf("%s is named twice", folder)
		}
		if o.out != "" && clean == filepath.Clean(env.path(o.out)) {
			return fmt.Errorf("--out %s is one of the merged folders", o.out)
		}
	}
	if o.out != "" && exists(env.path(filepath.Join(o.out, "run.journal"))) {
		return fmt.Errorf("--out %s holds the results of a run; name another folder", o.out)
	}
	return nil
}

func readPart(env Env, folder string) (stats.Part, error) {
	journal, err := os.Open(env.path(filepath.Join(folder, "run.journal")))
	if errors.Is(err, fs.ErrNotExist) {
		return stats.Part{}, fmt.Errorf("%s holds no run.journal, which merge needs", folder)
	}
	if err != nil {
		return stats.Part{}, err
	}
	defer journal.Close()
	return stats.ReadPart(folder, journal)
}
