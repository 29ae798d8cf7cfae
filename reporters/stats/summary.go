package stats

import "time"

// SummarySchema names the layout of summary.json.
const SummarySchema = "runner.summary/1"

// Summary is the one frozen snapshot that every report is rendered from. All
// durations are nanoseconds, all shares 0 to 1. A pointer that is nil is a figure
// that was not measured or cannot be computed; it is null in JSON.
type Summary struct {
	Schema        string            `json:"schema"`
	Plan          string            `json:"plan"`
	PlanSHA256    string            `json:"plan_sha256"`
	Description   string            `json:"description,omitempty"`
	Sources       []Source          `json:"sources"`
	RunnerVersion string            `json:"runner_version"`
	RunID         string            `json:"run_id"`
	Seed          uint64            `json:"seed"`
	Started       time.Time         `json:"started"`
	DurationNS    int64             `json:"duration_ns"`
	Verdict       Verdict           `json:"verdict"`
	ExitCode      int               `json:"exit_code"`
	Partial       bool              `json:"partial"`
	Reasons       []string          `json:"reasons"` // why the verdict is what it is, in plain sentences
	Environment   Environment       `json:"environment"`
	Notes         []string          `json:"notes"`
	Ledger        Ledger            `json:"ledger"`
	Generator     Generator         `json:"generator"`
	Concurrency   *Concurrency      `json:"concurrency"`
	Thresholds    []ThresholdResult `json:"thresholds"`
	Groups        []Group           `json:"groups"`
	Total         Series            `json:"total"`
	Series        []Series          `json:"series"`
	Transactions  []Series          `json:"transactions"`
	Metrics       []Metric          `json:"metrics"`
	Timeline      Timeline          `json:"timeline"`
	Skipped       []Skipped         `json:"skipped"` // steps and groups with `skip:`
}

// Verdict is the outcome of a run in one word.
type Verdict string

// The verdicts; engine.md section 5 of the design orders them.
const (
	Passed      Verdict = "passed"
	Failed      Verdict = "failed"
	Invalid     Verdict = "invalid"
	Interrupted Verdict = "interrupted"
)

// Source is one file of the plan, kept so that reports can show it.
type Source struct {
	File string `json:"file"`
	Text string `json:"text"`
}

// Environment is the machine that made the load.
type Environment struct {
	Host           string `json:"host"`
	OS             string `json:"os"`
	Arch           string `json:"arch"`
	CPUs           int    `json:"cpus"`
	Go             string `json:"go"`
	OpenFilesLimit uint64 `json:"open_files_limit"`
}

// Ledger must add up: scheduled = started + dropped, started = completed +
// interrupted + in flight; samples started = passed + errors + in flight.
type Ledger struct {
	Iterations IterationLedger `json:"iterations"`
	Samples    SampleLedger    `json:"samples"`
	Requests   int64           `json:"requests"` // attempts on the wire: what the server's log shows
	Reconnects int64           `json:"reconnects"`
}

// IterationLedger counts iterations.
type IterationLedger struct {
	Scheduled       int64 `json:"scheduled"`
	Started         int64 `json:"started"`
	Completed       int64 `json:"completed"`
	Interrupted     int64 `json:"interrupted"`
	InFlight        int64 `json:"in_flight"`
	DroppedNoThread int64 `json:"dropped_no_thread"`
	DroppedEnd      int64 `json:"dropped_end"`
	DroppedAbort    int64 `json:"dropped_abort"`
}

// SampleLedger counts samples, each in one class.
type SampleLedger struct {
	Started  int64            `json:"started"`
	Passed   int64            `json:"passed"`
	Errors   map[string]int64 `json:"errors"`
	InFlight int64            `json:"in_flight"`
}

// Generator is what the load generator says of itself. Verdict is "ok",
// "limited", "invalid", or "" when not judged.
type Generator struct {
	Verdict         string     `json:"verdict"`
	Reasons         []string   `json:"reasons"`
	Due             int64      `json:"due"`        // samples that a free thread could have sent in time
	SentShare       *float64   `json:"sent_share"` // of those, within a second of their time
	LateShare       *float64   `json:"late_share"` // of those, more than 1 ms late
	Causes          []Cause    `json:"causes"`     // what held in the seconds that went wrong
	CPUShare        *float64   `json:"cpu_share"`  // of all the machine's CPUs
	CPUsAllowed     *float64   `json:"cpus_allowed"`
	ThrottledNS     *int64     `json:"throttled_ns"` // by the cgroup's quota
	StealShare      *float64   `json:"steal_share"`
	SchedulerNS     *GCPauseNS `json:"scheduler_ns"` // goroutines waiting for a CPU: of the worst second
	OpenFiles       *int64     `json:"open_files"`   // at most, as far as known
	RSSBytes        *int64     `json:"rss_bytes"`
	DispatchDelayNS *DelayNS   `json:"dispatch_delay_ns"`
	GCPauseNS       *GCPauseNS `json:"gc_pause_ns"`
	Floor           *Floor     `json:"floor,omitempty"`      // absent where nothing sends HTTP requests
	NearFloor       string     `json:"near_floor,omitempty"` // which service times are near the floor, in a sentence
}

