package dummy

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
	"runner/plan/source"
	"runner/plan/spec"
)

// delay is D, D..D or one of the distributions.
type delay struct {
	From, To expr.Duration // To is unset for a fixed time
	Spread   *spread
}

// spread is a distribution of times.
type spread struct {
	Mean        expr.Duration `plan:"mean,required" doc:"mean of normally distributed times" group:"form"`
	Exponential expr.Duration `plan:"exponential" doc:"mean of exponentially distributed times" group:"form"`
	Deviation   expr.Duration `plan:"deviation" doc:"standard deviation around the mean" default:"0s"`
	Min         expr.Duration `plan:"min" doc:"the shortest time" default:"0s"`
	Max         expr.Duration `plan:"max" doc:"the longest time; unlimited if absent"`
}

// DecodeNode reads a time, a range of times or a distribution.
func (d *delay) DecodeNode(n *source.Node, ds *source.Diagnostics) {
	const remedy = "write a time such as 100ms, a range such as 50ms..200ms, or {mean: 100ms, deviation: 20ms}"
	switch n.Kind {
	case source.Map:
		d.Spread = &spread{}
		(&spec.Decoder{What: "delay", Diagnostics: ds}).Decode(n, d.Spread)
		return
	case source.Scalar:
	default:
		ds.Add(n.Range, "wrong-type", "a time is expected here, not "+n.Kind.String(), remedy)
		return
	}
	at := strings.Index(outside(n.Text), "..")
	if at < 0 {
		d.From.Decode(n, ds)
		return
	}
	before := len(*ds)
	d.From.Decode(part(n, 0, at), ds)
	d.To.Decode(part(n, at+2, len(n.Text)), ds)
	from, ok1 := d.From.Literal()
	to, ok2 := d.To.Literal()
	if ok1 && ok2 && len(*ds) == before && from > to {
		ds.Add(n.Range, "bad-range", fmt.Sprintf("the range %q runs backwards", n.Text), "write "+d.To.Source()+".."+d.From.Source())
	}
}

// outside returns text with what stands in braces blanked out.
func outside(text string) string {
	depth, out := 0, []byte(text)
	for i, c := range out {
		switch {
		case c == '{':
			depth++
		case c == '}':
			depth--
		case depth > 0:
			out[i] = ' '
		}
	}
	return string(out)
}

// part returns the scalar that is the bytes [from, to) of n without spaces around.
func part(n *source.Node, from, to int) *source.Node {
	text := n.Text[from:to]
	from += len(text) - len(strings.TrimLeft(text, " "))
	text = strings.TrimSpace(text)
	return &source.Node{Kind: source.Scalar, Text: text, Null: text == "", Range: n.At(from, from+len(text))}
}

// BindNode binds all times.
func (d *delay) BindNode(env *expr.Env, ds *source.Diagnostics) {
	d.From.Bind(env, ds)
	d.To.Bind(env, ds)
	if d.Spread != nil {
		spec.Bind(d.Spread, env, ds)
	}
}

// Uses returns the names that the times read.
func (d *delay) Uses() []expr.Use {
	uses := append(d.From.Uses(), d.To.Uses()...)
	if d.Spread != nil {
		uses = append(uses, spec.Uses(d.Spread)...)
	}
	return uses
}

// DescribeNode says that there are three forms.
func (*delay) DescribeNode() []spec.Field {
	return []spec.Field{
		{Go: "duration", Template: true}, {Go: "range", Template: true},
		{Go: "object", Children: spec.Describe(reflect.TypeFor[spread]())},
	}
}

// draw returns the time that this sample takes.
func (d *delay) draw(t *element.Thread) (time.Duration, error) {
	if d.Spread != nil {
		return d.Spread.draw(t)
	}
	from, err := d.From.Eval(t)
	if err != nil || !d.To.IsSet() {
		return from, err
	}
	to, err := d.To.Eval(t)
	if err != nil || to <= from {
		return from, err
	}
	return from + time.Duration(t.Rand.Int64N(int64(to-from)+1)), nil
}

func (s *spread) draw(t *element.Thread) (time.Duration, error) {
	var v [5]time.Duration
	for i, d := range [...]*expr.Duration{&s.Mean, &s.Exponential, &s.Deviation, &s.Min, &s.Max} {
		var err error
		if v[i], err = d.Eval(t); err != nil {
			return 0, err
		}
	}
	x := float64(v[0]) + t.Rand.NormFloat64()*float64(v[2])
	if s.Exponential.IsSet() {
		x = t.Rand.ExpFloat64() * float64(v[1])
	}
	x = max(x, float64(v[3]))
	if s.Max.IsSet() {
		x = min(x, float64(v[4]))
	}
	return time.Duration(min(x, math.MaxInt64/2)), nil
}
