package reporters

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"runner/reporters/stats"
)

// The elements of JUnit XML as Jenkins, GitLab and GitHub read them.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Time     string       `xml:"time,attr"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name       string          `xml:"name,attr"`
		Tests      int             `xml:"tests,attr"`
		Failures   int             `xml:"failures,attr"`
		Errors     int             `xml:"errors,attr"`
		Skipped    int             `xml:"skipped,attr"`
		Time       string          `xml:"time,attr"`
		Timestamp  string          `xml:"timestamp,attr"`
		Hostname   string          `xml:"hostname,attr,omitempty"`
		File       string          `xml:"file,attr,omitempty"`
		Properties []junitProperty `xml:"properties>property,omitempty"`
		Cases      []junitCase     `xml:"testcase"`
		names      map[string]bool
	}
	junitProperty struct {
		Name  string `xml:"name,attr"`
		Value string `xml:"value,attr"`
	}
	junitCase struct {
		Name      string       `xml:"name,attr"`
		ClassName string       `xml:"classname,attr"`
		Time      string       `xml:"time,attr"`
		File      string       `xml:"file,attr,omitempty"`
		Line      int          `xml:"line,attr,omitempty"`
		Skipped   *junitResult `xml:"skipped"`
		Error     *junitResult `xml:"error"`
		Failure   *junitResult `xml:"failure"`
		SystemOut string       `xml:"system-out,omitempty"`
	}
	junitResult struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr,omitempty"`
		Text    string `xml:",chardata"`
	}
)

// writeJUnit writes junit.xml. Failures stand in it exactly when the exit code is
// 1, errors exactly when it is 3, 130 or 143, so a CI that reads only the file
// comes to the verdict that the exit code tells.
func writeJUnit(w io.Writer, s *stats.Summary) error {
	var b bytes.Buffer
	b.WriteString(xml.Header)
	enc := xml.NewEncoder(&b)
	enc.Indent("", "  ")
	if err := enc.Encode(newJUnit(s).suites()); err != nil {
		return err
	}
	b.WriteByte('\n')
	// Line breaks stand in texts only, never in attributes, so they need no escape
	// and the file can be read as it is.
	_, err := w.Write(bytes.ReplaceAll(b.Bytes(), []byte("&#xA;"), []byte("\n")))
	return err
}

// junit builds the document: one suite per thread group, and one for the plan.
type junit struct {
	s      *stats.Summary
	plan   *junitSuite
	groups []*junitSuite
	byName map[string]*junitSuite
}

func newJUnit(s *stats.Summary) *junit {
	j := &junit{s: s, byName: map[string]*junitSuite{}}
	file := ""
	if len(s.Sources) > 0 {
		file = s.Sources[0].File
	}
	j.plan = j.suite(s.Plan, file, s.DurationNS)
	for i := range s.Groups {
		g := &s.Groups[i]
		suite := j.suite(s.Plan+" / "+g.Name, g.File, g.DurationNS)
		suite.Properties = []junitProperty{{"load", CleanLine(g.Load)}, {"model", CleanLine(g.Model)},
			{"iterations", strconv.FormatInt(g.Iterations, 10)}, {"dropped", strconv.FormatInt(g.Dropped, 10)}}
		j.groups, j.byName[g.Name] = append(j.groups, suite), suite
	}
	j.plan.Properties = planProperties(s)
	j.fill()
	return j
}

func planProperties(s *stats.Summary) []junitProperty {
	return append([]junitProperty{{"verdict", CleanLine(string(s.Verdict))}, {"exit_code", strconv.Itoa(s.ExitCode)},
		{"plan_sha256", CleanLine(s.PlanSHA256)}, {"run_id", CleanLine(s.RunID)}, {"seed", strconv.FormatUint(s.Seed, 10)},
		{"runner_version", CleanLine(s.RunnerVersion)}, {"generator", CleanLine(s.Generator.Verdict)}}, metricProperties(s.Metrics)...)
}

func (j *junit) suite(name, file string, ns int64) *junitSuite {
	return &junitSuite{Name: CleanLine(name), File: CleanLine(file), Time: seconds(float64(ns)),
		Timestamp: j.s.Started.UTC().Format("2006-01-02T15:04:05"), Hostname: CleanLine(j.s.Environment.Host), names: map[string]bool{}}
}

// fill adds the test cases: verdict, samplers, transactions, thresholds, skips.
func (j *junit) fill() {
	for _, rows := range [][]stats.Series{j.s.Series, j.s.Transactions} {
		for i := range rows {
			j.addSeries(&rows[i])
		}
	}
	failed := false
	for i := range j.s.Thresholds {
		t := &j.s.Thresholds[i]
		j.addThreshold(t)
		failed = failed || outcomeOf(t).bad()
	}
	for i := range j.s.Skipped {
		k := &j.s.Skipped[i]
		j.add(k.Group, junitCase{Name: skippedName(k), File: k.File, Line: k.Line, Skipped: &junitResult{Message: k.Reason}})
	}
	j.addVerdict(failed)
}

