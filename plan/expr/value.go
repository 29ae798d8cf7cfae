package expr

import (
	"fmt"
	"math"
	"strings"
	"time"

	"runner/plan/source"
)

// Value is one value of the plan: a literal, or text with `${…}` that gives a T
// when it is evaluated. The zero Value is not set.
type Value[T any] struct {
	lit  T
	set  bool
	tmpl *template // nil for a literal
	conv *converter[T]
	node *source.Node
}

// The values that elements have as fields.
type (
	String     = Value[string]
	Int        = Value[int64]
	Float      = Value[float64]
	Bool       = Value[bool]
	Duration   = Value[time.Duration]
	RateValue  = Value[Rate]
	SizeValue  = Value[Size]
	ShareValue = Value[Share]
	AnyValue   = Value[any] // typed by its look where it is not quoted
)

// Lit returns the literal v.
func Lit[T any](v T) Value[T] { return Value[T]{lit: v, set: true, conv: converterOf[T]()} }

// converter reads a T from text and from a run-time value.
type converter[T any] struct {
	typ   Type
	parse func(text string) (T, error)
	from  func(v any) (T, bool)
}

// Decode reads the scalar n. Literals are parsed and checked here, the syntax of
// expressions too.
func (v *Value[T]) Decode(n *source.Node, ds *source.Diagnostics) {
	*v = Value[T]{node: n, conv: converterOf[T]()}
	if n == nil {
		return
	}
	if n.Kind != source.Scalar {
		ds.Add(n.Range, "wrong-type", fmt.Sprintf("%s stands where %s is needed", n.Kind, v.conv.typ.phrase()), "write a single value")
		return
	}
	if n.Null {
		ds.Add(n.Range, "empty-value", v.conv.typ.String()+" is missing", emptyHint(v.conv.typ))
		return
	}
	v.set = true
	if strings.Contains(n.Text, "${") {
		t := parseTemplate(n.Text, n, ds)
		text, static := t.static()
		if !static {
			v.tmpl = t
			return
		}
		v.literal(text, true, n, ds)
		return
	}
	v.literal(n.Text, n.Quoted, n, ds)
}

func emptyHint(t Type) string {
	if t == TextType {
		return `write a text, or "" for an empty one`
	}
	if ex := example(t); ex != "" {
		return "write one like " + ex
	}
	return "write a value"
}

func (v *Value[T]) literal(text string, quoted bool, n *source.Node, ds *source.Diagnostics) {
	if p, ok := any(&v.lit).(*any); ok {
		if *p = any(text); !quoted {
			*p = Infer(text)
		}
		return
	}
	lit, err := v.conv.parse(text)
	if err != nil {
		summary, detail, _ := strings.Cut(err.Error(), "; ")
		ds.Add(n.Range, "bad-"+v.conv.typ.String(), summary, detail)
		return
	}
	v.lit = lit
}

// Bind compiles the expressions for env.
func (v *Value[T]) Bind(env *Env, ds *source.Diagnostics) {
	if v.tmpl == nil || v.tmpl.broken {
		return
	}
	v.tmpl.bind(env, ds)
	if !v.tmpl.single {
		return
	}
	have, want := v.tmpl.result(), v.conv.typ
	if !assignable(have, want) {
		x := v.tmpl.parts[0].x
		ds.Add(x.at(0, len(x.text)), "type-mismatch", fmt.Sprintf("%s is %s where %s is needed", quote(x.text), have.phrase(), want.phrase()), assignHint(x.text, have, want))
	}
}

// assignable reports whether a value of type have may turn out to be a want.
func assignable(have, want Type) bool {
	switch {
	case have.unknown() || want.unknown() || have == want:
		return true
	case want == TextType:
		return have != NilType
	case have.text():
		return true // parsed at run time
	case want == FloatType:
		return have == IntType
	case want == IntType:
		return have == FloatType
	}
	return false
}

func assignHint(text string, have, want Type) string {
	if have.plain() && want.unit() {
		suffix := map[Type]string{DurationType: "s", RateType: "/s", SizeType: "KB", ShareType: "%"}[want]
		return "write the unit behind it: ${" + strings.TrimSpace(text) + "}" + suffix
	}
	return "use a variable that is " + want.phrase()
}

// Eval returns the value. A literal is returned as it is, without allocation.
func (v Value[T]) Eval(s Scope) (T, error) {
	if v.tmpl == nil {
		return v.lit, nil
	}
	return v.dynamic(s)
}

