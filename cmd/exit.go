package cmd

import "errors"

// The exit codes. exitCodes explains them in every command's help.
const (
	exitPassed  = 0
	exitFailed  = 1
	exitUsage   = 2
	exitInvalid = 3
)

const exitCodes = `
Exit codes:
  0    passed: every threshold holds
  1    failed: a threshold is broken (the implied ones count)
  2    the plan or the command line is wrong; nothing was sent
  3    invalid: setup failed, no samples, a threshold without data, a report
       that could not be written, or figures that cannot be trusted
  130  interrupted by SIGINT (Ctrl-C); reports were written
  143  interrupted by SIGTERM; reports were written`

// exitError carries an exit code; a nil Err has been reported already.
type exitError struct {
	code int
	err  error
}

func (e *exitError) Error() string {
	if e.err == nil {
		return ""
	}
	return e.err.Error()
}

func (e *exitError) Unwrap() error { return e.err }

// exit returns an error that ends the program with code, having said all.
func exit(code int) error {
	if code == exitPassed {
		return nil
	}
	return &exitError{code: code}
}

// usage returns err as a mistake on the command line.
func usage(err error) error { return &exitError{exitUsage, err} }

// invalid returns err as something that made a run worthless.
func invalid(err error) error { return &exitError{exitInvalid, err} }

// codeOf maps any error to the exit code; what carries none is a mistake on the
// command line, because cobra reports those so.
func codeOf(err error) int {
	var e *exitError
	switch {
	case err == nil:
		return exitPassed
	case errors.As(err, &e):
		return e.code
	}
	return exitUsage
}
