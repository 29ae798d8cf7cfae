//go:build !race

package h1

import (
	"syscall"
	"unsafe"
)

// rawRead and rawWrite use a non-blocking socket without telling the scheduler: a
// call that never waits need not hand the processor on, which would cost the
// scheduler's bookkeeping and, where its watcher takes the call for a long one, two
// changes of threads. The race detector follows what passes through a socket only
// in the calls of package syscall, so it gets those.

func rawRead(fd uintptr, p []byte) (int, error) { return rawCall(syscall.SYS_READ, fd, p) }

func rawWrite(fd uintptr, p []byte) (int, error) { return rawCall(syscall.SYS_WRITE, fd, p) }

func rawCall(call, fd uintptr, p []byte) (int, error) {
	n, _, err := syscall.RawSyscall(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	if err != 0 {
		return 0, err
	}
	return int(n), nil
}
