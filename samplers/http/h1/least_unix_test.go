//go:build unix

package h1

import "syscall"

// least gives a listener's connections the smallest buffers.
func least(_, _ string, raw syscall.RawConn) error {
	return raw.Control(func(fd uintptr) { _ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 1) })
}
