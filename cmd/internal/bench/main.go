// Command bench measures the load generator beside its peers: the same nginx on
// one core, each client on the other, in turn, several rounds in one go. It
// prints medians of client CPU per request, requests per second and memory, and
// the ratio to wrk. Peers that are not installed are left out and named.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 3, "how often each client runs")
	length := flag.Duration("time", 5*time.Second, "length of one run")
	only := flag.String("only", "", "only the cases whose name contains this")
	former := flag.String("former", "", "another build of runner to measure in turn with this one")
	flag.Parse()
	if err := run(*rounds, *length, *only, *former); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(rounds int, length time.Duration, only, former string) error {
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	runner := filepath.Join(dir, "runner")
	if err := command("go", "build", "-o", runner, "./cmd/runner"); err != nil {
		return fmt.Errorf("build runner: %w", err)
	}
	server, err := startNginx(dir)
	if err != nil {
		return err
	}
	defer server.stop()
	clients, missing := findClients(runner, former, dir)
	for _, c := range cases(length) {
		if !matches(c.name, only) {
			continue
		}
		if err := measure(c, clients, server, dir, rounds); err != nil {
			return err
		}
	}
	if len(missing) > 0 {
		fmt.Printf("not installed, so not measured: %v\n", missing)
	}
	return nil
}
