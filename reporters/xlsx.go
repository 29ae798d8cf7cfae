package reporters

import (
	"fmt"
	"io"
	"regexp"
	"strings"

	"github.com/xuri/excelize/v2"

	"runner/reporters/stats"
)

// cellKind is how a cell is written: text stays text whatever it begins with,
// numbers are real numbers with a number format.
type cellKind int

const (
	textCell cellKind = iota
	intCell
	msCell
	shareCell
	rateCell
	secondsCell
	plainCell
	headCell
	titleCell
	wrapCell
	centreCell
)

// numberFormats are the formats of the numeric kinds.
func numberFormats() map[cellKind]string {
	return map[cellKind]string{
		intCell: "#,##0", msCell: "#,##0.0", shareCell: "0.00%", rateCell: "#,##0.0",
		secondsCell: "#,##0.0", plainCell: "#,##0.######",
	}
}

// maxCell is the most text put into a cell; Excel's own limit is 32,767.
const maxCell = 4000

// book is the workbook being made; the first error stops all further work.
type book struct {
	file   *excelize.File
	styles map[cellKind]int
	err    error
}

// writeXLSX writes report.xlsx.
func writeXLSX(w io.Writer, s *stats.Summary) error {
	b := &book{file: excelize.NewFile(), styles: map[cellKind]int{}}
	defer b.file.Close()
	b.makeStyles()
	for i, name := range []string{"Summary", "Series", "Percentiles", "Timeline", "Metrics", "Errors", "Thresholds", "Environment"} {
		if i == 0 {
			b.do(b.file.SetSheetName("Sheet1", name))
			continue
		}
		_, err := b.file.NewSheet(name)
		b.do(err)
	}
	b.summarySheet(s)
	b.seriesSheet(s)
	b.percentilesSheet(s)
	b.timelineSheet(s)
	b.metricsSheet(s)
	b.errorsSheet(s)
	b.thresholdsSheet(s)
	b.environmentSheet(s)
	if b.err != nil {
		return b.err
	}
	return b.file.Write(w)
}

func (b *book) do(err error) {
	if b.err == nil && err != nil {
		b.err = err
	}
}

func (b *book) makeStyles() {
	for kind, f := range numberFormats() {
		b.style(kind, &excelize.Style{CustomNumFmt: &f})
	}
	b.style(textCell, &excelize.Style{NumFmt: 49})
	b.style(wrapCell, &excelize.Style{NumFmt: 49, Alignment: &excelize.Alignment{WrapText: true, Vertical: "top"}})
	b.style(centreCell, &excelize.Style{NumFmt: 49, Alignment: &excelize.Alignment{Horizontal: "center"}})
	b.style(titleCell, &excelize.Style{NumFmt: 49, Font: &excelize.Font{Bold: true, Size: 16, Family: "Calibri"}})
	b.style(headCell, &excelize.Style{
		Font:      &excelize.Font{Bold: true, Color: "FFFFFF", Family: "Calibri"},
		Fill:      excelize.Fill{Type: "pattern", Pattern: 1, Color: []string{"1F3A5F"}},
		Alignment: &excelize.Alignment{Vertical: "center", WrapText: true},
	})
}

func (b *book) style(kind cellKind, s *excelize.Style) {
	id, err := b.file.NewStyle(s)
	b.do(err)
	b.styles[kind] = id
}

// cell is a value with the way it is written; a nil Value leaves the cell empty.
type cell struct {
	Kind  cellKind
	Value any
}

func text(s string) cell    { return cell{textCell, cut(s, maxCell)} }
func wrapped(s string) cell { return cell{wrapCell, cut(s, maxCell)} }
func whole(n int64) cell    { return cell{intCell, n} }
func millis(ns float64) cell {
	return cell{msCell, ns / 1e6}
}

func millisPtr(ns *int64) cell {
	if ns == nil {
		return cell{}
	}
	return millis(float64(*ns))
}

func number(kind cellKind, v *float64) cell {
	if v == nil {
		return cell{}
	}
	return cell{kind, *v}
}

// put writes one cell; column and row count from 1.
func (b *book) put(sheet string, col, row int, c cell) {
	if b.err != nil || c.Value == nil {
		return
	}
	at, err := excelize.CoordinatesToCellName(col, row)
	b.do(err)
	switch v := c.Value.(type) {
	case string:
		b.do(b.file.SetCellStr(sheet, at, literal(v)))
	case int64:
		b.do(b.file.SetCellInt(sheet, at, v))
	case float64:
		b.do(b.file.SetCellFloat(sheet, at, v, -1, 64))
	}
	b.do(b.file.SetCellStyle(sheet, at, at, b.styles[c.Kind]))
}

// column is a column of a list sheet.
type column struct {
	Head  string
	Width float64
}

// list writes a sheet that is one table: frozen head, filter, widths.
func (b *book) list(sheet string, columns []column, rows [][]cell) {
	for i, c := range columns {
		b.put(sheet, i+1, 1, cell{headCell, c.Head})
		name, err := excelize.ColumnNumberToName(i + 1)
		b.do(err)
		b.do(b.file.SetColWidth(sheet, name, name, c.Width))
	}
	for r, cells := range rows {
		for c, v := range cells {
			b.put(sheet, c+1, r+2, v)
		}
	}
	b.do(b.file.SetRowHeight(sheet, 1, 32))
	b.do(b.file.SetPanes(sheet, &excelize.Panes{Freeze: true, YSplit: 1, TopLeftCell: "A2", ActivePane: "bottomLeft",
		Selection: []excelize.Selection{{SQRef: "A2", ActiveCell: "A2", Pane: "bottomLeft"}}}))
	last, err := excelize.ColumnNumberToName(len(columns))
	b.do(err)
	b.do(b.file.AutoFilter(sheet, fmt.Sprintf("A1:%s%d", last, len(rows)+1), nil))
	b.printWide(sheet)
}

// printWide fits a sheet's width on landscape pages.
func (b *book) printWide(sheet string) {
	landscape, wide, high := "landscape", 1, 0
	fit := true
	b.do(b.file.SetPageLayout(sheet, &excelize.PageLayoutOptions{Orientation: &landscape, FitToWidth: &wide, FitToHeight: &high}))
	b.do(b.file.SetSheetProps(sheet, &excelize.SheetPropsOptions{FitToPage: &fit}))
}

// literal protects text that looks like one of Excel's escapes (_x0041_ would be
// read as A) by escaping its first underscore.
func literal(s string) string {
	if !strings.Contains(s, "_x") {
		return s
	}
	escape := regexp.MustCompile(`^_x[0-9A-Fa-f]{4}_`)
	var b strings.Builder
	for i := range len(s) {
		if s[i] == '_' && escape.MatchString(s[i:]) {
			b.WriteString("_x005F")
		}
		b.WriteByte(s[i])
	}
	return b.String()
}
