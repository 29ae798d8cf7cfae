package cmd

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"runner/plan/element"
	"runner/schema"
)

// newHelp prints the help of a command, or what the reference says of an element
// or a key of the language: runner help http.
func newHelp(env Env, root *cobra.Command, reg *element.Registry) *cobra.Command {
	return &cobra.Command{
		Use:               "help [COMMAND | ELEMENT]",
		Short:             "Explain a command, or an element of plans such as http or status",
		ValidArgsFunction: cobra.FixedCompletions(completions(reg), cobra.ShellCompDirectiveNoFileComp),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return root.Help()
			}
			if c, _, err := root.Find(args); err == nil && c != root {
				return c.Help()
			}
			text, ok := schema.Element(args[0])
			if !ok {
				return usage(fmt.Errorf("there is no command and no element %q; runner schema --reference lists all", strings.Join(args, " ")))
			}
			_, err := io.WriteString(env.Stdout, text)
			return err
		},
	}
}

func completions(reg *element.Registry) []string {
	var names []string
	for _, kind := range []element.Kind{element.SamplerKind, element.TimerKind, element.AssertionKind, element.ExtractorKind} {
		names = append(names, reg.Names(kind)...)
	}
	return names
}
