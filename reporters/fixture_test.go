package reporters

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"time"

	"runner/reporters/stats"
)

// hostileName tries to be markup, a formula, a workflow command, a terminal
// command and unreadable text at once.
const hostileName = "=cmd|' /C calc'!A0</script><script>document.documentElement.setAttribute('data-pwned','1')</script>" +
	"<img src=x onerror=\"document.documentElement.setAttribute('data-pwned','2')\">\x1b[2J\x1b]0;pwned\x07\x00\u202egnp.exe\xff]]>{{.}}${x}"

// planText is the plan that the fixed summary was made from.
const planText = `plan: Shop under evening load
description: Browsing, buying and the price API side by side
vars:
  base: ${env.BASE_URL ?? "https://shop.example.com"}
defaults:
  http:
    base_url: ${base}
    timeout: 10s
thread_groups:
  shoppers:
    load: {threads: 120, ramp_up: 30s, duration: 10m}
    timers:
      - uniform: 1s..3s
    assertions:
      - duration: 2s
    steps:
      - name: Sign in
        once: true
        steps:
          - http: GET /login
          - http: POST /login
            thresholds: p95 < 400ms
      - http: GET /search
        thresholds: p95 < 250ms
      - http: GET /products/${id}
        name: Product
        assertions: json.id == id
      - http: GET /static/app.css
  checkout:
    load: {rate: 40/s, duration: 10m, max_threads: 80}
    steps:
      - name: Buy
        steps:
          - http: POST /carts
          - http: POST /orders
            assertions:
              - status: [201, 409]
            thresholds: p95 < 800ms
          - http: GET /orders/${order}
            name: Order state
    thresholds:
      - throughput >= 39/s
      - errors < 0.5%
  prices:
    load: {threads: [{to: 30, over: 2m}, {hold: 8m}]}
    steps:
      - http: GET /v1/price
        thresholds: p99 < 120ms
      - grpc: shop.v1.Price/Quote
        name: Quote
      - sql: select price from prices where sku = $1
        name: Price row
        thresholds: p99.9 < 1s
      - http: GET /v1/legacy
        skip: "replaced by /v1/price"
thresholds:
  - errors < 1%
  - p99 < 2s
`

const planFile = "plans/shop.yaml"

// maker makes deterministic figures.
type maker struct{ rnd *rand.Rand }

func newMaker() *maker { return &maker{rand.New(rand.NewPCG(7, 11))} }

