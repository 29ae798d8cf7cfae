package reporters

import (
	"fmt"
	"math"
	"strings"

	"github.com/xuri/excelize/v2"

	"runner/reporters/stats"
)

func (b *book) summarySheet(s *stats.Summary) {
	const sheet = "Summary"
	b.put(sheet, 1, 1, cell{titleCell, cut(s.Plan, 200)})
	row := 3
	add := func(name string, c cell) {
		b.put(sheet, 1, row, text(name))
		b.put(sheet, 2, row, c)
		if t, ok := c.Value.(string); ok && c.Kind == wrapCell {
			b.do(b.file.SetRowHeight(sheet, row, min(400, 15*math.Ceil(float64(len(t))/58))))
		}
		row++
	}
	verdict := strings.ToUpper(string(s.Verdict))
	if s.Partial {
		verdict += " (PARTIAL)"
	}
	b.verdictColour(sheet, fmt.Sprintf("B%d", row))
	add("Verdict", text(verdict))
	for _, r := range summaryReasons(s) {
		add("Reason", wrapped(r))
	}
	for _, r := range accusations(s) {
		add("Generator", wrapped(r))
	}
	row++
	add("Started (UTC)", text(s.Started.UTC().Format("2006-01-02 15:04:05")))
	add("Duration, s", cell{secondsCell, float64(s.DurationNS) / 1e9})
	b.keyFigures(s, add)
	b.do(b.file.SetColWidth(sheet, "A", "A", 26))
	b.do(b.file.SetColWidth(sheet, "B", "B", 60))
	hide := false
	b.do(b.file.SetSheetView(sheet, 0, &excelize.ViewOptions{ShowGridLines: &hide}))
	b.printWide(sheet)
	b.charts(sheet, &s.Timeline)
}

func (b *book) keyFigures(s *stats.Summary, add func(string, cell)) {
	t := &s.Total
	add("Samples", whole(t.Count))
	add("Failed samples", whole(t.Failed))
	add("Error rate", number(shareCell, t.ErrorRate))
	add("Throughput, /s", number(rateCell, t.ThroughputPS))
	add("Throughput at full load, /s", number(rateCell, t.SteadyPS))
	if d := t.ResponseNS; d != nil {
		add("Response time mean, ms", millis(d.Mean))
		add("Response time p50, ms", millisPtr(d.P50))
		add("Response time p95, ms", millisPtr(d.P95))
		add("Response time p99, ms", millisPtr(d.P99))
		add("Response time max, ms", millis(float64(d.Max)))
	}
	if d := t.ServiceNS; d != nil {
		add("Service time p50, ms", millisPtr(d.P50))
		add("Service time p95, ms", millisPtr(d.P95))
		add("Service time p99, ms", millisPtr(d.P99))
	}
	add("Apdex", number(plainCell, t.Apdex))
	if c := s.Concurrency; c != nil {
		add("Samples in flight, mean", cell{plainCell, roundTo(c.InFlight, 100)})
		add("The same by Little's law", cell{plainCell, roundTo(c.Expected, 100)})
	}
	add("Most threads at once", whole(int64(peakThreads(&s.Timeline))))
	i := &s.Ledger.Iterations
	add("Iterations scheduled", whole(i.Scheduled))
	add("Iterations completed", whole(i.Completed))
	add("Iterations interrupted", whole(i.Interrupted))
	add("Iterations dropped", whole(i.DroppedNoThread+i.DroppedEnd+i.DroppedAbort))
	add("Requests on the wire", whole(s.Ledger.Requests))
	add("Bytes received", whole(t.BytesReceived))
	add("Bytes sent", whole(t.BytesSent))
}

func (b *book) seriesSheet(s *stats.Summary) {
	columns := []column{{"Group", 18}, {"Name", 34}, {"Kind", 12}, {"Phase", 10}, {"Count", 11}, {"Failed", 10}, {"Error rate", 10},
		{"Throughput, /s", 12}, {"Requests", 11}, {"Min, ms", 10}, {"Mean, ms", 10}, {"p50, ms", 10}, {"p90, ms", 10}, {"p95, ms", 10},
		{"p99, ms", 10}, {"Max, ms", 11}, {"Bytes received", 15}, {"Bytes sent", 13}, {"Apdex", 8}, {"Aborted", 9}, {"Plan", 26},
		{"At full load, /s", 12}, {"Dropped", 10}, {"Service p50, ms", 11}, {"Service p95, ms", 11}, {"Service p99, ms", 11}}
	var rows [][]cell
	each := func(r *stats.Series) {
		row := []cell{text(r.Group), text(r.Name), text(r.Kind), text(r.Phase), whole(r.Count), whole(r.Failed), number(shareCell, r.ErrorRate),
			number(rateCell, r.ThroughputPS), whole(r.Requests)}
		row = append(row, timeCells(r.ResponseNS)...)
		aborted := cell{}
		if r.Kind == "transaction" {
			aborted = whole(r.Aborted)
		}
		row = append(row, whole(r.BytesReceived), whole(r.BytesSent), number(plainCell, r.Apdex), aborted, text(place(r.File, r.Line)),
			number(rateCell, r.SteadyPS), number(shareCell, r.DroppedShare))
		if d := r.ServiceNS; d != nil {
			row = append(row, millisPtr(d.P50), millisPtr(d.P95), millisPtr(d.P99))
		}
		rows = append(rows, row)
	}
	eachSeries(s, each)
	b.list("Series", columns, rows)
}

