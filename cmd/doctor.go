package cmd

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"runner/plan/element"
)

func newDoctor(env Env, reg *element.Registry) *cobra.Command {
	var o planOptions
	c := &cobra.Command{
		Use:   "doctor [PLAN]",
		Short: "Check whether this machine can make the load",
		Long: `Check the limits of this machine: open files, ports, CPUs, memory, the clock; with
a plan, against what the plan needs. For each that is too low it says what to type.

Exit codes:
  0    nothing stands in the way, or there are warnings only
  2    the plan or the command line is wrong
  3    something makes the load impossible, or its figures worthless`,
		Example: "  runner doctor\n  runner doctor plan.yaml --env staging",
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 1 {
				return usage(fmt.Errorf("runner doctor takes one plan, not %d", len(args)))
			}
			return nil
		},
		RunE: func(c *cobra.Command, args []string) error { return runDoctor(env, c, reg, args, o) },
	}
	o.flags(c)
	c.Flags().Lookup("format").Usage = "how the checks are printed: text or json"
	return c
}

func runDoctor(env Env, c *cobra.Command, reg *element.Registry, args []string, o planOptions) error {
	if o.format != "text" && o.format != "json" {
		return usage(fmt.Errorf("--format %q is neither text nor json", o.format))
	}
	need := needs{threads: usualThreads}
	if len(args) > 0 {
		asText := o
		asText.format = "text" // problems of the plan go to the standard error
		l, err := load(env, c, reg, args[0], asText)
		if err != nil {
			return err
		}
		program, closeData, err := l.compile(env, reg, nil, 0, element.Segment{}, 1)
		if err != nil {
			return usage(err)
		}
		if err := report(env, c, l.notices, "text"); err != nil {
			return err
		}
		closeData()
		need = needs{plan: l.plan.Name, threads: program.MaxThreads()}
	}
	checks := diagnose(machineFacts(), need)
	write := writeChecks
	if o.format == "json" {
		write = writeChecksJSON
	}
	if err := write(env.Stdout, checks, colour(env, c)); err != nil {
		return invalid(err)
	}
	if worstOf(checks) == "fail" {
		return exit(exitInvalid)
	}
	return nil
}

// finding is one check's result. State is ok, warn or fail; Do is what to type, one command
// a line.
type finding struct {
	Name  string   `json:"name"`
	State string   `json:"state"`
	Found string   `json:"found"`
	Why   string   `json:"why,omitempty"`
	Do    []string `json:"do,omitempty"`
}

func worstOf(checks []finding) string {
	worst := "ok"
	for _, f := range checks {
		if f.State == "fail" || f.State == "warn" && worst == "ok" {
			worst = f.State
		}
	}
	return worst
}

func writeChecks(w io.Writer, checks []finding, colours bool) error {
	var b strings.Builder
	width := 0
	for _, f := range checks {
		width = max(width, len(f.Name))
	}
	for _, f := range checks {
		fmt.Fprintf(&b, "%s  %-*s  %s\n", painted(fmt.Sprintf("%-4s", f.State), f.State, colours), width, f.Name, f.Found)
		indent := strings.Repeat(" ", width+8)
		if f.Why != "" {
			fmt.Fprintf(&b, "%s%s\n", indent, f.Why)
		}
		for _, do := range f.Do {
			fmt.Fprintf(&b, "%s$ %s\n", indent, do)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func painted(text, state string, colours bool) string {
	code := map[string]string{"ok": "32", "warn": "33", "fail": "31"}[state]
	if !colours {
		return text
	}
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func writeChecksJSON(w io.Writer, checks []finding, _ bool) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	e.SetEscapeHTML(false)
	return e.Encode(struct {
		State  string    `json:"state"`
		Checks []finding `json:"checks"`
	}{worstOf(checks), checks})
}
