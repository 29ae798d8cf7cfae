//go:build !race

package h1

import (
	"syscall"
	"unsafe"
)

func rawRead(fd uintptr, p []byte) (int, error) { return rawCall(syscall.SYS_RECVFROM, fd, p, 0) }

func rawWrite(fd uintptr, p []byte) (int, error) { return rawCall(syscall.SYS_SENDTO, fd, p, syscall.MSG_NOSIGNAL) }

func rawCall(call, fd uintptr, p []byte, flags uintptr) (int, error) {
	n, _, err := syscall.RawSyscall6(call, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)), flags, 0, 0)
	if err != 0 {
		return 0, err
	}
	return int(n), nil
}