// addVerdict adds the run's own test case. It carries the failure or error when
// no threshold does, so that the document agrees with the exit code.
func (j *junit) addVerdict(failed bool) {
	c := junitCase{Name: "verdict", Time: seconds(float64(j.s.DurationNS))}
	reasons := strings.Join(summaryReasons(j.s), "; ")
	text := strings.Join(slices.Concat(summaryReasons(j.s), accusations(j.s), ledgerLines(&j.s.Ledger), []string{"generator: " + generatorLine(&j.s.Generator)}, j.s.Notes), "\n")
	switch kind := j.kind(); {
	case kind == errorKind:
		c.Error = &junitResult{Message: reasons, Type: CleanLine(string(j.s.Verdict)), Text: text}
	case kind == failureKind && !failed:
		c.Failure = &junitResult{Message: reasons, Type: CleanLine(string(j.s.Verdict)), Text: text}
	default:
		c.SystemOut = text
	}
	j.add("", c)
}

// resultKind is what a CI may be told about a run.
type resultKind int

const (
	passKind resultKind = iota
	failureKind
	errorKind
)

func (j *junit) kind() resultKind {
	switch j.s.ExitCode {
	case 0:
		return passKind
	case 1:
		return failureKind
	}
	return errorKind
}

// put files a bad result under the kind that the exit code allows.
func (j *junit) put(c *junitCase, r *junitResult) {
	switch j.kind() {
	case failureKind:
		c.Failure = r
	case errorKind:
		c.Error = r
	default:
		c.SystemOut = strings.TrimPrefix(c.SystemOut+"\n"+r.Message, "\n")
	}
}

func (j *junit) addThreshold(t *stats.ThresholdResult) {
	c := junitCase{Name: "threshold: " + t.Scope + ": " + qualified(t.Expression, t), File: t.File, Line: t.Line}
	o := outcomeOf(t)
	switch {
	case o == notJudged:
		c.Skipped = &junitResult{Message: sentence(t)}
	case o.bad():
		j.put(&c, &junitResult{Message: t.Scope + ": " + sentence(t), Type: "threshold", Text: thresholdText(j.s, t)})
	default:
		c.SystemOut = strings.Join(append([]string{sentence(t) + ": " + string(o)}, flags(t)...), "; ")
	}
	j.add(t.Group, c)
}

func (j *junit) addSeries(r *stats.Series) {
	c := junitCase{Name: r.Name, File: r.File, Line: r.Line, SystemOut: seriesText(r)}
	if r.Kind == "transaction" {
		c.Name = "transaction: " + r.Name
	}
	if r.ResponseNS != nil {
		c.Time = seconds(r.ResponseNS.Mean)
	}
	var messages, texts []string
	for i := range j.s.Thresholds {
		t := &j.s.Thresholds[i]
		if t.SeriesID != nil && *t.SeriesID == r.ID && outcomeOf(t).bad() {
			messages, texts = append(messages, sentence(t)), append(texts, thresholdText(j.s, t))
		}
	}
	if len(messages) > 0 {
		j.put(&c, &junitResult{Message: strings.Join(messages, "; "), Type: "threshold", Text: strings.Join(texts, "\n")})
	}
	j.add(r.Group, c)
}

// add files a case under its group's suite, or the plan's, with a name that is
// unique in it.
func (j *junit) add(group string, c junitCase) {
	suite := j.byName[group]
	if suite == nil {
		suite = j.plan
	}
	if c.Time == "" {
		c.Time = "0.000"
	}
	c.Name, c.File = CleanLine(c.Name), CleanLine(c.File)
	c.ClassName = CleanLine(strings.ReplaceAll(j.s.Plan, ".", "_"))
	if suite != j.plan {
		c.ClassName += "." + CleanLine(strings.ReplaceAll(group, ".", "_"))
	}
	for base, n := c.Name, 2; suite.names[c.Name]; n++ {
		c.Name = base + " (" + strconv.Itoa(n) + ")"
	}
	suite.names[c.Name] = true
	for _, r := range []*junitResult{c.Skipped, c.Error, c.Failure} {
		if r != nil {
			r.Message = CleanLine(r.Message)
		}
	}
	suite.Cases = append(suite.Cases, c)
	suite.Tests++
	switch {
	case c.Skipped != nil:
		suite.Skipped++
	case c.Error != nil:
		suite.Errors++
	case c.Failure != nil:
		suite.Failures++
	}
}

// suites returns the finished document with its sums.
func (j *junit) suites() junitSuites {
	out := junitSuites{Name: j.plan.Name, Time: j.plan.Time}
	for _, s := range append([]*junitSuite{j.plan}, j.groups...) {
		out.Tests += s.Tests
		out.Failures += s.Failures
		out.Errors += s.Errors
		out.Suites = append(out.Suites, *s)
	}
	return out
}

func seconds(ns float64) string {
	return strconv.FormatFloat(max(0, ns)/float64(time.Second), 'f', 3, 64)
}
