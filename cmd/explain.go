package cmd

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"runner/plan"
	"runner/plan/element"
)

func newExplain(env Env, reg *element.Registry) *cobra.Command {
	var o planOptions
	c := &cobra.Command{
		Use:   "explain PLAN",
		Short: "Show what a plan really does: every value with the line it came from",
		Long: `Print the effective tree of a plan: for each sampler its merged defaults, timers,
extractors and assertions in the order in which they apply, and the implied
rules, each with the line that it came from. Nothing is sent.
` + exitCodes,
		Example: "  runner explain plan.yaml",
		Args:    needsPlan(1, 1),
		RunE: func(c *cobra.Command, args []string) error {
			l, err := load(env, c, reg, args[0], o)
			if err != nil {
				return err
			}
			opts, err := evalOptions(env, o)
			if err != nil {
				return err
			}
			var text strings.Builder
			if err := plan.WriteExplain(&text, plan.ExplainFor(l.plan, opts, l.values)); err != nil {
				return err
			}
			_, err = io.WriteString(env.Stdout, l.values.Masker.Mask(text.String()))
			return err
		},
	}
	o.flags(c)
	return c
}
