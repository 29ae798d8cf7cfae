package plan

import (
	"regexp"
	"strings"

	"runner/plan/expr"
	"runner/plan/source"
)

// called matches the call of a function, whose value another evaluation may not
// repeat.
var called = regexp.MustCompile(`[A-Za-z_]\w*\s*\(`)

// effective returns text with the plan's variables in it replaced by their values
// in this run, and behind it in parentheses what was written, as in
// "threads: 50 (${threads})". What only a thread knows stays as it is.
func (e *explainer) effective(text string) string {
	if e.values == nil || e.fragments > 0 || !strings.Contains(text, "${") {
		return text
	}
	out := e.replaced(text)
	if out == text {
		return text
	}
	written := text
	if name, value, ok := strings.Cut(text, ": "); ok && !strings.Contains(name, "${") {
		written = value
	}
	return out + " (" + written + ")"
}

// replaced replaces each ${…} that can be evaluated before the run.
func (e *explainer) replaced(text string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, "${")
		end := -1
		if i >= 0 {
			end = closingBrace(text[i+2:])
		}
		if i < 0 || end < 0 {
			b.WriteString(text)
			return b.String()
		}
		whole := text[i : i+2+end+1]
		b.WriteString(text[:i])
		if value, ok := e.evaluate(whole); ok && (i == 0 || text[i-1] != '$') {
			b.WriteString(short(value))
		} else {
			b.WriteString(whole)
		}
		text = text[i+len(whole):]
	}
}

// evaluate returns the text of one ${…} of plan variables only.
func (e *explainer) evaluate(text string) (string, bool) {
	if called.MatchString(text) {
		return "", false
	}
	if e.known == nil {
		types := map[string]expr.Type{}
		for name, v := range e.values.Vars {
			types[name] = expr.TypeOf(v)
		}
		e.known = expr.NewEnv(e.plan.Functions, types)
	}
	var ds source.Diagnostics
	var v expr.String
	v.Decode(&source.Node{Kind: source.Scalar, Text: text, Quoted: true}, &ds)
	v.Bind(e.known, &ds)
	if ds.HasErrors() {
		return "", false
	}
	out, err := v.Eval(e.values)
	return out, err == nil
}

// closingBrace returns the offset of the } that ends an expression, or -1.
func closingBrace(text string) int {
	depth, quote := 0, byte(0)
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == '{':
			depth++
		case c == '}' && depth == 0:
			return i
		case c == '}':
			depth--
		}
	}
	return -1
}

// load explains a load key by key, its stages one a line.
func (e *explainer) load(l *Load) {
	var words []string
	add := func(name string, v interface {
		IsSet() bool
		Source() string
	}) {
		if v.IsSet() {
			words = append(words, name+": "+e.effective(v.Source()))
		}
	}
	add("threads", l.Threads)
	add("rate", l.Rate)
	if len(l.ThreadStages) > 0 {
		words = append(words, "threads: […]")
	}
	if len(l.RateStages) > 0 {
		words = append(words, "rate: […]")
	}
	add("ramp_up", l.RampUp)
	add("duration", l.Duration)
	add("iterations", l.Iterations)
	add("shared_iterations", l.Shared)
	add("max_threads", l.MaxThreads)
	if l.Poisson {
		words = append(words, "arrivals: poisson")
	}
	add("delay", l.Delay)
	if l.After != "" {
		words = append(words, "after: "+l.After)
	}
	add("warm_up", l.WarmUp)
	add("grace", l.Grace)
	add("ramp_down_grace", l.RampDownGrace)
	e.line(2, "load: {"+strings.Join(words, ", ")+"}", l.Range)
	for _, s := range append(l.ThreadStages[:len(l.ThreadStages):len(l.ThreadStages)], l.RateStages...) {
		e.line(3, e.stage(s), s.Range)
	}
}

func (e *explainer) stage(s Stage) string {
	amount := s.Threads.Source()
	if s.Rate.IsSet() {
		amount = s.Rate.Source()
	}
	amount, time := e.effective(amount), e.effective(s.Time.Source())
	switch s.Kind {
	case StageHold:
		return "hold " + time
	case StageAt:
		return "at " + amount + " for " + time
	}
	return "to " + amount + " over " + time
}
