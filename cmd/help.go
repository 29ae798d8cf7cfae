package cmd

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/schema"
)

// newHelp prints the help of a command, or what the reference says of an element
// or a key of the language: runner help http.
func newHelp(env Env, root *cobra.Command, reg *element.Registry) *cobra.Command {
	return &cobra.Command{
		Use:   "help [COMMAND | TOPIC]",
		Short: "Explain a command, or a word of plans such as http, pacing or p95",
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return completions(reg), cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return root.Help()
			}
			if c, _, err := root.Find(args); err == nil && c != root {
				return c.Help()
			}
			topic := strings.Join(args, " ")
			text, ok := schema.Help(topic)
			if !ok {
				return usage(noHelp(topic, root))
			}
			_, err := io.WriteString(env.Stdout, text)
			return err
		},
	}
}

// noHelp says that there is no help for a topic, and for which one there may be.
func noHelp(topic string, root *cobra.Command) error {
	known := schema.Topics()
	for _, c := range root.Commands() {
		known = append(known, c.Name())
	}
	if near := expr.DidYouMean(topic, known); near != "" {
		return fmt.Errorf("there is no command and no topic %q; did you mean runner help %s?", topic, near)
	}
	return fmt.Errorf("there is no command and no topic %q; runner schema --reference prints the whole reference", topic)
}

func completions(reg *element.Registry) []string {
	names := schema.Topics()
	for _, kind := range []element.Kind{element.SamplerKind, element.TimerKind, element.AssertionKind, element.ExtractorKind} {
		names = append(names, reg.Names(kind)...)
	}
	slices.Sort(names)
	return slices.Compact(names)
}
