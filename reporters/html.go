package reporters

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"

	"runner/reporters/assets"
	"runner/reporters/stats"
)

// writeHTML writes report.html: one file that opens from disk. Its policy allows
// nothing to be fetched and only the two scripts and the style that stand in it,
// by their hashes; everything of the run is either escaped text or in one island
// of escaped JSON that no browser executes.
func writeHTML(w io.Writer, s *stats.Summary) error {
	tmpl, err := template.New("report").Parse(assets.Text("report.html"))
	if err != nil {
		return err
	}
	v, err := newPage(s)
	if err != nil {
		return err
	}
	return tmpl.Execute(w, v)
}

// page is what report.html is filled with.
type page struct {
	Policy          string
	Style           template.CSS
	Library         template.JS
	Script          template.JS
	Data            template.JS
	Title           string
	Verdict         verdictView
	Meta            []string
	Alerts          []string
	Cards           []card
	Thresholds      []thresholdView
	Passing         []thresholdView // those that hold, when there are too many to show at first
	Tables          []seriesView
	Times           *timesView
	Options         []option
	HasTimeline     bool
	TimelineNote    string
	Loads           []loadView
	HasDistribution bool
	Phases          []phaseView
	PhaseNames      []string
	Errors          []errorView
	ErrorsMore      int
	Classes         []pair
	Status          []pair
	Assertions      []assertionView
	Generator       []pair
	GeneratorState  string
	GeneratorWhy    []string
	Ledger          []equation
	LedgerPairs     []pair
	Sources         []sourceView
	Environment     []pair
	Notes           []string
	Skipped         []pair
	Groups          []groupView
	Metrics         *table
	MetricOptions   []option
	Libraries       string
}

// newPage prepares everything that the page shows.
func newPage(s *stats.Summary) (*page, error) {
	island, note := newIsland(s)
	data, err := json.Marshal(island) // escapes <, >, &, U+2028 and U+2029
	if err != nil {
		return nil, err
	}
	style := assets.Text("uPlot.min.css") + "\n" + assets.Text("report.css")
	library, script := assets.Text("uPlot.iife.min.js"), assets.Text("report.js")
	p := &page{
		Policy: "default-src 'none'; script-src " + hashOf(library) + " " + hashOf(script) + "; style-src " + hashOf(style) +
			"; img-src data:; base-uri 'none'; form-action 'none'",
		Style: template.CSS(style), Library: template.JS(library), Script: template.JS(script), Data: template.JS(data),
		Title: CleanLine(s.Plan), TimelineNote: note, HasTimeline: len(s.Timeline.TS) > 0, HasDistribution: island.hasTimes(),
		Libraries: assets.Text("uPlot.LICENSE"),
	}
	p.Loads = newLoads(s)
	p.overview(s)
	p.tables(s)
	p.details(s)
	p.Sources = sourceViews(s)
	return p, nil
}

// hashOf is the policy's word for one script or style.
func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}