// DelayNS holds percentiles of the dispatch delay, null with too few samples.
type DelayNS struct {
	P50 *int64 `json:"p50"`
	P99 *int64 `json:"p99"`
	Max int64  `json:"max"`
}

// Cause is something on the generator's machine that held in seconds in which
// samples left late or failed for want of local resources.
type Cause struct {
	Name    string    `json:"name"` // stopped, cgroup_throttled, steal, cpu, machine_cpu, gc, scheduler, open_files, ports
	Text    string    `json:"text"`
	Seconds int64     `json:"seconds"`
	AtS     []float64 `json:"at_s"` // the first of them
}

// GCPauseNS holds the garbage collector's stops.
type GCPauseNS struct {
	P99 int64 `json:"p99"`
	Max int64 `json:"max"`
}

// Concurrency holds the figures against each other by Little's law: samples in
// flight on average = throughput × mean time.
type Concurrency struct {
	InFlight  float64 `json:"in_flight"`           // as counted at random moments
	Expected  float64 `json:"expected"`            // by the law
	Holds     bool    `json:"holds"`               // within the tolerance, or less than two in flight, which proves nothing
	Tolerance float64 `json:"tolerance,omitempty"` // samples
}

// ThresholdResult is one judged threshold. Scope is "plan", "group NAME", or
// "GROUP / STEP"; SeriesID is the series it belongs to, nil for wider scopes.
type ThresholdResult struct {
	Scope      string   `json:"scope"`
	Group      string   `json:"group"`
	SeriesID   *int     `json:"series_id"`
	Expression string   `json:"expression"`
	Figure     string   `json:"figure"`
	Op         string   `json:"op"`
	Limit      float64  `json:"limit"`
	Value      *float64 `json:"value"`
	Unit       string   `json:"unit"` // ns, bytes, per_second, share, or "" for a plain number
	Passed     bool     `json:"passed"`
	NoData     bool     `json:"no_data"`
	FewSamples bool     `json:"few_samples"`
	Implied    bool     `json:"implied"`
	Stopped    bool     `json:"stopped"`    // it ended the run
	NotJudged  string   `json:"not_judged"` // why it was left out (sampler never ran, group skipped), else ""
	Message    string   `json:"message"`    // one sentence: measured value against limit
	AfterNS    int64    `json:"after_ns,omitempty"`
	WindowNS   int64    `json:"window_ns,omitempty"` // 0: over the whole run
	ForNS      int64    `json:"for_ns,omitempty"`
	File       string   `json:"file"`
	Line       int      `json:"line"`
}

// Group is one thread group with its load in a sentence.
type Group struct {
	Name          string  `json:"name"`
	Load          string  `json:"load"`
	Model         string  `json:"model"` // "closed" or "open"
	MaxThreads    int     `json:"max_threads"`
	DurationNS    int64   `json:"duration_ns"`
	Skipped       string  `json:"skipped"` // the reason, or ""
	Iterations    int64   `json:"iterations"`
	Scheduled     int64   `json:"scheduled,omitempty"` // of open groups: arrivals that came due, with those that a stop cut off
	Dropped       int64   `json:"dropped"`
	File          string  `json:"file"`
	Line          int     `json:"line"`
	ThroughputPS  float64 `json:"throughput_per_s"`
	ScheduledRate string  `json:"scheduled_rate"` // of open groups, as written

	SteadyPS *float64 `json:"steady_per_s"` // samples per second between ramp-up and ramp-down
}

