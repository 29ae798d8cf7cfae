package engine

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// timerAlarm is a timerfd that the runtime's poller watches. Nothing reads it:
// setting it anew forgets that it went off.
type timerAlarm struct {
	fd   int
	file *os.File // of fd
	raw  syscall.RawConn
	arm  func() // nil once it was called in this wait
	step func(fd uintptr) bool
}

func newAlarm() (alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	a := &timerAlarm{fd: fd, file: os.NewFile(uintptr(fd), "timer")}
	a.step = a.advance
	if a.raw, err = a.file.SyscallConn(); err != nil {
		_ = a.file.Close()
		return nil, err
	}
	return a, nil
}

// set is not called after close: whoever sets has not been released.
func (a *timerAlarm) set(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(1, d)))} // 0 would disarm it
	_ = unix.TimerfdSettime(a.fd, 0, &spec, nil)                          // fails for no timerfd and no valid time only
}

func (a *timerAlarm) wait(arm func()) bool {
	a.arm = arm
	return a.raw.Read(a.step) == nil
}

// advance arms the alarm when it is called first: the poller reports edges, and a
// RawConn forgets the past ones before that. It is called again once the poller has
// seen the alarm go off.
func (a *timerAlarm) advance(uintptr) bool {
	if a.arm == nil {
		return true
	}
	a.arm()
	a.arm = nil
	return false
}

func (a *timerAlarm) close() { _ = a.file.Close() }
