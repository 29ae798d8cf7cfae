//go:build !linux

package engine

import "errors"

func newAlarm() (alarm, error) { return nil, errors.ErrUnsupported }