// Series is one row of the result: a sampler, a transaction, or the total.
type Series struct {
	ID            int               `json:"id"`
	Group         string            `json:"group"`
	Name          string            `json:"name"`
	Kind          string            `json:"kind"`  // sampler's name ("http"), "transaction", "total"
	Phase         string            `json:"phase"` // "load", "setup", "teardown"
	Count         int64             `json:"count"`
	Failed        int64             `json:"failed"`
	Unsent        int64             `json:"unsent"`  // failed before anything was sent: in no time and no throughput
	Aborted       int64             `json:"aborted"` // transactions only
	Requests      int64             `json:"requests"`
	ErrorRate     *float64          `json:"error_rate"`
	ThroughputPS  *float64          `json:"throughput_per_s"`
	SteadyPS      *float64          `json:"steady_per_s"`  // between ramp-up and ramp-down of its group
	DroppedShare  *float64          `json:"dropped_share"` // of the iterations that its open group was to start
	BytesSent     int64             `json:"bytes_sent"`
	BytesReceived int64             `json:"bytes_received"`
	Apdex         *float64          `json:"apdex"`
	ApdexNS       int64             `json:"apdex_ns"` // the limit of satisfied response times
	ResponseNS    *Distribution     `json:"response_ns"`
	ServiceNS     *Distribution     `json:"service_ns"`
	LatencyNS     *Distribution     `json:"latency_ns"`
	SuccessNS     *Distribution     `json:"success_ns"`
	FailureNS     *Distribution     `json:"failure_ns"`
	PhasesNS      *Phases           `json:"phases_ns"`
	Status        map[string]int64  `json:"status"`
	Assertions    []AssertionCount  `json:"assertions"`
	Errors        []ErrorCount      `json:"errors"`
	File          string            `json:"file"`
	Line          int               `json:"line"`
	Histograms    map[string]string `json:"histograms"` // kind → HDR V2, base64; empty for small outputs
}

// Distribution describes times in nanoseconds. A percentile is null while there
// are too few samples for it.
type Distribution struct {
	Min    int64     `json:"min"`
	Mean   float64   `json:"mean"`
	StdDev float64   `json:"stddev"`
	Max    int64     `json:"max"`
	P50    *int64    `json:"p50"`
	P75    *int64    `json:"p75"`
	P90    *int64    `json:"p90"`
	P95    *int64    `json:"p95"`
	P99    *int64    `json:"p99"`
	P999   *int64    `json:"p99.9"`
	P95CI  *Interval `json:"p95_ci"`
	P99CI  *Interval `json:"p99_ci"`

	// How much the variance behind the interval is larger than for independent
	// samples, by the response times' timeline; left out where that is too short.
	P95Effect float64 `json:"p95_effect,omitempty"`
	P99Effect float64 `json:"p99_effect,omitempty"`

	Curve []CurvePoint `json:"curve"` // percentile curve for charts, ≤ 60 points
	Bars  []Bar        `json:"bars"`  // coarse histogram for charts, ≤ 60 bars
}

// Interval holds the true percentile with 95 % confidence, whatever the
// distribution.
type Interval struct {
	Low  int64 `json:"low"`
	High int64 `json:"high"`
}

// CurvePoint is one point of a percentile curve: Percentile in 0..100.
type CurvePoint struct {
	Percentile float64 `json:"p"`
	NS         int64   `json:"ns"`
}

// Bar is one bar of a coarse histogram over [FromNS, ToNS).
type Bar struct {
	FromNS int64 `json:"from"`
	ToNS   int64 `json:"to"`
	Count  int64 `json:"count"`
}

// Phases is the breakdown of the time of HTTP-like samples.
type Phases struct {
	DNS     MeanMax `json:"dns"`
	Connect MeanMax `json:"connect"`
	TLS     MeanMax `json:"tls"`
	Send    MeanMax `json:"send"`
	Wait    MeanMax `json:"wait"`
	Receive MeanMax `json:"receive"`
}

// MeanMax is the mean and maximum of a phase in nanoseconds.
type MeanMax struct {
	Mean float64 `json:"mean"`
	Max  int64   `json:"max"`
}

// AssertionCount tells how often one assertion held.
type AssertionCount struct {
	Name     string    `json:"name"`
	Passed   int64     `json:"passed"`
	Failed   int64     `json:"failed"`
	File     string    `json:"file"`
	Line     int       `json:"line"`
	Examples []Example `json:"examples"`
}

// Example is one failed assertion as seen.
type Example struct {
	Request  string `json:"request"`
	Expected string `json:"expected"`
	Actual   string `json:"actual"`
	Message  string `json:"message"`
}

