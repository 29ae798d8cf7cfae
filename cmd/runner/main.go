// Command runner runs declarative YAML load-test plans.
package main

import (
	"os"

	"runner/cmd"
)

func main() { os.Exit(cmd.Main(cmd.OS())) }
