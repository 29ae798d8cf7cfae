// Command bench measures the load generator beside its peers: the same nginx on
// one core, each client on the other, in turn, several rounds in one go. It
// prints client CPU per request (the median, and the best run, which other programs
// disturbed least), requests per second and memory, and the ratios to wrk. Peers that are not installed are left out and named.
package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() {
	rounds := flag.Int("rounds", 3, "how often each client runs")
	length := flag.Duration("time", 5*time.Second, "length of one run")
	only := flag.String("only", "", "only the cases whose name contains this")
	former := flag.String("former", "", "another build of runner to measure in turn with this one")
	names := flag.String("clients", "", "only the clients in this comma-separated list")
	flag.Parse()
	if err := run(*rounds, *length, *only, *former, *names); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

func run(rounds int, length time.Duration, only, former, names string) error {
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
	clients = slices.DeleteFunc(clients, func(c client) bool { return names != "" && !slices.Contains(strings.Split(names, ","), c.name) })
	var static time.Duration
	for _, c := range cases(length) {
		if !matches(c.name, only) {
			continue
		}
		cpu := measure(c, clients, server, dir, rounds)
		switch {
		case c.dynamic && static > 0 && cpu > 0:
			fmt.Printf("\n%s: %s times the static case\n", clients[0].name, ratio(cpu, static))
		case !c.dynamic && !c.tls:
			static = cpu
		}
	}
	if len(missing) > 0 {
		fmt.Printf("not installed, so not measured: %v\n", missing)
	}
	return nil
}