// eachSeries calls f with every sampler, every transaction and the total.
func eachSeries(s *stats.Summary, f func(*stats.Series)) {
	for i := range s.Series {
		f(&s.Series[i])
	}
	for i := range s.Transactions {
		f(&s.Transactions[i])
	}
	total := s.Total
	if total.Name == "" {
		total.Name = "total"
	}
	f(&total)
}

// timeCells are min, mean, p50, p90, p95, p99 and max in milliseconds.
func timeCells(d *stats.Distribution) []cell {
	if d == nil {
		return make([]cell, 7)
	}
	return []cell{millis(float64(d.Min)), millis(d.Mean), millisPtr(d.P50), millisPtr(d.P90), millisPtr(d.P95), millisPtr(d.P99), millis(float64(d.Max))}
}

func (b *book) percentilesSheet(s *stats.Summary) {
	columns := []column{{"Group", 18}, {"Name", 34}, {"Time", 22}, {"Min, ms", 10}, {"p50, ms", 10}, {"p75, ms", 10}, {"p90, ms", 10},
		{"p95, ms", 10}, {"p99, ms", 10}, {"p99.9, ms", 11}, {"Max, ms", 11}, {"Mean, ms", 10}, {"Std. dev., ms", 12},
		{"p95 from, ms", 12}, {"p95 to, ms", 12}, {"p99 from, ms", 12}, {"p99 to, ms", 12}, {"Dropped", 10}}
	var rows [][]cell
	eachSeries(s, func(r *stats.Series) {
		for _, m := range measures(r) {
			d := m.D
			row := []cell{text(r.Group), text(r.Name), text(m.Name), millis(float64(d.Min)), millisPtr(d.P50), millisPtr(d.P75), millisPtr(d.P90),
				millisPtr(d.P95), millisPtr(d.P99), millisPtr(d.P999), millis(float64(d.Max)), millis(d.Mean), millis(d.StdDev)}
			row = append(row, intervalCells(d.P95CI)...)
			row = append(row, intervalCells(d.P99CI)...)
			rows = append(rows, append(row, number(shareCell, r.DroppedShare)))
		}
	})
	b.list("Percentiles", columns, rows)
}

// intervalCells are the ends of a confidence interval.
func intervalCells(i *stats.Interval) []cell {
	if i == nil {
		return make([]cell, 2)
	}
	return []cell{millis(float64(i.Low)), millis(float64(i.High))}
}

// measure is one of the times kept of a series.
type measure struct {
	Name string
	D    *stats.Distribution
}

// measures lists the times that were measured of a series.
func measures(r *stats.Series) []measure {
	all := []measure{{"response time", r.ResponseNS}, {"service time", r.ServiceNS}, {"latency", r.LatencyNS},
		{"response, passed only", r.SuccessNS}, {"response, failed only", r.FailureNS}}
	out := all[:0]
	for _, m := range all {
		if m.D != nil {
			out = append(out, m)
		}
	}
	return out
}

func (b *book) timelineSheet(s *stats.Summary) {
	columns := []column{{"Time, s", 10}, {"Active threads (open groups: busy)", 14}, {"Planned threads", 10}, {"Throughput, /s", 12}, {"Samples", 10}, {"Failed", 10},
		{"Errors, /s", 10}, {"p50, ms", 10}, {"p95, ms", 10}, {"p99, ms", 10}, {"Max, ms", 10}, {"Bytes", 13}, {"Dropped", 10},
		{"Active threads, closed groups", 14}, {"Planned arrivals, /s", 12}, {"Started arrivals, /s", 12}, {"Dropped arrivals, /s", 12}}
	t := &s.Timeline
	total := totalTimeline(t)
	rows := make([][]cell, len(t.TS))
	for i := range t.TS {
		row := []cell{{secondsCell, t.TS[i]}, whole(int64(t.ActiveThreads[i])), number(rateCell, t.Planned[i]), {rateCell, t.Throughput[i]}}
		if total != nil {
			row = append(row, whole(total.Count[i]), whole(total.Failed[i]), cell{rateCell, float64(total.Failed[i]) / max(t.LengthS[i], 1e-9)},
				millisPtr(total.P50[i]), millisPtr(total.P95[i]), millisPtr(total.P99[i]), millisPtr(total.Max[i]), whole(total.Bytes[i]), whole(t.Dropped[i]))
		} else {
			row = append(row, make([]cell, 9)...)
		}
		row = append(row, loadCells(t, i)...)
		rows[i] = row
	}
	b.list("Timeline", columns, rows)
}

