package stats

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"runner/plan/element"
)

// busyRun records some seconds with everything in them.
func busyRun(t testing.TB, seconds int, end func(*rig)) *rig {
	t.Helper()
	l := testLayout()
	l.Thresholds = []element.Threshold{
		{Scope: "plan", Group: -1, Series: []int{0, 1}, Single: -1, Comparison: comparison("p95 < 500ms", 5e8)},
		{Scope: "closed / GET /", Group: 0, Series: []int{0}, Single: 0, Comparison: comparison("errors < 1%", 0.01), Stop: true, Window: 2 * time.Second},
		{Scope: "group open", Group: 1, Series: []int{1}, Single: -1, Comparison: comparison("dropped == 0", 0), Implied: true},
	}
	l.Notes = []string{"a note of the plan"}
	l.Skipped = []element.Skipped{{Group: "closed", Name: "step", Reason: "later"}}
	r := newRig(l)
	r.Recorder.process = func() Process {
		return Process{CPU: r.clock.at / 2, RSS: 1 << 20, CPUs: 2, Pause: []PauseCount{{50 * time.Microsecond, uint64(r.clock.at / time.Second)}}}
	}
	rng := rand.New(rand.NewPCG(9, uint64(seconds)))
	r.Shard(0, 0).Count(element.ThreadsStarted, 2)
	r.run(-1, sample(2, 0, time.Millisecond))
	for i := range seconds {
		for k := range 12 {
			s := sample(k%2, r.clock.at+time.Duration(k), time.Duration(rng.Int64N(int64(time.Second))))
			s.Assertions = []int{0}
			s.Phases = element.Phases{Connect: time.Duration(k), Wait: 5}
			if k == 3 {
				s.Dispatched += 2 * time.Millisecond
			}
			if k%5 == 4 {
				s = failed(s, element.Timeout, "no answer "+strconv.Itoa(i%3))
				s.Problems = append(s.Problems, element.Problem{Class: element.Assert, Assertion: 0, Message: "wrong", Expected: "a", Actual: "b"})
			}
			r.run(k%2, s)
		}
		r.Shard(0, 0).Transaction(element.Transaction{Series: 3, Time: time.Second})
		r.Shard(1, 0).Count(element.IterationsScheduled, 1)
		r.Shard(1, 0).Count(element.DroppedNoThread, 1)
		r.Note("second " + strconv.Itoa(i))
		r.second()
	}
	if end != nil {
		end(r)
	}
	return r
}

