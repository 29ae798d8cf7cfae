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

// readMachine reads what can be read; elsewhere than on Linux that is nothing.
func readMachine() machine {
	var m machine
	m.Total, m.Idle, m.Steal = parseStat(slurp("/proc/stat"))
	for _, dir := range cgroupDirs(slurp("/proc/self/cgroup")) {
		if text := slurp(dir + "/cpu.stat"); text != nil {
			m.Throttled = parseThrottled(text)
			m.Quota = parseQuota(slurp(dir+"/cpu.max"), slurp(dir+"/cpu.cfs_quota_us"), slurp(dir+"/cpu.cfs_period_us"))
			break
		}
	}
	m.FilesLimit = int64(min(openFilesLimit(), 1<<40))
	m.Files = openFiles(slurp("/proc/self/status"), m.FilesLimit)
	m.PortsLimit = parseRange(slurp("/proc/sys/net/ipv4/ip_local_port_range"))
	m.Ports = parseSockets(slurp("/proc/net/sockstat"))
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

// cgroupDirs returns where the process's CPU cgroup may be found, nearest first.
func cgroupDirs(text []byte) []string {
	var out []string
	for _, line := range strings.Split(string(text), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 || strings.Contains(parts[2], "..") {
			continue
		}
		switch {
		case parts[0] == "0" && parts[1] == "":
			out = append(out, "/sys/fs/cgroup"+strings.TrimSuffix(parts[2], "/"))
		case strings.Contains(","+parts[1]+",", ",cpu,"):
			out = append(out, "/sys/fs/cgroup/cpu"+strings.TrimSuffix(parts[2], "/"))
		}
	}
	return append(out, "/sys/fs/cgroup", "/sys/fs/cgroup/cpu")
}

// parseThrottled reads cpu.stat of either version of cgroups.
func parseThrottled(text []byte) time.Duration {
	if n, ok := keyed(text, "throttled_usec"); ok {
		return time.Duration(n) * time.Microsecond
	}
	n, _ := keyed(text, "throttled_time")
	return time.Duration(n)
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

// parseQuota reads how many CPUs a cgroup may use, 0 for no limit: "50000 100000"
// in version 2, two files in version 1.
func parseQuota(v2, quota, period []byte) float64 {
	fields := strings.Fields(string(v2))
	if len(fields) != 2 {
		fields = append(strings.Fields(string(quota)), strings.Fields(string(period))...)
	}
	if len(fields) != 2 {
		return 0
	}
	used, err := strconv.ParseFloat(fields[0], 64)
	of, err2 := strconv.ParseFloat(fields[1], 64)
	if err != nil || err2 != nil || !(used > 0) || !(of > 0) {
		return 0
	}
	return finite(used / of)
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
