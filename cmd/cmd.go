// Package cmd is the command line: one file a command, the exit codes, and the
// only place that reaches for the operating system (Env).
//
// Each command file holds a constructor with flags and help, an options struct,
// a run function free of cobra, and its helpers.
package cmd

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/spf13/cobra"

	"runner/assertions"
	"runner/plan/element"
	"runner/plan/query"
	"runner/samplers"
	"runner/samplers/extract"
	"runner/timers"
)

// Version is the program's version, stamped by the linker for releases.
var Version = "0.1.0-dev"

// Option changes what the program is made of.
type Option func(*options)

type options struct{ elements []element.Definition }

// WithElements adds elements of your own to the built-in ones.
func WithElements(definitions ...element.Definition) Option {
	return func(o *options) { o.elements = append(o.elements, definitions...) }
}

// Main runs the program in env and returns its exit code.
func Main(env Env, opts ...Option) int {
	var o options
	for _, opt := range opts {
		opt(&o)
	}
	registry, err := Registry(o.elements...)
	if err != nil {
		fmt.Fprintln(env.Stderr, "runner:", err)
		return exitUsage
	}
	root := newRoot(env, registry)
	root.SetArgs(env.Args)
	err = root.ExecuteContext(context.Background())
	if err != nil && err.Error() != "" {
		fmt.Fprintln(env.Stderr, "runner:", err)
	}
	return codeOf(err)
}

// Registry returns the built-in elements and those given.
func Registry(extra ...element.Definition) (*element.Registry, error) {
	return element.NewRegistry(query.Functions(), samplers.All(), timers.All(), assertions.All(), extract.All(), extra)
}

func newRoot(env Env, registry *element.Registry) *cobra.Command {
	root := &cobra.Command{
		Use:   "runner",
		Short: "Run declarative YAML load-test plans",
		Long: `runner runs load-test plans written in YAML: thread groups, samplers, timers,
assertions and thresholds, in one program.

  runner exec --demo            try it: the built-in demo shop and quickstart plan
  runner exec plan.yaml         run a plan; the exit code is the verdict
  runner validate plan.yaml     check a plan without sending anything
` + exitCodes,
		SilenceUsage:      true,
		SilenceErrors:     true,
		Args:              knownCommand,
		CompletionOptions: cobra.CompletionOptions{HiddenDefaultCmd: false},
		RunE:              func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.Version = Version
	root.SetVersionTemplate(versionLine())
	root.SetIn(env.Stdin)
	root.SetOut(env.Stdout)
	root.SetErr(env.Stderr)
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error {
		return usage(fmt.Errorf("%w; see %s --help", err, c.CommandPath()))
	})
	root.PersistentFlags().Bool("no-color", false, "no colours")
	root.AddCommand(
		newExec(env, registry), newValidate(env, registry), newExplain(env, registry),
		newReport(env), newMerge(env), newCompare(env), newDoctor(env, registry), newSchema(env, registry), newVersion(env), newShop(env),
	)
	root.SetHelpCommand(newHelp(env, root, registry))
	return root
}

// knownCommand refuses a word that is no command, and says what it may have meant.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	help := "see runner --help"
	c.SuggestionsMinimumDistance = 2
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		help = "did you mean runner " + near[0] + "?"
	} else if ext := filepath.Ext(args[0]); ext == ".yaml" || ext == ".yml" {
		help = "to run a plan: runner exec " + args[0]
	}
	return usage(fmt.Errorf("unknown command %q; %s", args[0], help))
}

// colour says whether to colour what is written to the terminal.
func colour(env Env, c *cobra.Command) bool {
	off, err := c.Flags().GetBool("no-color")
	return env.Colour && err == nil && !off
}

func printf(w io.Writer, format string, args ...any) { fmt.Fprintf(w, format, args...) }
