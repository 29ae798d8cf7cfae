package elementtest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"runner/plan/element"
	"runner/plan/expr"
)

type good struct {
	Text  expr.String   `plan:"text,required,short" doc:"what to say"`
	Limit expr.Duration `plan:"limit" doc:"how long" default:"1s"`
}

func (g *good) Sample(ctx context.Context, t *element.Thread, s *element.Sample) error {
	if _, err := g.Text.Eval(t); err != nil {
		return err
	}
	return ctx.Err()
}

func TestGood(t *testing.T) {
	Run(t, element.DefineSampler[good]("good", element.Doc{Summary: "says something", Examples: []element.Example{
		{YAML: "good: ${word}"}, {YAML: "name: Say\ngood:\n  text: a\n  limit: 5s"},
	}}), Config{Vars: map[string]string{"word": "hello"}})
}

type bad struct {
	Text expr.String `plan:"text"`
}

// Sample keeps the sample, takes its time and passes whatever happens.
func (*bad) Sample(_ context.Context, _ *element.Thread, s *element.Sample) error {
	time.Sleep(110 * time.Millisecond)
	return nil
}

type slow struct{ bad }

func (s *slow) Sample(ctx context.Context, t *element.Thread, sample *element.Sample) error {
	_ = s.bad.Sample(ctx, t, sample)
	return errors.New("late")
}

type retaining struct {
	Pick expr.String `plan:"retaining,required,short" doc:"unused"`
}

// Extract returns what points into the sample.
func (*retaining) Extract(_ *element.Thread, s *element.Sample, _ element.Pick) (any, error) {
	return []any{s.Body}, nil
}

func TestSuiteFindsWhatIsWrong(t *testing.T) {
	example := []element.Example{{YAML: "bad: {text: a}"}}
	b := element.DefineSampler[bad]("bad", element.Doc{Summary: "is bad.", Examples: example})
	late := element.DefineSampler[slow]("bad", element.Doc{Summary: "is late", Examples: []element.Example{{YAML: "bad: {}"}, {YAML: "bad: {none: 1}"}}})
	keeps := element.DefineExtractor[retaining]("retaining", element.Doc{Summary: "keeps", Examples: []element.Example{{YAML: "{retaining: x}"}}})
	c := Config{Sample: func() *element.Sample { return &element.Sample{Body: []byte("abc")} }}
	for name, found := range map[string][]string{
		"full stop":       documentation(b),
		"has no doc":      documentation(b),
		"no example":      documentation(element.DefineSampler[bad]("bad", element.Doc{})),
		"unknown-key":     examples(t, late, c),
		"passed":          cancelled(t, b, c),
		"took 1":          cancelled(t, element.DefineSampler[slow]("bad", element.Doc{Examples: []element.Example{{YAML: "bad: {}"}}}), c),
		"sample's buffer": threads(t, keeps, c),
	} {
		if text := strings.Join(found, "\n"); !strings.Contains(text, name) {
			t.Errorf("%q is not found: %s", name, text)
		}
	}
}

func TestProblemsAreCountedFromTheText(t *testing.T) {
	d := element.DefineSampler[good]("good", element.Doc{})
	got := Problems(t, d, "good: {text: a, limit: 5}", Config{})
	if len(got) != 1 || !strings.HasPrefix(got[0], "24: ") {
		t.Errorf("got %q", got)
	}
}
