package stats

import (
	"crypto/sha256"
	"encoding/hex"
	"math"
	"os"
	"runtime"
	"time"

	"runner/plan/element"
	"runner/plan/source"
)

// outline is the layout as plain data: what the journal's head holds and all that
// a summary needs beside the recorded figures.
type outline struct {
	Schema     string             `json:"schema"`
	Info       Info               `json:"info"`
	Groups     []groupOutline     `json:"groups"`
	Series     []seriesOutline    `json:"series"`
	Thresholds []thresholdOutline `json:"thresholds"`
	Notes      []string           `json:"notes"`
	Skipped    []Skipped          `json:"skipped"`
	Metrics    []metricOutline    `json:"metrics"`
	Apdex      time.Duration      `json:"apdex"`
	More       int                `json:"more"` // series beyond maxSeries
}

type metricOutline struct {
	Name string `json:"name"`
	Type string `json:"type"`
}

// batch makes an empty batch for the outline's rows, groups and metrics; one row
// more is shared by the series beyond the limit.
func (o *outline) batch() *batch { return newBatch(len(o.Series)+1, len(o.Groups), len(o.Metrics)) }

type groupOutline struct {
	Name          string        `json:"name"`
	Load          string        `json:"load"`
	Open          bool          `json:"open"`
	MaxThreads    int           `json:"max_threads"`
	Duration      time.Duration `json:"duration"`
	ScheduledRate string        `json:"scheduled_rate"`
	Skipped       string        `json:"skipped"`
	File          string        `json:"file"`
	Line          int           `json:"line"`
	SteadyFrom    time.Duration `json:"steady_from"`
	SteadyTo      time.Duration `json:"steady_to"`
	WarmUp        time.Duration `json:"warm_up"`
	Top           float64       `json:"top"` // most threads or highest rate planned
}

type seriesOutline struct {
	ID          int                `json:"id"`
	Group       int                `json:"group"`
	Name        string             `json:"name"`
	Kind        string             `json:"kind"`
	Phase       string             `json:"phase"`
	Transaction bool               `json:"transaction"`
	Reserved    bool               `json:"reserved,omitempty"` // gets its name while the plan runs
	File        string             `json:"file"`
	Line        int                `json:"line"`
	Assertions  []assertionOutline `json:"assertions"`
}

// quiet reports whether a row is left out of reports while it has no samples.
func (o *seriesOutline) quiet() bool { return o.Kind == element.ControlKind || o.Reserved }

type assertionOutline struct {
	Name string `json:"name"`
	File string `json:"file"`
	Line int    `json:"line"`
}

type thresholdOutline struct {
	Scope   string        `json:"scope"`
	Group   int           `json:"group"`
	Series  []int         `json:"series"`
	Single  int           `json:"single"`
	Source  string        `json:"source"`
	Figure  string        `json:"figure"`
	Op      string        `json:"op"`
	Limit   float64       `json:"limit"`
	After   time.Duration `json:"after"`
	Window  time.Duration `json:"window"`
	For     time.Duration `json:"for"`
	Stop    bool          `json:"stop"`
	Implied bool          `json:"implied"`
	File    string        `json:"file"`
	Line    int           `json:"line"`
}

