package engine

import (
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// timerAlarm is a timerfd that the runtime's poller watches.
type timerAlarm struct {
	fd    int
	file  *os.File // of fd
	raw   syscall.RawConn
	tried bool
	gone  func(fd uintptr) bool
}

func newAlarm() (alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	a := &timerAlarm{fd: fd, file: os.NewFile(uintptr(fd), "timer")}
	a.gone = a.wentOff
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

func (a *timerAlarm) wait() bool {
	a.tried = false
	return a.raw.Read(a.gone) == nil
}

// wentOff reports whether the alarm went off. The poller, which calls again when it
// did, need not be asked twice: setting the alarm anew forgets what was not read,
// and with nothing set one call too many to fire does no harm.
func (a *timerAlarm) wentOff(fd uintptr) bool {
	if a.tried {
		return true
	}
	a.tried = true
	var times [8]byte
	n, err := unix.Read(int(fd), times[:])
	return n > 0 || err != unix.EAGAIN
}

func (a *timerAlarm) close() { _ = a.file.Close() }
