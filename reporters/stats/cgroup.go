package stats

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Where control groups are mounted: those of version 2, and the CPU's of version 1.
const (
	groupRoot   = "/sys/fs/cgroup"
	groupRootV1 = "/sys/fs/cgroup/cpu"
)

// CPUQuota returns how many CPUs the control groups let this process use, 0 for no
// limit: the lowest quota of its group and of those around it, in version 1 or 2.
// read returns a file's text, nil if it cannot be read.
func CPUQuota(read func(path string) []byte) float64 {
	quota, _ := readCgroups(read)
	return quota
}

// readCgroups returns the quota, and for how long the groups were throttled by
// theirs: each counts only its own quota, so what they say adds up.
func readCgroups(read func(path string) []byte) (quota float64, throttled time.Duration) {
	for _, dir := range cgroupDirs(read("/proc/self/cgroup")) {
		own := parseQuota(read(dir+"/cpu.max"), read(dir+"/cpu.cfs_quota_us"), read(dir+"/cpu.cfs_period_us"))
		if own > 0 && (quota == 0 || own < quota) {
			quota = own
		}
		throttled += parseThrottled(read(dir + "/cpu.stat"))
	}
	return quota, throttled
}

// cgroupDirs returns the folders of the process's CPU groups and of all around
// them. In a container the path may be that of the host, of which only the root is
// there: whatever is not there is skipped by who reads.
func cgroupDirs(text []byte) []string {
	out := []string{groupRoot, groupRootV1}
	for _, line := range strings.Split(string(text), "\n") {
		parts := strings.SplitN(line, ":", 3)
		if len(parts) != 3 || strings.Contains(parts[2], "..") {
			continue
		}
		root := ""
		switch {
		case parts[0] == "0" && parts[1] == "":
			root = groupRoot
		case strings.Contains(","+parts[1]+",", ",cpu,"):
			root = groupRootV1
		default:
			continue
		}
		for name := path.Clean("/" + parts[2]); name != "/"; name = path.Dir(name) {
			if !slices.Contains(out, root+name) {
				out = append(out, root+name)
			}
		}
	}
	return out
}

// parseThrottled reads cpu.stat of either version of cgroups.
func parseThrottled(text []byte) time.Duration {
	if n, ok := keyed(text, "throttled_usec"); ok {
		return time.Duration(n) * time.Microsecond
	}
	n, _ := keyed(text, "throttled_time")
	return time.Duration(n)
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