func outlineOf(l *element.Layout, o *Options) *outline {
	m := l.Masker
	out := &outline{Schema: journalSchema, Info: infoOf(l, o), Apdex: o.Apdex, Notes: []string{}}
	if out.Apdex <= 0 {
		out.Apdex = 500 * time.Millisecond
	}
	for i := range l.Groups {
		g := &l.Groups[i]
		file, line := place(g.Range)
		from, to, top := heightOf(g)
		out.Groups = append(out.Groups, groupOutline{
			Name: clean(g.Name, m), Load: clean(g.Load, m), Open: g.Open, MaxThreads: g.MaxThreads, Duration: g.Duration,
			ScheduledRate: clean(g.ScheduledRate, m), Skipped: clean(g.Skipped, m), File: file, Line: line,
			SteadyFrom: from, SteadyTo: to, WarmUp: g.WarmUp, Top: top,
		})
	}
	for i := range l.Series {
		if i >= maxSeries {
			out.More = len(l.Series) - maxSeries
			break
		}
		out.Series = append(out.Series, seriesOf(&l.Series[i], i, m))
	}
	for i := range l.Metrics[:min(len(l.Metrics), maxMetrics)] {
		out.Metrics = append(out.Metrics, metricOutline{clean(l.Metrics[i].Name, m), l.Metrics[i].Type})
	}
	for i := range l.Thresholds {
		out.Thresholds = append(out.Thresholds, thresholdOf(&l.Thresholds[i], m))
	}
	for _, n := range l.Notes {
		out.Notes = append(out.Notes, clean(n, m))
	}
	for _, s := range l.Skipped {
		file, line := place(s.Range)
		out.Skipped = append(out.Skipped, Skipped{Group: clean(s.Group, m), Name: clean(s.Name, m), Reason: clean(s.Reason, m), File: file, Line: line})
	}
	return out
}

func seriesOf(s *element.Series, id int, m *element.Masker) seriesOutline {
	file, line := place(s.Range)
	out := seriesOutline{
		ID: id, Group: s.Group, Name: clean(s.Name, m), Kind: s.Kind, Phase: string(s.Phase),
		Transaction: s.Transaction, Reserved: s.Reserved, File: file, Line: line,
	}
	if out.Phase == "" {
		out.Phase = string(element.Load)
	}
	for i := range s.Assertions {
		if i >= maxAssertions {
			break
		}
		file, line := place(s.Assertions[i].Range)
		out.Assertions = append(out.Assertions, assertionOutline{clean(s.Assertions[i].Name, m), file, line})
	}
	return out
}

func thresholdOf(t *element.Threshold, m *element.Masker) thresholdOutline {
	file, line := place(t.Range)
	c := &t.Comparison
	text := c.Source
	if text == "" {
		text = t.Range.Text()
	}
	limit := c.Limit
	if math.IsNaN(limit) || math.IsInf(limit, 0) {
		limit = math.Copysign(math.MaxFloat64, limit)
	}
	return thresholdOutline{
		Scope: clean(t.Scope, m), Group: t.Group, Series: t.Series, Single: t.Single, Source: clean(text, m),
		Figure: c.Figure, Op: c.Op, Limit: limit, After: t.After, Window: t.Window, For: t.For,
		Stop: t.Stop, Implied: t.Implied, File: file, Line: line,
	}
}

func place(r source.Range) (string, int) {
	if r.IsZero() {
		return "", 0
	}
	return r.File.Name, r.Start.Line
}

func infoOf(l *element.Layout, o *Options) Info {
	i := o.Info
	if i.Plan == "" {
		i.Plan = l.Plan
	}
	i.Plan, i.Description = clean(i.Plan, l.Masker), l.Masker.Mask(i.Description)
	if i.PlanSHA256 == "" && len(i.Sources) > 0 {
		sum := sha256.Sum256([]byte(i.Sources[0].Text))
		i.PlanSHA256 = hex.EncodeToString(sum[:])
	}
	sources := make([]Source, len(i.Sources))
	for k, s := range i.Sources {
		sources[k] = Source{File: s.File, Text: l.Masker.Mask(s.Text)}
	}
	i.Sources = sources
	if i.Started.IsZero() {
		i.Started = o.Started
	}
	i.Started = i.Started.Round(0).UTC()
	if i.Environment == (Environment{}) {
		i.Environment = thisMachine()
	}
	return i
}

// thisMachine describes where the process runs.
func thisMachine() Environment {
	host, err := os.Hostname()
	if err != nil {
		host = ""
	}
	return Environment{
		Host: host, OS: runtime.GOOS, Arch: runtime.GOARCH, CPUs: runtime.NumCPU(),
		Go: runtime.Version(), OpenFilesLimit: openFilesLimit(),
	}
}
