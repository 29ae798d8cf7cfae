package stats

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

// unsent makes a sample that failed within a microsecond, before it was sent.
func unsent(series int, at time.Duration) element.Sample {
	s := failed(sample(series, at, time.Microsecond), element.Expression, "${x} is not set")
	s.Unsent, s.Sent, s.FirstByte, s.Status, s.Requests, s.BytesSent, s.BytesReceived = true, 0, 0, 0, 0, 0, 0
	return s
}

func thresholdsFor(texts map[string]float64) []element.Threshold {
	var out []element.Threshold
	for text, limit := range texts {
		out = append(out, element.Threshold{Scope: "closed / GET /", Group: 0, Series: []int{0}, Single: 0, Comparison: comparison(text, limit)})
	}
	return out
}

func TestUnsentSamplesHaveNoTimes(t *testing.T) {
	l := testLayout()
	l.Thresholds = thresholdsFor(map[string]float64{"p50 < 50us": 50_000, "max < 1s": 1e9, "throughput > 1/s": 1, "errors < 1%": .01, "samples >= 100": 100})
	r := newRig(l)
	for i := range 100 {
		r.run(0, unsent(0, time.Duration(i)*time.Millisecond))
	}
	r.second()
	r.Shard(0, 0).Transaction(element.Transaction{Series: 3, Time: time.Microsecond, Failed: true, Unsent: true})
	s := r.Summary(EndInfo{})
	for _, row := range []Series{s.Series[0], s.Total} {
		if row.Count != 100 || row.Failed != 100 || row.Unsent != 100 || *row.ErrorRate != 1 || row.Errors[0].Count != 100 || *row.Apdex != 0 {
			t.Errorf("%s: %+v", row.Name, row)
		}
		if row.ResponseNS != nil || row.FailureNS != nil || row.ThroughputPS != nil || len(row.Histograms) > 0 {
			t.Errorf("%s has times: %+v, %v", row.Name, row.ResponseNS, row.ThroughputPS)
		}
	}
	if row := s.Transactions[0]; row.Count != 1 || row.Failed != 1 || row.ResponseNS != nil {
		t.Errorf("transaction: %+v", row)
	}
	tl := s.Timeline
	if tl.Throughput[0] != 0 || tl.Series[0].Count[0] != 100 || tl.Series[0].Unsent[0] != 100 || tl.Series[0].P50[0] != nil {
		t.Errorf("timeline: %+v", tl)
	}
	if s.Ledger.Samples.Started != 100 || s.Ledger.Samples.Errors["expression"] != 100 || len(s.Ledger.Check()) > 0 || s.Groups[0].ThroughputPS != 0 {
		t.Errorf("ledger: %+v, group %+v", s.Ledger.Samples, s.Groups[0])
	}
	for _, th := range s.Thresholds {
		timed := th.Figure == "p50" || th.Figure == "max" || th.Figure == "throughput"
		if th.NoData != timed || timed && (th.Passed || !strings.Contains(th.Message, "no sample was sent, 100 samples failed before that")) {
			t.Errorf("%s: %+v", th.Expression, th)
		}
	}
	again, err := ReadJournal(bytes.NewReader(r.journal.Bytes()))
	if err != nil {
		t.Fatal(err)
	}
	diffEmpty(t, "from the journal", cmp.Diff(asJSON(t, s), asJSON(t, again)))
}

// TestUnsentBesideSent: the sent ones keep their own figures, whatever failed
// before, between and after them.
func TestUnsentBesideSent(t *testing.T) {
	mixed, alone := newRig(testLayout()), newRig(testLayout())
	for i := range 50 {
		at := time.Second + time.Duration(i)*10*time.Millisecond
		mixed.run(0, unsent(0, at-time.Second), sample(0, at, 20*time.Millisecond), unsent(0, at+time.Second))
		alone.run(0, sample(0, at, 20*time.Millisecond))
	}
	a, b := mixed.Summary(EndInfo{}).Series[0], alone.Summary(EndInfo{}).Series[0]
	if a.Count != 150 || a.Failed != 100 {
		t.Errorf("%d samples, %d failed", a.Count, a.Failed)
	}
	diffEmpty(t, "times", cmp.Diff(b.ResponseNS, a.ResponseNS))
	diffEmpty(t, "throughput", cmp.Diff(b.ThroughputPS, a.ThroughputPS))
}

func TestLagNeedsASchedule(t *testing.T) {
	tests := map[string]struct {
		open bool
		want string
	}{
		"closed": {false, "the plan has no schedule"},
		"open":   {true, "no sample was due while a thread was free"},
	}
	for name, tt := range tests {
		l := testLayout()
		l.Thresholds = []element.Threshold{{Scope: "plan", Group: -1, Series: []int{0}, Single: -1, Comparison: comparison("generator.lag.p99 < 5ms", 5e6)}}
		if !tt.open {
			l.Groups, l.Series = l.Groups[:1], l.Series[:1]
		}
		r := newRig(l)
		r.run(0, sample(0, 0, time.Millisecond), sample(0, time.Second, time.Millisecond))
		if th := r.Summary(EndInfo{}).Thresholds[0]; !th.NoData || !strings.Contains(th.Message, tt.want) {
			t.Errorf("%s: %+v", name, th)
		}
	}
}

// TestRatesOfAShortRun: what a run of a fraction of an interval did is over what
// it lasted, in every column.
func TestRatesOfAShortRun(t *testing.T) {
	r := newRig(testLayout())
	for i := range 21 {
		r.run(0, failed(sample(0, time.Duration(i)*10*time.Millisecond, time.Millisecond), element.Status, "status 500"))
	}
	r.clock.at = 210 * time.Millisecond
	tl := r.Summary(EndInfo{}).Timeline
	if len(tl.TS) != 1 || tl.LengthS[0] != .21 || tl.Throughput[0] < 99 || tl.Throughput[0] > 101 {
		t.Errorf("lengths %v, throughput %v", tl.LengthS, tl.Throughput)
	}
}

func TestDamagedHeadIsToldAsThat(t *testing.T) {
	r := newRig(testLayout())
	r.run(0, sample(0, 0, time.Millisecond))
	r.second()
	r.Summary(EndInfo{})
	whole := r.journal.Bytes()
	flipped := bytes.Clone(whole)
	flipped[20] ^= 1
	tests := map[string]struct {
		data []byte
		want string
	}{
		"empty":   {nil, "it is empty"},
		"cut":     {whole[:30], "its head is cut off or damaged"},
		"flipped": {flipped, "its head is damaged"},
		"text":    {[]byte("not a journal at all"), "or it is no journal"},
		"summary": {[]byte(`{"schema":"runner.summary/1"}`), "needs run.journal"},
	}
	for name, tt := range tests {
		_, err := ReadJournal(bytes.NewReader(tt.data))
		if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "middle") {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}
