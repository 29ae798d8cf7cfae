package cmd

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"runner/plan"
	"runner/plan/data"
	"runner/plan/element"
	"runner/plan/engine"
	"runner/plan/source"
	"runner/plans"
)

// planOptions are the flags of every command that reads a plan.
type planOptions struct {
	environment string
	vars        []string
	secrets     []string
	format      string
	base        string // of the demo shop; "" = none
	seed        uint64
	runID       string
}

func (o *planOptions) flags(c *cobra.Command) {
	c.Flags().StringVar(&o.environment, "env", "", "use this environment of the plan")
	c.Flags().StringArrayVar(&o.vars, "var", nil, "set a variable of the plan, as `name=value`; may be repeated")
	c.Flags().StringArrayVar(&o.secrets, "secret", nil, "set a secret of the plan, as `name=value` or name=@file; may be repeated")
	c.Flags().StringVar(&o.format, "format", "text", "how problems are printed: text or json")
}

// loaded is a plan that may run.
type loaded struct {
	plan    *plan.Plan
	values  *plan.Values
	notices source.Diagnostics
}

// load reads, checks and evaluates a plan. Problems are printed; the error then
// says no more than the exit code.
func load(env Env, c *cobra.Command, reg *element.Registry, path string, o planOptions) (*loaded, error) {
	l, err := inspect(env, reg, path, o)
	if err != nil {
		return nil, usage(err)
	}
	if l.notices.HasErrors() {
		return nil, report(env, c, l.notices, o.format)
	}
	return l, nil
}

// check refuses flags that are wrong for every plan.
func (o *planOptions) check(env Env) error {
	if o.format != "text" && o.format != "json" {
		return fmt.Errorf("--format %q is neither text nor json", o.format)
	}
	_, err := evalOptions(env, *o)
	return err
}

// inspect is load without printing: notices holds all problems.
func inspect(env Env, reg *element.Registry, path string, o planOptions) (*loaded, error) {
	if err := o.check(env); err != nil {
		return nil, err
	}
	file, err := readPlan(env, path)
	if err != nil {
		return nil, err
	}
	eval, err := evalOptions(env, o)
	if err != nil {
		return nil, err
	}
	p, ds := plan.Parse(file, reg)
	if p != nil {
		ds = append(ds, plan.Validate(p, reg, plan.Options{Open: func(path string) (io.ReadCloser, error) { return env.open(path) }})...)
	}
	l := &loaded{plan: p}
	if !ds.HasErrors() {
		if _, set := eval.Vars["base"]; !set && o.base != "" {
			eval.Vars["base"] = o.base
		}
		var problems source.Diagnostics
		l.values, problems = p.Evaluate(eval)
		ds = append(ds, problems...)
	}
	l.notices = ds.Sorted()
	return l, nil
}

// report prints the problems and returns the exit code's error if one of them
// is an error.
func report(env Env, c *cobra.Command, ds source.Diagnostics, format string) error {
	switch {
	case format == "json":
		if _, err := env.Stdout.Write(source.JSON(ds)); err != nil {
			return invalid(err)
		}
	case len(ds) > 0:
		source.Render(env.Stderr, ds, source.RenderOptions{Color: colour(env, c), Width: env.Width()})
	}
	if ds.HasErrors() {
		return exit(exitUsage)
	}
	return nil
}

// readLimit is more than a plan may have, so that Parse can say that it is too large.
const readLimit = 1<<20 + 1

// readPlan reads a plan file; "-" is the standard input and "" the embedded
// quickstart.
func readPlan(env Env, path string) (*source.File, error) {
	switch path {
	case "":
		return source.New("quickstart.yaml", plans.Quickstart()), nil
	case "-":
		text, err := io.ReadAll(io.LimitReader(env.Stdin, readLimit))
		if err != nil {
			return nil, fmt.Errorf("read the plan from standard input: %w", err)
		}
		return source.New("stdin.yaml", text), nil
	}
	f, err := env.open(path)
	if err != nil {
		return nil, plainError("open the plan", path, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s is a folder; name a plan file in it", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, readLimit))
	if err != nil {
		return nil, plainError("read the plan", path, err)
	}
	return source.New(path, text), nil
}

// plainError says what went wrong with a file in one plain sentence.
func plainError(doing, path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: there is no file %s", doing, path)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: no permission to read %s", doing, path)
	}
	return fmt.Errorf("%s %s: %w", doing, path, err)
}

// open opens a file relative to the working directory of env.
func (e Env) open(path string) (*os.File, error) { return os.Open(e.path(path)) }

func (e Env) path(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(e.Dir, path)
}

