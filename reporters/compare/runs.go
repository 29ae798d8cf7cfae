package compare

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// WriteRuns writes a table of runs of one plan: the figures of each, their median
// and how far they lie from each other.
func WriteRuns(w io.Writer, runs []Run) error {
	if len(runs) == 0 {
		return nil
	}
	head := []string{"run", "samples"}
	columns := make([][]float64, len(figures()))
	var cells [][]string
	for _, r := range runs {
		line := []string{clip(clean(r.Name)), strconv.FormatInt(r.Summary.Total.Count, 10)}
		for i, f := range figures() {
			v := f.of(&r.Summary.Total)
			line = append(line, (&Row{Unit: f.unit}).value(v))
			if v != nil {
				columns[i] = append(columns[i], *v)
			}
		}
		cells = append(cells, append(line, string(r.Summary.Verdict)))
	}
	middle, spread := []string{"median", ""}, []string{"spread", ""}
	for i, f := range figures() {
		head = append(head, f.name)
		middle, spread = append(middle, "n/a"), append(spread, "")
		if len(columns[i]) == len(runs) {
			m := median(columns[i])
			middle[i+2] = (&Row{Unit: f.unit}).value(&m)
			spread[i+2] = spreadText(&f, columns[i])
		}
	}
	cells = append([][]string{append(head, "verdict")}, append(cells, append(middle, ""))...)
	if len(runs) > 1 {
		cells = append(cells, append(spread, ""))
	}
	var b strings.Builder
	b.WriteString("\n")
	align(&b, cells, 1, func(cell string) string { return cell })
	_, err := io.WriteString(w, trimLines(b.String()))
	return err
}

// spreadText writes the deviation from run to run.
func spreadText(f *figure, values []float64) string {
	d := deviation(scaledAll(f, values))
	if f.unit == "share" {
		return fmt.Sprintf("%s points", short(d*100))
	}
	return percent(d)
}

func trimLines(s string) string {
	lines := strings.Split(s, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return strings.Join(lines, "\n")
}
