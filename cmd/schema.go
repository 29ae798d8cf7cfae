package cmd

import (
	"io"

	"github.com/spf13/cobra"

	"runner/plan/element"
	"runner/schema"
)

func newSchema(env Env, reg *element.Registry) *cobra.Command {
	var reference, summary bool
	c := &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of plans, for an editor's completion",
		Long: `Print the JSON Schema of plan files. Save it beside your plans and name it in
their first line, and an editor with YAML support completes and checks keys:

  # yaml-language-server: $schema=plan.schema.json`,
		Example: "  runner schema > plan.schema.json\n  runner schema --reference | less",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			return runSchema(env.Stdout, reg, reference, summary)
		},
	}
	c.Flags().BoolVar(&reference, "reference", false, "print the reference of the language instead")
	c.Flags().BoolVar(&summary, "summary", false, "print the JSON Schema of summary.json instead")
	c.MarkFlagsMutuallyExclusive("reference", "summary")
	return c
}

func runSchema(w io.Writer, reg *element.Registry, reference, summary bool) error {
	text, prose, err := schema.Generate(reg)
	if err != nil {
		return invalid(err)
	}
	switch {
	case reference:
		text = []byte(prose)
	case summary:
		text = schema.SummarySchema()
	}
	_, err = w.Write(text)
	return err
}
