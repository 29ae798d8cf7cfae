//go:build unix

package h1

import "syscall"

// quietSocket reports whether a read of the non-blocking socket would wait. It
// may take a byte: a connection with unread bytes is not used again.
func quietSocket(fd uintptr) bool {
	var one [1]byte
	for {
		_, err := syscall.Read(int(fd), one[:])
		if err != syscall.EINTR {
			return err == syscall.EAGAIN
		}
	}
}
