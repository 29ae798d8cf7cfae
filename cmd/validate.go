package cmd

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"

	"runner/plan/element"
	"runner/plan/source"
)

func newValidate(env Env, reg *element.Registry) *cobra.Command {
	var o planOptions
	c := &cobra.Command{
		Use:   "validate PLAN...",
		Short: "Check plans without sending anything",
		Long: `Check plans: every problem is listed with its place and what to write instead.
Nothing is sent. Files that the plan names (CSV data, bodies) are opened.
` + exitCodes,
		Example: "  runner validate plan.yaml\n  runner validate --format json plans/*.yaml",
		Args:    needsPlan(1, -1),
		RunE: func(c *cobra.Command, args []string) error {
			return runValidate(env, c, reg, args, o)
		},
	}
	o.flags(c)
	return c
}

func runValidate(env Env, c *cobra.Command, reg *element.Registry, paths []string, o planOptions) error {
	// A plan is short-lived, and a large one takes 50 MiB: the first collection comes
	// at 64 MiB of heap.
	defer debug.SetGCPercent(debug.SetGCPercent(1600))
	var all source.Diagnostics
	failed := error(nil)
	if err := o.check(env); err != nil {
		return usage(err)
	}
	for _, path := range paths {
		ds, err := check(env, reg, path, o)
		if err != nil {
			ds = unreadable(path, err)
			if o.format == "text" {
				printf(env.Stderr, "runner: %v\n", err)
				failed = exit(exitUsage)
				continue
			}
		}
		all = append(all, ds...)
		if o.format == "text" {
			if err := report(env, c, ds, o.format); err != nil {
				failed = err
				continue
			}
			if _, err := fmt.Fprintf(env.Stdout, "%s: ok\n", path); err != nil {
				return invalid(err)
			}
		}
	}
	if o.format != "text" {
		return report(env, c, all, o.format)
	}
	return failed
}

// unreadable is a plan that cannot be read, as a problem at its start.
func unreadable(path string, err error) source.Diagnostics {
	f := source.New(path, nil)
	return source.Diagnostics{{Code: "missing-file", Summary: err.Error(), Detail: "name a plan file",
		Range: source.Range{File: f, Start: f.Pos(0), End: f.Pos(0)}}}
}

// check returns the problems of one plan, as far as they show without a run.
func check(env Env, reg *element.Registry, path string, o planOptions) (source.Diagnostics, error) {
	l, err := inspect(env, reg, path, o)
	if err != nil || l.notices.HasErrors() {
		if l == nil {
			return nil, err
		}
		return l.notices, err
	}
	_, closeAll, err := l.compile(env, reg, nil, 0, element.Segment{}, 1)
	if closeAll != nil {
		closeAll()
	}
	return l.notices, err
}

// needsPlan wants from low to high plan files, high < 0 being no limit.
func needsPlan(low, high int) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < low:
			return usage(fmt.Errorf("name a plan file: runner %s plan.yaml", c.Name()))
		case high >= 0 && len(args) > high:
			return usage(fmt.Errorf("runner %s takes one plan, not %d", c.Name(), len(args)))
		}
		return nil
	}
}
