package source

import (
	"cmp"
	"fmt"
	"slices"
)

// Severity grades a Diagnostic.
type Severity uint8

// The severities. Only Error stops a run.
const (
	Error Severity = iota
	Warning
	Notice
)

// String returns the lower-case word.
func (s Severity) String() string { return [...]string{"error", "warning", "notice"}[s] }

// Related is a second place that a Diagnostic speaks of.
type Related struct {
	Message string
	Range   Range
}

// Diagnostic is one problem in the user's files. Summary is one line naming what
// is wrong; Detail says what to write instead, ready to be copied. Code is
// stable, kebab-case ("unknown-key").
type Diagnostic struct {
	Severity        Severity
	Code            string
	Summary, Detail string
	Range           Range
	Related         []Related
}

// String renders "file:line:column: severity: summary [code]".
func (d Diagnostic) String() string {
	name, p := "plan", d.Range.Start
	if d.Range.File != nil {
		name = d.Range.File.Name
	}
	return fmt.Sprintf("%s:%d:%d: %s: %s [%s]", name, max(p.Line, 1), max(p.Column, 1), d.Severity, d.Summary, d.Code)
}

// Diagnostics is a list of problems; functions append and go on.
type Diagnostics []Diagnostic

// Add appends an error at r.
func (ds *Diagnostics) Add(r Range, code, summary, detail string) {
	*ds = append(*ds, Diagnostic{Code: code, Summary: summary, Detail: detail, Range: r})
}

// Warn appends a warning at r.
func (ds *Diagnostics) Warn(r Range, code, summary, detail string) {
	*ds = append(*ds, Diagnostic{Severity: Warning, Code: code, Summary: summary, Detail: detail, Range: r})
}

// HasErrors reports whether any of them is an Error.
func (ds Diagnostics) HasErrors() bool {
	return slices.ContainsFunc(ds, func(d Diagnostic) bool { return d.Severity == Error })
}

// Sorted returns them by file, place and code, without exact repeats.
func (ds Diagnostics) Sorted() Diagnostics {
	out := slices.Clone(ds)
	name := func(d Diagnostic) string {
		if d.Range.File == nil {
			return ""
		}
		return d.Range.File.Name
	}
	slices.SortStableFunc(out, func(a, b Diagnostic) int {
		return cmp.Or(cmp.Compare(name(a), name(b)),
			cmp.Compare(a.Range.Start.Offset, b.Range.Start.Offset),
			cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Code, b.Code), cmp.Compare(a.Summary, b.Summary))
	})
	return slices.CompactFunc(out, func(a, b Diagnostic) bool {
		return a.Range == b.Range && a.Code == b.Code && a.Summary == b.Summary
	})
}
