package reporters

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"runner/plan/element"
	"runner/reporters/stats"
)

// dayJournal writes the journal of a day with a hundred series, as exec does but with
// a tick each minute, and returns its path.
func dayJournal(t *testing.T) string {
	t.Helper()
	const series, perMinute = 100, 20
	l := element.Layout{Plan: "a day", Masker: &element.Masker{}, Groups: []element.Group{{Name: "g", MaxThreads: 100, Duration: 24 * time.Hour}}}
	for i := range series {
		l.Series = append(l.Series, element.Series{ID: i, Name: fmt.Sprint("GET /", i), Kind: "http", Phase: element.Load})
	}
	path := filepath.Join(t.TempDir(), "run.journal")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	at, rnd := time.Duration(0), rand.New(rand.NewPCG(1, 2))
	r := stats.New(l, stats.Options{Now: func() time.Duration { return at }, Journal: file, Shards: 2,
		Process: func() stats.Process { return stats.Process{CPU: -1, RSS: -1} }})
	for at < 24*time.Hour {
		for i := range series * perMinute {
			took := time.Duration(5e6 * math.Pow(40, float64(i%series)/series) * math.Exp(rnd.NormFloat64()/2))
			s := element.Sample{Series: i % series, Due: at, Dispatched: at, FreeSince: at, Sent: at + 1, FirstByte: at + took*9/10,
				Done: at + took, Requests: 1, BytesSent: 100, BytesReceived: 1000, Status: 200}
			if i%50 == 0 {
				s.Fail(element.Problem{Class: element.Timeout, Assertion: -1, Message: "no answer in time"})
			}
			sh := r.Shard(0, i)
			sh.Count(element.SamplesStarted, 1)
			sh.Record(&s)
		}
		at += time.Minute
		r.Tick()
	}
	r.Summary(stats.EndInfo{})
	return path
}

// TestDayIsReportedQuickly: what `runner report` does with the journal of a day and a
// hundred series takes 2 s. The best of a few tries counts, as the machine may have
// other work.
func TestDayIsReportedQuickly(t *testing.T) {
	if testing.Short() {
		t.Log("left to the full run")
		return
	}
	path, best := dayJournal(t), time.Hour
	for range 5 {
		file, err := os.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		start := time.Now()
		s, err := stats.ReadJournal(file)
		read := time.Since(start)
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		if s.Total.Count != 100*20*24*60 || s.DurationNS != int64(24*time.Hour) {
			t.Fatalf("%d samples in %v", s.Total.Count, time.Duration(s.DurationNS))
		}
		if _, err := WriteAll(t.TempDir(), s, All()...); err != nil {
			t.Fatal(err)
		}
		took := time.Since(start)
		t.Logf("%v in all, %v of it to read", took, read)
		if best = min(best, took); best < time.Second {
			break
		}
	}
	if best > 2*time.Second*raceFactor {
		t.Errorf("the reports took %v", best)
	}
}