func evalOptions(env Env, o planOptions) (plan.EvalOptions, error) {
	vars, err := pairs("--var", o.vars)
	if err != nil {
		return plan.EvalOptions{}, err
	}
	secrets, err := pairs("--secret", o.secrets)
	if err != nil {
		return plan.EvalOptions{}, err
	}
	for name, value := range secrets {
		if path, ok := strings.CutPrefix(value, "@"); ok {
			text, err := os.ReadFile(env.path(path))
			if err != nil {
				return plan.EvalOptions{}, plainError("--secret "+name, path, err)
			}
			secrets[name] = strings.TrimRight(string(text), "\r\n")
		}
	}
	return plan.EvalOptions{
		Getenv: env.Getenv, Environment: o.environment, Vars: vars, Secrets: secrets, Seed: o.seed, RunID: o.runID,
		ReadFile: func(path string) ([]byte, error) { return os.ReadFile(env.path(path)) },
	}, nil
}

func pairs(flag string, list []string) (map[string]string, error) {
	all := map[string]string{}
	for _, text := range list {
		name, value, ok := strings.Cut(text, "=")
		if !ok || name == "" {
			return nil, fmt.Errorf("write %s name=value", flag) // not repeating the text, which may be a secret
		}
		all[name] = value
	}
	return all, nil
}

// compile makes the program of a loaded plan; feeders are open afterwards and
// closed by the returned function. Where the plan or its data are wrong, notices
// says so and there is no program.
func (l *loaded) compile(env Env, reg *element.Registry, only []string, seed uint64, segment element.Segment, timerFactor float64) (*engine.Program, func(), error) {
	feeders := map[string]engine.Feeder{}
	var open []*data.Feeder
	closeAll := func() {
		for _, f := range open {
			_ = f.Close() // read-only files: nothing is lost
		}
	}
	for _, d := range l.plan.Data {
		f, err := data.Open(feederConfig(d, seed, segment), func(path string) (io.ReadSeekCloser, error) { return env.open(path) })
		if err != nil {
			closeAll()
			l.notices = append(l.notices, dataProblem(d, err)).Sorted()
			return nil, nil, nil
		}
		open = append(open, f)
		feeders[d.Name] = feeder{f}
	}
	program, ds := engine.Compile(l.plan, l.values, reg, engine.Options{Data: feeders, Masker: l.values.Masker, Only: only, Segment: segment, TimerFactor: timerFactor})
	l.notices = append(l.notices, ds...).Sorted()
	if ds.HasErrors() {
		closeAll()
		return nil, nil, nil
	}
	return program, closeAll, nil
}

// dataProblem is what is wrong with a data set, at its place in the plan.
func dataProblem(d *plan.Data, err error) source.Diagnostic {
	problem := source.Diagnostic{Code: "bad-data", Range: d.Range, Summary: err.Error(), Detail: "correct the file, or the data set's keys: delimiter, columns, types, skip_lines"}
	var row interface {
		Place() (path string, line int, text string)
	}
	if errors.As(err, &row) {
		path, line, text := row.Place()
		problem.Summary = fmt.Sprintf("%s, line %d: %s", path, line, text)
		problem.Detail = fmt.Sprintf("correct line %d of the file; a value with the delimiter in it stands in quotes", line)
	}
	return problem
}

// feeder translates the end of the rows into the engine's terms.
type feeder struct{ *data.Feeder }

// Next returns the next row for t.
func (f feeder) Next(t *element.Thread) (map[string]any, error) {
	row, err := f.Feeder.Next(t)
	var end *data.EndError
	if errors.As(err, &end) && end.Policy == "stop_thread" {
		return nil, fmt.Errorf("%w: %w", engine.ErrStopThread, err)
	}
	return row, err
}

func feederConfig(d *plan.Data, seed uint64, segment element.Segment) data.Config {
	path := d.Path
	if !filepath.IsAbs(path) {
		path = filepath.Join(filepath.Dir(d.Range.File.Name), path)
	}
	c := data.Config{
		Name: d.Name, Path: path, Pick: d.Pick, Per: d.Per, Share: d.Share, OnEnd: d.OnEnd,
		Types: d.Types, Delimiter: d.Delimiter, SkipLines: d.SkipLines, Seed: seed, Segment: segment,
	}
	if !d.HasHeader {
		c.Columns = d.Columns
	}
	return c
}

// seedOf returns the seed as given, or a random one.
func seedOf(text string) (uint64, error) {
	if text == "" {
		return uint64(rand.Uint32()), nil
	}
	seed, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return 0, fmt.Errorf("--seed %q is not a whole number from 0", text)
	}
	return seed, nil
}
