package cmd

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"runner/plan"
	"runner/plan/element"
	"runner/plan/engine"
	"runner/plan/expr"
	"runner/reporters"
)

// execOptions are the flags of exec.
type execOptions struct {
	planOptions
	out     string
	reports []string
	only    []string
	seed    string
	segment string
	think   float64
	repeat  string
	demo    bool
	quiet   bool

	share element.Segment // of segment
	place repeated        // of the run at hand
}

func newExec(env Env, reg *element.Registry) *cobra.Command {
	var o execOptions
	c := &cobra.Command{
		Use:   "exec [PLAN]",
		Short: "Run a plan; the exit code is the verdict",
		Long: `Run a plan and write its reports into a results folder: summary.json,
report.html, junit.xml, report.xlsx and run.journal.

Without a plan, --demo runs the built-in quickstart against the built-in demo
shop. Ctrl-C once ends the run gently and still writes every report; twice, at once.

--report takes one of the formats ` + formats() + `: alone it
writes into the results folder, as format=path to that file; none writes nothing.

--segment 2/5 runs the second of five equal parts, for as many machines; runner
merge puts their results together. --repeat 6 makes six runs into OUT/run-1 …
OUT/run-6, for runner compare; the exit code is that of the worst run.
` + exitCodes,
		Example: `  runner exec --demo
  runner exec plan.yaml --env staging --var users=200
  runner exec plan.yaml --out results/today --report junit=build/junit.xml
  runner exec plan.yaml --segment 2/5 --out results/2
  runner exec plan.yaml --repeat 6 --out results/base`,
		Args: needsPlan(0, 1),
		RunE: func(c *cobra.Command, args []string) error {
			return runExec(c.Context(), env, c, reg, args, o)
		},
	}
	o.flags(c)
	c.Flags().StringVar(&o.out, "out", "", "write results into this `folder` (default results/PLAN/TIME)")
	c.Flags().StringArrayVar(&o.reports, "report", nil, "also write a `format=path` ("+formats()+"); none writes no reports; may be repeated")
	c.Flags().StringArrayVar(&o.only, "only", nil, "run only this thread `group`; may be repeated")
	c.Flags().Float64Var(&o.think, "timer-factor", 1, "scale think times (pauses, and timers without a rate) by this `factor`; 0 means none")
	c.Flags().StringVar(&o.seed, "seed", "", "seed of everything random, to repeat a run (default: a new one)")
	c.Flags().StringVar(&o.segment, "segment", "", "run only this `part` of the load, as 2/5; the seed is 1 unless given")
	c.Flags().StringVar(&o.repeat, "repeat", "1", "make this many `runs`, one after the other")
	c.Flags().BoolVar(&o.demo, "demo", false, "start the built-in demo shop and set the variable base to it")
	c.Flags().BoolVarP(&o.quiet, "quiet", "q", false, "print the verdict and what is wrong, nothing else")
	return c
}

func runExec(ctx context.Context, env Env, c *cobra.Command, reg *element.Registry, args []string, o execOptions) error {
	path := ""
	if len(args) > 0 {
		path = args[0]
	}
	if path == "" && !o.demo {
		return usage(fmt.Errorf("name a plan file: runner exec plan.yaml, or try runner exec --demo"))
	}
	if o.out == "" && c.Flags().Changed("out") {
		return usage(errors.New("--out is empty; name a folder, or leave it out for results/PLAN/TIME"))
	}
	runs, err := strconv.Atoi(o.repeat)
	if err != nil || runs < 1 || runs > maxRepeat {
		return usage(fmt.Errorf("--repeat %s: write a number from 1 to %d", o.repeat, maxRepeat))
	}
	if o.share, err = segmentOf(o.segment); err != nil {
		return usage(err)
	}
	if !o.share.IsWhole() && o.seed == "" {
		o.seed = segmentSeed
	}
	if o.demo {
		s, err := startShop(ctx, env)
		if err != nil {
			return invalid(err)
		}
		defer s.stop()
		o.base = s.base
	}
	if runs > 1 {
		return repeat(ctx, env, c, reg, path, o, runs)
	}
	s, err := prepare(env, c, reg, path, &o)
	if err != nil {
		return err
	}
	return s.runAndClose(ctx)
}

