package reporters

import (
	"archive/zip"
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"
)

func openBook(t *testing.T, b []byte) *excelize.File {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

// cellsOf lists a workbook's cells as they are shown, the Timeline's first rows only.
func cellsOf(t *testing.T, b []byte) []byte {
	t.Helper()
	f := openBook(t, b)
	var out bytes.Buffer
	for _, sheet := range f.GetSheetList() {
		rows, err := f.GetRows(sheet)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "== %s\n", sheet)
		if sheet == "Timeline" {
			rows = rows[:min(len(rows), 4)]
		}
		for _, r := range rows {
			fmt.Fprintln(&out, strings.TrimRight(CleanLine(strings.Join(r, " | ")), " |"))
		}
	}
	return out.Bytes()
}

func TestWorkbook(t *testing.T) {
	b := render(t, "xlsx", load(t))
	f := openBook(t, b)
	want := []string{"Summary", "Series", "Percentiles", "Timeline", "Metrics", "Errors", "Thresholds", "Environment"}
	if got := f.GetSheetList(); !slices.Equal(got, want) {
		t.Errorf("sheets: %v", got)
	}
	for _, sheet := range want[1:] {
		panes, err := f.GetPanes(sheet)
		if err != nil || !panes.Freeze || panes.YSplit != 1 {
			t.Errorf("%s: head is not frozen: %+v %v", sheet, panes, err)
		}
	}
	for cell, kind := range map[string]excelize.CellType{"E2": excelize.CellTypeUnset, "M2": excelize.CellTypeUnset, "A2": excelize.CellTypeSharedString} {
		if got, err := f.GetCellType("Series", cell); err != nil || got != kind {
			t.Errorf("type of Series!%s is %v, %v", cell, got, err)
		}
	}
	if rules, err := f.GetConditionalFormats("Thresholds"); err != nil || len(rules) != 1 {
		t.Errorf("conditional colours: %v %v", rules, err)
	}
}

// parts reads every XML part of a workbook.
func parts(t *testing.T, b []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, file := range z.File {
		r, err := file.Open()
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		if _, err := text.ReadFrom(r); err != nil {
			t.Fatal(err)
		}
		_ = r.Close()
		out[file.Name] = text.String()
	}
	return out
}

func TestWorkbookHasNativeChartsAndNoFormula(t *testing.T) {
	charts := 0
	filters := 0
	for name, text := range parts(t, render(t, "xlsx", fixed())) {
		if strings.HasPrefix(name, "xl/charts/chart") {
			charts++
		}
		if strings.HasPrefix(name, "xl/worksheets/sheet") {
			if regexp.MustCompile(`<f[ >]`).MatchString(text) {
				t.Errorf("%s has a formula", name)
			}
			filters += strings.Count(text, "<autoFilter")
		}
		if strings.Contains(name, "externalLink") || strings.Contains(text, `TargetMode="External"`) {
			t.Errorf("%s links outside", name)
		}
	}
	if charts != 5 || filters != 7 {
		t.Errorf("%d charts, %d filters", charts, filters)
	}
}

func TestFormulasStayText(t *testing.T) {
	for _, name := range []string{"=1+1", "+1+1", "-1+1", "@SUM(A1)", "=HYPERLINK(\"http://x\")", "\t=1", "1e5", "007", "_x0041_", "_x0041_x0042_", "_x005F_x0041_", "a_x"} {
		s := fixed()
		s.Series[0].Name, s.Series[0].Group = name, name
		s.Thresholds[0].Scope, s.Plan = name, name
		f := openBook(t, render(t, "xlsx", s))
		if got, err := f.GetCellValue("Series", "B2"); err != nil || got != name {
			t.Errorf("%q reads as %q, %v", name, got, err)
		}
		if formula, _ := f.GetCellFormula("Series", "B2"); formula != "" {
			t.Errorf("%q became the formula %q", name, formula)
		}
		if kind, _ := f.GetCellType("Series", "B2"); kind != excelize.CellTypeSharedString {
			t.Errorf("%q has the type %v", name, kind)
		}
	}
}
