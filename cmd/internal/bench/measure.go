package main

import (
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"syscall"
	"time"
)

// result is one run of one client.
type result struct {
	cpu      time.Duration // per request
	rate     float64
	rss      int64 // bytes
	requests int64
}

// measure runs every client in turn, rounds times, prints the medians and returns the
// first client's, which is this program's; 0 if it did not run.
func measure(c testCase, clients []client, server *nginx, dir string, rounds int) time.Duration {
	base := server.plain
	if c.tls {
		base = server.safe
	}
	all := make([][]result, len(clients))
	for round := range rounds {
		for i := range clients {
			k := (i + round) % len(clients) // nobody always runs first
			r, err := once(clients[k], c, base, server, dir)
			if errors.Is(err, errNotForThis) {
				continue
			}
			if err != nil {
				fmt.Printf("%s: %v\n", clients[k].name, err)
				continue
			}
			all[k] = append(all[k], r)
		}
	}
	print(c, clients, all)
	if len(all[0]) == 0 {
		return 0
	}
	return median(all[0], cpuOf)
}

var errNotForThis = errors.New("not for this case")

// once runs a client on the first core and reads its CPU time from the kernel.
func once(cl client, c testCase, base string, server *nginx, dir string) (result, error) {
	args, err := cl.args(c, base, dir)
	if err != nil {
		return result{}, err
	}
	if args == nil {
		return result{}, errNotForThis
	}
	before, err := server.requests()
	if err != nil {
		return result{}, err
	}
	cmd := exec.Command("taskset", append([]string{"-c", "0"}, args...)...)
	cmd.Dir = dir // JMeter leaves a log where it is started
	start := time.Now()
	if text, err := cmd.CombinedOutput(); err != nil {
		return result{}, fmt.Errorf("%w: %s", err, strings.TrimSpace(string(text)))
	}
	took := time.Since(start)
	after, err := server.requests()
	if err != nil {
		return result{}, err
	}
	n := after - before - 1 // our own look at the counter
	if n <= 0 {
		return result{}, errors.New("it sent nothing")
	}
	usage := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	cpu := cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
	return result{cpu / time.Duration(n), float64(n) / took.Seconds(), usage.Maxrss * 1024, n}, nil
}

func print(c testCase, clients []client, all [][]result) {
	fmt.Printf("\n%s, %s a run, median of %d\n\n", c.name, c.length, len(all[0]))
	fmt.Println("| client | CPU per request | × wrk | best run | × wrk | requests/s | memory |")
	fmt.Println("|---|---:|---:|---:|---:|---:|---:|")
	var typical, least time.Duration
	for i, cl := range clients {
		if cl.name == "wrk" && len(all[i]) > 0 {
			typical, least = median(all[i], cpuOf), best(all[i])
		}
	}
	for i, cl := range clients {
		if len(all[i]) == 0 {
			continue
		}
		cpu, low := median(all[i], cpuOf), best(all[i])
		fmt.Printf("| %s | %.2f µs | %s | %.2f µs | %s | %.0f | %.0f MiB |\n", cl.name, float64(cpu)/1e3, ratio(cpu, typical), float64(low)/1e3, ratio(low, least),
			median(all[i], func(r result) float64 { return r.rate }), float64(median(all[i], func(r result) int64 { return r.rss }))/(1<<20))
	}
}

func cpuOf(r result) time.Duration { return r.cpu }

func best(rs []result) time.Duration {
	low := rs[0].cpu
	for _, r := range rs {
		low = min(low, r.cpu)
	}
	return low
}

func ratio(cpu, wrk time.Duration) string {
	if wrk == 0 {
		return "-"
	}
	return fmt.Sprintf("%.2f", float64(cpu)/float64(wrk))
}

func median[T int64 | float64 | time.Duration](rs []result, of func(result) T) T {
	values := make([]T, len(rs))
	for i, r := range rs {
		values[i] = of(r)
	}
	slices.Sort(values)
	return values[len(values)/2]
}
