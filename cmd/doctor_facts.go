package cmd

import (
	"context"
	"fmt"
	"os"
	"path"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"runner/plan/engine"
	"runner/reporters/stats"
)

// machineFacts asks the machine; what it does not tell stays zero. It takes a
// quarter of a second, for the waits.
func machineFacts() facts {
	f := facts{cpus: runtime.NumCPU()}
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) == nil {
		f.filesSoft, f.filesHard = uint64(limit.Cur), uint64(limit.Max)
	}
	_, _ = fmt.Sscan(fileText("/proc/sys/net/ipv4/ip_local_port_range"), &f.portsLow, &f.portsHigh) // absent: not known
	f.backlog, _ = strconv.Atoi(fileText("/proc/sys/net/core/somaxconn"))                           // likewise
	f.governor = fileText("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	f.clockSource = fileText("/sys/devices/system/clocksource/clocksource0/current_clocksource")
	f.quota, f.memory = limitsOf(fileText)
	before := fileText("/proc/stat")
	f.late, f.lateWorst = waits(200)
	f.steal = stealBetween(before, fileText("/proc/stat"))
	return f
}

// fileText returns a small file of the system without spaces around it, "" if it
// cannot be read.
func fileText(name string) string {
	text, err := os.ReadFile(name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// limitsOf returns the CPUs that control groups allow, 0 for no limit, and the
// bytes of memory that may still be used, by groups of version 2, then 1.
func limitsOf(read func(string) string) (quota float64, memory uint64) {
	for _, field := range strings.Split(read("/proc/meminfo"), "\n") {
		if rest, ok := strings.CutPrefix(field, "MemAvailable:"); ok {
			kib, _ := strconv.ParseUint(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 10, 54)
			memory = kib << 10
		}
	}
	for _, dir := range groupsOf(read("/proc/self/cgroup")) {
		memory = left(memory, read(path.Join(dir, "memory.max")), read(path.Join(dir, "memory.current")))
	}
	memory = left(memory, read("/sys/fs/cgroup/memory/memory.limit_in_bytes"), read("/sys/fs/cgroup/memory/memory.usage_in_bytes"))
	return stats.CPUQuota(func(name string) []byte { return []byte(read(name)) }), memory
}

// groupsOf returns the folders of this process's group of version 2 and of those
// around it.
func groupsOf(text string) []string {
	const root = "/sys/fs/cgroup"
	dirs := []string{root}
	for _, line := range strings.Split(text, "\n") {
		if name, ok := strings.CutPrefix(line, "0::/"); ok {
			for name = path.Clean("/" + name); name != "/"; name = path.Dir(name) {
				dirs = append(dirs, root+name)
			}
		}
	}
	return dirs
}

func left(memory uint64, limit, used string) uint64 {
	l, err := strconv.ParseUint(limit, 10, 64)
	u, err2 := strconv.ParseUint(used, 10, 64)
	if err != nil || err2 != nil {
		return memory
	}
	rest := max(1, l-min(u, l)) // 1: known, and nothing left
	if memory == 0 {
		return rest
	}
	return min(memory, rest)
}

// stealBetween returns the share of CPU time stolen between two readings of
// /proc/stat, or since the start where they are too near to each other.
func stealBetween(before, after string) float64 {
	steal, total := cpuTimes(after)
	steal0, total0 := cpuTimes(before)
	if total-total0 >= 20 {
		steal, total = steal-steal0, total-total0
	}
	if total <= 0 {
		return 0
	}
	return max(0, steal/total)
}

func cpuTimes(stat string) (steal, total float64) {
	line, _, _ := strings.Cut(stat, "\n")
	words := strings.Fields(line)
	if len(words) < 9 || words[0] != "cpu" {
		return 0, 0
	}
	for i, w := range words[1:9] { // user nice system idle iowait irq softirq steal
		n, _ := strconv.ParseFloat(w, 64)
		total += n
		if i == 7 {
			steal = n
		}
	}
	return steal, total
}

// waits measures how late the engine's clock wakes from waits of a millisecond.
func waits(n int) (median, worst time.Duration) {
	clock, release := engine.NewClock()
	defer release()
	late := make([]time.Duration, 0, n)
	for range n {
		due := clock.Now() + time.Millisecond
		if clock.SleepUntil(context.Background(), due) != nil {
			break
		}
		late = append(late, max(0, clock.Now()-due))
	}
	slices.Sort(late)
	if len(late) == 0 {
		return 0, 0
	}
	return late[len(late)/2], late[len(late)*99/100]
}
