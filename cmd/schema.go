package cmd

import (
	"io"

	"github.com/spf13/cobra"

	"runner/plan/element"
	"runner/schema"
)

func newSchema(env Env, _ *element.Registry) *cobra.Command {
	var reference bool
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of plans, for an editor's completion",
		Long: `Print the JSON Schema of plan files. Save it beside your plans and name it in
their first line, and an editor with YAML support completes and checks keys:

  # yaml-language-server: $schema=plan.schema.json`,
		Example: "  runner schema > plan.schema.json\n  runner schema --reference | less",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			text := string(schema.PlanSchema())
			if reference {
				text = schema.Reference()
			}
			_, err := io.WriteString(env.Stdout, text)
			return err
		},
	}
	c.Flags().BoolVar(&reference, "reference", false, "print the reference of the language instead")
	return c
}