func asJSON(t testing.TB, s *Summary) string {
	t.Helper()
	text, err := json.MarshalIndent(s, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func TestJournalGivesTheSameSummary(t *testing.T) {
	for _, end := range []EndInfo{
		{}, {Signal: 2, Aborted: true}, {SetupError: "no login", ReportErrors: []string{"disk full"}, SkippedGroups: map[int]string{1: "if"}, Stopped: "stop step"},
	} {
		r := busyRun(t, 7, func(r *rig) {
			r.run(0, sample(0, r.clock.at, time.Millisecond))
			r.clock.at += 300 * time.Millisecond
		})
		want := r.Summary(end)
		got, err := ReadJournal(bytes.NewReader(r.journal.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		diffEmpty(t, "summary", cmp.Diff(asJSON(t, want), asJSON(t, got)))
		if got.Partial || got.RunID != "r1" || got.Seed != 7 || len(got.Sources) != 1 || got.Series[0].Line != 3 {
			t.Error("what the head holds is lost")
		}
	}
}

// TestKilledAtEveryByte cuts a journal at every byte: what is read is partial,
// holds whole seconds only, and never more than was recorded.
func TestKilledAtEveryByte(t *testing.T) {
	r := newRig(testLayout())
	var marks []int // journal size after each second
	for range 4 {
		r.run(0, sample(0, r.clock.at, time.Millisecond), failed(sample(0, r.clock.at, time.Second), element.Timeout, "late"))
		r.second()
		marks = append(marks, r.journal.Len())
	}
	r.Summary(EndInfo{})
	data := r.journal.Bytes()
	head := frameHead + int(binary.BigEndian.Uint32(data))
	for cut := range len(data) {
		s, end, err := readState(bytes.NewReader(data[:cut]))
		if cut < head {
			if err == nil {
				t.Fatalf("cut at %d: no error without a head", cut)
			}
			continue
		}
		if err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		whole := int64(0)
		for _, m := range marks {
			if cut >= m {
				whole++
			}
		}
		got := cell{}
		if c := s.total.cells[0]; c != nil {
			got = *c
		}
		if end != nil || got.count != 2*whole || got.failed != whole || s.at != time.Duration(whole)*time.Second {
			t.Fatalf("cut at %d: %d samples of %d seconds, end %v", cut, got.count, whole, end)
		}
	}
	s, err := ReadJournal(bytes.NewReader(data[:marks[2]]))
	if err != nil || !s.Partial || s.Verdict != Invalid || s.ExitCode != 3 || s.Total.Count != 6 || len(s.Timeline.TS) != 3 {
		t.Errorf("a cut journal gives %v, %+v", err, s.Verdict)
	}
}

func TestDamagedJournals(t *testing.T) {
	data := busyRun(t, 3, func(r *rig) { r.Summary(EndInfo{}) }).journal.Bytes()
	head := frameHead + int(binary.BigEndian.Uint32(data))
	flip := func(at int) []byte {
		out := slices.Clone(data)
		out[at] ^= 0x40
		return out
	}
	frame := func(kind byte, payload []byte) []byte {
		p := append([]byte{kind}, payload...)
		out := binary.BigEndian.AppendUint32(nil, uint32(len(p)))
		return append(binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(p)), p...)
	}
	torn := map[string][]byte{
		"last frame flipped": flip(len(data) - 3), "zeros after the end": append(slices.Clone(data[:head]), make([]byte, 5000)...),
	}
	for name, d := range torn {
		if s, err := ReadJournal(bytes.NewReader(d)); err != nil || !s.Partial {
			t.Errorf("%s: partial expected, got %v", name, err)
		}
	}
	if s, err := ReadJournal(bytes.NewReader(flip(head + 30))); err != nil || !s.Partial || s.Total.Count != 0 {
		t.Errorf("first second flipped: %v", err)
	}
	bad := map[string][]byte{
		"empty": nil, "text": []byte("plan: this is not a journal at all, but a plan"), "head flipped": flip(20),
		"no head": data[head:], "unknown frame": append(slices.Clone(data[:head]), frame('X', nil)...),
		"malformed delta": append(slices.Clone(data[:head]), frame(deltaFrame, []byte{1, 2, 3})...),
		"malformed end":   append(slices.Clone(data[:head]), frame(endFrame, []byte("{"))...),
		"other schema":    frame(headFrame, []byte(`{"schema":"x"}`)),
	}
	for name, d := range bad {
		if s, err := ReadJournal(bytes.NewReader(d)); err == nil {
			t.Errorf("%s: no error, %d samples", name, s.Total.Count)
		} else if !strings.HasPrefix(err.Error(), "read journal: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestHostileHistograms: counts that do not add up are refused.
// TestDamageInTheMiddle: of a journal with a flipped byte, all before the damaged
// record is reported, as if the journal were cut there; merge refuses it.
func TestDamageInTheMiddle(t *testing.T) {
	r := newRig(testLayout())
	var marks []int // journal size after each second
	for range 4 {
		r.run(0, sample(0, r.clock.at, time.Millisecond))
		r.second()
		marks = append(marks, r.journal.Len())
	}
	r.Summary(EndInfo{})
	data := slices.Clone(r.journal.Bytes())
	data[marks[1]+frameHead+5] ^= 1
	s, err := ReadJournal(bytes.NewReader(data))
	if err != nil || !s.Partial || s.ExitCode != 3 || s.Total.Count != 2 || s.DurationNS != int64(2*time.Second) {
		t.Fatalf("%v: %+v", err, s)
	}
	want := fmt.Sprintf("the journal is damaged: %d bytes from second 2 on could not be read", len(data)-marks[1])
	if !strings.Contains(strings.Join(s.Notes, "\n"), want) {
		t.Errorf("no note %q in %q", want, s.Notes)
	}
	cut, err := ReadJournal(bytes.NewReader(data[:marks[1]]))
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Reasons[0]; !strings.Contains(got, "its journal is damaged") || strings.Contains(got, "killed") {
		t.Error(got)
	}
	s.Notes, cut.Notes, s.Reasons, cut.Reasons = nil, nil, nil, nil
	diffEmpty(t, "flipped and cut", cmp.Diff(asJSON(t, cut), asJSON(t, s)))
	long := slices.Clone(r.journal.Bytes())
	long[marks[1]+1] ^= 1 // in a record's length, which now goes beyond the end
	want = fmt.Sprintf("ends in the middle of a record: %d bytes from second 2 on could not be read", len(long)-marks[1])
	if s, err := ReadJournal(bytes.NewReader(long)); err != nil || !s.Partial || !strings.Contains(strings.Join(s.Notes, "\n"), want) {
		t.Errorf("a wrong length: %v %q", err, s.Notes)
	}
	if _, err := ReadPart("x", bytes.NewReader(data)); err == nil || !strings.Contains(err.Error(), "damaged in the middle") {
		t.Errorf("merge: %v", err)
	}
}

func TestHostileHistograms(t *testing.T) {
	var h Histogram
	h.Record(1000)
	good := h.sparse()
	for name, change := range map[string]func(*sparse){
		"more counted than held": func(s *sparse) { s.n = 2 },
		"bucket out of range":    func(s *sparse) { s.data = binary.AppendUvarint(nil, slots); s.data = append(s.data, 1) },
		"zero count":             func(s *sparse) { s.data = []byte{1, 0} },
		"minimum above maximum":  func(s *sparse) { s.min = 2000 },
		"overflow": func(s *sparse) {
			s.data = binary.AppendUvarint([]byte{0}, math.MaxInt64)
			s.data = binary.AppendUvarint(append(s.data, 0), math.MaxInt64)
		},
		"trailing bytes": func(s *sparse) { s.data = append(slices.Clone(s.data), 0x80) },
	} {
		s := good
		change(&s)
		if s.check() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	if err := good.check(); err != nil {
		t.Error(err)
	}
}

type fullDisk struct{ left int }

func (d *fullDisk) Write(p []byte) (int, error) {
	if d.left--; d.left < 0 {
		return 0, errors.New("no space left on device")
	}
	return len(p), nil
}

func TestJournalThatCannotBeWrittenIsSaid(t *testing.T) {
	c := &fakeClock{}
	r := New(testLayout(), Options{Now: c.now, Process: noProcess, Journal: &fullDisk{left: 2}})
	for range 5 {
		s := sample(0, c.at, time.Millisecond)
		r.Shard(0, 0).Record(&s)
		c.at += time.Second
		r.Tick()
	}
	s := r.Summary(EndInfo{Aborted: true})
	if s.Total.Count != 5 || !strings.Contains(strings.Join(s.Notes, "\n"), "no space left") {
		t.Errorf("%d samples, notes %q", s.Total.Count, s.Notes)
	}
}

func FuzzReadJournal(f *testing.F) {
	data := busyRun(f, 3, func(r *rig) { r.Summary(EndInfo{}) }).journal.Bytes()
	head := frameHead + int(binary.BigEndian.Uint32(data))
	f.Add(data, false)
	f.Add(data[:len(data)/2], false)
	f.Add(data[head+frameHead:head+frameHead+int(binary.BigEndian.Uint32(data[head:]))], true)
	var e encoder
	e.b = []byte{checkpointFrame}
	e.state(busyRun(f, 3, nil).Recorder.state)
	f.Add(e.b, true)
	f.Add(data[frameHead:head], true)
	f.Add([]byte(`H{"schema":"`+journalSchema+`","metrics":[{"name":"m","type":"trend"}],"groups":[{},{}],"series":[{"group":9},{"group":-5},{},{}],"apdex":-1,`+
		`"thresholds":[{"series":[-1,99],"single":-7,"group":77,"figure":"p95","op":"?","window":-1,"stop":true},{"series":[0],"figure":"apdex","op":"<","window":1}]}`), true)
	f.Fuzz(func(t *testing.T, in []byte, framed bool) {
		if framed && len(in) > 0 { // a payload whose length and checksum are right
			payload := in
			frame := binary.BigEndian.AppendUint32(slices.Clone(data[:head]), uint32(len(payload)))
			frame = binary.BigEndian.AppendUint32(frame, crc32.ChecksumIEEE(payload))
			in = append(frame, payload...)
			if payload[0] == headFrame { // another head before the same deltas
				in = append(in[head:], data[head:]...)
			}
		}
		s, err := ReadJournal(bytes.NewReader(in))
		if err != nil {
			return
		}
		if _, err := json.Marshal(s); err != nil {
			t.Fatalf("a summary that cannot be written: %v", err)
		}
	})
}
