package reporters

import (
	"fmt"

	"github.com/xuri/excelize/v2"

	"runner/reporters/stats"
)

// The colours of the charts: Okabe and Ito's, told apart by colour-blind eyes.
const (
	colourBlue   = "0072B2"
	colourOrange = "E69F00"
	colourRed    = "D55E00"
	colourGrey   = "7F8C9A"
)

// chartLine is one line of a chart: a column of the Timeline sheet.
type chartLine struct {
	column, colour string
	dashed         bool
}

// charts puts the native charts over the Timeline's rows on a sheet.
func (b *book) charts(sheet string, t *stats.Timeline) {
	if len(t.TS) == 0 {
		return
	}
	b.chart(sheet, "D3", "Response time over time, ms", t, chartLine{"H", colourBlue, false}, chartLine{"I", colourOrange, false}, chartLine{"J", colourRed, false})
	b.chart(sheet, "D25", "Throughput, samples per second", t, chartLine{"D", colourBlue, false})
	b.chart(sheet, "N3", "Errors per second", t, chartLine{"G", colourRed, false})
	if len(t.ClosedThreads) > 0 {
		b.chart(sheet, "N25", "Load: planned and actual threads", t, chartLine{"N", colourBlue, false}, chartLine{"C", colourGrey, true})
	} else {
		b.chart(sheet, "N25", "Threads", t, chartLine{"B", colourBlue, false})
	}
	if t.Arrivals != nil {
		b.chart(sheet, "D47", "Load: planned and actual arrivals per second", t,
			chartLine{"P", colourBlue, false}, chartLine{"O", colourGrey, true}, chartLine{"Q", colourRed, false})
	}
}

func (b *book) chart(sheet, at, name string, t *stats.Timeline, lines ...chartLine) {
	points, last := len(t.TS), t.TS[len(t.TS)-1]+t.IntervalS
	axis := excelize.Font{Size: 9, Color: "404B57"}
	chart := excelize.Chart{
		Type:         excelize.Scatter, // a time axis in numbers, not one label per point
		Title:        excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: name, Font: &excelize.Font{Size: 12, Bold: true}}}},
		Legend:       excelize.ChartLegend{Position: "bottom"},
		Dimension:    excelize.ChartDimension{Width: 600, Height: 340},
		ShowBlanksAs: "gap",
		XAxis: excelize.ChartAxis{Font: axis, NumFmt: excelize.ChartNumFmt{CustomNumFmt: "#,##0"}, Minimum: new(float64), Maximum: &last,
			Title: excelize.ChartTitle{Paragraph: []excelize.RichTextRun{{Text: "seconds since the start", Font: &excelize.Font{Size: 9}}}}},
		YAxis: excelize.ChartAxis{Font: axis, MajorGridLines: true, NumFmt: excelize.ChartNumFmt{CustomNumFmt: "#,##0"}, Minimum: new(float64)},
	}
	for _, l := range lines {
		dash := excelize.LineDashSolid
		if l.dashed {
			dash = excelize.LineDashDash
		}
		fill := excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{l.colour}}
		chart.Series = append(chart.Series, excelize.ChartSeries{
			Name:       "Timeline!$" + l.column + "$1",
			Categories: fmt.Sprintf("Timeline!$A$2:$A$%d", points+1),
			Values:     fmt.Sprintf("Timeline!$%s$2:$%s$%d", l.column, l.column, points+1),
			Fill:       fill,
			Line:       excelize.LineOptions{Type: excelize.LineSolid, Dash: dash, Width: 1.75},
			Marker:     excelize.ChartMarker{Symbol: "none"},
		})
	}
	b.do(b.file.AddChart(sheet, at, &chart))
}

// paint is a font and background colour pair that reads well.
type paint struct{ font, back string }

func outcomePaints() map[string]paint {
	good, bad, warn, none := paint{"0B4F3A", "CDEBDD"}, paint{"8A2C00", "FBD9C6"}, paint{"6B4E00", "FCE9B8"}, paint{"4A5560", "E6E9ED"}
	return map[string]paint{
		string(held): good, string(broken): bad, string(noData): bad, string(few): warn, string(notJudged): none,
	}
}

// outcomeColours colours the first column of the Thresholds sheet by its words.
func (b *book) outcomeColours(sheet string, last int) {
	if last < 2 {
		return
	}
	var rules []excelize.ConditionalFormatOptions
	for _, word := range []outcome{held, broken, noData, few, notJudged} {
		p := outcomePaints()[string(word)]
		id, err := b.file.NewConditionalStyle(p.style())
		b.do(err)
		rules = append(rules, excelize.ConditionalFormatOptions{Type: "cell", Criteria: "==", Value: `"` + string(word) + `"`, Format: &id})
	}
	b.do(b.file.SetConditionalFormat(sheet, fmt.Sprintf("A2:A%d", last), rules))
}

// verdictColour colours the verdict's cell by its first letters.
func (b *book) verdictColour(sheet, at string) {
	paints := outcomePaints()
	var rules []excelize.ConditionalFormatOptions
	for _, v := range []struct {
		word stats.Verdict
		like outcome
	}{{"PASSED", held}, {"FAILED", broken}, {"INVALID", broken}, {"INTERRUPTED", few}} {
		id, err := b.file.NewConditionalStyle(paints[string(v.like)].style())
		b.do(err)
		rules = append(rules, excelize.ConditionalFormatOptions{Type: "text", Criteria: "begins with", Value: string(v.word), Format: &id})
	}
	b.do(b.file.SetConditionalFormat(sheet, at, rules))
}

func (p paint) style() *excelize.Style {
	return &excelize.Style{Font: &excelize.Font{Color: p.font, Bold: true},
		Fill: excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{p.back}}}
}
