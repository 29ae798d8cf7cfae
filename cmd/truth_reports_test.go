package cmd_test

import (
	"encoding/xml"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
	"golang.org/x/net/html"

	"runner/reporters/stats"
)

// printedFigure is a figure of a series with the names of its columns.
type printedFigure struct {
	head  string // of console and page, without unit
	sheet string // of the workbook's column
	value func(*stats.Series) *float64
	time  bool
}

func printedFigures() []printedFigure {
	whole := func(get func(*stats.Series) int64) func(*stats.Series) *float64 {
		return func(s *stats.Series) *float64 { v := float64(get(s)); return &v }
	}
	span := func(get func(*stats.Distribution) *int64) func(*stats.Series) *float64 {
		return func(s *stats.Series) *float64 {
			if s.ResponseNS == nil || get(s.ResponseNS) == nil {
				return nil
			}
			v := float64(*get(s.ResponseNS))
			return &v
		}
	}
	return []printedFigure{
		{"count", "Count", whole(func(s *stats.Series) int64 { return s.Count }), false},
		{"errors", "Failed", whole(func(s *stats.Series) int64 { return s.Failed }), false},
		{"error rate", "Error rate", func(s *stats.Series) *float64 { return s.ErrorRate }, false},
		{"rate", "Throughput, /s", func(s *stats.Series) *float64 { return s.ThroughputPS }, false},
		{"", "Requests", whole(func(s *stats.Series) int64 { return s.Requests }), false},
		{"", "Bytes received", whole(func(s *stats.Series) int64 { return s.BytesReceived }), false},
		{"", "Bytes sent", whole(func(s *stats.Series) int64 { return s.BytesSent }), false},
		{"min", "Min, ms", span(func(d *stats.Distribution) *int64 { return &d.Min }), true},
		{"p50", "p50, ms", span(func(d *stats.Distribution) *int64 { return d.P50 }), true},
		{"p90", "p90, ms", span(func(d *stats.Distribution) *int64 { return d.P90 }), true},
		{"p95", "p95, ms", span(func(d *stats.Distribution) *int64 { return d.P95 }), true},
		{"p99", "p99, ms", span(func(d *stats.Distribution) *int64 { return d.P99 }), true},
		{"max", "Max, ms", span(func(d *stats.Distribution) *int64 { return &d.Max }), true},
		{"mean", "Mean, ms", func(s *stats.Series) *float64 {
			if s.ResponseNS == nil {
				return nil
			}
			return &s.ResponseNS.Mean
		}, true},
	}
}

// reportsAgree holds page, workbook, JUnit and console against the summary: every
// figure equals it to its printed precision, percentiles rise, series add up to
// the total.
func reportsAgree(t *testing.T, dir string, s *stats.Summary, console string) {
	t.Helper()
	rows := map[string]*stats.Series{"total": &s.Total}
	for i := range s.Series {
		rows[s.Series[i].Name] = &s.Series[i]
	}
	addsUp(t, s)
	for name, r := range rows {
		rises(t, name, r)
	}
	sheet := workbookRows(t, filepath.Join(dir, "report.xlsx"))
	page := pageRows(t, filepath.Join(dir, "report.html"))
	printed := consoleRows(console)
	for name, r := range rows {
		for _, f := range printedFigures() {
			agree(t, "workbook", name, f.sheet, sheet[name][f.sheet], f.value(r), f.time)
			if f.head == "" {
				continue
			}
			agree(t, "page", name, f.head, page[name][f.head], f.value(r), f.time)
			agree(t, "console", name, f.head, printed[name][f.head], f.value(r), f.time)
		}
	}
	junitAgrees(t, filepath.Join(dir, "junit.xml"), s)
}

