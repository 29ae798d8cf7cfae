//go:build unix

package h1

import (
	"io"
	"syscall"
)

// rawSockets says that sockets may be used without the net package.
const rawSockets = true

// quietSocket reports whether a read of the non-blocking socket would wait. It
// may take a byte: a connection with unread bytes is not used again.
func quietSocket(fd uintptr) bool {
	var one [1]byte
	for {
		_, err := rawRead(fd, one[:])
		if err != syscall.EINTR {
			return err == syscall.EAGAIN
		}
	}
}

// writeSocket writes what the socket takes now.
func writeSocket(fd uintptr, p []byte) (int, error) {
	for {
		n, err := rawWrite(fd, p)
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return 0, nil
		case err != nil:
			return 0, err
		default:
			return n, nil
		}
	}
}

// readSocket reads what is there; again says that there is nothing yet.
func readSocket(fd uintptr, p []byte) (n int, again bool, _ error) {
	for {
		n, err := rawRead(fd, p)
		switch {
		case err == syscall.EINTR:
		case err == syscall.EAGAIN:
			return 0, true, nil
		case err != nil:
			return 0, false, err
		case n == 0:
			return 0, false, io.EOF
		default:
			return n, false, nil
		}
	}
}
