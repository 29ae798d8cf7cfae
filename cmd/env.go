package cmd

import (
	"context"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"time"

	"golang.org/x/term"
)

// Env is the only door to the operating system: with buffers and a map in it a
// whole run is an ordinary test. The zero value of a field is not usable; OS
// fills all of them.
type Env struct {
	Args        []string // without the program's name
	Getenv      func(name string) (string, bool)
	Stdin       io.Reader
	Stdout      io.Writer
	Stderr      io.Writer
	Now         func() time.Time
	Interactive bool       // Stdin is a terminal: somebody started this by hand
	Terminal    bool       // Stderr is a terminal: progress may be redrawn in place
	Colour      bool       // colours are wanted and possible
	Width       func() int // columns of the terminal, 0 if there is none
	Dir         string     // the working directory
	// Notify delivers SIGINT, SIGTERM and SIGHUP until stop is called.
	Notify func() (signals <-chan os.Signal, stop func())
	// Self returns a command that runs this same program with other arguments.
	Self func(ctx context.Context, args ...string) (*exec.Cmd, error)
}

// OS returns the real environment of this process.
func OS() Env {
	dir, err := os.Getwd()
	if err != nil {
		dir = "."
	}
	terminal := term.IsTerminal(int(os.Stderr.Fd())) && os.Getenv("CI") != "true"
	return Env{
		Args: os.Args[1:], Getenv: os.LookupEnv, Dir: dir,
		Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr,
		Now: time.Now, Notify: notify, Self: self,
		Interactive: term.IsTerminal(int(os.Stdin.Fd())), Terminal: terminal,
		Colour: terminal && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		Width:  width,
	}
}

func width() int {
	if w, _, err := term.GetSize(int(os.Stderr.Fd())); err == nil && w > 0 {
		return w
	}
	return 0 // not a terminal: no limit
}

func notify() (<-chan os.Signal, func()) {
	signals := make(chan os.Signal, 4)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	return signals, func() { signal.Stop(signals) }
}

func self(ctx context.Context, args ...string) (*exec.Cmd, error) {
	program, err := os.Executable()
	if err != nil {
		return nil, err
	}
	return exec.CommandContext(ctx, program, args...), nil
}
