// Command runner runs declarative YAML load-test plans.
package main

import (
	"os"

	"runner/cmd"
	_ "runner/cmd/internal/start"
)

func main() { os.Exit(cmd.Main(cmd.OS())) }
