package elementtest

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"runner/plan/element"
	"runner/plan/source"
	"runner/plan/spec"
)

// documentation returns what is missing in the element's documentation.
func documentation(d element.Definition) (problems []string) {
	s := d.Doc.Summary
	if s == "" || strings.Contains(s, "\n") || strings.HasSuffix(s, ".") {
		problems = append(problems, fmt.Sprintf("the summary %q is not one line without a full stop", s))
	}
	if len(d.Doc.Examples) == 0 {
		problems = append(problems, "there is no example")
	}
	var walk func(fields []spec.Field, path string)
	walk = func(fields []spec.Field, path string) {
		for _, f := range fields {
			if f.Key != "" && f.Doc == "" {
				problems = append(problems, path+f.Key+" has no doc")
			}
			walk(f.Children, path+f.Key+".")
			if f.Item != nil {
				walk(f.Item.Children, path+f.Key+"[].")
			}
		}
	}
	walk(spec.Describe(d.Type), "")
	return problems
}

// examples returns the examples that are not legal.
func examples(t testing.TB, d element.Definition, c Config) (problems []string) {
	for _, e := range d.Doc.Examples {
		if b, _, ds := decode(t, d, e.YAML, c); ds.HasErrors() || b == nil {
			problems = append(problems, fmt.Sprintf("%s\n%v", e.YAML, ds))
		}
	}
	return problems
}

// mistakes writes each field wrongly and asks for a diagnostic where that is.
func mistakes(t testing.TB, d element.Definition, c Config) (problems []string) {
	expect := func(text, piece, word string) {
		if p := unreported(t, d, c, text, piece, word); p != "" {
			problems = append(problems, p)
		}
	}
	required := false
	for _, f := range spec.Describe(d.Type) {
		if d.Kind == element.ExtractorKind && f.Key == d.Name {
			continue
		}
		required = required || f.Required
		misspelt := f.Key + "zz"
		expect(around(d, misspelt, "1"), misspelt, f.Key)
		if value := wrongValue(f); value != "" {
			expect(around(d, f.Key, value), value, "")
		}
	}
	if required && d.Kind != element.ExtractorKind {
		expect(d.Name+": {}", "{}", "")
	}
	return problems
}

// around writes an element with one key.
func around(d element.Definition, key, value string) string {
	if d.Kind == element.ExtractorKind {
		return fmt.Sprintf("{%s: x, %s: %s}", d.Name, key, value)
	}
	return fmt.Sprintf("%s: {%s: %s}", d.Name, key, value)
}

// wrongValue returns a value that the field cannot take, "" where any is legal.
func wrongValue(f spec.Field) string {
	if len(f.OneOf) > 0 {
		return ""
	}
	switch f.Go {
	case "int", "float", "bool", "duration", "rate", "size", "share":
		return "zebra"
	case "text", "condition", "list":
		return "{zebra: 1}"
	case "map", "object":
		takesText := slices.ContainsFunc(f.Children, func(c spec.Field) bool { return c.Short && c.Go == "text" })
		if !f.Short && !takesText {
			return "zebra"
		}
	}
	return ""
}

// unreported returns "" if there is an error that starts where the piece of text
// stands and that mentions the word.
func unreported(t testing.TB, d element.Definition, c Config, text, piece, word string) string {
	_, start, ds := decode(t, d, text, c)
	want := start + strings.LastIndex(text, piece)
	if slices.ContainsFunc(ds, func(p source.Diagnostic) bool {
		return p.Severity == source.Error && p.Range.Start.Offset == want && strings.Contains(p.Summary+p.Detail, word)
	}) {
		return ""
	}
	return fmt.Sprintf("%s: no error at column %d mentions %q; got %v", text, want-start+1, word, ds)
}

