package compare

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"
)

//go:embed page.html
var page string

// WriteHTML writes the result as one page that needs no network.
func (r *Result) WriteHTML(w io.Writer) error {
	t, err := template.New("page").Funcs(template.FuncMap{
		"upper": strings.ToUpper,
		"class": func(o Outcome) string { return strings.ReplaceAll(string(o), " ", "-") },
		"p":     pText,
		"runs":  func(n int, side string) string { return countRuns(n, side) },
	}).Parse(page)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := t.Execute(&b, pageData{r, pageRows(r.Rows)}); err != nil {
		return fmt.Errorf("render the comparison: %w", err)
	}
	_, err = w.Write(b.Bytes())
	return err
}

type pageData struct {
	*Result
	Lines []pageRow
}

// pageRow is a row as text, with the runs as dots on one scale.
type pageRow struct {
	Row
	Name, BaseText, NewText, ChangeText, Interval string
	Dots                                          []dot
}

// dot is one run; X in percent of the width.
type dot struct {
	X     float64
	Y     int
	Side  string
	Title string
}

func pageRows(rows []Row) []pageRow {
	var out []pageRow
	for _, row := range rows {
		line := pageRow{Row: row, Name: row.name(), BaseText: row.value(row.Base), NewText: row.value(row.New), ChangeText: row.changed(), Dots: dots(&row)}
		if row.Low != nil && row.High != nil {
			line.Interval = row.spoken(*row.Low) + " to " + row.spoken(*row.High)
		}
		out = append(out, line)
	}
	return out
}

// dots puts the runs of a row between its smallest and largest value.
func dots(row *Row) []dot {
	var least, most float64
	for n, v := range append(append([]float64{}, row.Bases...), row.News...) {
		if n == 0 {
			least, most = v, v
		}
		least, most = min(least, v), max(most, v)
	}
	var out []dot
	add := func(values []float64, side string, y int) {
		for _, v := range values {
			x := 50.0
			if most > least {
				x = 4 + 92*(v-least)/(most-least)
			}
			out = append(out, dot{x, y, side, side + " " + row.value(&v)})
		}
	}
	add(row.Bases, "base", 7)
	add(row.News, "new", 17)
	return out
}
