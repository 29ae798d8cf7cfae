package stats

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"runner/plan/element"
)

// dayLimit is what a journal of a day may take on the disk at any moment.
const dayLimit = 200 << 20

// day is a long run whose journal is watched.
type day struct {
	length    time.Duration
	perSecond int // samples of each of its ten series
}

// size is in bytes: largest is the most that the journal, and what is about to replace it, took at once.
type size struct{ largest, end int64 }

// record records the day on a clock of its own, with log-normal service times
// (median 20 to 200 ms, the 99th percentile at ten times that), and checks that the
// report that the journal gives is complete.
func (d day) record(t *testing.T) size {
	t.Helper()
	const series = 10
	l := element.Layout{Plan: "a day", Masker: &element.Masker{},
		Groups: []element.Group{{Name: "g", Open: true, MaxThreads: 100, Duration: d.length}}}
	for i := range series {
		l.Series = append(l.Series, element.Series{ID: i, Group: 0, Name: fmt.Sprint("step ", i), Kind: "http", Phase: element.Load})
	}
	path := filepath.Join(t.TempDir(), "run.journal")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	clock, rnd := &fakeClock{}, rand.New(rand.NewPCG(1, 2))
	r := &rig{clock: clock, Recorder: New(l, Options{Now: clock.now, Process: noProcess, Journal: file, Shards: 1})}
	shard := r.Shard(0, 0)
	var out size
	for clock.at < d.length {
		for i := range series {
			for k := range d.perSecond {
				took := time.Duration(float64(20+20*i) * 1e6 * math.Exp(rnd.NormFloat64()))
				s := sample(i, clock.at+time.Duration(k)*time.Second/time.Duration(d.perSecond), took)
				s.Sent += time.Duration(rnd.Int64N(int64(time.Millisecond)))
				s.FirstByte -= took / 10
				shard.Record(&s)
			}
		}
		n := int64(series * d.perSecond)
		for _, c := range []element.Counter{element.IterationsScheduled, element.IterationsStarted, element.IterationsCompleted, element.SamplesStarted} {
			shard.Count(c, n)
		}
		r.second()
		out.watch(t, path)
	}
	want := r.Summary(EndInfo{})
	out.watch(t, path)
	again, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	got, err := ReadJournal(again)
	if err != nil {
		t.Fatal(err)
	}
	all := int64(series*d.perSecond) * int64(d.length/time.Second)
	if got.Partial || got.Total.Count != all || got.DurationNS != int64(d.length) || asJSON(t, got) != asJSON(t, want) {
		t.Errorf("the report from the journal: partial %v, %d samples of %d, %v", got.Partial, got.Total.Count, all, time.Duration(got.DurationNS))
	}
	t.Logf("%v of 10 series × %d/s: at most %.1f MB on the disk at once, %.1f MB in the end", d.length, d.perSecond, float64(out.largest)/1e6, float64(out.end)/1e6)
	return out
}

// watch looks at the file; when it has been replaced, both stood side by side.
func (s *size) watch(t *testing.T, path string) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s.largest = max(s.largest, info.Size())
	if info.Size() < s.end {
		s.largest = max(s.largest, s.end+info.Size())
	}
	s.end = info.Size()
}

// TestJournalOfADay holds the journal of a long run below its limit at any moment.
// It is compacted each hour, so three hours show the shape of a day; the accuracy
// tests record all of it.
func TestJournalOfADay(t *testing.T) {
	d := day{length: 3 * time.Hour, perSecond: 30}
	if testing.Short() || raceEnabled {
		d = day{length: 2 * time.Hour, perSecond: 3}
	}
	if s := d.record(t); s.largest > dayLimit {
		t.Errorf("%d bytes on the disk at once", s.largest)
	}
}
