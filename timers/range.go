package timers

import (
	"fmt"
	"strings"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
	"runner/plan/spec"
)

// durationRange is D..D; each bound may hold ${…}.
type durationRange struct{ From, To expr.Duration }

// DecodeNode reads "1s..3s".
func (r *durationRange) DecodeNode(n *source.Node, ds *source.Diagnostics) {
	const remedy = "write the shortest and the longest time, as 1s..3s"
	if n.Kind == source.Map {
		unknownKeys(n, "uniform", ds, "between")
		return
	}
	if n.Kind != source.Scalar {
		ds.Add(n.Range, "wrong-type", "a range of durations is expected here, not "+n.Kind.String(), remedy)
		return
	}
	at := splitRange(n.Text)
	if at < 0 {
		ds.Add(n.Range, "bad-range", fmt.Sprintf("%q is not a range", n.Text), remedy)
		return
	}
	before := len(*ds)
	r.From.Decode(part(n, 0, at), ds)
	r.To.Decode(part(n, at+2, len(n.Text)), ds)
	from, ok1 := r.From.Literal()
	to, ok2 := r.To.Literal()
	if ok1 && ok2 && len(*ds) == before && from > to {
		ds.Add(n.Range, "bad-range", fmt.Sprintf("the range %q runs backwards", n.Text), "write "+r.To.Source()+".."+r.From.Source())
	}
}

// unknownKeys reports the keys of a map that stands where a value is expected:
// none of them is one of the timer's.
func unknownKeys(n *source.Node, timer string, ds *source.Diagnostics, legal ...string) {
	for _, f := range n.Fields {
		spec.UnknownKey(f.Key, timer, legal, nil, ds)
	}
}

// splitRange returns where ".." stands outside of ${…}, or -1.
func splitRange(text string) int {
	depth := 0
	for i := 0; i+1 < len(text); i++ {
		switch {
		case text[i] == '{':
			depth++
		case text[i] == '}' && depth > 0:
			depth--
		case depth == 0 && text[i] == '.' && text[i+1] == '.':
			return i
		}
	}
	return -1
}

// part returns the scalar that is the bytes [from, to) of n without spaces around.
func part(n *source.Node, from, to int) *source.Node {
	text := n.Text[from:to]
	from += len(text) - len(strings.TrimLeft(text, " "))
	text = strings.TrimSpace(text)
	return &source.Node{Kind: source.Scalar, Text: text, Null: text == "", Range: n.At(from, from+len(text))}
}

// BindNode binds both bounds.
func (r *durationRange) BindNode(env *expr.Env, ds *source.Diagnostics) {
	r.From.Bind(env, ds)
	r.To.Bind(env, ds)
}

// Uses returns the names that the bounds read.
func (r *durationRange) Uses() []expr.Use { return append(r.From.Uses(), r.To.Uses()...) }

// DescribeNode says that the value is a range of durations.
func (*durationRange) DescribeNode() []spec.Field { return []spec.Field{{Go: "range", Template: true}} }

func (r *durationRange) eval(t *element.Thread) (from, to time.Duration, err error) {
	if from, err = r.From.Eval(t); err != nil {
		return 0, 0, err
	}
	if to, err = r.To.Eval(t); err != nil {
		return 0, 0, err
	}
	if from > to {
		return 0, 0, fmt.Errorf("the range %s..%s runs backwards", from, to)
	}
	return from, to, nil
}
