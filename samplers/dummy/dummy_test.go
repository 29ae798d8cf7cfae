package dummy

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
	"runner/plan/element/elementtest"
	"runner/plan/engine"
)

var config = elementtest.Config{Vars: map[string]string{"d": "50ms", "n": "7", "s": "404"}}

func TestAll(t *testing.T) {
	for _, d := range All() {
		elementtest.Run(t, d, config)
	}
}

// sampled runs the sampler of one line n times on virtual time.
func sampled(t *testing.T, text string, n int, look func(i int, s *element.Sample, err error)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := elementtest.Bind(t, All()[0], text, config)
		th, s := b.Thread(1), &element.Sample{}
		th.Clock = engine.NewPlainClock()
		defer th.Close()
		for i := range n {
			s.Reset()
			th.Sample = s
			time.Sleep(time.Millisecond) // so that no stamp is 0
			err := b.Element.(element.Sampler).Sample(t.Context(), th, s)
			look(i, s, err)
		}
	})
}

func TestAnswer(t *testing.T) {
	type answer struct {
		Took     time.Duration
		Status   int
		Message  string
		Body     string
		Headers  string
		Received int64
	}
	for text, want := range map[string]answer{
		"dummy: 100ms":                        {Took: 100 * time.Millisecond, Status: 200},
		"dummy: ${d}":                         {Took: 50 * time.Millisecond, Status: 200},
		"dummy: {}":                           {Status: 200},
		"dummy: {delay: 1s..1s}":              {Took: time.Second, Status: 200},
		"dummy: {delay: '${d} .. 50ms'}":      {Took: 50 * time.Millisecond, Status: 200},
		"dummy: {delay: {mean: 2s}}":          {Took: 2 * time.Second, Status: 200},
		"dummy: {delay: {mean: 2s, max: 1s}}": {Took: time.Second, Status: 200},
		"dummy: {status: 404, message: Not Found, body: 'n=${n}'}": {Status: 404, Message: "Not Found", Body: "n=7", Received: 3},
		"dummy: {status: \"${s}\"}":                                {Status: 404},
		"dummy: {json: {n: \"${n}\", price: 100.00}}":              {Status: 200, Body: `{"n":7,"price":100.00}`, Headers: "Content-Type: application/json\n", Received: 32 + 22},
		"dummy: {json: [], headers: {content-type: x}}":            {Status: 200, Body: `[]`, Headers: "content-type: x\n", Received: 17 + 2},
		"dummy: {headers: {A: b, C: '${n}'}, bytes: 1KB}":          {Status: 200, Headers: "A: b\nC: 7\n", Received: 1000},
	} {
		sampled(t, text, 2, func(_ int, s *element.Sample, err error) {
			got := answer{s.Done - s.Sent, s.Status, s.Message, string(s.Body), "", s.BytesReceived}
			for _, h := range s.Headers {
				got.Headers += string(h.Name) + ": " + string(h.Value) + "\n"
			}
			if d := cmp.Diff(want, got); d != "" || err != nil || s.FirstByte != s.Done || s.Requests != 1 || s.BodySize != int64(len(s.Body)) {
				t.Errorf("%s: %v %+v\n%s", text, err, s, d)
			}
		})
	}
}

func TestDelays(t *testing.T) {
	for text, want := range map[string]struct{ low, high, mean time.Duration }{
		"dummy: 100ms..300ms": {100 * time.Millisecond, 300 * time.Millisecond, 200 * time.Millisecond},
		"dummy: {delay: {mean: 1s, deviation: 100ms, min: 500ms}}": {500 * time.Millisecond, 2 * time.Second, time.Second},
		"dummy: {delay: {exponential: 1s, max: 20s}}":              {0, 20 * time.Second, time.Second},
	} {
		const n = 4000
		sum := time.Duration(0)
		sampled(t, text, n, func(_ int, s *element.Sample, err error) {
			d := s.Done - s.Sent
			if err != nil || d < want.low || d > want.high {
				t.Errorf("%s: took %s, %v", text, d, err)
			}
			sum += d
		})
		if mean := sum / n; (mean - want.mean).Abs() > want.mean/20 {
			t.Errorf("%s: mean %s", text, mean)
		}
	}
}

