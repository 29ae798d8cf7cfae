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

func documentation(t *testing.T, d element.Definition) {
	s := d.Doc.Summary
	if s == "" || strings.Contains(s, "\n") || strings.HasSuffix(s, ".") {
		t.Errorf("the summary %q is not one line without a full stop", s)
	}
	if len(d.Doc.Examples) == 0 {
		t.Error("there is no example")
	}
	var walk func(fields []spec.Field, path string)
	walk = func(fields []spec.Field, path string) {
		for _, f := range fields {
			if f.Key != "" && f.Doc == "" {
				t.Errorf("%s%s has no doc", path, f.Key)
			}
			walk(f.Children, path+f.Key+".")
			if f.Item != nil {
				walk(f.Item.Children, path+f.Key+"[].")
			}
		}
	}
	walk(spec.Describe(d.Type), "")
}

func examples(t *testing.T, d element.Definition, c Config) {
	for _, e := range d.Doc.Examples {
		if b, _, ds := decode(t, d, e.YAML, c); ds.HasErrors() || b == nil {
			t.Errorf("%s\n%v", e.YAML, ds)
		}
	}
}

// mistakes writes each field wrongly and asks for a diagnostic where that is.
func mistakes(t *testing.T, d element.Definition, c Config) {
	fields := spec.Describe(d.Type)
	required := false
	for _, f := range fields {
		if d.Kind == element.ExtractorKind && f.Key == d.Name {
			continue
		}
		required = required || f.Required
		misspelt := f.Key + "zz"
		expect(t, d, c, around(d, misspelt, "1"), misspelt, f.Key)
		if value := wrongValue(f); value != "" {
			expect(t, d, c, around(d, f.Key, value), value, "")
		}
	}
	if required && d.Kind != element.ExtractorKind {
		expect(t, d, c, d.Name+": {}", "{}", "")
	}
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
		if !f.Short {
			return "zebra"
		}
	}
	return ""
}

// expect asks for an error that starts where the piece of text stands and that
// mentions a word.
func expect(t *testing.T, d element.Definition, c Config, text, piece, word string) {
	t.Helper()
	_, start, ds := decode(t, d, text, c)
	want := start + strings.LastIndex(text, piece)
	if slices.ContainsFunc(ds, func(p source.Diagnostic) bool {
		return p.Severity == source.Error && p.Range.Start.Offset == want && strings.Contains(p.Summary+p.Detail, word)
	}) {
		return
	}
	t.Errorf("%s: no error at column %d mentions %q; got %v", text, want-start+1, word, ds)
}

// threads uses each example from eight threads at once.
func threads(t *testing.T, d element.Definition, c Config) {
	if d.Kind == element.SamplerKind {
		return
	}
	for _, e := range d.Doc.Examples {
		b := Bind(t, d, e.YAML, c)
		var wg sync.WaitGroup
		for id := range 8 {
			th := b.Thread(id + 1)
			wg.Go(func() {
				for range 20 {
					if err := use(b, th, c); err != nil {
						t.Errorf("%s: %v", e.YAML, err)
						return
					}
				}
			})
		}
		wg.Wait()
	}
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
func cancelled(t *testing.T, d element.Definition, c Config) {
	leak := goleak.IgnoreCurrent()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, e := range d.Doc.Examples {
		b := Bind(t, d, e.YAML, c)
		sampler := b.Element.(element.Sampler)
		if o, ok := sampler.(element.Opener); ok {
			if err := o.Open(context.Background()); err != nil {
				t.Logf("%s: open: %v", e.YAML, err)
				continue
			}
		}
		th, s := b.Thread(1), &element.Sample{}
		th.Sample = s
		began := time.Now()
		err := sampler.Sample(ctx, th, s)
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("%s: a cancelled sample took %s", e.YAML, took)
		}
		if err == nil {
			t.Errorf("%s: a cancelled sample passed", e.YAML)
		}
		s.Reset() // a sampler that still writes to it is seen by the race detector
		th.Close()
		if o, ok := sampler.(element.Closer); ok {
			if err := o.Close(); err != nil {
				t.Errorf("%s: close: %v", e.YAML, err)
			}
		}
		if !reflect.DeepEqual(*s, element.Sample{Series: -1, Problems: s.Problems, Headers: s.Headers}) {
			t.Errorf("%s: the sample was filled after it was returned", e.YAML)
		}
	}
	goleak.VerifyNone(t, leak)
}