func addsUp(t *testing.T, s *stats.Summary) {
	t.Helper()
	var count, failed, requests, received, sent int64
	for i := range s.Series {
		r := &s.Series[i]
		count, failed, requests = count+r.Count, failed+r.Failed, requests+r.Requests
		received, sent = received+r.BytesReceived, sent+r.BytesSent
	}
	total := &s.Total
	if count != total.Count || failed != total.Failed || requests != total.Requests || received != total.BytesReceived || sent != total.BytesSent {
		t.Errorf("the series add up to %d samples, %d failed, %d requests, %d and %d bytes; the total is %d, %d, %d, %d, %d",
			count, failed, requests, received, sent, total.Count, total.Failed, total.Requests, total.BytesReceived, total.BytesSent)
	}
	sum := int64(0)
	for _, n := range s.Timeline.Series[0].Count {
		sum += n
	}
	if sum != total.Count || count != s.Ledger.Samples.Started-s.Ledger.Samples.InFlight {
		t.Errorf("%d samples, %d over time, %d in the ledger", total.Count, sum, s.Ledger.Samples.Started)
	}
}

func rises(t *testing.T, name string, s *stats.Series) {
	t.Helper()
	for _, d := range []*stats.Distribution{s.ResponseNS, s.ServiceNS, s.LatencyNS, s.SuccessNS, s.FailureNS} {
		if d == nil {
			continue
		}
		last := d.Min
		for _, p := range []*int64{d.P50, d.P75, d.P90, d.P95, d.P99, d.P999, &d.Max} {
			if p != nil && *p < last {
				t.Errorf("%s: percentiles fall: %+v", name, *d)
			} else if p != nil {
				last = *p
			}
		}
		if d.Mean < float64(d.Min) || d.Mean > float64(d.Max) {
			t.Errorf("%s: the mean is out of range: %+v", name, *d)
		}
	}
}

var unitSizes = map[string]float64{"s": 1e9, "ms": 1e6, "µs": 1e3, "ns": 1, "/s": 1, "": 1}

// agree wants a printed number to be the value, rounded to its last digit.
func agree(t *testing.T, where, row, head, text string, value *float64, isTime bool) {
	t.Helper()
	if value == nil {
		if text != "" && text != "n/a" {
			t.Errorf("%s, %s, %s is %q, but it was not measured", where, row, head, text)
		}
		return
	}
	number, unit, _ := strings.Cut(strings.ReplaceAll(text, ",", ""), " ")
	scale := unitSizes[unit]
	if plain, ok := strings.CutSuffix(number, "%"); ok {
		number, scale = plain, 0.01
	}
	got, err := strconv.ParseFloat(number, 64)
	if err != nil || scale == 0 {
		t.Errorf("%s, %s, %s is %q, want %v", where, row, head, text, *value)
		return
	}
	digits := 0
	if i := strings.IndexByte(number, '.'); i >= 0 {
		digits = len(number) - i - 1
	}
	slack := scale*math.Pow10(-digits)*0.51 + 1e-12*math.Abs(*value)
	if !isTime && scale == 0.01 {
		slack = max(slack, 0.0051**value) // shares keep three digits
	}
	if math.Abs(got*scale-*value) > slack {
		t.Errorf("%s, %s, %s is %q, want %v", where, row, head, text, *value)
	}
}

// workbookRows reads the sheet Series, times with their unit.
func workbookRows(t *testing.T, path string) map[string]map[string]string {
	t.Helper()
	f, err := excelize.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines, err := f.GetRows("Series", excelize.Options{RawCellValue: true})
	if err != nil || len(lines) < 2 {
		t.Fatalf("%d rows: %v", len(lines), err)
	}
	rows := map[string]map[string]string{}
	for _, line := range lines[1:] {
		row := map[string]string{}
		for i, v := range line {
			if head := lines[0][i]; v != "" && strings.HasSuffix(head, ", ms") {
				v = exact(v) + " ms"
				row[head] = v
			} else {
				row[head] = v
			}
		}
		rows[row["Name"]] = row
	}
	return rows
}

// exact writes a raw cell without an exponent.
func exact(v string) string {
	n, err := strconv.ParseFloat(v, 64)
	if err != nil {
		return v
	}
	return strconv.FormatFloat(n, 'f', -1, 64)
}

