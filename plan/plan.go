package plan

import (
	"io"
	"path/filepath"

	"runner/plan/source"
)

// Options says how Validate reaches files. Paths are joined to the folder of the
// file that names them before they are opened.
type Options struct {
	Open func(path string) (io.ReadCloser, error) // nil: files are not looked at
}

// EvalOptions is what the command line and the machine bring to a plan.
type EvalOptions struct {
	Getenv      func(name string) (string, bool)  // nil: an empty environment
	Environment string                            // --env; "" for none
	Vars        map[string]string                 // --var name=value
	Secrets     map[string]string                 // name → value, instead of the secret's own source
	ReadFile    func(path string) ([]byte, error) // of `{file: …}` secrets; nil: they cannot be read
	Seed        uint64                            // of random functions in vars
	RunID       string                            // run.id
}

// join returns path as seen from the folder of the file that names it.
func join(f *source.File, path string) string {
	if filepath.IsAbs(path) || f == nil {
		return path
	}
	return filepath.Join(filepath.Dir(f.Name), path)
}
