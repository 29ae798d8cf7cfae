//go:build unix && (!linux || race || 386 || s390x)

package h1

import "syscall"

func rawRead(fd uintptr, p []byte) (int, error) { return syscall.Read(int(fd), p) }

func rawWrite(fd uintptr, p []byte) (int, error) { return syscall.Write(int(fd), p) }