// pageRows reads the tables of samples of the page.
func pageRows(t *testing.T, path string) map[string]map[string]string {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	doc, err := html.Parse(file)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string]map[string]string{}
	for table := range doc.Descendants() {
		if table.Data != "table" || !strings.HasPrefix(attribute(table, "id"), "t-") {
			continue
		}
		var heads []string
		for tr := range table.Descendants() {
			if tr.Data != "tr" {
				continue
			}
			var cells []string
			for c := range tr.ChildNodes() {
				if c.Data == "th" || c.Data == "td" {
					cells = append(cells, firstText(c))
				}
			}
			if heads == nil {
				heads = cells
				continue
			}
			rows[cells[0]] = named(heads[1:], cells[1:])
		}
	}
	return rows
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

func firstText(n *html.Node) string {
	for d := range n.Descendants() {
		if text := strings.TrimSpace(d.Data); d.Type == html.TextNode && text != "" {
			return text
		}
	}
	return ""
}

// named gives cells the names of their columns; a unit in a head goes to the cell.
func named(heads, cells []string) map[string]string {
	row := map[string]string{}
	for i, head := range heads {
		if i >= len(cells) {
			break
		}
		unit := ""
		if at := strings.LastIndexByte(head, ' '); at > 0 && unitSizes[head[at+1:]] != 0 {
			head, unit = head[:at], head[at:]
		}
		if cells[i] == "n/a" {
			unit = ""
		}
		row[head] = cells[i] + unit
	}
	return row
}

var gap = regexp.MustCompile(` {2,}`)

// consoleRows reads the table of samples that was printed.
func consoleRows(text string) map[string]map[string]string {
	rows := map[string]map[string]string{}
	_, table, _ := strings.Cut(text, "\nSamples\n")
	var heads []string
	for line := range strings.Lines(table) {
		cells := gap.Split(strings.TrimSpace(line), -1)
		switch {
		case len(cells) < 3:
			return rows
		case heads == nil:
			heads = cells
		default:
			name := cells[0][strings.LastIndex(cells[0], "/")+1:]
			rows[strings.TrimSpace(name)] = named(heads, cells[1:])
		}
	}
	return rows
}

// junitAgrees holds counts and means against the summary, and the sums of the
// document against its cases and the exit code.
func junitAgrees(t *testing.T, path string, s *stats.Summary) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Tests    int `xml:"tests,attr"`
		Failures int `xml:"failures,attr"`
		Errors   int `xml:"errors,attr"`
		Suites   []struct {
			Cases []struct {
				Name    string    `xml:"name,attr"`
				Time    string    `xml:"time,attr"`
				Out     string    `xml:"system-out"`
				Failure *struct{} `xml:"failure"`
				Error   *struct{} `xml:"error"`
			} `xml:"testcase"`
		} `xml:"testsuite"`
	}
	if err := xml.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	tests, seen := 0, 0
	for _, suite := range doc.Suites {
		tests += len(suite.Cases)
		for _, c := range suite.Cases {
			for i := range s.Series {
				r := &s.Series[i]
				if r.Name != c.Name {
					continue
				}
				seen++
				words := strings.Split(c.Out, ", ")
				if len(words) < 2 {
					t.Errorf("the case %s says %q", c.Name, c.Out)
					continue
				}
				count, failed := float64(r.Count), float64(r.Failed)
				agree(t, "junit", c.Name, "count", strings.TrimSuffix(words[0], " samples"), &count, false)
				agree(t, "junit", c.Name, "failed", strings.Fields(words[1])[0], &failed, false)
				agree(t, "junit", c.Name, "time", c.Time+" s", &r.ResponseNS.Mean, true)
			}
		}
	}
	if tests != doc.Tests || seen != len(s.Series) {
		t.Errorf("junit has %d cases of %d said, %d of %d series", tests, doc.Tests, seen, len(s.Series))
	}
	if (doc.Failures > 0) != (s.ExitCode == 1) || (doc.Errors > 0) != (s.ExitCode == 3 || s.ExitCode > 128) {
		t.Errorf("junit says %d failures and %d errors with exit code %d", doc.Failures, doc.Errors, s.ExitCode)
	}
}
