//go:build unix

package cmd

import (
	"errors"
	"io"
	"os"
	"syscall"
)

// lock takes a file for this process until the file is closed or the process ends,
// however it ends. While another process has it, held is true and pid its number,
// 0 if that is not known here. A file system without locks grants every one.
//
// The lock is a record lock (POSIX fcntl), which tells who holds it. A process has
// it with itself: closing any other descriptor of the file gives it up.
func lock(f *os.File) (pid int, held bool) {
	l := syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	err := syscall.FcntlFlock(f.Fd(), syscall.F_SETLK, &l)
	if !errors.Is(err, syscall.EAGAIN) && !errors.Is(err, syscall.EACCES) {
		return 0, false
	}
	l = syscall.Flock_t{Type: syscall.F_WRLCK, Whence: io.SeekStart}
	if err := syscall.FcntlFlock(f.Fd(), syscall.F_GETLK, &l); err == nil && l.Type != syscall.F_UNLCK {
		pid = max(0, int(l.Pid))
	}
	return pid, true
}
