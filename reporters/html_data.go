package reporters

import (
	"encoding/base64"
	"encoding/binary"
	"math"
	"slices"

	"runner/reporters/stats"
)

// Limits of the island, so that a report of a day with a hundred series stays
// under 3 MiB: series × intervals beyond maxCells have no timeline of their own,
// and beyond maxCurves series only the response time has a curve.
const (
	maxCells  = 125_000
	maxCurves = 50
)

// Times travel as 16 bits of their logarithm: 0 is null, q is e^((q-1)·logStep)
// nanoseconds. The step is 0.05 %, the histogram's own resolution 0.1 %.
const logStep = 34.6 / 65534 // e^34.6 ns are twelve days

// island is the data of the charts.
type island struct {
	LogStep    float64        `json:"step"`
	IntervalS  float64        `json:"dt"`
	T          []float64      `json:"t"`
	Length     []float64      `json:"len"` // seconds of each interval that the run covers
	Active     []int          `json:"active"`
	Closed     []int          `json:"closed,omitempty"` // active threads of the closed groups
	Planned    []*float64     `json:"planned"`
	Arrivals   *islandLoad    `json:"arrivals,omitempty"`
	Throughput []float64      `json:"throughput"`
	Dropped    []int64        `json:"dropped"`
	Rows       []islandRow    `json:"rows"`
	Limits     []islandLine   `json:"limits"`
	Metrics    []islandMetric `json:"metrics"`
}

// islandLoad are the arrivals of the open groups in each interval.
type islandLoad struct {
	Planned []float64 `json:"planned"`
	Started []int64   `json:"started"`
	Dropped []int64   `json:"dropped"`
}

type islandRow struct {
	ID       int             `json:"id"`
	Name     string          `json:"name"`
	Timeline *islandTimeline `json:"tl,omitempty"`
	Times    []islandTimes   `json:"d,omitempty"`
}

type islandTimeline struct {
	Count  string `json:"c"`
	Failed string `json:"f"`
	Unsent string `json:"u,omitempty"`
	P50    string `json:"p50"`
	P95    string `json:"p95"`
	P99    string `json:"p99"`
	Max    string `json:"max"`
}

type islandTimes struct {
	Name  string       `json:"n"`
	Curve [][2]float64 `json:"c"`
	Bars  [][3]int64   `json:"b"`
}

// islandLine is the limit of a threshold on response time, drawn into the chart.
type islandLine struct {
	ID    int     `json:"id"`
	NS    float64 `json:"ns"`
	Label string  `json:"label"`
	Bad   bool    `json:"bad"`
}

// hasTimes reports whether any row has a distribution to show.
func (d *island) hasTimes() bool {
	return slices.ContainsFunc(d.Rows, func(r islandRow) bool { return len(r.Times) > 0 })
}

// newIsland returns the charts' data, and a note when it does not hold all.
func newIsland(s *stats.Summary) (d *island, note string) {
	t := &s.Timeline
	d = &island{LogStep: logStep, IntervalS: t.IntervalS, T: t.TS, Length: rounded(t.LengthS), Active: t.ActiveThreads, Closed: t.ClosedThreads, Planned: t.Planned,
		Throughput: rounded(t.Throughput), Dropped: t.Dropped, Rows: []islandRow{}, Limits: islandLimits(s), Metrics: islandMetrics(s)}
	if a := t.Arrivals; a != nil {
		d.Arrivals = &islandLoad{rounded(a.Planned), a.Started, a.Dropped}
	}
	columns := make(map[int]*stats.TimelineSeries, len(t.Series))
	for i := range t.Series {
		columns[t.Series[i].ID] = &t.Series[i]
	}
	cells, without := 0, int64(0)
	add := func(id int, name string, r *stats.Series) {
		row := islandRow{ID: id, Name: CleanLine(name), Times: islandMeasures(r, len(s.Series)+len(s.Transactions) > maxCurves)}
		if c := columns[id]; c != nil && cells+len(t.TS) <= maxCells {
			row.Timeline, cells = packTimeline(c), cells+len(t.TS)
		} else if c != nil {
			without++
		}
		d.Rows = append(d.Rows, row)
	}
	add(-1, "All samples", &s.Total)
	for i := range s.Series {
		add(s.Series[i].ID, title(&s.Series[i]), &s.Series[i])
	}
	for i := range s.Transactions {
		add(s.Transactions[i].ID, title(&s.Transactions[i]), &s.Transactions[i])
	}
	if without > 0 {
		note = plural(without, "series") + " over time only in summary.json, for the size of this page"
	}
	return d, note
}

func islandLimits(s *stats.Summary) []islandLine {
	out := []islandLine{}
	for i := range s.Thresholds {
		th := &s.Thresholds[i]
		if th.Unit != "ns" || th.Limit <= 0 {
			continue
		}
		line := islandLine{NS: th.Limit, Label: CleanLine(qualified(th.Figure, th) + " " + opLimit(th)), Bad: outcomeOf(th) == broken}
		switch {
		case th.SeriesID != nil:
			line.ID = *th.SeriesID
		case th.Group == "":
			line.ID = -1
		default:
			continue
		}
		out = append(out, line)
	}
	return out
}

func islandMeasures(r *stats.Series, few bool) []islandTimes {
	var out []islandTimes
	for i, m := range measures(r) {
		if i > 0 && few {
			break
		}
		if len(m.D.Curve)+len(m.D.Bars) == 0 {
			continue
		}
		x := islandTimes{Name: m.Name, Curve: make([][2]float64, len(m.D.Curve)), Bars: make([][3]int64, len(m.D.Bars))}
		for k, p := range m.D.Curve {
			x.Curve[k] = [2]float64{roundTo(p.Percentile, 1e6), float64(shortened(p.NS))}
		}
		for k, b := range m.D.Bars {
			x.Bars[k] = [3]int64{shortened(b.FromNS), shortened(b.ToNS), b.Count}
		}
		out = append(out, x)
	}
	return out
}

// shortened rounds to four significant digits.
func shortened(n int64) int64 {
	scale := int64(1)
	for v := n; v >= 10_000; v /= 10 {
		scale *= 10
	}
	return n / scale * scale
}

func roundTo(v, scale float64) float64 { return math.Round(v*scale) / scale }

func rounded(vs []float64) []float64 {
	out := make([]float64, len(vs))
	for i, v := range vs {
		if out[i] = roundTo(v, 1000); math.IsInf(out[i], 0) {
			out[i] = v
		}
	}
	return out
}

func packTimeline(c *stats.TimelineSeries) *islandTimeline {
	return &islandTimeline{packCounts(c.Count), packCounts(c.Failed), packCounts(c.Unsent), packTimes(c.P50), packTimes(c.P95), packTimes(c.P99), packTimes(c.Max)}
}

// packCounts writes counts as base64 of unsigned varints.
func packCounts(col []int64) string {
	b := make([]byte, 0, 2*len(col))
	for _, n := range col {
		b = binary.AppendUvarint(b, uint64(max(0, n)))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// packTimes writes times as base64 of little-endian 16-bit logarithms.
func packTimes(col []*int64) string {
	b := make([]byte, 0, 2*len(col))
	for _, p := range col {
		q := 0.0
		if p != nil {
			q = min(65535, 1+math.Round(math.Log(float64(max(1, *p)))/logStep))
		}
		b = binary.LittleEndian.AppendUint16(b, uint16(q))
	}
	return base64.StdEncoding.EncodeToString(b)
}
