package query

import (
	"strings"

	"runner/plan/element"
	"runner/plan/expr"
)

const everything = element.NeedBody | element.NeedHeaders

// Needs says what of a response a bound expression reads. Where that cannot be
// told (a function, a name of the sampler's own) it is everything.
func Needs(c *expr.Condition) (needs element.Needs) {
	if strings.Contains(c.Source(), "(") {
		return everything
	}
	for _, use := range c.Uses() {
		needs |= needsOf(use.Name)
	}
	return needs
}

func needsOf(name string) element.Needs {
	if i := strings.IndexAny(name, ".["); i >= 0 {
		name = name[:i]
	}
	switch name {
	case "status", "duration", "latency", "connect", "ok", "url", "thread", "group":
		return 0
	case "headers", "message", "cookies":
		return element.NeedHeaders
	case "json", "body", "size":
		return element.NeedBody
	}
	return everything
}
