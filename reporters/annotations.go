package reporters

import (
	"io"
	"strconv"
	"strings"

	"runner/reporters/stats"
)

// WriteAnnotations writes a GitHub Actions annotation for each threshold that
// went wrong, and one for the run when none did and it has not passed. Text from
// a target cannot start or end a workflow command.
func WriteAnnotations(w io.Writer, s *stats.Summary) error {
	s = cleaned(s)
	var b strings.Builder
	for i := range s.Thresholds {
		t := &s.Thresholds[i]
		if !outcomeOf(t).bad() {
			continue
		}
		b.WriteString("::error ")
		if t.File != "" {
			b.WriteString("file=" + annotationProperty(t.File) + ",line=" + strconv.Itoa(max(1, t.Line)) + ",")
		}
		b.WriteString("title=" + annotationProperty(qualified(t.Expression, t)) + "::" + annotationText(t.Scope+": "+sentence(t)) + "\n")
	}
	if b.Len() == 0 && s.Verdict != stats.Passed {
		b.WriteString("::error title=" + annotationProperty(s.Plan) + "::" + annotationText(strings.Join(summaryReasons(s), "; ")) + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// annotationText escapes a command's message.
func annotationText(text string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(text)
}

// annotationProperty escapes a property's value of a command.
func annotationProperty(text string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(annotationText(text))
}
