package http_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"

	"runner/assertions"
	"runner/plan"
	"runner/plan/element"
	"runner/plan/query"
	"runner/plan/source"
	"runner/samplers/extract"
	"runner/samplers/http"
)

// staticServer answers whatever is one read, without allocating.
func staticServer(t testing.TB) string {
	t.Helper()
	return server(t, "Hello World\n")
}

// server answers whatever is one read with a body, without allocating.
func server(t testing.TB, body string) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := ln.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				defer conn.Close()
				buf, answer := make([]byte, 4<<10), fmt.Appendf(nil, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
				for {
					if _, err := conn.Read(buf); err != nil {
						return
					}
					if _, err := conn.Write(answer); err != nil {
						return
					}
				}
			})
		}
	})
	t.Cleanup(func() { ln.Close(); all.Wait() })
	return ln.Addr().String()
}

// A sample of a request in which nothing changes allocates nothing.
func TestStaticSampleAllocatesNothing(t *testing.T) {
	addr := staticServer(t)
	for name, yaml := range map[string]string{
		"get":     "http: GET /",
		"headers": "http:\n  request: GET /a?b=c\n  headers: {Accept: text/html}\n  redirects: false",
		"post":    "http:\n  request: POST /\n  json: {a: 1}\n  auth: {basic: {username: ann, password: x}}",
		"proxy":   "http:\n  request: GET http://shop.test/\n  proxy: http://" + addr,
	} {
		t.Run(name, func(t *testing.T) {
			sampler := step(t, "base_url: http://"+addr, yaml)
			th := thread(t)
			s := &element.Sample{}
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			once := func() {
				s.Reset()
				s.Needs = element.NeedBody
				if err := sampler.Sample(ctx, th, s); err != nil || s.Status != 200 || len(s.Body) != 12 {
					t.Fatalf("status %d, %v", s.Status, err)
				}
				sampler.(element.Releaser).Release(th, s)
			}
			once()
			if got := testing.AllocsPerRun(200, once); got > 0 && !raceEnabled {
				t.Errorf("%v allocations a sample, want none", got)
			}
			th.Close()
		})
	}
}

// dynamicAllocs is what a sample of dynamicStep allocates: the header's text and its
// box, what the extractor found, and the box of the variable's new value.
const dynamicAllocs = 4

// dynamicStep asks with a path, a header and a JSON body that change.
const dynamicStep = `http:
  request: POST /items/${counter}
  headers: {X-Trace: "t-${counter}"}
  json: {id: "${counter}", name: "item ${counter}", tags: [a, b]}
extract: {id: {json: $.id}}
assertions:
  - json: {path: "$.more[3].sku", equals: SHO-003}`

// item is an answer of about 1 KB of JSON.
func item() string {
	lines := make([]string, 20)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"sku":"SHO-%03d","qty":%d,"colour":"black"}`, i, i)
	}
	return `{"id":42,"price":12.5,"name":"shoe","tags":["a","b"],"more":[` + strings.Join(lines, ",") + `]}`
}

// dynamic returns what a step of the engine does: it sends, extracts and asserts.
func dynamic(ctx context.Context, t testing.TB) (once func(), s *element.Sample) {
	t.Helper()
	reg, err := element.NewRegistry(query.Functions(), http.All(), extract.All(), assertions.All())
	if err != nil {
		t.Fatal(err)
	}
	text := "plan: test\nvars: {counter: 1}\ndefaults: {http: {base_url: 'http://" + server(t, item()) + "'}}\n" +
		"thread_groups:\n  g:\n    load: {threads: 1, iterations: 1}\n    steps:\n      - " + strings.TrimSpace(indent(dynamicStep, 8)) + "\n"
	p, ds := plan.Parse(source.New("plan.yaml", []byte(text)), reg)
	if ds = append(ds, plan.Validate(p, reg, plan.Options{})...); ds.HasErrors() {
		t.Fatal(ds)
	}
	st := p.Groups[0].Steps[0]
	action := st.Action.(*plan.SamplerAction)
	sampler, x, a := action.Element, st.Scope.Extract[0], st.Scope.Assertions[0]
	for _, e := range []any{sampler, x.Element, a.Element} {
		if o, ok := e.(element.Opener); ok {
			if err := o.Open(ctx); err != nil {
				t.Fatal(err)
			}
		}
	}
	th, s, n := thread(t), &element.Sample{}, int64(1e6)
	return func() {
		n++
		th.Set("counter", n)
		s.Reset()
		s.Needs = element.NeedBody
		if err := sampler.Sample(ctx, th, s); err != nil {
			t.Fatal(err)
		}
		th.Sample = s
		v, err := x.Element.Extract(th, s, x.Pick)
		if err != nil {
			t.Fatal(err)
		}
		th.Set(x.Variable, v)
		if err := a.Element.Assert(th, s); err != nil {
			t.Fatal(err)
		}
		sampler.(element.Releaser).Release(th, s)
	}, s
}

// A sample in which path, header and body change, and whose answer of 1 KB is
// searched twice, allocates little; the new value of its variable is counted too.
func TestDynamicSampleAllocatesLittle(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	once, s := dynamic(ctx, t)
	once()
	if s.Status != 200 {
		t.Fatalf("status %d", s.Status)
	}
	if got := testing.AllocsPerRun(200, once); got > dynamicAllocs && !raceEnabled {
		t.Errorf("%v allocations a sample, want at most %d", got, dynamicAllocs)
	}
}

func BenchmarkSample(b *testing.B) {
	http.SpoilReleased(false)
	defer http.SpoilReleased(true)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	b.Run("static", func(b *testing.B) {
		sampler := step(b, "base_url: http://"+staticServer(b), "http: GET /")
		th := thread(b)
		s := &element.Sample{}
		b.ReportAllocs()
		for b.Loop() {
			s.Reset()
			if err := sampler.Sample(ctx, th, s); err != nil {
				b.Fatal(err)
			}
			sampler.(element.Releaser).Release(th, s)
		}
		th.Close()
	})
	b.Run("dynamic", func(b *testing.B) {
		once, _ := dynamic(ctx, b)
		b.ReportAllocs()
		for b.Loop() {
			once()
		}
	})
}
