package expr

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"runner/plan/source"
)

// Comparison is a threshold's condition: one figure, one operator, one constant.
type Comparison struct {
	Figure string  // canonical: "p95", "latency.p95", "p99.9", "errors", "orders.rate", "generator.lag.p99"
	Op     string  // < <= > >= == !=
	Limit  float64 // in base units: ns, bytes, per second, a share of one, a number
	Unit   Type    // IntType for counts, FloatType for plain numbers, else the unit
	Range  source.Range
	Source string
}

// Holds reports whether value, in base units, satisfies the comparison.
func (c Comparison) Holds(value float64) bool {
	switch c.Op {
	case "<":
		return value < c.Limit
	case "<=":
		return value <= c.Limit
	case ">":
		return value > c.Limit
	case ">=":
		return value >= c.Limit
	case "==":
		return value == c.Limit
	}
	return value != c.Limit
}

// Format prints a value of the figure with its unit, as "812ms" or "0.4%".
func (c Comparison) Format(value float64) string { return FormatUnit(value, c.Unit) }

// FormatUnit prints a number in base units as a value of type t.
func FormatUnit(value float64, t Type) string {
	switch t {
	case DurationType:
		return time.Duration(clampInt(value)).String()
	case RateType:
		return formatFloat(value) + "/s"
	case SizeType:
		return Size(clampInt(value)).String()
	case ShareType:
		return Share(value).String()
	}
	return formatFloat(value)
}

// times are the figures of a distribution of times.
var times = []string{"p50", "p90", "p95", "p99", "min", "max", "mean", "stddev"}

// plainFigures are the figures that stand alone.
var plainFigures = map[string]Type{
	"errors": ShareType, "error_count": IntType, "samples": IntType, "throughput": RateType, "dropped": IntType,
	"apdex": FloatType, "received": SizeType, "sent": SizeType, "generator.cpu": ShareType,
}

// timeFamilies are the distributions of times beside the response time.
var timeFamilies = []string{"latency", "service", "connect", "generator.lag"}

// metricFigures gives the figures of a custom metric by its kind.
var metricFigures = map[string]map[string]Type{
	"counter": {"count": FloatType, "rate": RateType},
	"gauge":   {"value": FloatType, "min": FloatType, "max": FloatType},
	"rate":    {"rate": ShareType},
	"trend":   {"min": FloatType, "max": FloatType, "mean": FloatType, "stddev": FloatType, "count": IntType},
}

