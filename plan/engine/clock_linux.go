package engine

import (
	"time"

	"golang.org/x/sys/unix"
)

// eventAlarm sleeps in ppoll on an eventfd that ring writes to.
type eventAlarm struct{ fd int }

func newAlarm() (alarm, error) {
	fd, err := unix.Eventfd(0, unix.EFD_CLOEXEC|unix.EFD_NONBLOCK)
	if err != nil {
		return nil, err
	}
	return &eventAlarm{fd}, nil
}

// prepare makes this OS thread's sleeps exact; the default slack is 50 µs.
func (a *eventAlarm) prepare() {
	_ = unix.Prctl(unix.PR_SET_TIMERSLACK, 1, 0, 0, 0) // without it sleeps are only a little later
}

func (a *eventAlarm) sleep(d time.Duration) {
	var limit *unix.Timespec
	if d >= 0 {
		ts := unix.NsecToTimespec(int64(d))
		limit = &ts
	}
	fds := [1]unix.PollFd{{Fd: int32(a.fd), Events: unix.POLLIN}}
	if n, _ := unix.Ppoll(fds[:], limit, nil); n > 0 { // an interrupted sleep is only a short one
		var b [8]byte
		_, _ = unix.Read(a.fd, b[:]) // empties the counter; nothing to read is as good
	}
}

func (a *eventAlarm) ring() {
	b := [8]byte{1}
	_, _ = unix.Write(a.fd, b[:]) // a full counter is a ring already
}

func (a *eventAlarm) close() { _ = unix.Close(a.fd) }
