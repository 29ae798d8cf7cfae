package extract_test

import (
	"strings"
	"testing"
	"testing/synctest"

	"runner/assertions"
	"runner/plan"
	"runner/plan/element"
	"runner/plan/engine"
	"runner/plan/expr"
	"runner/plan/query"
	"runner/plan/source"
	"runner/samplers/dummy"
	"runner/samplers/extract"
)

// keeper keeps the problems of all samples, and how many there were.
type keeper struct {
	samples  int
	problems []string
}

func (k *keeper) Shard(int, int) element.Shard    { return k }
func (k *keeper) Note(string)                     {}
func (k *keeper) Transaction(element.Transaction) {}
func (k *keeper) Count(element.Counter, int64)    {}
func (k *keeper) Record(s *element.Sample) {
	k.samples++
	for _, p := range s.Problems {
		k.problems = append(k.problems, string(p.Class)+": "+p.Message+" "+p.Expected+" "+p.Actual)
	}
}

// whole runs a plan of one thread with all extractors and assertions.
func whole(t *testing.T, text string, seed uint64) *keeper {
	t.Helper()
	reg, err := element.NewRegistry(query.Functions(), dummy.All(), extract.All(), assertions.All())
	if err != nil {
		t.Fatal(err)
	}
	p, ds := plan.Parse(source.New("plan.yaml", []byte(text)), reg)
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	if ds = plan.Validate(p, reg, plan.Options{}); ds.HasErrors() {
		t.Fatal(ds)
	}
	values, ds := p.Evaluate(plan.EvalOptions{Seed: seed, RunID: "run"})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	program, ds := engine.Compile(p, values, reg, engine.Options{Masker: &element.Masker{}, Functions: p.Functions})
	if ds.HasErrors() {
		t.Fatal(ds)
	}
	k := &keeper{}
	synctest.Test(t, func(t *testing.T) {
		r := &engine.Runner{Program: program, Recorder: k, Clock: engine.NewPlainClock(), Seed: seed}
		if err := r.Run(t.Context()); err != nil {
			t.Error(err)
		}
	})
	return k
}

const answers = `plan: extract
vars: {text: "id=7;id=8;", word: red}
defaults:
  dummy:
    delay: 1ms
thread_groups:
  g:
    load: {threads: 1, iterations: 2}
    steps:
      - name: json
        dummy:
          json: {user: {id: 7, name: Ann, none: null}, items: [{sku: A, n: 1}, {sku: B, n: 2}, {sku: C, n: 3}]}
        extract:
          id: json.user.id
          sku1: {json: "$.items[0].sku"}
          sku2: {json: "$.items[*].sku", match: 2}
          every: {json: "$.items[*].n", match: all}
          some: {json: "$.items[*].sku", match: random}
          missing: {json: "$.items[9].sku", default: "-"}
          zero: {json: $.user.none, default: 0}
          best: {jmespath: "max_by(items, &n).sku"}
          names: {jmespath: "items[?n > ` + "`1`" + `].sku"}
          hidden: {json: $.user.name, secret: true}
          called: 'jmespath("items[1].sku") ?? "?"'
        assertions:
          - id == 7
          - sku1 == "A" and sku2 == "B" and best == "C" and called == "B"
          - len(every) == 3 and every[2] == 3
          - names == ["B", "C"]
          - some in ["A", "B", "C"]
          - missing == "-" and zero == 0
          - text: {of: {variable: hidden}, equals: Ann}
      - name: text
        dummy:
          message: v1.2 ready
          headers: {X-Trace: "t-${id}", Link: </a>, Set-Cookie: "sid=abc; Path=/"}
          body: "order-17 (red) order-18 (blue) token=\"x y\" end"
        extract:
          order: {regex: 'order-(\d+)'}
          latest: {regex: 'order-(\d+)', match: 2}
          orders: {regex: 'order-(\d+)', match: all}
          colour: {regex: 'order-(?P<n>\d+) \((?P<colour>\w+)\)', group: colour, match: 2}
          both: {regex: 'order-(\d+) \((\w+)\)', template: $2$/$1$}
          named: {regex: '(?P<k>\w+)="(?P<v>[^"]*)"', template: $v$=$k$}
          wanted: {regex: 'order-(\d+) \(${word}\)'}
          from_headers: {regex: 'X-Trace: t-(\d+)', of: headers}
          from_message: {regex: 'v(\d)\.(\d)', template: $1$$2$, of: message}
          from_variable: {regex: 'id=(\d)', of: {variable: text}, match: 2}
          absent: {regex: 'nothing', default: "${word}"}
          trace: {header: x-trace}
          sid: {cookie: sid}
          token: {between: ['token="', '"']}
          tail: {between: ["token", ""]}
        assertions:
          - order == "17" and latest == "18" and orders == ["17", "18"]
          - colour == "blue" and both == "red/17" and named == "x y=token" and wanted == "17"
          - from_headers == "7" and from_message == "12" and from_variable == "8"
          - absent == "red" and trace == "t-7" and sid == "abc" and token == "x y"
          - tail endsWith "end"
      - name: documents
        dummy:
          headers: {Content-Type: text/html}
          body: "<!DOCTYPE html><h1 id=top> Big shop </h1><a class=p href=/1>One</a><a class=p href=/2>Two</a>"
        extract:
          title: {css: h1}
          link: {css: a.p, attribute: href, match: 2}
          links: {css: a.p, match: all}
          by_path: {xpath: "//a[2]/@href"}
          number: {xpath: count(//a)}
          gone: {css: table, default: none}
          path_function: xpath("//h1/@id") + css("a")
        assertions:
          - title == "Big shop" and link == "/2" and links == ["One", "Two"]
          - by_path == "/2" and number == 2 and gone == "none" and path_function == "topOne"
          - css: {selector: a.p, count: 2}
          - xpath: count(//a) = 2
`

