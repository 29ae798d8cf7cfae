package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// testCase is one load: connections that ask url again and again for a time.
type testCase struct {
	name        string
	path        string
	tls         bool
	dynamic     bool // POST with interpolated path, header and JSON body, JSON extractor and JSON assertion
	connections int
	length      time.Duration
}

func cases(length time.Duration) []testCase {
	return []testCase{
		{name: "HTTP keep-alive, 12-byte answer, 50 connections", path: "/", connections: 50, length: length},
		{name: "HTTPS keep-alive, 12-byte answer, 50 connections", path: "/", tls: true, connections: 50, length: length},
		{name: "POST, changing path, header and JSON body, 1 KB JSON answer, extractor and assertion (runner only)", path: "/item", dynamic: true, connections: 50, length: length},
	}
}

// client is a program that makes load.
type client struct {
	name string
	args func(c testCase, base, dir string) ([]string, error) // program and arguments; nil: cannot do the case
}

// findClients returns runner and the peers on the PATH, or that `go install`
// brings, and the names of those that are missing. former is another build of
// runner to measure beside it, or empty.
func findClients(runner, former, dir string) (found []client, missing []string) {
	found = append(found, runnerClient("runner", runner))
	if former != "" {
		found = append(found, runnerClient("former", former))
	}
	for _, p := range peers() {
		if program := locate(p.name, p.module, dir); program != "" {
			args := p.args
			found = append(found, client{p.name, func(c testCase, base, _ string) ([]string, error) {
				if c.dynamic {
					return nil, nil
				}
				return append([]string{program}, args(c, base+c.path)...), nil
			}})
			continue
		}
		missing = append(missing, p.name)
	}
	if j, ok := jmeter(); ok {
		found = append(found, j)
	} else {
		missing = append(missing, "jmeter")
	}
	return found, missing
}

func runnerClient(name, program string) client {
	return client{name, func(c testCase, base, dir string) ([]string, error) {
		path := filepath.Join(dir, "plan.yaml")
		err := os.WriteFile(path, []byte(plan(c, base)), 0o600)
		return []string{program, "exec", path, "--out", filepath.Join(dir, "out"), "-q"}, err
	}}
}

type peer struct {
	name, module string
	args         func(c testCase, url string) []string
}

func peers() []peer {
	seconds := func(c testCase) string { return fmt.Sprint(int(c.length.Seconds())) }
	number := func(c testCase) string { return fmt.Sprint(c.connections) }
	return []peer{
		{"wrk", "", func(c testCase, url string) []string {
			return []string{"-t1", "-c" + number(c), "-d" + seconds(c) + "s", "--latency", url}
		}},
		{"bombardier", "github.com/codesenberg/bombardier@latest", func(c testCase, url string) []string {
			return []string{"-c", number(c), "-d", seconds(c) + "s", "-k", "-q", "-l", url}
		}},
		{"hey", "", func(c testCase, url string) []string {
			return []string{"-c", number(c), "-z", seconds(c) + "s", url}
		}},
		{"vegeta", "github.com/tsenart/vegeta/v12@latest", func(c testCase, url string) []string {
			return []string{"attack", "-rate=0", "-max-workers=" + number(c), "-workers=" + number(c), "-insecure", "-duration=" + seconds(c) + "s",
				"-targets=" + targetFile(url), "-output=/dev/null"}
		}},
		{"ab", "", func(c testCase, url string) []string {
			return []string{"-k", "-q", "-c", number(c), "-t", seconds(c), "-n", "100000000", url}
		}},
		{"h2load", "", func(c testCase, url string) []string {
			return []string{"--h1", "-c", number(c), "-D", seconds(c), url}
		}},
	}
}

// targetFile writes vegeta's target; its name is derived from the URL.
func targetFile(url string) string {
	path := filepath.Join(os.TempDir(), "bench-target-"+strings.NewReplacer("/", "_", ":", "_").Replace(url))
	_ = os.WriteFile(path, []byte("GET "+url+"\n"), 0o600) // vegeta says so if it is missing
	return path
}

func locate(name, module, dir string) string {
	if program, err := exec.LookPath(name); err == nil {
		return program
	}
	if module == "" {
		return ""
	}
	install := exec.Command("go", "install", module)
	install.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=")
	if install.Run() != nil {
		return ""
	}
	return filepath.Join(dir, name)
}

func plan(c testCase, base string) string {
	step := "      - http: GET " + c.path + "\n        assertions:\n          - status: 200\n          - duration: 500ms\n"
	if c.dynamic {
		step = "      - http:\n          request: POST " + c.path + "/${thread.iteration}\n          headers: {X-Trace: \"t-${thread.id}-${thread.iteration}\"}\n" +
			"          json: {id: \"${thread.iteration}\", name: \"item ${thread.iteration}\", tags: [a, b]}\n" +
			"        extract: {id: {json: $.id}}\n        assertions:\n          - status: 200\n          - json: {path: \"$.more[3].sku\", equals: SHO-003}\n"
	}
	return fmt.Sprintf("plan: Bench\ndefaults:\n  http: {base_url: %q, tls: {insecure: true}}\nthread_groups:\n  g:\n    load: {threads: %d, duration: %s}\n    steps:\n%s    thresholds: errors < 1%%\n",
		base, c.connections, c.length, step)
}

func command(name string, args ...string) error {
	cmd := exec.Command(name, args...)
	cmd.Stderr = os.Stderr
	return cmd.Run()
}

func matches(name, only string) bool { return only == "" || strings.Contains(name, only) }
