package cmd_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"runner/cmd/internal/witness"
	"runner/reporters/stats"
)

// accused is a run that its generator cannot do justice to, with the cause that it
// has to name (M6).
type accused struct {
	prefix []string // a command that runs the program in bad conditions
	load   string
	http   string
	query  string
	lines  string
	during func(r *execution) error // once the first request has come
	causes []string                 // one of them is named
	worse  bool                     // invalid, not only limited
}

func accusations(t *testing.T) map[string]accused {
	t.Helper()
	// A hog on each CPU, and the program on one of them with less priority.
	const hogged = `for i in 1 2 3 4 5 6; do (while kill -0 $$ 2>/dev/null; do :; done) & done; GOMAXPROCS=1 nice -n 5 "$@"; code=$?; kill $(jobs -p); exit $code`
	list := map[string]accused{
		"a hog on every CPU": {
			prefix: []string{"bash", "-c", hogged, "hogged"}, load: "{rate: 1000/s, duration: 3s, max_threads: 3000}", query: "hold=1ms",
			causes: []string{"machine_cpu", "scheduler", "cpu", "stopped", "cgroup_throttled", "steal"},
		},
		"stopped for 600 ms": {
			load: "{rate: 500/s, duration: 3s, max_threads: 2000}", query: "hold=1ms",
			during: func(r *execution) error {
				time.Sleep(500 * time.Millisecond)
				if err := r.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
					return err
				}
				time.Sleep(600 * time.Millisecond)
				return r.cmd.Process.Signal(syscall.SIGCONT)
			},
			causes: []string{"stopped", "scheduler"},
		},
		"64 open files": {
			prefix: []string{"sh", "-c", `ulimit -n 64; exec "$@"`, "limited"}, load: "{threads: 200, iterations: 3}", query: "hold=100ms",
			causes: []string{"open_files"}, worse: true,
		},
	}
	if dir := quotaGroup(t); dir != "" {
		list["a CPU quota of 20 %"] = accused{
			prefix: []string{"sh", "-c", inGroup, dir}, load: "{rate: 3000/s, duration: 3s, max_threads: 3000}", query: "hold=1ms",
			causes: []string{"cgroup_throttled"},
		}
	}
	return list
}

// innocents are targets that are slow, and plans with too few threads: never the
// generator's fault.
func innocents() map[string]accused {
	return map[string]accused{
		"slow":        {load: "{rate: 100/s, duration: 2s, max_threads: 200}", query: "hold=400ms"},
		"stalled":     {load: "{rate: 100/s, duration: 3s, max_threads: 400}", query: "hold=250ms&gate=500ms&stall=1500ms"},
		"resetting":   {load: "{rate: 100/s, duration: 2s, max_threads: 200}", query: "hold=300ms&reset=request&one=2"},
		"few threads": {load: "{rate: 200/s, duration: 2s, max_threads: 5}", query: "hold=300ms"},
		"one line":    {load: "{threads: 20, duration: 2s}", query: "serial=20ms", lines: "    timers: {constant_throughput: {rate: 500/s, catch_up: true}}\n"},
	}
}

func (a accused) run(w *witness.Process, book, dir string) (*execution, error) {
	lines := a.lines + "    thresholds: [errors <= 100%, dropped >= 0]\n" + indentedSteps(fmt.Sprintf(`"GET /%s/x?%s"`, book, a.query))
	r, err := startRun(dir, onGroup(a.load, "http://"+w.HTTP, a.http, lines), a.prefix)
	if err != nil {
		return nil, err
	}
	if a.during != nil {
		if err := waitFor(func() (int, error) { return w.Seen(book) }, r); err != nil {
			return nil, err
		}
		if err := a.during(r); err != nil {
			return nil, err
		}
	}
	if err := r.end(); err != nil || r.summary == nil {
		return nil, fmt.Errorf("no summary: %w\n%s", err, r.out.String())
	}
	return r, ledgersAddUp(r.summary)
}

// named checks that the generator accuses itself, of the right thing, at the top
// of what is printed.
func (a accused) named(r *execution) error {
	g := &r.summary.Generator
	if a.worse && g.Verdict != "invalid" || g.Verdict != "limited" && g.Verdict != "invalid" {
		return fmt.Errorf("the verdict on the generator is %q: %+v", g.Verdict, *g)
	}
	if !slices.ContainsFunc(g.Causes, func(c stats.Cause) bool { return slices.Contains(a.causes, c.Name) }) {
		return fmt.Errorf("it names %+v, want one of %v", g.Causes, a.causes)
	}
	if (g.Verdict == "invalid") != (r.code == 3) {
		return fmt.Errorf("exit code %d with a generator that is %s", r.code, g.Verdict)
	}
	top, _, _ := strings.Cut(r.out.String(), "\nSamples\n")
	if !strings.Contains(top, g.Reasons[0]) && !strings.Contains(r.out.String(), g.Verdict) {
		return fmt.Errorf("the console does not say so:\n%s", top)
	}
	page, err := os.ReadFile(filepath.Join(r.dir, "report.html"))
	if err == nil && !strings.Contains(string(page), g.Verdict) {
		return fmt.Errorf("the page does not say %s", g.Verdict)
	}
	return err
}

// othersTake says that a cause lies in what else this machine does during the test.
func othersTake(c stats.Cause) bool {
	return slices.Contains([]string{"machine_cpu", "steal", "cgroup_throttled"}, c.Name)
}

// TestGeneratorAccusesItself makes the generator fail in known ways and wants it to
// say so and why; then makes targets and plans fail, of which it must not accuse
// itself (M6). Other programs on the machine really hold it up: that it may say. An
// innocent has three attempts; a generator that blames itself wrongly does it each time.
func TestGeneratorAccusesItself(t *testing.T) {
	w := newWitness(t)
	each := func(list map[string]accused, attempts int, judge func(accused, *execution) error) {
		var names []string
		for name := range list {
			names = append(names, name)
		}
		slices.Sort(names)
		dir := t.TempDir()
		beside(t, len(names), func(i int) error {
			a, err := list[names[i]], error(nil)
			for k := range attempts {
				book := strings.ReplaceAll(names[i], " ", "_") + fmt.Sprint(k)
				var r *execution
				if r, err = a.run(w, book, filepath.Join(dir, book)); err != nil {
					return fmt.Errorf("%s: %w", names[i], err)
				}
				if err = judge(a, r); err == nil {
					return nil
				}
			}
			return fmt.Errorf("%s: %w", names[i], err)
		})
	}
	each(innocents(), 3, func(_ accused, r *execution) error {
		g := &r.summary.Generator
		if busy := slices.ContainsFunc(g.Causes, othersTake); g.Verdict != "ok" && !busy || g.Verdict == "invalid" {
			return fmt.Errorf("blamed: %+v", *g)
		}
		return nil
	})
	guilty := accusations(t)
	quick := map[string]accused{}
	for _, name := range []string{"stopped for 600 ms", "64 open files"} {
		quick[name] = guilty[name]
		delete(guilty, name)
	}
	each(quick, 1, accused.named)
	if _, err := exec.LookPath("bash"); err == nil && !testing.Short() {
		for name, a := range guilty {
			each(map[string]accused{name: a}, 2, accused.named)
		}
	}
}
