package cmd

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// good is a machine without faults.
func good() facts {
	return facts{
		filesSoft: 1024, filesHard: 1 << 20, portsLow: 1024, portsHigh: 65535, backlog: 4096, cpus: 8, governor: "performance",
		clockSource: "tsc", late: 60 * time.Microsecond, lateWorst: 300 * time.Microsecond, memory: 8 << 30,
	}
}

func TestDiagnose(t *testing.T) {
	for _, tt := range []struct {
		name string
		need needs
		bad  func(*facts)
		want string // "check state" of all that are not ok
		do   string
	}{
		{"a good machine", needs{"Shop", 5000}, func(*facts) {}, "", ""},
		{"files", needs{"Shop", 5000}, func(f *facts) { f.filesHard = 4096 }, "open files fail", "ulimit -n 5064"},
		{"files without a plan", needs{"", 1000}, func(f *facts) { f.filesHard = 1024 }, "open files warn", "ulimit -n 1064"},
		{"ports", needs{"Shop", 40000}, func(f *facts) { f.portsLow = 32768 }, "ports fail", "sysctl -w net.ipv4.ip_local_port_range"},
		{"nearly all ports", needs{"Shop", 60000}, func(*facts) {}, "ports warn", "--segment 1/2"},
		{"listen queue", needs{"Shop", 500}, func(f *facts) { f.backlog = 128 }, "listen queue warn", "somaxconn=4096"},
		{"one CPU", needs{"Shop", 5}, func(f *facts) { f.cpus = 1 }, "CPUs warn", ""},
		{"half a CPU", needs{"Shop", 5}, func(f *facts) { f.quota = 0.5 }, "CPUs warn", "--cpus 2"},
		{"two of the CPUs", needs{"Shop", 5}, func(f *facts) { f.quota = 2 }, "", ""},
		{"governor", needs{"Shop", 5}, func(f *facts) { f.governor = "powersave" }, "CPU governor warn", "cpupower"},
		{"steal", needs{"Shop", 5}, func(f *facts) { f.steal = 0.05 }, "steal warn", ""},
		{"clock", needs{"Shop", 5}, func(f *facts) { f.clockSource = "hpet" }, "clock warn", "current_clocksource"},
		{"waits", needs{"Shop", 5}, func(f *facts) { f.late = time.Millisecond }, "waits warn", "top"},
		{"overload", needs{"Shop", 5}, func(f *facts) { f.late = time.Second }, "waits fail", ""},
		{"memory", needs{"Shop", 60000}, func(f *facts) { f.memory = 100 << 20 }, "ports warn, memory fail", "--segment"},
		{"half of the memory", needs{"Shop", 100}, func(f *facts) { f.memory = 100 << 20 }, "memory warn", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := good()
			tt.bad(&f)
			var bad, do []string
			for _, found := range diagnose(f, tt.need) {
				if found.State != "ok" {
					bad = append(bad, found.Name+" "+found.State)
					do = append(do, found.Do...)
					if found.Why == "" {
						t.Errorf("%s does not say why", found.Name)
					}
				}
			}
			if diff := cmp.Diff(tt.want, strings.Join(bad, ", ")); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if all := strings.Join(do, "\n"); !strings.Contains(all, tt.do) || tt.do == "" && all != "" {
				t.Errorf("to type: %q, want %q", all, tt.do)
			}
		})
	}
	if n := len(diagnose(facts{cpus: 2}, needs{"Shop", 10})); n != 3 {
		t.Errorf("%d checks of a machine that tells nothing, want 3", n)
	}
}

func TestLimitsOfControlGroups(t *testing.T) {
	for _, tt := range []struct {
		name   string
		files  map[string]string
		quota  float64
		memory uint64
	}{
		{"none", nil, 0, 0},
		{"no limits", map[string]string{"/proc/meminfo": "MemTotal: 9 kB\nMemAvailable:    2048 kB", "/sys/fs/cgroup/cpu.max": "max 100000", "/sys/fs/cgroup/memory.max": "max"}, 0, 2 << 20},
		{"the lowest of the groups around", map[string]string{
			"/proc/self/cgroup":               "0::/a/b",
			"/proc/meminfo":                   "MemAvailable: 9999999 kB",
			"/sys/fs/cgroup/a/cpu.max":        "150000 100000",
			"/sys/fs/cgroup/a/b/cpu.max":      "400000 100000",
			"/sys/fs/cgroup/a/memory.max":     "5000",
			"/sys/fs/cgroup/a/memory.current": "2000",
		}, 1.5, 3000},
		{"nested groups of version 1", map[string]string{"/proc/self/cgroup": "4:memory:/m\n1:cpu,cpuacct:/a/b\n0::/",
			"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "-1", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
			"/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us": "20000", "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us": "100000",
			"/sys/fs/cgroup/cpu/a/b/cpu.cfs_quota_us": "50000", "/sys/fs/cgroup/cpu/a/b/cpu.cfs_period_us": "100000"}, 0.2, 0},
		{"version 1", map[string]string{"/sys/fs/cgroup/cpu/cpu.cfs_quota_us": "50000", "/sys/fs/cgroup/cpu/cpu.cfs_period_us": "100000",
			"/sys/fs/cgroup/memory/memory.limit_in_bytes": "700", "/sys/fs/cgroup/memory/memory.usage_in_bytes": "900"}, 0.5, 1},
		{"nonsense", map[string]string{"/proc/self/cgroup": "0::/../../etc", "/proc/meminfo": "MemAvailable: x kB", "/sys/fs/cgroup/cpu.max": "a b", "/etc/cpu.max": "1 1"}, 0, 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			quota, memory := limitsOf(func(name string) string { return tt.files[name] })
			if quota != tt.quota || memory != tt.memory {
				t.Errorf("quota %g, memory %d, want %g, %d", quota, memory, tt.quota, tt.memory)
			}
		})
	}
}

func TestSteal(t *testing.T) {
	for _, tt := range []struct {
		before, after string
		want          float64
	}{
		{"", "", 0},
		{"cpu 10 0 10 80 0 0 0 0 0 0\n", "cpu 20 0 20 150 0 0 0 10 0 0\ncpu0 1", 0.1},
		{"cpu 10 0 10 80 0 0 0 0 0 0", "cpu 10 0 10 75 0 0 0 5 0 0", 0.05},
		{"x", "cpu a b", 0},
	} {
		if got := stealBetween(tt.before, tt.after); got != tt.want {
			t.Errorf("%q, %q: %g, want %g", tt.before, tt.after, got, tt.want)
		}
	}
}

func TestWaitsAreMeasured(t *testing.T) {
	median, worst := waits(5)
	if median < 0 || worst < median || worst > time.Minute {
		t.Errorf("%v, %v", median, worst)
	}
}

func TestWorseExitCode(t *testing.T) {
	passed, failed, bad, stopped := exit(exitPassed), exit(exitFailed), exit(exitInvalid), exit(130)
	for _, tt := range []struct {
		errs []error
		want int
	}{
		{[]error{passed, passed}, 0}, {[]error{failed, passed}, 1}, {[]error{passed, bad, failed}, 3}, {[]error{bad, stopped}, 130},
	} {
		var worst error
		for _, err := range tt.errs {
			worst = worse(worst, err)
		}
		if codeOf(worst) != tt.want {
			t.Errorf("%v: %d, want %d", tt.errs, codeOf(worst), tt.want)
		}
	}
}