func TestExtractorsInAPlan(t *testing.T) {
	k := whole(t, answers, 1)
	if k.samples != 6 || len(k.problems) > 0 {
		t.Errorf("%d samples\n%s", k.samples, strings.Join(k.problems, "\n"))
	}
}

// TestNothingFoundFailsTheSample: without a default the sample fails and the
// variable has no value, neither that of the iteration before.
func TestNothingFoundFailsTheSample(t *testing.T) {
	k := whole(t, `plan: none
thread_groups:
  g:
    load: {threads: 1, iterations: 2}
    steps:
      - dummy: {body: "id=${thread.iteration == 0 ? \"7\" : \"\"};"}
        extract: {id: {regex: 'id=(\d)'}}
      - dummy: {body: "${id}"}
        name: use
`, 1)
	if got := strings.Join(k.problems, "\n"); k.samples != 4 || !strings.HasPrefix(got, "extract: id: nothing found by ") || !strings.Contains(got, "\nexpression: ") || len(k.problems) != 2 {
		t.Errorf("%d samples\n%s", k.samples, got)
	}
}

// TestFunctionsFollowTheSeed: every function that draws gives the same text
// again with the same seed, and another with another.
func TestFunctionsFollowTheSeed(t *testing.T) {
	draws := []string{"uuid()", "random_int(1, 1000000000)", "random_string(12)", "pick([1, 2, 3, 4, 5, 6, 7, 8, 9])"}
	for _, f := range expr.NewFunctions().Describe() {
		if strings.HasPrefix(f.Name, "fake.") {
			draws = append(draws, f.Name+"()")
		}
	}
	if len(draws) < 10 {
		t.Fatalf("only %d functions", len(draws))
	}
	run := func(seed uint64) string {
		var b strings.Builder
		b.WriteString("plan: seed\nthread_groups:\n  g:\n    load: {threads: 1, iterations: 5}\n    steps:\n      - dummy:\n          body: '")
		for _, d := range draws {
			b.WriteString("${string(" + d + ")};")
		}
		b.WriteString("'\n          delay: 1ms..1s\n          fail: {share: 100%, message: '${string(uuid())} ${thread.iteration}'}\n")
		k := whole(t, b.String(), seed)
		return strings.Join(k.problems, "\n")
	}
	if first, again, other := run(7), run(7), run(8); first != again || first == other {
		t.Error("two runs with one seed differ, or those with two do not")
	}
}