// dist makes the distribution of n log-normal times around a median.
func (m *maker) dist(n int, median time.Duration, sigma float64) *stats.Distribution {
	ns := make([]int64, n)
	sum, squares := 0.0, 0.0
	for i := range ns {
		ns[i] = int64(float64(median)*math.Exp(sigma*m.rnd.NormFloat64())) / 1000 * 1000
		sum += float64(ns[i])
	}
	slices.Sort(ns)
	mean := sum / float64(n)
	for _, v := range ns {
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	at := func(p float64) *int64 {
		if float64(n) < math.Ceil(math.Log(0.05)/math.Log(p)) {
			return nil
		}
		return &ns[max(0, int(math.Ceil(p*float64(n)))-1)]
	}
	d := &stats.Distribution{Min: ns[0], Mean: math.Round(mean), StdDev: math.Round(math.Sqrt(squares / float64(n))), Max: ns[n-1],
		P50: at(.5), P75: at(.75), P90: at(.9), P95: at(.95), P99: at(.99), P999: at(.999)}
	for k := range 50 {
		p := 1 - math.Pow(10, -float64(k)*math.Log10(float64(n))/50)
		d.Curve = append(d.Curve, stats.CurvePoint{Percentile: math.Round(p*1e6) / 1e4, NS: ns[min(n-1, int(p*float64(n)))]})
	}
	d.Curve = append(d.Curve, stats.CurvePoint{Percentile: 100, NS: d.Max})
	d.Bars = bars(ns)
	return d
}

func bars(ns []int64) []stats.Bar {
	lo, hi := ns[0], ns[len(ns)*995/1000]+1
	width := max(1, (hi-lo)/39)
	out := make([]stats.Bar, 40)
	for i := range out {
		out[i] = stats.Bar{FromNS: lo + int64(i)*width, ToNS: lo + int64(i+1)*width}
	}
	for _, v := range ns {
		out[min(39, int((v-lo)/width))].Count++
	}
	return out
}

// series makes one sampler's row.
func (m *maker) series(id int, group, name, kind string, n, failed int64, median time.Duration, line int) stats.Series {
	rate, tps := float64(failed)/float64(n), math.Round(float64(n)/600*1000)/1000
	d := m.dist(min(int(n), 4000), median, .45)
	s := stats.Series{ID: id, Group: group, Name: name, Kind: kind, Phase: "load", Count: n, Failed: failed, Requests: n, ErrorRate: &rate, ThroughputPS: &tps,
		BytesSent: n * 420, BytesReceived: n * 5312, ResponseNS: d, ServiceNS: m.dist(1000, median-median/20, .45), LatencyNS: m.dist(1000, median-median/8, .42),
		Status: map[string]int64{}, File: planFile, Line: line, Histograms: map[string]string{}}
	if kind == "http" {
		s.Status = map[string]int64{"200": n - failed}
		mean := d.Mean
		mm := func(share, most float64) stats.MeanMax {
			return stats.MeanMax{Mean: math.Round(mean * share), Max: int64(float64(d.Max) * most)}
		}
		s.PhasesNS = &stats.Phases{DNS: mm(.01, .02), Connect: mm(.04, .1), TLS: mm(.09, .2), Send: mm(.01, .01), Wait: mm(.75, .9), Receive: mm(.1, .1)}
	}
	return s
}

// timeline makes the columns of one series; each interval has about its share.
func (m *maker) timeline(id, points int, r *stats.Series) stats.TimelineSeries {
	t := stats.TimelineSeries{ID: id}
	median := float64(*orMax(r.ResponseNS))
	for i := range points {
		ramp := min(1, float64(i+1)/6)
		n := int64(float64(r.Count) / float64(points) * ramp * (.95 + .1*m.rnd.Float64()))
		failed := int64(0)
		if i > points/2 && i < points*3/4 {
			failed = min(n, r.Failed*4/int64(points))
		}
		t.Count, t.Failed, t.Bytes = append(t.Count, n), append(t.Failed, failed), append(t.Bytes, n*5312)
		bump := 1 + .9*math.Exp(-math.Pow(float64(i-points*2/3)/float64(points/12), 2)) + .06*m.rnd.NormFloat64()
		for c, col := range []*[]*int64{&t.P50, &t.P95, &t.P99, &t.Max} {
			var v *int64
			if n > 0 {
				ns := int64(median * bump * []float64{1, 2.1, 2.9, 4.2 + m.rnd.Float64()}[c])
				v = &ns
			}
			*col = append(*col, v)
		}
	}
	return t
}

// metric makes a custom metric over time around its value.
func (m *maker) metric(r *stats.Metric, points int) stats.TimelineMetric {
	t := stats.TimelineMetric{Name: r.Name, Count: make([]int64, points), Value: make([]*float64, points)}
	mean := *r.Value
	if r.PerSecond != nil {
		mean = *r.PerSecond
	}
	column := func(scale float64) []*float64 {
		out := make([]*float64, points)
		for i := range out {
			out[i] = pick(math.Round(mean*scale*(.9+.2*m.rnd.Float64())*1000) / 1000)
		}
		return out
	}
	for i := range points {
		t.Count[i] = r.Count / int64(points)
	}
	t.Value = column(1)
	if r.Trend != nil {
		t.P50, t.P95, t.Max = column(.86), column(2.4), column(6)
	}
	return t
}

func orMax(d *stats.Distribution) *int64 {
	if d.P50 != nil {
		return d.P50
	}
	return &d.Max
}

func pick[T any](v T) *T { return &v }

// fixed is the summary that the golden files are rendered from: a failed run with
// every outcome of a threshold, transactions, errors and hostile text.
func fixed() *stats.Summary {
	m := newMaker()
	s := &stats.Summary{
		Schema: stats.SummarySchema, Plan: "Shop under evening load", PlanSHA256: "9f2c4b7d1e8a35609f2c4b7d1e8a35609f2c4b7d1e8a35609f2c4b7d1e8a3560",
		Description: "Browsing, buying and the price API side by side", Sources: []stats.Source{{File: planFile, Text: planText}},
		RunnerVersion: "1.0.0", RunID: "20260314-190500-5f3a", Seed: 42, Started: time.Date(2026, 3, 14, 19, 5, 0, 0, time.UTC),
		DurationNS: int64(10*time.Minute + 4*time.Second), Verdict: stats.Failed, ExitCode: 1,
		Reasons: []string{
			"checkout / POST /orders: p95 is 1.12 s, limit < 800 ms (" + planFile + ":38)",
			"checkout: errors is 1.13%, limit < 0.5% (" + planFile + ":43)",
		},
		Environment: stats.Environment{Host: "ci-runner-7", OS: "linux", Arch: "amd64", CPUs: 8, Go: "go1.26.8", OpenFilesLimit: 65536},
		Notes:       []string{"prices: stalls are under-represented, since its threads wait for each answer (closed model without a schedule)", "no keep-alive was refused"},
		Generator: stats.Generator{Verdict: "limited", Reasons: []string{"dispatch delay p99 was 2.4 ms (limit 1 ms) in 14 s of 600 s; CPU was at its quota"},
			CPUShare: pick(.734), RSSBytes: pick(int64(143_200_000)), DispatchDelayNS: &stats.DelayNS{P50: pick(int64(61_000)), P99: pick(int64(2_400_000)), Max: 18_300_000},
			Due: 23_948, SentShare: pick(.9991), LateShare: pick(.0142), CPUsAllowed: pick(6.0), ThrottledNS: pick(int64(3_120_000_000)), StealShare: pick(.004),
			SchedulerNS: &stats.GCPauseNS{P99: 1_800_000, Max: 9_400_000}, OpenFiles: pick(int64(256)),
			Causes:    []stats.Cause{{Name: "cgroup_throttled", Text: "the cgroup's CPU quota throttled it for up to 31% of a second", Seconds: 12, AtS: []float64{301, 302, 303, 304, 305}}},
			GCPauseNS: &stats.GCPauseNS{P99: 210_000, Max: 1_700_000}, Floor: &stats.Floor{P50: 1_250_000, P99: 2_900_000, N: 76},
			NearFloor: "near the floor of this machine: the median service time of prices / GET /v1/price (4.8 ms) is below 5 × 1.25 ms, which the simplest request takes here without a network; a large part of such a time is this machine and not the target"},
		Groups: []stats.Group{
			{Name: "shoppers", Load: "120 threads, ramped up in 30 s, for 10 min", Model: "closed", MaxThreads: 120, DurationNS: int64(10*time.Minute + 2*time.Second), Iterations: 11_204, File: planFile, Line: 10, ThroughputPS: 56.1},
			{Name: "checkout", Load: "40/s for 10 min, at most 80 threads", Model: "open", MaxThreads: 80, DurationNS: int64(10*time.Minute + 4*time.Second), Iterations: 23_948, Scheduled: 24_000, Dropped: 52, File: planFile, Line: 29, ThroughputPS: 119.4, ScheduledRate: "40/s"},
			{Name: "prices", Load: "up to 30 threads in 2 min, then held for 8 min", Model: "closed", MaxThreads: 30, DurationNS: int64(10 * time.Minute), Iterations: 402_118, File: planFile, Line: 44, ThroughputPS: 2010.7},
		},
		Metrics: []stats.Metric{{Name: "basket_value", Type: "trend", Count: 23_948, Value: pick(61.2), Min: pick(3.0), Max: pick(912.0),
			Trend: &stats.Trend{Min: 3, Mean: 61.2, StdDev: 40.4, Max: 912, P50: pick(52.5), P75: pick(80.0), P90: pick(118.2), P95: pick(149.9), P99: pick(240.0), P999: pick(498.0),
				Curve: []stats.TrendPoint{{Percentile: 0, Value: 3}, {Percentile: 50, Value: 52.5}, {Percentile: 95, Value: 149.9}, {Percentile: 100, Value: 912}}}}, {Name: "orders_paid", Type: "counter", Count: 23_677, Value: pick(23677.0), PerSecond: pick(39.4), Min: pick(1.0), Max: pick(1.0)},
			{Name: "queue_length", Type: "gauge", Count: 600, Value: pick(4.0), Min: pick(0.0), Max: pick(31.0)}, {Name: "from_cache", Type: "rate", Count: 402_118, Value: pick(.914), Min: pick(0.0), Max: pick(1.0)}},
		Skipped: []stats.Skipped{{Group: "prices", Name: "GET /v1/legacy", Reason: "replaced by /v1/price", File: planFile, Line: 54}},
	}
	s.Series = fixedSeries(m)
	for i := range s.Series {
		r := &s.Series[i]
		r.Apdex, r.ApdexNS, r.SteadyPS = pick(.96), int64(500*time.Millisecond), pick(math.Round(*r.ThroughputPS*11)/10)
		if r.Group == "checkout" {
			r.DroppedShare = pick(.0022)
		}
	}
	s.Series[6].ServiceNS = m.dist(1000, 300*time.Millisecond, .45)
	for i := range s.Groups {
		s.Groups[i].SteadyPS = pick(s.Groups[i].ThroughputPS * 1.08)
	}
	s.Concurrency = &stats.Concurrency{InFlight: 61.4, Expected: 61.9, Holds: true}
	s.Transactions = []stats.Series{m.series(12, "shoppers", "Sign in", "transaction", 120, 2, 320*time.Millisecond, 17), m.series(13, "checkout", "Buy", "transaction", 23_948, 812, 760*time.Millisecond, 32)}
	s.Transactions[1].Aborted = 3
	fixedErrors(s)
	fixedThresholds(s)
	fixedTotals(s, m, 60)
	return s
}

func fixedSeries(m *maker) []stats.Series {
	ms := time.Millisecond
	return []stats.Series{
		m.series(0, "shoppers", "GET /login", "http", 120, 0, 84*ms, 20),
		m.series(1, "shoppers", "POST /login", "http", 120, 2, 210*ms, 21),
		m.series(2, "shoppers", "GET /search", "http", 11_204, 31, 96*ms, 23),
		m.series(3, "shoppers", "Product", "http", 11_187, 118, 71*ms, 25),
		m.series(4, "shoppers", "GET /static/app.css", "http", 11_180, 0, 6*ms, 28),
		m.series(5, "checkout", "POST /carts", "http", 23_948, 0, 118*ms, 34),
		m.series(6, "checkout", "POST /orders", "http", 23_948, 812, 512*ms, 35),
		m.series(7, "checkout", "Order state", "http", 23_136, 0, 62*ms, 39),
		m.series(8, "prices", "GET /v1/price", "http", 402_118, 0, 9*ms, 47),
		m.series(9, "prices", "Quote", "grpc", 402_101, 9, 4200*time.Microsecond, 49),
		m.series(10, "prices", "Price row", "sql", 1_204, 0, 1900*time.Microsecond, 51),
		m.series(11, "prices", hostileName, "http", 40, 3, 31*ms, 54),
	}
}

func fixedErrors(s *stats.Summary) {
	rows := s.Series
	rows[1].Errors = []stats.ErrorCount{{Class: "timeout", Message: "no answer within 10s", Count: 2, FirstS: 12.4, LastS: 18.9, Examples: []string{"POST https://shop.example.com/login: no answer within 10s"}}}
	rows[2].Errors = []stats.ErrorCount{{Class: "assertion", Message: "duration < 2s", Count: 31, FirstS: 392.1, LastS: 431.7}}
	rows[2].Assertions = []stats.AssertionCount{{Name: "duration < 2s", Passed: 11_173, Failed: 31, File: planFile, Line: 15, Examples: []stats.Example{
		{Request: "GET https://shop.example.com/search?q=shoes", Expected: "at most 2 s", Actual: "2.31 s"}, {Request: "GET https://shop.example.com/search?q=hats", Expected: "at most 2 s", Actual: "2.08 s"}}}}
	rows[3].Errors = []stats.ErrorCount{{Class: "assertion", Message: "json.id == id", Count: 87, FirstS: 301.2, LastS: 447.3}, {Class: "status", Message: "status 404", Count: 31, FirstS: 310, LastS: 440.2}}
	rows[3].Assertions = []stats.AssertionCount{{Name: "json.id == id", Passed: 11_069, Failed: 87, File: planFile, Line: 27, Examples: []stats.Example{
		{Request: "GET https://shop.example.com/products/815", Expected: "json.id == 815", Actual: "json.id = 816", Message: "another product came back"}}}}
	rows[3].Status = map[string]int64{"200": 11_156, "404": 31}
	rows[6].Errors = []stats.ErrorCount{{Class: "status", Message: "status 503", Count: 768, FirstS: 308.4, LastS: 449.8, Examples: []string{"POST https://shop.example.com/orders: 503 Service Unavailable\nRetry-After: 2\n\n{\"error\":\"order queue is full\"}"}},
		{Class: "reset", Message: "connection reset by peer", Count: 44, FirstS: 377, LastS: 402.5}}
	rows[6].Assertions = []stats.AssertionCount{{Name: "status 201 or 409", Passed: 23_136, Failed: 768, File: planFile, Line: 37, Examples: []stats.Example{{Request: "POST https://shop.example.com/orders", Expected: "201 or 409", Actual: "503"}}}}
	rows[6].Status = map[string]int64{"201": 22_924, "409": 212, "503": 768}
	rows[6].FailureNS = newMaker().dist(812, 1100*time.Millisecond, .2)
	rows[9].Errors = []stats.ErrorCount{{Class: "closed_early", Message: "the server closed the connection", Count: 9, FirstS: 200, LastS: 388}}
	rows[11].Errors = []stats.ErrorCount{{Class: "protocol", Message: "malformed header: " + hostileName, Count: 3, FirstS: 4, LastS: 5, Examples: []string{"::error::taken over\n::set-output name=x::y\n" + hostileName}}}
	rows[11].Status = map[string]int64{"200": 37}
}

func fixedThresholds(s *stats.Summary) {
	t := func(scope, group string, id *int, fig, op string, limit float64, value *float64, unit string, line int) stats.ThresholdResult {
		r := stats.ThresholdResult{Scope: scope, Group: group, SeriesID: id, Figure: fig, Op: op, Limit: limit, Value: value, Unit: unit, File: planFile, Line: line}
		lim := figure(limit, unit, 3)
		r.Expression = fig + " " + op + " " + lim
		if value != nil {
			r.Passed = op == "<" && *value < limit || op == ">=" && *value >= limit || op == "==" && *value == limit
		}
		return r
	}
	s.Thresholds = []stats.ThresholdResult{
		t("plan", "", nil, "errors", "<", .01, pick(.00109), "share", 57),
		t("plan", "", nil, "p99", "<", 2e9, pick(1.31e9), "ns", 58),
		t("shoppers / POST /login", "shoppers", pick(1), "p95", "<", 4e8, pick(3.61e8), "ns", 22),
		t("shoppers / GET /search", "shoppers", pick(2), "p95", "<", 2.5e8, pick(2.01e8), "ns", 24),
		t("checkout / POST /orders", "checkout", pick(6), "p95", "<", 8e8, pick(1.12e9), "ns", 38),
		t("checkout", "checkout", nil, "throughput", ">=", 39, pick(39.7), "per_second", 42),
		t("checkout", "checkout", nil, "errors", "<", .005, pick(.0113), "share", 43),
		t("checkout", "checkout", nil, "dropped", "==", 0, pick(52.0), "", 29),
		t("prices / GET /v1/price", "prices", pick(8), "p99", "<", 1.2e8, pick(2.9e7), "ns", 48),
		t("prices / Price row", "prices", pick(10), "p99.9", "<", 1e9, pick(9.4e6), "ns", 53),
		t("prices / GET /v1/legacy", "prices", nil, "errors", "==", 0, nil, "share", 54),
		t("prices / "+hostileName, "prices", pick(11), "p95", "<", 1e8, nil, "ns", 54),
	}
	s.Thresholds[1].WindowNS, s.Thresholds[1].ForNS, s.Thresholds[1].AfterNS = 10e9, 90e9, 120e9
	s.Thresholds[4].ForNS = 5e9
	s.Thresholds[7].Implied = true
	s.Thresholds[9].FewSamples = true
	s.Thresholds[10].NotJudged = "the sampler never ran"
	s.Thresholds[11].NoData = true
	for i := range s.Thresholds {
		s.Thresholds[i].Message = sentence(&s.Thresholds[i])
	}
}

// fixedTotals derives ledger, total and timeline from the series.
func fixedTotals(s *stats.Summary, m *maker, points int) {
	t := stats.Series{ID: -1, Name: "total", Kind: "total", Status: map[string]int64{}, Histograms: map[string]string{}}
	classes := map[string]int64{}
	for i := range s.Series {
		r := &s.Series[i]
		t.Count, t.Failed, t.Requests = t.Count+r.Count, t.Failed+r.Failed, t.Requests+r.Requests
		t.BytesReceived, t.BytesSent = t.BytesReceived+r.BytesReceived, t.BytesSent+r.BytesSent
		for k, n := range r.Status {
			t.Status[k] += n
		}
		for _, e := range r.Errors {
			classes[e.Class] += e.Count
		}
	}
	if t.Count > 0 {
		t.ErrorRate, t.ThroughputPS = pick(float64(t.Failed)/float64(t.Count)), pick(math.Round(float64(t.Count)/600*10)/10)
		t.ResponseNS = m.dist(5000, 24*time.Millisecond, 1.1)
		t.ServiceNS, t.SuccessNS, t.FailureNS = m.dist(5000, 22*time.Millisecond, 1), m.dist(5000, 23*time.Millisecond, 1.1), m.dist(900, 800*time.Millisecond, .3)
		t.ResponseNS.P95CI, t.ResponseNS.P99CI = &stats.Interval{Low: *t.ResponseNS.P95 - 2e6, High: *t.ResponseNS.P95 + 3e6}, &stats.Interval{Low: *t.ResponseNS.P99 - 9e6, High: *t.ResponseNS.P99 + 12e6}
		t.SteadyPS, t.Apdex, t.ApdexNS = pick(1544.2), pick(.962), int64(500*time.Millisecond)
		t.DroppedShare = pick(.0022)
	}
	s.Total = t
	s.Ledger = stats.Ledger{Requests: t.Requests + 14, Reconnects: 14,
		Iterations: stats.IterationLedger{Scheduled: 437_322, Started: 437_270, Completed: 437_262, Interrupted: 8, DroppedNoThread: 49, DroppedEnd: 3},
		Samples:    stats.SampleLedger{Started: t.Count, Passed: t.Count - t.Failed, Errors: classes}}
	tl := &s.Timeline
	tl.IntervalS = 600 / float64(points)
	a := &stats.Arrivals{}
	tl.Arrivals = a
	for i := range points {
		at := float64(i) * tl.IntervalS
		planned := min(120, math.Floor(at*4)) + min(30, math.Floor(at/4))
		tl.TS, tl.Planned, tl.LengthS = append(tl.TS, at), append(tl.Planned, &planned), append(tl.LengthS, tl.IntervalS)
		tl.ActiveThreads = append(tl.ActiveThreads, int(planned)+20+m.rnd.IntN(9)-min(20, 4*i))
		tl.ClosedThreads = append(tl.ClosedThreads, min(int(planned), tl.ActiveThreads[i]))
		dropped := int64(0)
		if i >= points*2/3 && i < points*2/3+4 {
			dropped = 13
		}
		tl.Dropped = append(tl.Dropped, dropped)
		a.Planned, a.Dropped = append(a.Planned, 24_000/float64(points)), append(a.Dropped, dropped)
		a.Started = append(a.Started, int64(24_000/points)-dropped)
	}
	if t.Count == 0 {
		return
	}
	tl.Series = append(tl.Series, m.timeline(-1, points, &t))
	for i := range s.Series {
		tl.Series = append(tl.Series, m.timeline(s.Series[i].ID, points, &s.Series[i]))
	}
	for i := range s.Transactions {
		tl.Series = append(tl.Series, m.timeline(s.Transactions[i].ID, points, &s.Transactions[i]))
	}
	for k := range s.Metrics {
		tl.Metrics = append(tl.Metrics, m.metric(&s.Metrics[k], points))
	}
	for i := range points {
		tl.Throughput = append(tl.Throughput, float64(tl.Series[0].Count[i])/tl.IntervalS)
	}
}

// variant returns a summary of each kind of ending.
func variant(name string) *stats.Summary {
	s := fixed()
	holds := func() {
		for i := range s.Thresholds {
			t := &s.Thresholds[i]
			if t.NotJudged == "" {
				t.Passed, t.NoData, t.Value = true, false, &t.Limit
			}
		}
	}
	end := func(v stats.Verdict, code int, reasons ...string) {
		s.Verdict, s.ExitCode, s.Reasons = v, code, reasons
	}
	switch name {
	case "passed":
		holds()
		end(stats.Passed, 0)
		s.Generator.Verdict, s.Generator.Reasons = "ok", nil
	case "failed":
	case "failed-bare":
		holds()
		end(stats.Failed, 1)
	case "invalid":
		end(stats.Invalid, 3, "the generator sent 84% of what was due though threads were free")
		s.Generator.Verdict = "invalid"
	case "no-data":
		holds()
		s.Thresholds[8].Passed, s.Thresholds[8].NoData, s.Thresholds[8].Value = false, true, nil
		end(stats.Invalid, 3, "prices / GET /v1/price: p99 has no data")
	case "interrupted":
		end(stats.Interrupted, 130, "interrupted by SIGINT after 4 min 12 s")
		s.Ledger.Iterations.InFlight = 4
	case "terminated":
		holds()
		end(stats.Interrupted, 143, "terminated by SIGTERM")
	case "partial":
		end(stats.Invalid, 3, "the run did not end")
		s.Partial = true
	case "zero":
		s = zero()
	default:
		panic("no variant " + name)
	}
	return s
}

func variants() []string {
	return []string{"passed", "failed", "failed-bare", "invalid", "no-data", "interrupted", "terminated", "partial", "zero"}
}

// zero is a run without a single sample, with every list nil.
func zero() *stats.Summary {
	return &stats.Summary{Schema: stats.SummarySchema, Plan: "Nothing", Verdict: stats.Invalid, ExitCode: 3, Reasons: []string{"no samples"}}
}

// huge is a day's run of 100 series over 1,200 intervals.
func huge() *stats.Summary {
	s, m := fixed(), newMaker()
	s.Series, s.Transactions, s.Thresholds = nil, nil, nil
	s.DurationNS = int64(24 * time.Hour)
	base := m.dist(4000, 80*time.Millisecond, .5)
	for i := range 100 {
		r := m.series(i, []string{"shoppers", "checkout", "prices"}[i%3], fmt.Sprintf("GET /resource/%d/of/a/name/as/long/as/usual", i), "http", 864_000, 40, 80*time.Millisecond, 20+i%30)
		r.ResponseNS, r.ServiceNS, r.LatencyNS, r.SuccessNS, r.FailureNS = base, base, base, base, base
		s.Series = append(s.Series, r)
		s.Thresholds = append(s.Thresholds, stats.ThresholdResult{Scope: title(&r), Group: r.Group, SeriesID: pick(i), Expression: "p95 < 500ms", Figure: "p95", Op: "<", Limit: 5e8, Value: pick(3e8), Unit: "ns", Passed: true, File: planFile, Line: 20})
	}
	s.Timeline = stats.Timeline{}
	fixedTotals(s, m, 1200)
	s.Timeline.IntervalS = 72
	for i := range s.Timeline.TS {
		s.Timeline.TS[i] = float64(i) * 72
	}
	return s
}
