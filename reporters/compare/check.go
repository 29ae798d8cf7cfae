package compare

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"runner/reporters/stats"
)

// IncomparableError says why runs were not compared.
type IncomparableError struct{ Reasons []string }

// Error lists the reasons.
func (e *IncomparableError) Error() string {
	return "these runs cannot be compared: " + strings.Join(e.Reasons, "; ")
}

// check returns what forbids the comparison and what the reader must know.
func check(base, news []Run) (bad, warnings []string) {
	all := slices.Concat(base, news)
	bad = append(bad, unusable(all)...)
	first := all[0]
	for _, r := range all[1:] {
		bad = append(bad, different(first, r)...)
	}
	warnings = append(warnings, elsewhere(first, all[1:])...)
	if said, unequal := limited(base, news); unequal {
		bad = append(bad, said)
	} else if said != "" {
		warnings = append(warnings, said)
	}
	if len(base) > 1 && len(news) > 1 && apart(base, news) {
		warnings = append(warnings, "one side ran wholly before the other: a slow change of the surroundings looks like a change of the target; take turns (A B B A)")
	}
	return bad, warnings
}

// unusable finds runs that say nothing.
func unusable(all []Run) (bad []string) {
	seen := map[string]string{}
	for _, r := range all {
		s := r.Summary
		switch {
		case s.Partial:
			bad = append(bad, r.Name+" is a part of a run that was killed")
		case s.Verdict == stats.Interrupted:
			bad = append(bad, r.Name+" was interrupted")
		case s.Generator.Verdict == "invalid":
			bad = append(bad, r.Name+" is invalid: the load generator did not keep up")
		case s.Total.Count == 0:
			bad = append(bad, r.Name+" has no samples")
		case s.Ledger.Samples.InFlight < 0:
			bad = append(bad, r.Name+" has a ledger that does not add up")
		}
		if other, dup := seen[s.RunID]; dup && s.RunID != "" {
			bad = append(bad, fmt.Sprintf("%s and %s are the same run", other, r.Name))
		}
		seen[s.RunID] = r.Name
	}
	return bad
}

// different finds what makes two runs another experiment.
func different(a, b Run) (bad []string) {
	if a.Summary.PlanSHA256 != b.Summary.PlanSHA256 {
		bad = append(bad, fmt.Sprintf("%s ran another plan than %s", b.Name, a.Name))
	}
	loads := map[string]string{}
	for _, g := range a.Summary.Groups {
		loads[g.Name] = g.Load + g.Skipped
	}
	for _, g := range b.Summary.Groups {
		if load, ok := loads[g.Name]; ok && load != g.Load+g.Skipped {
			bad = append(bad, fmt.Sprintf("%s ran group %s with another load (%s) than %s (%s)", b.Name, g.Name, g.Load, a.Name, load))
		}
	}
	if len(a.Summary.Groups) != len(b.Summary.Groups) {
		bad = append(bad, fmt.Sprintf("%s ran other thread groups than %s", b.Name, a.Name))
	}
	return bad
}

// unequalLevel is from which two-sided p-value on the sides differ in how many of
// their runs were limited.
const unequalLevel = 0.05

// limited tells how many runs of each side the load generator was limited in, ""
// for none, and whether the sides differ so much in it that it may explain a
// difference: by Fisher's exact test, or all of one side and none of the other,
// which is all that few runs can show.
func limited(base, news []Run) (said string, unequal bool) {
	count := func(runs []Run) (n int64) {
		for _, r := range runs {
			if r.Summary.Generator.Verdict == "limited" {
				n++
			}
		}
		return n
	}
	x, m, y, n := count(base), int64(len(base)), count(news), int64(len(news))
	if x+y == 0 {
		return "", false
	}
	unequal = x == 0 && y == n || x == m && y == 0 || 2*min(fisher(x, m, y, n), fisher(y, n, x, m)) <= unequalLevel
	return fmt.Sprintf("the load generator was limited in %d of %s and %d of %s: the machine, not the target, may have made the difference",
		x, countRuns(len(base), "base"), y, countRuns(len(news), "new")), unequal
}

// elsewhere finds what may make a difference, each kind once.
func elsewhere(a Run, others []Run) (warnings []string) {
	said := map[string]bool{}
	warn := func(is bool, format string, x, y any) {
		if is && !said[format] {
			said[format] = true
			warnings = append(warnings, fmt.Sprintf(format, x, y))
		}
	}
	s := a.Summary
	for _, r := range others {
		x, y := s.Environment, r.Summary.Environment
		warn(x.Host != y.Host, "not all runs were made on one machine (%s, %s)", x.Host, y.Host)
		warn(x.CPUs != y.CPUs, "the machines differ in CPUs (%d, %d)", x.CPUs, y.CPUs)
		warn(s.RunnerVersion != r.Summary.RunnerVersion, "not all runs were made by one version of runner (%s, %s)", s.RunnerVersion, r.Summary.RunnerVersion)
		p, q := s.DurationNS, r.Summary.DurationNS
		warn(p > 0 && (float64(q) > 1.5*float64(p) || float64(p) > 1.5*float64(q)), "the runs differ in length (%v, %v)", tenths(p), tenths(q))
	}
	return warnings
}

func tenths(ns int64) time.Duration { return time.Duration(ns).Round(time.Second / 10) }

// apart reports that all of one side started before any of the other.
func apart(base, news []Run) bool {
	first, last := span(base)
	first2, last2 := span(news)
	return last.Before(first2) || last2.Before(first)
}

func span(runs []Run) (first, last time.Time) {
	for i, r := range runs {
		if at := r.Summary.Started; i == 0 || at.Before(first) {
			first = at
		}
		if at := r.Summary.Started; i == 0 || at.After(last) {
			last = at
		}
	}
	return first, last
}
