package stats

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestCompactedJournal: a journal that was compacted on the way gives the summary
// that a plain one gives, and stands whole under its name at all times.
func TestCompactedJournal(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := busyRun(t, 0, nil)
	r.Recorder.journal = newJournal(file, r.Recorder.state.out)
	r.Recorder.journal.every = 3 * time.Second
	sizes := []int64{}
	for range 10 {
		r.run(0, sample(0, r.clock.at, time.Duration(len(sizes)+1)*10*time.Millisecond), failed(sample(0, r.clock.at, time.Second), "timeout", "late"))
		r.Note("a note")
		r.second()
		s, end, err := readJournalFile(path)
		if err != nil || end != nil || s.at != r.clock.at || s.total.cells[0].count != r.Recorder.state.total.cells[0].count {
			t.Fatalf("after %v: %v", r.clock.at, err)
		}
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		sizes = append(sizes, info.Size())
	}
	want := r.Summary(EndInfo{Signal: 15})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadJournal(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	diffEmpty(t, "summary", cmp.Diff(asJSON(t, want), asJSON(t, got)))
	if _, err := os.Stat(path + ".tmp"); !os.IsNotExist(err) {
		t.Errorf("a temporary file is left: %v", err)
	}
	if r.Recorder.journal.compacted != 9*time.Second {
		t.Errorf("last compacted at %v", r.Recorder.journal.compacted)
	}
}

// TestJournalIsCompactedBySize: one that grows fast is rewritten before its hour.
func TestJournalIsCompactedBySize(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.journal")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	r := newRig(testLayout())
	r.Recorder.journal = newJournal(file, r.Recorder.state.out)
	r.Recorder.journal.growth = 4 << 10
	var whole, most, last int64
	for range 200 {
		for k := range 50 {
			r.run(0, sample(0, r.clock.at, time.Duration(k+1)*time.Millisecond))
		}
		r.second()
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		whole, most, last = whole+max(0, info.Size()-last), max(most, info.Size()), info.Size()
	}
	if most > whole/2 {
		t.Errorf("%d bytes at most, of %d written", most, whole)
	}
	want := r.Summary(EndInfo{})
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	got, err := ReadJournal(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	diffEmpty(t, "summary", cmp.Diff(asJSON(t, want), asJSON(t, got)))
}

func readJournalFile(path string) (*state, *EndInfo, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, nil, err
	}
	return readState(bytes.NewReader(data))
}

// TestStateRoundTrip: a state with everything in it survives its checkpoint.
func TestStateRoundTrip(t *testing.T) {
	s := busyRun(t, 9, nil).Recorder.state
	var e encoder
	e.state(s)
	back := newState(s.out)
	d := decoder{b: e.b}
	if d.state(back); d.err != nil {
		t.Fatal(d.err)
	}
	diffEmpty(t, "summary", cmp.Diff(asJSON(t, s.summary(&EndInfo{})), asJSON(t, back.summary(&EndInfo{}))))
	for cut := range e.b {
		d := decoder{b: e.b[:cut]}
		if d.state(newState(s.out)); d.err == nil {
			t.Fatalf("a checkpoint cut at %d is accepted", cut)
		}
	}
}
