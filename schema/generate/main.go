// Command generate writes plan.schema.json and reference.md into the folder of
// package schema, from the built-in elements. `go generate ./schema` runs it.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"runner/assertions"
	"runner/plan/element"
	"runner/plan/query"
	"runner/samplers"
	"runner/samplers/extract"
	"runner/schema"
	"runner/timers"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(dir string) error {
	reg, err := element.NewRegistry(query.Functions(), samplers.All(), timers.All(), assertions.All(), extract.All())
	if err != nil {
		return err
	}
	plan, reference, err := schema.Generate(reg)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "plan.schema.json"), plan, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "reference.md"), []byte(reference), 0o644)
}
