package stats

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"
)

// machine is what the system says of itself and of the process's share of it.
// Zero is unknown.
type machine struct {
	Total, Idle, Steal time.Duration // CPU time of all CPUs since the start
	Throttled          time.Duration // the process's cgroup was kept from running
	Quota              float64       // CPUs that the cgroup may use
	Files, FilesLimit  int64
	Ports, PortsLimit  int64 // TCP sockets in use or waiting, against the ephemeral ports
}

// clockTick is the unit of /proc/stat on every Linux that Go runs on.
const clockTick = 10 * time.Millisecond

// readMachine reads what can be read; elsewhere than on Linux that is nothing. read
// returns a file's text, nil if there is none: slurp, but in tests.
func readMachine(read func(path string) []byte) machine {
	var m machine
	m.Total, m.Idle, m.Steal = parseStat(read("/proc/stat"))
	m.Quota, m.Throttled = readCgroups(read)
	m.FilesLimit = int64(min(openFilesLimit(), 1<<40))
	m.Files = openFiles(read("/proc/self/status"), m.FilesLimit)
	m.PortsLimit = parseRange(read("/proc/sys/net/ipv4/ip_local_port_range"))
	m.Ports = parseSockets(read("/proc/net/sockstat"))
	return m
}

// slurp reads a small file of the system, nil if it cannot be read.
func slurp(path string) []byte {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return text
}

// parseStat reads the first line of /proc/stat: user, nice, system, idle, iowait,
// irq, softirq, steal; guest time is part of user time.
func parseStat(text []byte) (total, idle, steal time.Duration) {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	fields := strings.Fields(string(line))
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, 0, 0
	}
	for i, f := range fields[1:9] {
		n, err := strconv.ParseInt(f, 10, 40)
		if err != nil {
			return 0, 0, 0
		}
		d := time.Duration(n) * clockTick
		total += d
		switch i {
		case 3, 4:
			idle += d
		case 7:
			steal = d
		}
	}
	return total, idle, steal
}

// keyed returns the number behind a word at the beginning of a line.
func keyed(text []byte, key string) (int64, bool) {
	for _, line := range strings.Split(string(text), "\n") {
		if fields := strings.Fields(line); len(fields) >= 2 && strings.TrimSuffix(fields[0], ":") == key {
			n, err := strconv.ParseInt(fields[1], 10, 64)
			return n, err == nil && n >= 0
		}
	}
	return 0, false
}

// openFiles counts the process's open files. The size of its table bounds them,
// and only where that comes near the limit are they counted one by one.
func openFiles(status []byte, limit int64) int64 {
	size, ok := keyed(status, "FDSize")
	if !ok {
		return 0
	}
	if size*4 < limit {
		return size
	}
	if info, err := os.Stat("/proc/self/fd"); err == nil && info.Size() > 0 {
		return info.Size() // Linux 6.2 and later tell the number without a list of names
	}
	dir, err := os.Open("/proc/self/fd")
	if err != nil {
		return size
	}
	defer dir.Close()
	names, err := dir.Readdirnames(-1)
	if err != nil {
		return size
	}
	return int64(len(names))
}

// parseRange reads how many ephemeral ports there are.
func parseRange(text []byte) int64 {
	fields := strings.Fields(string(text))
	if len(fields) != 2 {
		return 0
	}
	low, err := strconv.ParseInt(fields[0], 10, 32)
	high, err2 := strconv.ParseInt(fields[1], 10, 32)
	if err != nil || err2 != nil || high < low {
		return 0
	}
	return high - low + 1
}

// parseSockets reads how many TCP sockets hold a port: "TCP: inuse 5 orphan 0 tw 3
// alloc 7 mem 1".
func parseSockets(text []byte) int64 {
	for _, line := range strings.Split(string(text), "\n") {
		fields := strings.Fields(line)
		if len(fields) < 7 || fields[0] != "TCP:" {
			continue
		}
		sum := int64(0)
		for i := 1; i+1 < len(fields); i += 2 {
			if n, err := strconv.ParseInt(fields[i+1], 10, 32); err == nil && (fields[i] == "inuse" || fields[i] == "tw") {
				sum += n
			}
		}
		return sum
	}
	return 0
}
