package cmd_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// inGroup is a shell script that runs the rest of its arguments in the control
// group that it is named after.
const inGroup = `echo $$ > "$0/cgroup.procs" && exec "$@"`

// quotaGroup makes a control group that may use a fifth of a CPU, for the time of
// the test, and returns its folder; "" where the system does not let it, of which
// it tells the reason. What the program does in such a group is then still tested,
// by TestQuotaOfARecordedGroupIsNamed in reporters/stats.
func quotaGroup(t *testing.T) string {
	t.Helper()
	dir, err := makeQuotaGroup()
	if err != nil {
		t.Logf("no control group with a CPU quota can be made here (%v): only the recorded one of reporters/stats is tested", err)
		return ""
	}
	t.Logf("the CPU quota is that of a real control group")
	t.Cleanup(func() {
		for range 50 { // those that have just ended may still be in it
			if err = os.Remove(dir); err == nil {
				return
			}
			time.Sleep(20 * time.Millisecond)
		}
		t.Errorf("the control group is left behind: %v", err)
	})
	return dir
}

// makeQuotaGroup makes it in the group of this process, or in one around it that
// lets it, with the files of version 2 or 1.
func makeQuotaGroup() (string, error) {
	own, err := os.ReadFile("/proc/self/cgroup")
	if err != nil {
		return "", err
	}
	var all []error
	for line := range strings.Lines(string(own)) {
		parts := strings.SplitN(strings.TrimSpace(line), ":", 3)
		if len(parts) != 3 {
			continue
		}
		root, file, quota := "/sys/fs/cgroup", "cpu.max", "20000 100000"
		if parts[1] != "" {
			root, file, quota = "/sys/fs/cgroup/cpu", "cpu.cfs_quota_us", "20000"
		}
		if parts[1] != "" && !strings.Contains(","+parts[1]+",", ",cpu,") {
			continue
		}
		for at := path.Clean("/" + parts[2]); ; at = path.Dir(at) {
			dir := filepath.Join(root, at, fmt.Sprintf("runner-test-%d", os.Getpid()))
			if err := limitedGroup(dir, file, quota); err == nil {
				return dir, nil
			} else {
				all = append(all, err)
			}
			if at == "/" {
				break
			}
		}
	}
	return "", errors.Join(all...)
}

// limitedGroup makes a control group with that quota, or nothing.
func limitedGroup(dir, file, quota string) error {
	if err := os.Mkdir(dir, 0o755); err != nil {
		return err
	}
	// A file system that is none of control groups would create the file.
	f, err := os.OpenFile(filepath.Join(dir, file), os.O_WRONLY, 0)
	if err == nil {
		_, err = f.WriteString(quota)
		err = errors.Join(err, f.Close())
	}
	if err == nil {
		err = exec.Command("sh", "-c", inGroup, dir, "true").Run()
	}
	if err != nil {
		err = errors.Join(err, os.Remove(dir))
	}
	return err
}

// TestDoctorSaysTheQuota runs doctor in a group with a quota, in one more without.
func TestDoctorSaysTheQuota(t *testing.T) {
	dir := quotaGroup(t)
	if dir == "" {
		return // TestLimitsOfControlGroups reads a recorded one
	}
	inner := filepath.Join(dir, "inner")
	if err := os.Mkdir(inner, 0o755); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.Remove(inner) })
	for _, group := range []string{dir, inner} {
		out, err := exec.Command("sh", "-c", inGroup, group, "runner", "doctor").CombinedOutput()
		var exit *exec.ExitError
		if err != nil && !errors.As(err, &exit) || !strings.Contains(string(out), "of which the control group allows 0.2") {
			t.Errorf("%s: %v\n%s", group, err, out)
		}
	}
}
