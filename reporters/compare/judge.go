package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"runner/reporters/stats"
)

// minShare is the smallest rise of an error rate that counts.
const minShare = 0.001

// usualShare is the usual deviation of an error rate from run to run, where it
// cannot be measured.
const usualShare = 0.01 / 3

// manyRuns is from how many runs of a side on its spread is measured.
const manyRuns = 5

// comparison is a Compare at work.
type comparison struct {
	base, news []Run
	options    Options
	result     *Result
}

// judged is a row with what it is judged by.
type judged struct {
	Row
	key    key
	figure figure
	shift  float64 // on the scale of differences
}

// judge fills the rows and the outcome. The figures of the total are one family,
// those of all series another: each is corrected for its number.
func (c *comparison) judge() {
	total, series := c.rows()
	if c.reach(total) {
		c.byRanks(total)
		c.result.Method = fmt.Sprintf("exact one-sided rank sum over %d and %d runs, Holm-corrected, level %s, changes from %s on",
			len(c.base), len(c.news), percent(c.options.Alpha), percent(c.options.MinEffect))
		if c.reach(series) {
			c.byRanks(series)
		} else {
			for _, j := range series {
				j.set(NotJudged, fmt.Sprintf("too few runs for %d figures: %d a side would do", countable(series), c.need(countable(series))))
			}
		}
	} else {
		c.bySpread(total)
		c.bySpread(series)
		c.result.Method = fmt.Sprintf("too few runs for a rank sum (%d and %d; %d a side would do): the change against three times the usual spread "+
			"from run to run, with a block bootstrap over the timeline", len(c.base), len(c.news), c.need(countable(total)))
	}
	c.result.Rows = []Row{}
	for _, list := range [][]*judged{total, series} {
		for _, j := range list {
			c.result.Rows = append(c.result.Rows, j.Row)
		}
	}
	c.conclude()
}

func (j *judged) set(o Outcome, reason string) {
	if j.Outcome == "" {
		j.Outcome, j.Reason = o, reason
	}
}

// countable counts the rows that have figures.
func countable(rows []*judged) int {
	n := 0
	for _, j := range rows {
		if j.Change != nil {
			n++
		}
	}
	return n
}

// reach reports whether the runs suffice to find anything among the rows.
func (c *comparison) reach(rows []*judged) bool {
	return leastP(len(c.base), len(c.news))*float64(max(1, countable(rows))) <= c.options.Alpha
}

// need returns how many runs a side would suffice for n figures.
func (c *comparison) need(n int) int {
	for k := 2; k < maxRuns; k++ {
		if leastP(k, k)*float64(max(1, n)) <= c.options.Alpha {
			return k
		}
	}
	return maxRuns
}

// least is the smallest worsening of a row that counts, as people read it.
func (c *comparison) least(j *judged) float64 {
	if j.Unit == "share" {
		return max(minShare, c.options.MinEffect**j.Row.Base)
	}
	return c.options.MinEffect
}

func (c *comparison) byRanks(rows []*judged) {
	var tested []*judged
	var p []float64
	for _, j := range rows {
		if j.Change == nil {
			continue
		}
		a, b := j.Bases, j.News
		if j.figure.lower {
			a, b = b, a
		}
		tested = append(tested, j)
		p = append(p, rankSum(a, b))
	}
	for i, adjusted := range holm(p) {
		j := tested[i]
		j.P = &adjusted
		worse := j.figure.worse(*j.Change)
		switch sure, large := adjusted <= c.options.Alpha, worse >= c.least(j); {
		case sure && large:
			j.set(Regression, fmt.Sprintf("%s, p = %s", j.spoken(*j.Change), short(adjusted)))
		case large:
			j.set(Inconclusive, fmt.Sprintf("%s, but runs differ that much by chance (p = %s)", j.spoken(*j.Change), short(adjusted)))
		default:
			j.set(OK, "")
		}
	}
}