// threads uses each example from eight threads at once.
func threads(t testing.TB, d element.Definition, c Config) (problems []string) {
	if d.Kind == element.SamplerKind {
		return nil
	}
	for _, e := range d.Doc.Examples {
		b := Bind(t, d, e.YAML, c)
		b.Open(t)
		found := make([]error, 8)
		var wg sync.WaitGroup
		for id := range found {
			th := b.Thread(id + 1)
			wg.Go(func() {
				for i := 0; i < 20 && found[id] == nil; i++ {
					found[id] = use(b, th, c)
				}
			})
		}
		wg.Wait()
		if err := errors.Join(found...); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", e.YAML, err))
		}
	}
	return problems
}

// use calls the element's one method and returns what is wrong with the result.
func use(b *Bound, th *element.Thread, c Config) error {
	s := &element.Sample{}
	if c.Sample != nil {
		s = c.Sample()
	}
	th.Sample = s
	switch e := b.Element.(type) {
	case element.Timer:
		if w, ok := e.(element.Waiter); ok {
			if err := w.Wait(context.Background(), th); err != nil {
				return fmt.Errorf("it waited and gave %w", err)
			}
		}
		if due, err := e.Due(th, 5*time.Second); err != nil || due < 5*time.Second {
			return fmt.Errorf("asked at 5s it is due at %s, %v", due, err)
		}
	case element.Assertion:
		var failure *element.Failure
		if err := e.Assert(th, s); err != nil && !errors.As(err, &failure) {
			return fmt.Errorf("the assertion is broken: %w", err)
		}
	case element.Extractor:
		v, err := e.Extract(th, s, b.Pick)
		if err != nil && !errors.Is(err, element.ErrNotFound) {
			return fmt.Errorf("the extractor is broken: %w", err)
		}
		before := clone(v)
		for _, bytes := range buffers(s) {
			clear(bytes)
		}
		if d := cmp.Diff(before, v); d != "" {
			return fmt.Errorf("the value points into the sample's buffers: %s", d)
		}
	}
	return nil
}

func buffers(s *element.Sample) [][]byte {
	all := [][]byte{s.Body}
	for _, h := range s.Headers {
		all = append(all, h.Name, h.Value)
	}
	return all
}

// clone copies a value of the language with its texts.
func clone(v any) any {
	switch v := v.(type) {
	case string:
		return strings.Clone(v)
	case []byte:
		return slices.Clone(v)
	case []any:
		out := make([]any, len(v))
		for i := range v {
			out[i] = clone(v[i])
		}
		return out
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, m := range v {
			out[strings.Clone(k)] = clone(m)
		}
		return out
	}
	return v
}

// cancelled runs each example under a context that is over: the sampler must be
// back within 100 ms, leave the sample alone afterwards and leave nothing running.
func cancelled(t testing.TB, d element.Definition, c Config) (problems []string) {
	leak := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, e := range d.Doc.Examples {
		b := Bind(t, d, e.YAML, c)
		if err := cancelledOnce(ctx, b); err != nil {
			problems = append(problems, fmt.Sprintf("%s: %v", e.YAML, err))
		}
	}
	if err := goleak.Find(leak); err != nil {
		problems = append(problems, err.Error())
	}
	return problems
}

func cancelledOnce(ctx context.Context, b *Bound) (err error) {
	sampler := b.Element.(element.Sampler)
	if o, ok := sampler.(element.Opener); ok {
		if err := o.Open(context.Background()); err != nil {
			return fmt.Errorf("open: %w", err)
		}
	}
	if o, ok := sampler.(element.Closer); ok {
		defer func() { err = errors.Join(err, o.Close()) }()
	}
	th, s := b.Thread(1), &element.Sample{}
	defer th.Close()
	th.Sample = s
	began := time.Now()
	if sampler.Sample(ctx, th, s) == nil {
		return errors.New("a cancelled sample passed")
	}
	if took := time.Since(began); took > 100*time.Millisecond {
		return fmt.Errorf("a cancelled sample took %s", took)
	}
	s.Reset() // a sampler that still writes to it is seen here or by the race detector
	time.Sleep(time.Millisecond)
	if !reflect.DeepEqual(*s, element.Sample{Series: -1, Problems: s.Problems, Headers: s.Headers}) {
		return errors.New("the sample was filled after it was returned")
	}
	return nil
}