// loadCells are the load of an interval that is held against the plan's.
func loadCells(t *stats.Timeline, i int) []cell {
	out := make([]cell, 4)
	if len(t.ClosedThreads) > 0 {
		out[0] = whole(int64(t.ClosedThreads[i]))
	}
	if a := t.Arrivals; a != nil {
		length := max(t.LengthS[i], 1e-9)
		out[1], out[2], out[3] = cell{rateCell, a.Planned[i] / length}, cell{rateCell, float64(a.Started[i]) / length}, cell{rateCell, float64(a.Dropped[i]) / length}
	}
	return out
}

func (b *book) metricsSheet(s *stats.Summary) {
	columns := []column{{"Metric", 34}, {"Type", 10}, {"Values", 11}, {"Value", 14}, {"Per second", 12}, {"Min", 12}, {"Mean", 12}, {"p50", 12}, {"p75", 12},
		{"p90", 12}, {"p95", 12}, {"p99", 12}, {"p99.9", 12}, {"Max", 12}, {"Std. dev.", 12}}
	var rows [][]cell
	for i := range s.Metrics {
		m := &s.Metrics[i]
		kind := plainCell
		if m.Type == "rate" {
			kind = shareCell
		}
		row := []cell{text(m.Name), text(m.Type), whole(m.Count), number(kind, m.Value), number(plainCell, m.PerSecond), number(plainCell, m.Min)}
		if t := m.Trend; t != nil {
			for _, v := range []*float64{&t.Mean, t.P50, t.P75, t.P90, t.P95, t.P99, t.P999, &t.Max, &t.StdDev} {
				row = append(row, number(plainCell, v))
			}
		} else {
			row = append(row, cell{}, cell{}, cell{}, cell{}, cell{}, cell{}, cell{}, number(plainCell, m.Max))
		}
		rows = append(rows, row)
	}
	b.list("Metrics", columns, rows)
}

// totalTimeline returns the column of all samples, nil if there is none.
func totalTimeline(t *stats.Timeline) *stats.TimelineSeries {
	for i := range t.Series {
		if t.Series[i].ID == -1 {
			return &t.Series[i]
		}
	}
	return nil
}

func (b *book) errorsSheet(s *stats.Summary) {
	columns := []column{{"Group", 18}, {"Name", 34}, {"Class", 18}, {"Message", 60}, {"Count", 10}, {"First, s", 10}, {"Last, s", 10}, {"Plan", 26}, {"Examples", 80}}
	var rows [][]cell
	for _, e := range errorLines(s) {
		rows = append(rows, []cell{text(e.Series.Group), text(e.Series.Name), text(e.Class), text(e.Message), whole(e.Count),
			{secondsCell, e.FirstS}, {secondsCell, e.LastS}, text(place(e.Series.File, e.Series.Line)), text(CleanLine(strings.Join(distinct(e.Examples), " ¦ ")))})
	}
	b.list("Errors", columns, rows)
}

func (b *book) thresholdsSheet(s *stats.Summary) {
	columns := []column{{"Outcome", 13}, {"Scope", 34}, {"Expression", 28}, {"Figure", 16}, {"Measured", 14}, {"Operator", 10}, {"Limit", 14}, {"Unit", 8},
		{"Remarks", 24}, {"Message", 60}, {"Plan", 26}}
	var rows [][]cell
	for _, t := range ranked(s.Thresholds) {
		kind, divide, unit := thresholdUnit(t.Unit)
		row := []cell{text(string(outcomeOf(&t))), text(t.Scope), text(qualified(t.Expression, &t)), text(qualified(t.Figure, &t)), {}, {centreCell, t.Op}, {kind, t.Limit / divide}, text(unit),
			text(strings.Join(flags(&t), ", ")), text(sentence(&t)), text(place(t.File, t.Line))}
		if t.Value != nil {
			row[4] = cell{kind, *t.Value / divide}
		}
		rows = append(rows, row)
	}
	b.list("Thresholds", columns, rows)
	b.outcomeColours("Thresholds", len(rows)+1)
}

// thresholdUnit tells how figures of a threshold's unit go into cells.
func thresholdUnit(unit string) (kind cellKind, divide float64, name string) {
	switch unit {
	case "ns":
		return msCell, 1e6, "ms"
	case "share":
		return shareCell, 1, "%"
	case "per_second":
		return rateCell, 1, "/s"
	case "bytes":
		return intCell, 1, "bytes"
	}
	return plainCell, 1, unit
}

func (b *book) environmentSheet(s *stats.Summary) {
	var rows [][]cell
	for _, r := range environmentRows(s) {
		rows = append(rows, []cell{text(r[0]), text(r[1])})
	}
	rows = append(rows, []cell{text("generator"), text(generatorLine(&s.Generator))})
	for _, r := range generatorRows(&s.Generator) {
		rows = append(rows, []cell{text("generator: " + r[0]), text(r[1])})
	}
	for _, l := range ledgerLines(&s.Ledger) {
		rows = append(rows, []cell{text("ledger"), text(l)})
	}
	for _, n := range s.Notes {
		rows = append(rows, []cell{text("note"), text(n)})
	}
	b.list("Environment", []column{{"What", 24}, {"Value", 110}}, rows)
}