func (v Value[T]) dynamic(s Scope) (T, error) {
	var zero T
	raw, err := v.tmpl.eval(s)
	if err != nil {
		return zero, err
	}
	if out, ok := v.conv.from(raw); ok {
		return out, nil
	}
	if text, ok := textOf(raw); ok {
		out, err := v.conv.parse(text)
		if err != nil {
			return zero, v.wrong(raw, err)
		}
		return out, nil
	}
	if raw == nil {
		return zero, v.wrong(raw, errNil)
	}
	if v.conv.typ == TextType {
		_, err = FormatText(raw)
		return zero, v.wrong(raw, err)
	}
	return zero, v.wrong(raw, fmt.Errorf("%s is not %s", show(raw), v.conv.typ.phrase()))
}

// wrong is the error of a text that reached a typed value; it names the
// variables and hides secrets.
func (v Value[T]) wrong(raw any, err error) error {
	if _, secret := raw.(Secret); secret {
		err = fmt.Errorf("the secret is not %s", v.conv.typ.phrase())
	}
	return &EvalError{Source: v.node.Text, Range: v.node.Range, Err: err}
}

// IsLiteral reports whether the value needs no Scope.
func (v Value[T]) IsLiteral() bool { return v.tmpl == nil }

// Literal returns the literal, if it is set and one.
func (v Value[T]) Literal() (T, bool) { return v.lit, v.set && v.tmpl == nil }

// IsSet reports whether the value was given.
func (v Value[T]) IsSet() bool { return v.set }

// Range returns the place of the value.
func (v Value[T]) Range() source.Range {
	if v.node == nil {
		return source.Range{}
	}
	return v.node.Range
}

// Source returns the value as written, without quotes.
func (v Value[T]) Source() string {
	if v.node != nil {
		return v.node.Text
	}
	text, err := FormatText(v.lit)
	if err != nil || !v.set {
		return ""
	}
	return text
}

// Type returns the static type of what Eval returns before it is made a T; of
// use for Value[any] after Bind.
func (v Value[T]) Type() Type {
	if v.tmpl != nil {
		return v.tmpl.result()
	}
	return TypeOf(any(v.lit))
}

// Uses returns the names that the value reads, after Bind.
func (v Value[T]) Uses() []Use {
	if v.tmpl == nil {
		return nil
	}
	return v.tmpl.uses()
}

// AppendText appends the text of v to dst without making a string of it.
func AppendText(dst []byte, v *String, s Scope) ([]byte, error) {
	if v.tmpl == nil {
		return append(dst, v.lit...), nil
	}
	dst, _, err := v.tmpl.append(dst, s)
	return dst, err
}

// converterOf returns the converter of T, one of the types that Values have.
func converterOf[T any]() *converter[T] {
	var zero T
	var c any
	switch any(zero).(type) {
	case string:
		c = textConverter
	case int64:
		c = intConverter
	case float64:
		c = floatConverter
	case bool:
		c = boolConverter
	case time.Duration:
		c = durationConverter
	case Rate:
		c = rateConverter
	case Size:
		c = sizeConverter
	case Share:
		c = shareConverter
	default:
		c = anyConverter
	}
	if conv, ok := c.(*converter[T]); ok {
		return conv
	}
	return &converter[T]{
		parse: func(string) (zero T, err error) { return zero, fmt.Errorf("a %T cannot be read from text", zero) },
		from:  func(v any) (T, bool) { t, ok := v.(T); return t, ok },
	}
}

func exactly[T any](v any) (T, bool) { t, ok := v.(T); return t, ok }

var (
	textConverter = &converter[string]{TextType, func(s string) (string, error) { return s, nil }, func(v any) (string, bool) {
		if s, ok := v.(string); ok {
			return s, true
		}
		s, err := FormatText(v)
		return s, err == nil
	}}
	intConverter = &converter[int64]{IntType, ParseInt, func(v any) (int64, bool) {
		if n, ok := toInt(v); ok {
			return n, true
		}
		f, ok := toFloat(v)
		return int64(f), ok && f == math.Trunc(f) && math.Abs(f) < 1<<63
	}}
	floatConverter = &converter[float64]{FloatType, ParseFloat, func(v any) (float64, bool) {
		if n, ok := toInt(v); ok {
			return float64(n), true
		}
		return toFloat(v)
	}}
	boolConverter     = &converter[bool]{BoolType, ParseBool, exactly[bool]}
	durationConverter = &converter[time.Duration]{DurationType, ParseDuration, exactly[time.Duration]}
	rateConverter     = &converter[Rate]{RateType, ParseRate, exactly[Rate]}
	sizeConverter     = &converter[Size]{SizeType, ParseSize, exactly[Size]}
	shareConverter    = &converter[Share]{ShareType, ParseShare, exactly[Share]}
	anyConverter      = &converter[any]{AnyType, func(s string) (any, error) { return s, nil }, func(v any) (any, bool) { return v, true }}
)
