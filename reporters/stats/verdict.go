package stats

import "syscall"

// verdictInput is all that a run's verdict depends on.
type verdictInput struct {
	partial      bool   // the run has no end
	killed       string // why it has none, "" = not known
	signal       int    // that ended the run, 0 = none
	setupError   string // why setup failed
	setupFailed  int64  // failed samples of setup
	samples      int64  // in the statistics
	ledger       []string
	law          []string // why Little's law does not hold
	generator    Generator
	reportErrors []string
	errors       []string
	thresholds   []ThresholdResult
}

// Exit codes of a run.
const (
	exitPassed     = 0
	exitFailed     = 1
	exitInvalid    = 3
	exitInterrupt  = 130
	exitTerminated = 143
)

// verdict returns the outcome of a run, its exit code and why, by the first row
// that matches:
//
//	3        invalid      setup failed or no samples (unless interrupted), a ledger or Little's law void,
//	                      the generator invalid, a report could not be written, no end
//	130, 143 interrupted  by signal
//	1        failed       a threshold is broken
//	3        invalid      a threshold has no data
//	0        passed       every threshold holds
func (in *verdictInput) verdict() (Verdict, int, []string) {
	if reasons := in.invalid(); len(reasons) > 0 {
		return Invalid, exitInvalid, reasons
	}
	switch syscall.Signal(in.signal) {
	case 0:
	case syscall.SIGTERM:
		return Interrupted, exitTerminated, []string{"the run was ended by a signal (SIGTERM)"}
	case syscall.SIGINT:
		return Interrupted, exitInterrupt, []string{"the run was interrupted (SIGINT)"}
	default:
		return Interrupted, exitInterrupt, []string{"the run was ended by signal " + num(int64(in.signal))}
	}
	var broken, empty []string
	for i := range in.thresholds {
		t := &in.thresholds[i]
		text := scopeName(t.Scope) + ": " + t.Message
		switch {
		case t.NotJudged != "":
		case t.NoData:
			empty = append(empty, text)
		case !t.Passed:
			broken = append(broken, text)
		}
	}
	switch {
	case len(broken) > 0:
		return Failed, exitFailed, broken
	case len(empty) > 0:
		return Invalid, exitInvalid, empty
	}
	return Passed, exitPassed, []string{}
}

// invalid returns why the figures of the run cannot be relied on.
func (in *verdictInput) invalid() []string {
	var out []string
	switch {
	case in.killed != "":
		out = append(out, in.killed)
	case in.partial:
		out = append(out, "the run ended without its end being written down (killed?); this is what is known up to its last second")
	}
	if in.signal == 0 && !in.partial {
		switch {
		case in.setupError != "":
			out = append(out, "setup failed: "+in.setupError)
		case in.setupFailed > 0:
			out = append(out, "setup failed: "+counted(in.setupFailed, "sample", "samples")+" of it failed")
		case in.samples == 0:
			out = append(out, "no sample was taken, so there is nothing to judge")
		}
	}
	out = append(out, in.ledger...)
	out = append(out, in.law...)
	if in.generator.Verdict == "invalid" {
		for _, r := range in.generator.Reasons {
			out = append(out, "the load generator was not fit for this load: "+r)
		}
	}
	for _, r := range in.reportErrors {
		out = append(out, "a report could not be written: "+r)
	}
	return append(out, in.errors...)
}

// ReportFailed makes a summary invalid because a report could not be written; what
// explained its verdict before comes after that.
func (s *Summary) ReportFailed(reason string) {
	s.Reasons = append([]string{"a report could not be written: " + reason}, s.Reasons...)
	s.Verdict, s.ExitCode = Invalid, exitInvalid
}
