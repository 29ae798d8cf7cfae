package assertions

import (
	"time"

	"runner/plan/element"
	"runner/plan/expr"
)

func defineDuration() element.Definition {
	return element.DefineAssertion[duration]("duration", element.Doc{
		Summary:  "holds when the sample took at most a given time",
		Text:     "The time is counted from when the sample left to the end of the response. A share of slow samples is better judged by a threshold, such as `p95 < 500ms`.",
		Examples: []element.Example{{YAML: "duration: 2s"}},
	})
}

type duration struct {
	Limit expr.Duration `plan:"limit,required,short" doc:"the longest time that the sample may take"`
}

// Assert holds when the sample took no longer than the limit.
func (a *duration) Assert(t *element.Thread, s *element.Sample) error {
	limit, err := a.Limit.Eval(t)
	if err != nil {
		return err
	}
	took := s.Duration()
	if took <= limit {
		return nil
	}
	return fail(t, "the sample took longer than "+written(&a.Limit), "at most "+limit.String(), readable(took, limit))
}

// readable rounds a time that is above a limit to microseconds, unless it would
// then seem to keep the limit.
func readable(d, limit time.Duration) string {
	if r := d.Round(time.Microsecond); r > limit {
		d = r
	}
	return d.String()
}

// Needs says that nothing of the response is looked at.
func (*duration) Needs() element.Needs { return 0 }