// bySpread judges where there are too few runs for ranks: what stays below three
// times the usual deviation of the difference of such sides is inconclusive.
func (c *comparison) bySpread(rows []*judged) {
	shares := 0 // error rates: the level holds for all of them together
	for _, j := range rows {
		if j.Unit == "share" && j.Change != nil {
			shares++
		}
	}
	for n, j := range rows {
		if j.Change == nil {
			continue
		}
		random := rand.New(rand.NewPCG(c.options.Seed, uint64(n)))
		low, high, known := bootstrap(c.columns(c.base, j), c.columns(c.news, j), random)
		if known {
			lo, hi := j.figure.change(low), j.figure.change(high)
			j.Low, j.High = &lo, &hi
		}
		limit := max(3*c.spread(j)*math.Sqrt(1/float64(len(j.Bases))+1/float64(len(j.News))), j.figure.scaledLeast(c.least(j)))
		worse := j.figure.worse(j.shift)
		sure := known && (j.figure.lower && high < 0 || !j.figure.lower && low > 0)
		usual := "three times the usual spread between such sides (" + j.spoken(j.figure.change(limit)) + ")"
		switch {
		case j.Unit == "share" && *j.Row.Base == 0 && *j.Row.New == 0, worse <= -limit:
			j.set(OK, "")
		case j.figure.name == "throughput" && math.Abs(*j.Change) < sameRate && c.planned():
			j.set(OK, "the plan fixes this rate, and all of it was sent")
		case worse < limit:
			j.set(Inconclusive, j.spoken(*j.Change)+" is within "+usual)
		case !known && j.Unit == "share" && c.moreErrors(j) <= c.options.Alpha/float64(shares):
			j.set(Regression, j.spoken(*j.Change)+" is beyond "+usual+", and more errors than chance makes")
		case !known:
			j.set(Inconclusive, j.spoken(*j.Change)+" is beyond "+usual+", but the runs are too short to be sure of it")
		case !sure:
			j.set(Inconclusive, j.spoken(*j.Change)+" is beyond "+usual+", but comes and goes within the runs")
		default:
			j.set(Regression, j.spoken(*j.Change)+" is beyond "+usual)
		}
	}
}

// moreErrors returns the p-value of the exact test over the counts of both sides
// that samples fail more often; it takes samples as independent, so it is of use
// only for what is beyond the usual spread.
func (c *comparison) moreErrors(j *judged) float64 {
	count := func(runs []Run) (failed, n int64) {
		for _, r := range runs {
			_, all := seriesOf(r.Summary)
			if s := all[j.key]; s != nil && s.Failed >= 0 && s.Count <= mostCounted {
				failed, n = failed+s.Failed, n+s.Count
			}
		}
		return failed, n
	}
	x, m := count(c.base)
	y, n := count(c.news)
	return fisher(x, m, y, n)
}

// sameRate is a change that a reader sees as none: +0.0 %.
const sameRate = 0.0005

// planned reports whether the plan fixed the throughput of all runs: their groups
// are open and began every iteration that was due.
func (c *comparison) planned() bool {
	for _, r := range slices.Concat(c.base, c.news) {
		if len(r.Summary.Groups) == 0 || slices.ContainsFunc(r.Summary.Groups, func(g stats.Group) bool {
			return g.Skipped == "" && (g.Model != "open" || g.Dropped != 0 || g.Iterations != g.Scheduled)
		}) {
			return false
		}
	}
	return true
}

func (c *comparison) columns(runs []Run, j *judged) [][]float64 {
	var out [][]float64
	for _, r := range runs {
		out = append(out, column(r, j.key, &j.figure))
	}
	return out
}

// spread is the deviation of a figure from run to run: that of a side with many
// runs, else the usual one.
func (c *comparison) spread(j *judged) float64 {
	for _, side := range [][]float64{j.Bases, j.News} {
		if len(side) >= manyRuns {
			return deviation(scaledAll(&j.figure, side))
		}
	}
	if j.Unit == "share" {
		return usualShare
	}
	return c.options.Spread
}

// scaledLeast puts a change as people read it on the scale of differences.
func (f *figure) scaledLeast(change float64) float64 {
	if f.unit == "share" {
		return change
	}
	return math.Log1p(change)
}

// conclude takes the worst of the rows that were judged.
func (c *comparison) conclude() {
	r := c.result
	r.Outcome = OK
	counted := 0
	for _, want := range []Outcome{Regression, Inconclusive} {
		for _, row := range r.Rows {
			if row.Outcome != want {
				continue
			}
			if r.Outcome == OK {
				r.Outcome = want
			}
			if r.Outcome == want {
				r.Reasons = append(r.Reasons, row.title()+": "+row.Reason)
			}
		}
	}
	for _, row := range r.Rows {
		if row.Outcome != NotJudged && row.Unit == "ns" {
			counted++
		}
	}
	if counted == 0 && r.Outcome == OK {
		r.Outcome = Inconclusive
		r.Reasons = append(r.Reasons, "the runs have too few samples to compare their times")
	}
}
