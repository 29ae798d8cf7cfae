//go:build !race && !386 && !s390x

package h1

import (
	"syscall"
	"unsafe"
)

// rawRead and rawWrite use a non-blocking socket without telling the scheduler: a
// call that never waits need not hand the processor on, which would cost the
// scheduler's bookkeeping and, where its watcher takes the call for a long one, two
// changes of threads. recvfrom and sendto go to the socket directly, past what read
// and write do for every kind of file.
//
// The race detector follows what passes through a socket only in the calls of
// package syscall, so it gets those; two processors lack these system calls.

func rawRead(fd uintptr, p []byte) (int, error) { return rawCall(syscall.SYS_RECVFROM, fd, p, 0) }

func rawWrite(fd uintptr, p []byte) (int, error) {
	return rawCall(syscall.SYS_SENDTO, fd, p, syscall.MSG_NOSIGNAL)
}

func rawCall(call, fd uintptr, p []byte, flags uintptr) (int, error) {
	n, _, err := syscall.RawSyscall6(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), flags, 0, 0)
	if err != 0 {
		return 0, err
	}
	return int(n), nil
}
