package assertions

import (
	"strconv"

	"runner/plan/element"
	"runner/plan/expr"
)

func defineSize() element.Definition {
	return element.DefineAssertion[size]("size", element.Doc{
		Summary:  "holds when the response has a given size",
		Text:     "The size is that of the decoded body, of the headers, or of both. Sizes have a unit: `512B`, `10KB` (1000 bytes each), `1MiB` (1024 × 1024).",
		Examples: []element.Example{{YAML: "size: 512B"}, {YAML: "size: {min: 1KB, max: 2MB}"}, {YAML: "size: {not: 0B}", Note: "the body must not be empty"}, {YAML: "size: {max: 8KiB, of: headers}"}},
	})
}

type size struct {
	Equals expr.SizeValue `plan:"equals,short" doc:"the exact size"`
	Min    expr.SizeValue `plan:"min" doc:"the smallest size that is allowed"`
	Max    expr.SizeValue `plan:"max" doc:"the largest size that is allowed"`
	Not    expr.SizeValue `plan:"not" doc:"a size that it must not have"`
	Of     string         `plan:"of" doc:"what is measured; all is headers and body" enum:"body|headers|all" default:"body"`
}

// Check reports an assertion without a bound, or with bounds that exclude each
// other.
func (a *size) Check(report func(field, code, summary, detail string)) {
	if !a.Equals.IsSet() && !a.Min.IsSet() && !a.Max.IsSet() && !a.Not.IsSet() {
		report("", "missing-key", "`size` needs one of `min`, `max`, `equals` and `not`", "write one like {max: 10KB}")
	}
	if a.Equals.IsSet() && (a.Min.IsSet() || a.Max.IsSet()) {
		report("equals", "exclusive-keys", "`equals` excludes `min` and `max`", "keep one of them")
	}
	low, ok1 := a.Min.Literal()
	high, ok2 := a.Max.Literal()
	if ok1 && ok2 && low > high {
		report("max", "bad-range", "max is below min", "write a max that is at least min")
	}
}

// Assert holds when the size lies within the bounds.
func (a *size) Assert(t *element.Thread, s *element.Sample) error {
	have := a.measure(s)
	for i, bound := range [...]*expr.SizeValue{&a.Equals, &a.Min, &a.Max, &a.Not} {
		if !bound.IsSet() {
			continue
		}
		limit, err := bound.Eval(t)
		if err != nil {
			return err
		}
		if i == 0 && have == int64(limit) || i == 1 && have >= int64(limit) || i == 2 && have <= int64(limit) || i == 3 && have != int64(limit) {
			continue
		}
		subject := map[string]string{"headers": "the headers are", "all": "the response is"}[a.Of]
		if subject == "" {
			subject = "the body is"
		}
		return fail(t, subject+[...]string{" not ", " smaller than ", " larger than ", " exactly "}[i]+written(bound),
			[...]string{"", "at least ", "at most ", "anything but "}[i]+limit.String(), strconv.FormatInt(have, 10)+"B")
	}
	return nil
}

func (a *size) measure(s *element.Sample) int64 {
	n := int64(0)
	if a.Of == "headers" || a.Of == "all" {
		for _, h := range s.Headers {
			n += int64(len(h.Name) + len(": ") + len(h.Value) + len("\r\n"))
		}
	}
	if a.Of != "headers" {
		n += s.BodySize
	}
	return n
}

// Needs says what is measured; the decoded size is known of a decoded body only.
func (a *size) Needs() element.Needs {
	switch a.Of {
	case "headers":
		return element.NeedHeaders
	case "all":
		return element.NeedHeaders | element.NeedBody
	}
	return element.NeedBody
}
