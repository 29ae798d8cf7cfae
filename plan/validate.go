package plan

import (
	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
)

// Validate checks a parsed plan as a whole and binds its expressions: after it
// without errors the plan can be evaluated and compiled. It reports every problem
// that it finds and sends nothing.
func Validate(p *Plan, reg *element.Registry, opts Options) source.Diagnostics {
	if p == nil {
		return nil
	}
	c := &checker{plan: p, reg: reg, opts: opts, fns: expr.NewFunctions(reg.Functions()...)}
	p.Functions = c.fns
	return c.ds.Sorted()
}

type checker struct {
	plan *Plan
	reg  *element.Registry
	opts Options
	fns  *expr.Functions
	ds   source.Diagnostics
}
