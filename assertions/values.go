package assertions

import (
	"runner/plan/element"
	"runner/plan/expr"
)

// valueOperators are what can be asked of a value that may be there or not, or
// there several times.
type valueOperators struct {
	Exists        expr.Bool `plan:"exists" doc:"false: it must not be there" default:"true"`
	textOperators `plan:",inline"`
}

func (o *valueOperators) check(report func(field, code, summary, detail string)) {
	if exists, ok := o.Exists.Literal(); ok && !exists && o.given() {
		report("exists", "exclusive-keys", "`exists: false` leaves no value to look at", "remove it, or the other operators")
	}
	o.checkPatterns(report)
}

// judge returns nil if one of the values has all that is asked for and none has
// what is ruled out. what names the value in messages: "the header ETag".
func (o *valueOperators) judge(t *element.Thread, what string, values []string) error {
	if o.Exists.IsSet() {
		exists, err := o.Exists.Eval(t)
		if err != nil {
			return err
		}
		if !exists {
			if len(values) == 0 {
				return nil
			}
			return fail(t, what+" is there", "none", quote(t, values[0]))
		}
	}
	if len(values) == 0 {
		return fail(t, what+" is missing", "to be there", "none")
	}
	var err error
	for _, v := range values {
		if err = o.require(t, what, []byte(v)); err == nil {
			break
		}
	}
	for i := 0; i < len(values) && err == nil && o.negative(); i++ {
		err = o.forbid(t, what, []byte(values[i]))
	}
	return err
}