func TestFailures(t *testing.T) {
	for text, want := range map[string]struct {
		share   float64
		class   element.Class
		message string
	}{
		"dummy: {fail: 0%}":   {0, "", ""},
		"dummy: {fail: 100%}": {1, element.Reset, "made to fail by the plan"},
		"dummy: {delay: 1s, body: x, fail: {share: 20%, class: timeout, message: no answer}}": {0.2, element.Timeout, "no answer"},
	} {
		const n = 2000
		failed := 0
		sampled(t, text, n, func(_ int, s *element.Sample, err error) {
			if err == nil {
				return
			}
			failed++
			var e *element.Error
			if !errors.As(err, &e) || e.Class != want.class || e.Message != want.message || s.Status != 0 || len(s.Body) > 0 || s.BytesReceived != 0 || s.FirstByte != 0 || s.Sent == 0 {
				t.Fatalf("%s: %v %+v", text, err, s)
			}
		})
		if got := float64(failed) / n; got < want.share*0.85 || got > want.share*1.15 {
			t.Errorf("%s: %v failed", text, got)
		}
	}
}

func TestCancelledWhileItWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := elementtest.Bind(t, All()[0], "dummy: 1h", config)
		th := b.Thread(1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		err := b.Element.(element.Sampler).Sample(ctx, th, &element.Sample{})
		if took := time.Since(start); !errors.Is(err, context.DeadlineExceeded) || took != time.Second {
			t.Errorf("%v after %s", err, took)
		}
	})
}

func TestMistakes(t *testing.T) {
	for text, want := range map[string][]string{
		"dummy: 100":            {`8: "100" has no unit`},
		"dummy: 3s..1s":         {`8: the range "3s..1s" runs backwards`},
		"dummy: {delay: 1..2s}": {`16: "1" has no unit`},
		"dummy: {delay: [1s]}":  {"16: a time is expected here, not a list"},
		"dummy: {delay: {mean: 1s, exponential: 1s}}": {"27: `mean` and `exponential` exclude each other"},
		"dummy: {body: a, json: {}}":                  {"18: `body` and `json` exclude each other"},
		"dummy: {fail: {share: 5%, class: boom}}":     {},
		"dummy: {fail: 200%}":                         {},
	} {
		got := elementtest.Problems(t, All()[0], text, config)
		if d := cmp.Diff(want, got); len(want) > 0 && d != "" || len(got) != 1 {
			t.Errorf("%s: %v %s", text, got, d)
		}
	}
}

func TestStaticSampleDoesNotAllocate(t *testing.T) {
	for _, text := range []string{"dummy: {}", "dummy: 1us", "dummy: {body: hello, headers: {A: b}, status: 404, fail: 0%}", "dummy: {json: {a: 1}}"} {
		b := elementtest.Bind(t, All()[0], text, config)
		th, s := b.Thread(1), &element.Sample{}
		if n := testing.AllocsPerRun(100, func() {
			s.Reset()
			if err := b.Element.(element.Sampler).Sample(t.Context(), th, s); err != nil {
				t.Fatal(err)
			}
		}); n != 0 && !raceEnabled {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func BenchmarkSample(b *testing.B) {
	bound := elementtest.Bind(b, All()[0], "dummy: {body: hello}", config)
	th, s := bound.Thread(1), &element.Sample{}
	b.ReportAllocs()
	for b.Loop() {
		s.Reset()
		if err := bound.Element.(element.Sampler).Sample(b.Context(), th, s); err != nil {
			b.Fatal(err)
		}
	}
}
