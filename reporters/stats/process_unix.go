//go:build unix

package stats

import (
	"time"

	"golang.org/x/sys/unix"
)

// processCPU returns the CPU time of this process, negative if unknown.
func processCPU() time.Duration {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return -1
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// openFilesLimit returns the soft limit of open files, 0 if unknown.
func openFilesLimit() uint64 {
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &r); err != nil {
		return 0
	}
	return uint64(r.Cur)
}