// prepare makes the session of one run. It keeps in o where the results go, so
// that all runs of --repeat go into one folder.
func prepare(env Env, c *cobra.Command, reg *element.Registry, path string, o *execOptions) (*session, error) {
	if !(o.think >= 0 && o.think <= 1000) {
		return nil, usage(fmt.Errorf("--timer-factor %g: write a number from 0 to 1000", o.think))
	}
	wanted, err := parseReports(o.reports)
	if err != nil {
		return nil, usage(err)
	}
	if o.planOptions.seed, err = seedOf(o.seed); err != nil {
		return nil, usage(err)
	}
	o.runID = newRunID()
	l, err := load(env, c, reg, path, o.planOptions)
	if err != nil {
		return nil, err
	}
	if err := knownGroups(l.plan, o.only); err != nil {
		return nil, usage(err)
	}
	program, closeData, err := l.compile(env, reg, o.only, o.planOptions.seed, o.share, timerFactor(o.think))
	if err != nil {
		return nil, usage(err)
	}
	format := "text" // of notices, which leave the standard output to the result
	if l.notices.HasErrors() {
		format = o.format
	}
	if err := report(env, c, l.notices, format); err != nil {
		return nil, err
	}
	if program.MaxThreads() == 0 && !o.share.IsWhole() {
		closeData()
		return nil, usage(fmt.Errorf("--segment %s: the plan has too little load for so many parts; this one has none of it", o.segment))
	}
	s := &session{
		env: env, loaded: l, program: program, reports: wanted, closeData: closeData,
		seed: o.planOptions.seed, runID: o.runID, place: o.place, share: o.share, quiet: o.quiet,
		console: reporters.NewConsole(reporters.ConsoleOptions{
			Progress: env.Stderr, Result: env.Stdout, Terminal: env.Terminal,
			Width: env.Width, Quiet: o.quiet, Colour: colour(env, c),
		}),
	}
	if o.out == "" {
		o.out = folderOf(env, l.plan.Name)
	}
	if err := s.places(o.place.folder(o.out)); err != nil {
		closeData()
		return nil, usage(err)
	}
	if err := s.openFolder(o.place.folder(o.out)); err != nil {
		closeData()
		return nil, err
	}
	return s, nil
}

// timerFactor is the factor as the engine takes it: 0 there means 1.
func timerFactor(factor float64) float64 {
	if factor == 0 {
		return -1
	}
	return factor
}

// knownGroups wants every name of --only to be a thread group of the plan.
func knownGroups(p *plan.Plan, only []string) error {
	var names []string
	for _, g := range p.Groups {
		names = append(names, g.Name)
	}
	for _, name := range only {
		if slices.Contains(names, name) {
			continue
		}
		if near := expr.DidYouMean(name, names); near != "" {
			return fmt.Errorf("--only %s: the plan has no such thread group; did you mean %s?", name, near)
		}
		return fmt.Errorf("--only %s: the plan has no such thread group; it has %s", name, strings.Join(names, ", "))
	}
	return nil
}

func newRunID() string {
	var b [6]byte
	_, _ = rand.Read(b[:]) // never fails, by its documentation
	return hex.EncodeToString(b[:])
}

// wantedReports is what --report asks for.
type wantedReports struct {
	none   bool
	extra  []reporters.Reporter // into the results folder
	copies []reportCopy
}

type reportCopy struct {
	reporter reporters.Reporter
	path     string
}

func parseReports(list []string) (wantedReports, error) {
	var w wantedReports
	for _, text := range list {
		if text == "none" {
			w.none = true
			continue
		}
		name, path, hasPath := strings.Cut(text, "=")
		r, ok := reporters.ByName(name)
		if !ok || hasPath && path == "" {
			return w, fmt.Errorf("--report %s: write format=path with one of the formats %s, or none", text, formats())
		}
		if hasPath {
			w.copies = append(w.copies, reportCopy{r, path})
		} else {
			w.extra = append(w.extra, r)
		}
	}
	return w, nil
}

func formats() string {
	var names []string
	for _, r := range reporters.All() {
		names = append(names, r.Name())
	}
	return strings.Join(names, ", ")
}

// defaultReports are written without being asked for.
func defaultReports() []reporters.Reporter {
	var all []reporters.Reporter
	for _, name := range []string{"json", "html", "junit", "xlsx"} {
		if r, ok := reporters.ByName(name); ok {
			all = append(all, r)
		}
	}
	return all
}

// folderOf returns the default results folder of a plan: results/SLUG/TIME.
func folderOf(env Env, name string) string {
	base := filepath.Join("results", slug(name), env.Now().UTC().Format("20060102T150405Z"))
	folder := base
	for i := 2; exists(env.path(folder)); i++ {
		folder = fmt.Sprintf("%s-%d", base, i)
	}
	return folder
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

var _ engine.Feeder = feeder{}

// slug returns a name as a part of a file name: letters, digits and dashes, at
// most 60 characters, never empty.
func slug(name string) string {
	plain := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', '0' <= r && r <= '9':
			return r
		case 'A' <= r && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, name)
	plain = strings.Join(strings.FieldsFunc(plain, func(r rune) bool { return r == '-' }), "-")
	if plain == "" {
		return "plan"
	}
	return strings.TrimRight(plain[:min(len(plain), 60)], "-")
}
