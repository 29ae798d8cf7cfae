//go:build !unix

package stats

import "time"

func processCPU() time.Duration { return -1 }

func openFilesLimit() uint64 { return 0 }
