// Package assets holds the files that the HTML report is put together from:
// uPlot (MIT, see uPlot.LICENSE), and the report's own style, script and page.
package assets

import "embed"

// Files holds the report's page, style and script and the vendored chart library.
//
//go:embed report.html report.css report.js uPlot.iife.min.js uPlot.min.css uPlot.LICENSE
var Files embed.FS

// Text returns the content of one of Files; a name that is not embedded gives "".
func Text(name string) string {
	b, err := Files.ReadFile(name)
	if err != nil {
		return ""
	}
	return string(b)
}
