package cmd

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"
)

func newVersion(env Env) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := io.WriteString(env.Stdout, versionLine())
			return err
		},
	}
}

func versionLine() string {
	return fmt.Sprintf("runner %s %s %s/%s\n", Version, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
