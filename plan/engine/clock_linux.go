package engine

import (
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// timerAlarm is a timerfd that the runtime's poller watches.
type timerAlarm struct {
	fd   int
	file *os.File // of fd
}

func newAlarm() (alarm, error) {
	fd, err := unix.TimerfdCreate(unix.CLOCK_MONOTONIC, unix.TFD_CLOEXEC|unix.TFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return &timerAlarm{fd, os.NewFile(uintptr(fd), "timer")}, nil
}

// set is not called after close: whoever sets has not been released.
func (a *timerAlarm) set(d time.Duration) {
	spec := unix.ItimerSpec{Value: unix.NsecToTimespec(int64(max(1, d)))} // 0 would disarm it
	_ = unix.TimerfdSettime(a.fd, 0, &spec, nil)                          // fails for no timerfd and no valid time only
}

func (a *timerAlarm) wait() bool {
	var times [8]byte
	_, err := a.file.Read(times[:])
	return err == nil
}

func (a *timerAlarm) close() { _ = a.file.Close() }
