package stats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestReadingControlGroups(t *testing.T) {
	for text, want := range map[string]string{
		"0::/a/b\n": "/sys/fs/cgroup/a/b /sys/fs/cgroup/a",
		"5:memory:/m\n3:cpu,cpuacct:/x/y\n0::/\n":  "/sys/fs/cgroup/cpu/x/y /sys/fs/cgroup/cpu/x",
		"2:cpu:/../..\n0::/../etc\nx\n:::\n0::cpu": "",
	} {
		want = strings.TrimSpace("/sys/fs/cgroup /sys/fs/cgroup/cpu " + want)
		diffEmpty(t, text, cmp.Diff(want, strings.Join(cgroupDirs([]byte(text)), " ")))
	}
	for text, want := range map[string]time.Duration{"nr_throttled 3\nthrottled_usec 1500\n": 1500 * time.Microsecond, "throttled_time 42\n": 42, "": 0, "throttled_usec x": 0} {
		if got := parseThrottled([]byte(text)); got != want {
			t.Errorf("throttled of %q is %v", text, got)
		}
	}
	for text, want := range map[string]float64{"20000 100000\n": .2, "max 100000": 0, "": 0, "1 0": 0, "-1 100000": 0} {
		if got := parseQuota([]byte(text), nil, nil); got != want {
			t.Errorf("quota of %q is %v", text, got)
		}
	}
	if got := parseQuota(nil, []byte("150000\n"), []byte("100000\n")); got != 1.5 {
		t.Errorf("quota of version 1 is %v", got)
	}
}

// tree returns what reads the files recorded in a folder as if it were the root.
func tree(dir string) func(string) []byte {
	return func(path string) []byte { return slurp(filepath.Join(dir, path)) }
}

// record writes files into a new folder.
func record(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestQuotaOfNestedGroups reads recorded trees of control groups: the lowest quota
// around the process counts, wherever it was set, and so does its throttling.
func TestQuotaOfNestedGroups(t *testing.T) {
	const v1, v2 = "/sys/fs/cgroup/cpu", "/sys/fs/cgroup"
	tests := map[string]struct {
		files     map[string]string
		quota     float64
		throttled time.Duration
	}{
		"version 2, the parent is tighter": {map[string]string{
			"/proc/self/cgroup": "0::/pod/app\n",
			v2 + "/cpu.stat":    "usage_usec 9\n", // the root has no quota
			v2 + "/pod/cpu.max": "20000 100000\n", v2 + "/pod/cpu.stat": "nr_throttled 4\nthrottled_usec 300\n",
			v2 + "/pod/app/cpu.max": "150000 100000\n", v2 + "/pod/app/cpu.stat": "nr_throttled 1\nthrottled_usec 20\n",
		}, .2, 320 * time.Microsecond},
		"version 2, the group is tighter": {map[string]string{
			"/proc/self/cgroup": "0::/pod/app\n", v2 + "/pod/cpu.max": "max 100000\n",
			v2 + "/pod/app/cpu.max": "50000 100000\n", v2 + "/pod/app/cpu.stat": "throttled_usec 20\n",
		}, .5, 20 * time.Microsecond},
		"version 1, the parent is tighter": {map[string]string{
			"/proc/self/cgroup":      "4:memory:/m\n1:cpu:/a/b\n0::/\n",
			v1 + "/cpu.cfs_quota_us": "-1\n", v1 + "/cpu.cfs_period_us": "100000\n",
			v1 + "/a/cpu.cfs_quota_us": "20000\n", v1 + "/a/cpu.cfs_period_us": "100000\n", v1 + "/a/cpu.stat": "nr_periods 25\nnr_throttled 25\nthrottled_time 1970256240\n",
			v1 + "/a/b/cpu.cfs_quota_us": "-1\n", v1 + "/a/b/cpu.cfs_period_us": "100000\n", v1 + "/a/b/cpu.stat": "nr_throttled 0\nthrottled_time 0\n",
		}, .2, 1970256240},
		"a container that sees the path of its host": {map[string]string{
			"/proc/self/cgroup": "3:cpu,cpuacct:/docker/0123\n", v1 + "/cpu.cfs_quota_us": "150000\n", v1 + "/cpu.cfs_period_us": "100000\n", v1 + "/cpu.stat": "throttled_time 7\n",
		}, 1.5, 7},
		"none": {map[string]string{"/proc/self/cgroup": "0::/\n"}, 0, 0},
	}
	for name, tt := range tests {
		read := tree(record(t, tt.files))
		if quota, throttled := readCgroups(read); quota != tt.quota || throttled != tt.throttled || CPUQuota(read) != quota {
			t.Errorf("%s: quota %v and %v throttled, want %v and %v", name, quota, throttled, tt.quota, tt.throttled)
		}
	}
}

// TestQuotaOfARecordedGroupIsNamed runs a recorder on the files that a group with a
// quota of 20 % leaves, second by second: it names the quota as the cause.
func TestQuotaOfARecordedGroupIsNamed(t *testing.T) {
	const dir = "/sys/fs/cgroup/cpu/limited"
	root := record(t, map[string]string{
		"/proc/self/cgroup": "1:cpu:/limited\n0::/\n", dir + "/cpu.cfs_quota_us": "20000\n", dir + "/cpu.cfs_period_us": "100000\n",
		dir + "/cpu.stat": "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n",
	})
	r := &rig{clock: &fakeClock{}}
	r.Recorder = New(testLayout(), Options{Now: r.clock.now, Journal: &r.journal, Shards: 1,
		Process: func() Process { return Process{RSS: -1, CPUs: 2, procs: 2, machine: readMachine(tree(root))} }})
	for _, stat := range []string{"nr_periods 10\nnr_throttled 10\nthrottled_time 790256240\n", "nr_periods 25\nnr_throttled 25\nthrottled_time 1970256240\n"} {
		for range 200 {
			r.run(1, scheduled(r.clock.at, 30*time.Millisecond, time.Millisecond, true))
		}
		if err := os.WriteFile(filepath.Join(root, dir, "cpu.stat"), []byte(stat), 0o644); err != nil {
			t.Fatal(err)
		}
		r.second()
	}
	g := r.Summary(EndInfo{}).Generator
	if g.Verdict != "limited" || len(g.Causes) != 1 || g.Causes[0].Name != "cgroup_throttled" || g.Causes[0].Seconds != 2 ||
		*g.CPUsAllowed != .2 || *g.ThrottledNS != 1970256240 {
		t.Errorf("%+v", g)
	}
}