// ErrorCount is one kind of error of a series: class and normalised message.
type ErrorCount struct {
	Class    string   `json:"class"`
	Message  string   `json:"message"`
	Count    int64    `json:"count"`
	FirstS   float64  `json:"first_s"`
	LastS    float64  `json:"last_s"`
	Examples []string `json:"examples"`
}

// Metric is a custom metric of the plan. Value is the sum of a counter, the last
// value of a gauge, the share of a rate, the mean of a trend.
type Metric struct {
	Name      string   `json:"name"`
	Type      string   `json:"type"`  // counter, gauge, rate, trend
	Count     int64    `json:"count"` // values given
	Value     *float64 `json:"value"`
	PerSecond *float64 `json:"per_second"` // counters only
	Min       *float64 `json:"min"`
	Max       *float64 `json:"max"`
	Trend     *Trend   `json:"trend"`
}

// Trend describes the values of a trend, in the plan's own unit. A percentile is
// null while there are too few values for it.
type Trend struct {
	Min    float64      `json:"min"`
	Mean   float64      `json:"mean"`
	StdDev float64      `json:"stddev"`
	Max    float64      `json:"max"`
	P50    *float64     `json:"p50"`
	P75    *float64     `json:"p75"`
	P90    *float64     `json:"p90"`
	P95    *float64     `json:"p95"`
	P99    *float64     `json:"p99"`
	P999   *float64     `json:"p99.9"`
	Curve  []TrendPoint `json:"curve"`
	Values string       `json:"values"` // the counts, base64, for merging
}

// TrendPoint is one point of a trend's percentile curve: Percentile in 0..100.
type TrendPoint struct {
	Percentile float64 `json:"p"`
	Value      float64 `json:"v"`
}

// Timeline has one column per interval, at most 1,200. Series[0] is the total
// with ID -1; the others follow Summary.Series and Transactions by ID.
type Timeline struct {
	IntervalS     float64          `json:"interval_s"`
	TS            []float64        `json:"t_s"`                      // start of each interval, seconds since the start
	LengthS       []float64        `json:"length_s"`                 // how much of each interval the run covers: what its rates are over; 0 for one within a longer stretch between two ticks, which is counted in its middle
	ActiveThreads []int            `json:"active_threads"`           // of the closed groups, and those of the open ones that serve an iteration, at most at once
	Planned       []*float64       `json:"planned"`                  // threads that the closed groups plan, at most at once; null without such groups
	ClosedThreads []int            `json:"closed_threads,omitempty"` // active threads of the closed groups, at most at once: to hold against Planned
	Arrivals      *Arrivals        `json:"arrivals,omitempty"`       // of the open groups; left out without such groups
	Throughput    []float64        `json:"throughput_per_s"`
	Dropped       []int64          `json:"dropped"`
	Series        []TimelineSeries `json:"series"`
	Metrics       []TimelineMetric `json:"metrics"`
}

// Arrivals are those of all open groups in each interval; divided by LengthS they
// are rates. Columns as long as Timeline.TS.
type Arrivals struct {
	Planned []float64 `json:"planned"` // that the plan asks for: the area under its rates
	Started []int64   `json:"started"` // iterations begun
	Dropped []int64   `json:"dropped"` // for want of a free thread
}

// TimelineMetric is one custom metric over time; columns as long as Timeline.TS.
// Value is a counter's rate per second, a gauge's last value, a rate's share, a
// trend's mean; the percentiles are a trend's.
type TimelineMetric struct {
	Name  string     `json:"name"`
	Count []int64    `json:"count"`
	Value []*float64 `json:"value"`
	P50   []*float64 `json:"p50"`
	P95   []*float64 `json:"p95"`
	Max   []*float64 `json:"max"`
}

// TimelineSeries is one series over time; columns as long as Timeline.TS.
// Percentiles are null in intervals without samples.
type TimelineSeries struct {
	ID     int      `json:"id"`
	Count  []int64  `json:"count"`
	Failed []int64  `json:"failed"`
	Unsent []int64  `json:"unsent,omitempty"` // of the failed ones; left out where there are none
	P50    []*int64 `json:"p50"`
	P95    []*int64 `json:"p95"`
	P99    []*int64 `json:"p99"`
	Max    []*int64 `json:"max"`
	Bytes  []int64  `json:"bytes"`
}

// Skipped is a step or group that `skip:` left out.
type Skipped struct {
	Group  string `json:"group"`
	Name   string `json:"name"`
	Reason string `json:"reason"`
	File   string `json:"file"`
	Line   int    `json:"line"`
}
