package plans_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"runner/cmd"
	"runner/plans"
	"runner/plans/demo"
	"runner/reporters"
	"runner/reporters/stats"
	"runner/schema"
)

// scaled makes a few seconds of each plan.
var scaled = map[string]string{
	"breakpoint": "threads=50 ramp=2s think=100ms",
	"checkout":   "threads=50 ramp=500ms length=2s think=30ms",
	"load":       "threads=50 ramp=500ms hold=1s think=100ms",
	"login":      "threads=50 ramp=500ms length=2s think=50ms pace=60000/min",
	"quickstart": "threads=50 ramp=500ms length=2s",
	"rate":       "length=2s ramp=500ms hold=1s",
	"smoke":      "length=2s think=100ms",
	"soak":       "threads=50 ramp=500ms hold=1s think=100ms",
	"spike":      "threads=50 ramp_up=1s ramp_down=1s think=100ms",
	"stress":     "threads=50 ramp=500ms hold=1s think=100ms",
}

// timeLimit is a limit on times, which a busy test machine may not keep.
var timeLimit = regexp.MustCompile(`(p\d+ <|duration:|timeout:) \d+m?s`)

// outcome is what became of one plan.
type outcome struct {
	code           int
	stdout, stderr bytes.Buffer
	summary        *stats.Summary
	document       any   // summary.json as it is
	requests       int64 // that the shop has seen
	err            error
}

func TestPlansPassAgainstTheShop(t *testing.T) {
	dir := patientCopy(t, plans.FS(), 20)
	plansOf := map[string]string{}
	for _, name := range names {
		plan := strings.TrimSuffix(name, ".yaml")
		plansOf[plan] = scaled[plan]
	}
	runAll(t, dir, plansOf)
}

// runAll runs plans, ten at the same time, each with its variables and a shop of its
// own, and checks what became of them.
func runAll(t *testing.T, dir string, plans map[string]string) {
	t.Helper()
	outcomes := map[string]*outcome{}
	var all sync.WaitGroup
	free := make(chan bool, 10) // plans that run at once
	for plan, vars := range plans {
		o := &outcome{}
		outcomes[plan] = o
		all.Go(func() {
			free <- true
			defer func() { <-free }()
			o.run(dir, plan, vars)
		})
	}
	all.Wait()
	shape := summarySchema(t)
	for plan, o := range outcomes {
		t.Run(plan, func(t *testing.T) {
			o.check(t)
			if err := shape.Validate(o.document); err != nil {
				t.Errorf("summary.json is not as its schema says: %v", err)
			}
		})
	}
}

func summarySchema(t *testing.T) *jsonschema.Schema {
	t.Helper()
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(schema.SummarySchema()))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("summary.json", document); err != nil {
		t.Fatal(err)
	}
	compiled, err := compiler.Compile("summary.json")
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

func (o *outcome) check(t *testing.T) {
	if o.err != nil {
		t.Fatal(o.err)
	}
	if o.code != 0 {
		t.Errorf("exit code %d\n%s%s", o.code, &o.stdout, &o.stderr)
	}
	if strings.Contains(o.stderr.String(), ": warning: ") {
		t.Errorf("warnings:\n%s", &o.stderr)
	}
	if o.summary == nil {
		t.Fatal("no summary")
	}
	ledger := &o.summary.Ledger
	sent, toShop := ledger.Requests, false
	for _, s := range o.summary.Series {
		switch s.Kind {
		case "dummy", "sql": // which count as requests that the shop does not see
			sent -= s.Count
		case "http", "grpc":
			toShop = true
		}
	}
	if diff := cmp.Diff(o.requests, sent); diff != "" || (o.requests > 0) != toShop || ledger.Requests == 0 {
		t.Errorf("requests (-shop +ledger):\n%s", diff)
	}
	if problems := ledger.Check(); len(problems) > 0 {
		t.Errorf("the ledger does not add up: %s", problems)
	}
	if len(ledger.Samples.Errors) > 0 {
		t.Errorf("errors: %v\n%s", ledger.Samples.Errors, &o.stdout)
	}
	for _, s := range o.summary.Series {
		if s.Count == 0 && s.Kind == "http" {
			t.Errorf("%s / %s never ran", s.Group, s.Name)
		}
	}
}

// run runs one plan against a shop of its own.
func (o *outcome) run(dir, plan, vars string) {
	shop := httptest.NewServer(demo.New(demo.Options{}))
	defer shop.Close()
	out := filepath.Join(dir, "results", plan)
	args := []string{"exec", plan + ".yaml", "--out", out, "--seed", "1"}
	text, err := os.ReadFile(filepath.Join(dir, plan+".yaml"))
	if err != nil {
		o.err = err
		return
	}
	if bytes.Contains(text, []byte("\n  base: ")) {
		args = append(args, "--var", "base="+shop.URL)
	}
	if bytes.Contains(text, []byte("\n  target: ")) { // of gRPC: what the stock sees counts as seen by the shop
		calls, err := newStock()
		if err != nil {
			o.err = err
			return
		}
		defer func() { o.requests += calls.calls.Load() }()
		defer calls.close()
		args = append(args, "--var", "target="+calls.addr)
	}
	for v := range strings.FieldsSeq(vars) {
		args = append(args, "--var", v)
	}
	o.code = cmd.Main(cmd.Env{
		Args: args, Dir: dir, Now: time.Now, Stdin: strings.NewReader(""), Stdout: &o.stdout, Stderr: &o.stderr,
		Getenv: func(string) (string, bool) { return "", false },
		Width:  func() int { return 200 },
		Notify: func() (<-chan os.Signal, func()) { return nil, func() {} },
		Self:   func(context.Context, ...string) (*exec.Cmd, error) { return nil, exec.ErrNotFound },
	})
	if o.summary, o.err = reporters.Read(filepath.Join(out, "summary.json")); o.err != nil {
		return
	}
	file, err := os.Open(filepath.Join(out, "summary.json"))
	if err != nil {
		o.err = err
		return
	}
	defer file.Close()
	if o.document, o.err = jsonschema.UnmarshalJSON(file); o.err != nil {
		return
	}
	answer, err := http.Get(shop.URL + "/stats")
	if err != nil {
		o.err = err
		return
	}
	defer answer.Body.Close()
	var seen struct{ Requests int64 }
	o.err = json.NewDecoder(answer.Body).Decode(&seen)
	o.requests = seen.Requests
}

// patientCopy copies plans with time limits that a slow machine keeps; it knows
// how many there are at least.
func patientCopy(t *testing.T, files fs.FS, limits int) string {
	t.Helper()
	dir, changed := t.TempDir(), 0
	err := fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			return os.MkdirAll(filepath.Join(dir, name), 0o755)
		}
		text, err := fs.ReadFile(files, name)
		if err != nil {
			return err
		}
		changed += len(timeLimit.FindAll(text, -1))
		return os.WriteFile(filepath.Join(dir, name), timeLimit.ReplaceAll(text, []byte("$1 30s")), 0o644)
	})
	if err != nil {
		t.Fatal(err)
	}
	if changed < limits {
		t.Fatalf("found %d limits on times: the search is broken", changed)
	}
	return dir
}