// Figures returns the names of all figures that a threshold may use, sorted, with
// those of the given custom metrics (name → counter, gauge, rate or trend).
func Figures(metrics map[string]string) []string {
	set := map[string]bool{}
	for name := range plainFigures {
		set[name] = true
	}
	for _, t := range times {
		set[t] = true
		for _, family := range timeFamilies {
			set[family+"."+t] = true
		}
	}
	for name, kind := range metrics {
		for figure := range metricFigures[kind] {
			set[name+"."+figure] = true
		}
		if kind == "trend" {
			for _, p := range times[:4] {
				set[name+"."+p] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(set))
}

var comparisonForm = regexp.MustCompile(`^\s*([^<>=!\s]+(?:\s*\([^)]*\))?)\s*(==|!=|<=|>=|=<|=>|<|>|=)\s*(\S.*?)\s*$`)

// ParseComparison reads a threshold's condition. metrics gives the plan's custom
// metrics by name. It reports what is wrong and returns false.
func ParseComparison(n *source.Node, metrics map[string]string, ds *source.Diagnostics) (Comparison, bool) {
	c := Comparison{Range: n.Range, Source: n.Text}
	if n.Kind != source.Scalar || n.Null {
		ds.Add(n.Range, "bad-threshold", "a threshold is one comparison", "write one like p95 < 500ms or errors < 1%")
		return c, false
	}
	text := n.Text
	fail := func(from, to int, code, summary, detail string) (Comparison, bool) {
		ds.Add(n.At(from, to), code, summary, detail)
		return c, false
	}
	if i := strings.Index(text, "${"); i >= 0 {
		return fail(i, i+2, "interpolation-in-expression", "a threshold is written without ${ }", "write a constant, as in p95 < 500ms")
	}
	for _, word := range []string{" and ", " or ", "&&", "||"} {
		if i := strings.Index(text, word); i >= 0 {
			return fail(i, i+len(word), "bad-threshold", "a threshold is one comparison", "write two thresholds in a list")
		}
	}
	m := comparisonForm.FindStringSubmatchIndex(text)
	if m == nil {
		return fail(0, len(text), "bad-threshold", quote(text)+" is not a comparison", "write a figure, an operator and a constant, as in p95 < 500ms or errors < 1%")
	}
	figure, op, limit := text[m[2]:m[3]], text[m[4]:m[5]], text[m[6]:m[7]]
	if startsWithDigit(figure) && !startsWithDigit(limit) {
		return fail(0, len(text), "bad-threshold", "the figure stands on the left of a threshold", "write "+limit+" "+mirrored(op)+" "+figure)
	}
	switch op {
	case "=":
		return fail(m[4], m[5], "assignment-in-expression", "a single = does not compare", "write ==")
	case "=<", "=>":
		return fail(m[4], m[5], "unknown-operator", quote(op)+" is not an operator here", "write "+op[1:]+"=")
	}
	name, typ, ok := figureOf(figure, metrics)
	if !ok {
		return fail(m[2], m[3], "unknown-figure", quote(figure)+" is not a figure of a threshold", figureHint(figure, metrics))
	}
	value, problem := parseLimit(limit, typ, figure, op)
	if problem != nil {
		return fail(m[6], m[7], problem.code, problem.summary, problem.detail)
	}
	if metric, _, ok := strings.Cut(name, "."); ok && metrics[metric] != "" {
		if d, err := ParseDuration(limit); err == nil { // a metric keeps durations in milliseconds
			value = float64(d) / float64(time.Millisecond)
		}
	}
	c.Figure, c.Op, c.Limit, c.Unit = name, op, value, typ
	return c, true
}

func startsWithDigit(s string) bool { return s != "" && s[0] >= '0' && s[0] <= '9' }

func mirrored(op string) string {
	return strings.NewReplacer("<", ">", ">", "<").Replace(op)
}

var percentileForm = regexp.MustCompile(`^p\s*(?:\(\s*([0-9]+(?:\.[0-9]+)?)\s*\)|([0-9]+))$`)

// figureOf returns the canonical name and the type of a figure.
func figureOf(text string, metrics map[string]string) (string, Type, bool) {
	if t, ok := plainFigures[text]; ok {
		return text, t, true
	}
	family, figure := "", text
	if m := strings.LastIndex(text[:strings.IndexByte(text+"(", '(')], "."); m >= 0 {
		family, figure = text[:m], text[m+1:]
	}
	figure, percentile := canonicalPercentile(figure)
	name := figure
	if family != "" {
		name = family + "." + figure
	}
	if family == "" || slices.Contains(timeFamilies, family) {
		return name, DurationType, percentile || slices.Contains(times, figure)
	}
	kind, ok := metrics[family]
	if !ok {
		return "", 0, false
	}
	if kind == "trend" && percentile {
		return name, FloatType, true
	}
	t, ok := metricFigures[kind][figure]
	return name, t, ok
}

// canonicalPercentile turns p(99.9) into p99.9 and p(95) into p95. Percentiles
// beside the usual four must be written with parentheses.
func canonicalPercentile(figure string) (string, bool) {
	m := percentileForm.FindStringSubmatch(figure)
	if m == nil {
		return figure, false
	}
	if m[2] != "" {
		return figure, slices.Contains(times[:4], figure)
	}
	p, err := strconv.ParseFloat(m[1], 64)
	if err != nil || p <= 0 || p >= 100 {
		return figure, false
	}
	return "p" + formatFloat(p), true
}

// Percentile returns p of a figure "p95", "latency.p99.9" as a share, and whether
// it is one.
func (c Comparison) Percentile() (float64, bool) {
	i := strings.LastIndex(c.Figure, ".p")
	digits := c.Figure[i+1:]
	if i < 0 {
		digits = c.Figure
	}
	p, err := strconv.ParseFloat(strings.TrimPrefix(digits, "p"), 64)
	return p / 100, err == nil && strings.HasPrefix(digits, "p")
}

var figureWords = map[string]string{
	"duration": "p95, mean or max", "response_time": "p95, mean or max", "response_time.p95": "p95", "error_rate": "errors", "error": "errors", "failures": "errors", "failed": "errors",
	"avg": "mean", "average": "mean", "median": "p50", "med": "p50", "rps": "throughput", "tps": "throughput", "rate": "throughput", "requests": "samples", "count": "samples",
	"http_req_duration": "p95, mean or max", "http_req_failed": "errors", "status": "errors", "latency": "latency.p95", "connect": "connect.mean", "service": "service.p95",
	"generator.lag": "generator.lag.p99", "cpu": "generator.cpu", "received_bytes": "received", "sent_bytes": "sent",
}

func figureHint(figure string, metrics map[string]string) string {
	if other, ok := figureWords[figure]; ok {
		return "write " + other
	}
	if kind, ok := metrics[figure]; ok {
		return "write a figure of the metric, as " + figure + "." + slices.Sorted(maps.Keys(metricFigures[kind]))[0]
	}
	if i := strings.LastIndex(figure[:strings.IndexByte(figure+"(", '(')], "."); i > 0 && slices.Contains(timeFamilies, figure[:i]) {
		if hint := percentileHint(figure[i+1:], figure[:i+1]); hint != "" {
			return hint
		}
	} else if hint := percentileHint(figure, ""); hint != "" {
		return hint
	}
	if strings.HasPrefix(figure, "p") && strings.Contains(figure, ".") && isNumber(figure[1:]) {
		return "write p(" + figure[1:] + ")"
	}
	if near := DidYouMean(figure, Figures(metrics)); near != "" {
		return "did you mean " + near + "?"
	}
	return "the figures are p50 p90 p95 p99 p(99.9) min max mean stddev of response time, latency.p95 and the like, errors, error_count, samples, throughput, dropped, apdex, received, sent"
}

// percentileHint returns the remedy for a percentile that is none, or "".
func percentileHint(figure, family string) string {
	m := percentileForm.FindStringSubmatch(figure)
	if m == nil {
		return ""
	}
	digits := m[1] + m[2]
	p, err := strconv.ParseFloat(digits, 64)
	switch {
	case err != nil:
		return ""
	case p == 100:
		return "write " + family + "max: the slowest of all"
	case p == 0:
		return "write " + family + "min: the fastest of all"
	case m[2] != "" && len(digits) <= 2:
		return "write " + family + "p(" + digits + ")"
	case m[2] != "" && digits[0] >= '5' && len(digits) <= 5:
		return "write " + family + "p(" + digits[:2] + "." + digits[2:] + ")"
	}
	return "percentiles lie below 100: write " + family + "p99 or " + family + "p(99.9), or " + family + "max for the slowest of all"
}

// parseLimit reads the constant of a comparison for a figure of type t.
func parseLimit(text string, t Type, figure, op string) (float64, *problem) {
	var value float64
	var err error
	switch t {
	case DurationType:
		var d time.Duration
		d, err = ParseDuration(text)
		value = float64(d)
	case RateType:
		var r Rate
		r, err = ParseRate(text)
		value = float64(r)
	case SizeType:
		var s Size
		s, err = ParseSize(text)
		value = float64(s)
	case ShareType:
		var s Share
		s, err = ParseShare(text)
		value = float64(s)
	default:
		if value, err = ParseFloat(text); err != nil {
			if v := Infer(text); TypeOf(v).unit() && t == FloatType && TypeOf(v) == DurationType {
				return float64(v.(time.Duration)), nil
			}
		}
	}
	if err == nil {
		return value, nil
	}
	have := TypeOf(Infer(text))
	switch {
	case isNumber(text):
		return 0, &problem{code: "unit-missing", summary: fmt.Sprintf("%s is %s, and %s has no unit", quote(figure), t.phrase(), text),
			detail: "write " + figure + " " + op + " " + text + map[Type]string{DurationType: "ms", RateType: "/s", SizeType: "B", ShareType: "%"}[t]}
	case have.unit() && have != t:
		want := example(t)
		if want == "" {
			want = "a plain number, as 0"
		}
		return 0, &problem{code: "unit-mismatch", summary: fmt.Sprintf("%s is %s, and %s is %s", quote(figure), t.phrase(), text, have.phrase()), detail: "write " + want}
	}
	summary, detail, _ := strings.Cut(err.Error(), "; ")
	return 0, &problem{code: "bad-limit", summary: summary, detail: detail}
}
