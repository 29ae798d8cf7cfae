//go:build !unix

package cmd

import "os"

// lock grants every lock: this system is not asked for one.
func lock(*os.File) (pid int, held bool) { return 0, false }
