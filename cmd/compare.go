package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"runner/reporters/compare"
)

// exitInconclusive: the runs do not suffice to tell.
const exitInconclusive = 4

type compareOptions struct {
	format, minEffect, alpha, spread string
	reports                          []string
	force, quiet                     bool
}

func newCompare(env Env) *cobra.Command {
	var o compareOptions
	c := &cobra.Command{
		Use:   "compare BASE... -- NEW...",
		Short: "Tell whether new runs are slower than base runs",
		Long: `Compare the results of runs of one plan: p50, p95, p99, error rate and throughput
of all samples, and of each step. The run is the unit: with six runs a side, made
in turns, a change of 10 % is found in 85 of 100 cases, and a false alarm comes
once in a hundred comparisons. With fewer than five runs a side only large changes
can be told from the usual spread. A folder of exec --repeat stands for all runs
in it.

Exit codes:
  0    ok: nothing became worse
  1    regression: a figure became worse, by more than chance and the minimum effect
  2    the command line is wrong, or a folder holds no results
  3    invalid: the runs cannot be compared, or a report could not be written
  4    inconclusive: the runs do not suffice to tell`,
		Example: `  runner exec plan.yaml --repeat 6 --out results/base
  runner compare results/base -- results/new
  runner compare a1 a2 a3 a4 a5 a6 -- b1 b2 b3 b4 b5 b6 --report html=compare.html`,
		RunE: func(c *cobra.Command, args []string) error {
			base, news, err := compareSides(c, args)
			if help, _ := c.Flags().GetBool("help"); help { // behind the dashes
				return c.Help()
			}
			if err != nil {
				return usage(err)
			}
			return runCompare(env, c, base, news, o)
		},
	}
	c.Flags().StringVar(&o.format, "format", "text", "what is printed: text or json")
	c.Flags().StringArrayVar(&o.reports, "report", nil, "also write html=`path` or json=path; may be repeated")
	c.Flags().StringVar(&o.minEffect, "min-effect", "5%", "smaller changes are never a regression")
	c.Flags().StringVar(&o.alpha, "alpha", "5%", "level of significance, over all figures together")
	c.Flags().StringVar(&o.spread, "spread", "5%", "usual spread from run to run, where too few runs tell it")
	c.Flags().BoolVar(&o.force, "force", false, "compare although plans, loads or verdicts differ")
	c.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "print the outcome and its reasons, nothing else")
	return c
}

// compareSides parts the folders at the dashes; two without dashes are a base and
// a new one. Flags may stand behind the new ones too, although dashes usually end
// them.
func compareSides(c *cobra.Command, args []string) (base, news []string, err error) {
	dash := c.ArgsLenAtDash()
	if dash < 0 && len(args) == 2 {
		return args[:1], args[1:], nil
	}
	if dash >= 0 {
		if err := c.Flags().Parse(args[dash:]); err != nil {
			return nil, nil, fmt.Errorf("%w; see runner compare --help", err)
		}
		base, news = args[:dash], c.Flags().Args()
	}
	if len(base) == 0 || len(news) == 0 {
		return nil, nil, fmt.Errorf("name base runs and new runs: runner compare results/base -- results/new")
	}
	return base, news, nil
}

func runCompare(env Env, c *cobra.Command, base, news []string, o compareOptions) error {
	options, err := o.options()
	if err != nil {
		return usage(err)
	}
	reports, err := compareReports(o.reports)
	if err != nil {
		return usage(err)
	}
	var sides [2][]compare.Run
	for i, folders := range [][]string{base, news} {
		for _, folder := range expandFolders(env, folders) {
			summary, err := readResults(env.path(folder))
			if err != nil {
				return usage(fmt.Errorf("read %s: %w", folder, err))
			}
			sides[i] = append(sides[i], compare.Run{Name: folder, Summary: summary})
		}
	}
	result, err := compare.Compare(sides[0], sides[1], options)
	var bad *compare.IncomparableError
	switch {
	case errors.As(err, &bad):
		return invalid(fmt.Errorf("these runs cannot be compared (--force does it all the same):\n  %s", strings.Join(bad.Reasons, "\n  ")))
	case err != nil:
		return usage(err)
	}
	for _, r := range reports {
		if err := r.write(env, result); err != nil {
			return invalid(err)
		}
	}
	if o.format == "json" {
		err = result.WriteJSON(env.Stdout)
	} else {
		err = result.WriteText(env.Stdout, compare.TextOptions{Colour: colour(env, c), Quiet: o.quiet})
	}
	if err != nil {
		return invalid(fmt.Errorf("print the comparison: %w", err))
	}
	return exit(map[compare.Outcome]int{compare.Regression: exitFailed, compare.Inconclusive: exitInconclusive}[result.Outcome])
}

func (o *compareOptions) options() (out compare.Options, err error) {
	if o.format != "text" && o.format != "json" {
		return out, fmt.Errorf("--format %q is neither text nor json", o.format)
	}
	out.Force, out.Seed = o.force, 1
	for _, f := range []struct {
		flag, text string
		to         *float64
		most       float64
	}{{"min-effect", o.minEffect, &out.MinEffect, 10}, {"alpha", o.alpha, &out.Alpha, 0.5}, {"spread", o.spread, &out.Spread, 1}} {
		v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(f.text, "%")), 64)
		if strings.HasSuffix(f.text, "%") {
			v /= 100
		}
		if err != nil || !(v > 0 && v <= f.most) || v >= 1 && !strings.HasSuffix(f.text, "%") {
			return out, fmt.Errorf("--%s %s: write a percentage such as 5%%, above 0%% and up to %g%%", f.flag, f.text, f.most*100)
		}
		*f.to = v
	}
	return out, nil
}

// compareReport is one file that --report asks for.
type compareReport struct {
	format, path string
}

func compareReports(list []string) ([]compareReport, error) {
	var out []compareReport
	for _, text := range list {
		format, path, _ := strings.Cut(text, "=")
		if path == "" || format != "html" && format != "json" {
			return nil, fmt.Errorf("--report %s: write html=path or json=path", text)
		}
		out = append(out, compareReport{format, path})
	}
	return out, nil
}

// write renders into memory first, then replaces the file in one step.
func (r compareReport) write(env Env, result *compare.Result) error {
	render := map[string]func(io.Writer) error{"html": result.WriteHTML, "json": result.WriteJSON}[r.format]
	var b bytes.Buffer
	if err := render(&b); err != nil {
		return err
	}
	path := env.path(r.path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return fmt.Errorf("write the %s report: %w", r.format, err)
	}
	f, err := os.CreateTemp(filepath.Dir(path), ".compare.*.tmp")
	if err != nil {
		return fmt.Errorf("write the %s report: %w", r.format, err)
	}
	_, err = f.Write(b.Bytes())
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		_ = os.Remove(f.Name())
		return fmt.Errorf("write the %s report: %w", r.format, err)
	}
	return nil
}
