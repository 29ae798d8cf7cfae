// Package compare judges whether new runs of a plan are slower than base runs of
// it, and renders the answer.
//
// Requests of one run depend on each other, and runs differ from one another, so
// the run is the unit: each gives one number per figure (ranksum.go), and the
// sides are compared by an exact rank sum with a correction for the number of
// figures. With too few runs for that the change is held against the usual spread
// between runs and against a block bootstrap over the timeline (bootstrap.go).
// Compare (compare.go) checks that the runs can be compared (check.go), picks the
// figures (figures.go) and judges them (judge.go).
package compare

import "runner/reporters/stats"

// Run is the result of one run and the name that the reader knows it by.
type Run struct {
	Name    string
	Summary *stats.Summary
}

// Options are the limits of a comparison; zero fields have the defaults.
type Options struct {
	Alpha     float64 // chance of a false alarm in a family of figures; 0.05
	MinEffect float64 // smaller changes are never a regression; 0.05 = 5 %
	Spread    float64 // usual deviation from run to run, where it cannot be measured; 0.05
	Seed      uint64  // of the bootstrap
	Force     bool    // compare what should not be compared; it is said in the warnings
}

func (o Options) complete() Options {
	set := func(v *float64, otherwise float64) {
		if *v == 0 {
			*v = otherwise
		}
	}
	set(&o.Alpha, 0.05)
	set(&o.MinEffect, 0.05)
	set(&o.Spread, 0.05)
	return o
}

// Outcome is the answer for a figure or for all of them.
type Outcome string

// The outcomes. NotJudged is a figure without enough samples, or a series where
// there are too few runs for so many figures; it does not count.
const (
	Regression   Outcome = "regression"
	OK           Outcome = "ok"
	Inconclusive Outcome = "inconclusive"
	NotJudged    Outcome = "not judged"
)

// ResultSchema names the layout of the JSON form.
const ResultSchema = "runner.comparison/1"

// Result is a finished comparison.
type Result struct {
	Schema    string   `json:"schema"`
	Outcome   Outcome  `json:"outcome"`
	Plan      string   `json:"plan"`
	Method    string   `json:"method"` // in a sentence
	Reasons   []string `json:"reasons"`
	Warnings  []string `json:"warnings"`
	Alpha     float64  `json:"alpha"`
	MinEffect float64  `json:"min_effect"`
	Base      []Side   `json:"base"`
	New       []Side   `json:"new"`
	Rows      []Row    `json:"rows"`
}

// Side is one run as the comparison shows it.
type Side struct {
	Name    string        `json:"name"`
	RunID   string        `json:"run_id"`
	Started string        `json:"started"` // RFC 3339
	Verdict stats.Verdict `json:"verdict"`
	Samples int64         `json:"samples"`
}

// Row is one figure of one series. Times are nanoseconds, shares 0 to 1.
type Row struct {
	Group   string    `json:"group"`
	Series  string    `json:"series"`
	Kind    string    `json:"kind"` // as in the summary; "total" for all samples
	Figure  string    `json:"figure"`
	Unit    string    `json:"unit"` // ns, share, per_second
	Base    *float64  `json:"base"` // median over the runs
	New     *float64  `json:"new"`
	Change  *float64  `json:"change"` // relative, 0.1 = 10 % more; of shares the difference
	Low     *float64  `json:"low"`    // of the change: 95 % interval of the bootstrap, where there is one
	High    *float64  `json:"high"`
	P       *float64  `json:"p"` // adjusted for the number of figures; null without a rank sum
	Outcome Outcome   `json:"outcome"`
	Reason  string    `json:"reason"`
	Bases   []float64 `json:"bases"` // a run each
	News    []float64 `json:"news"`
}
