package stats

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"time"
)

// A journal is a file of frames: length (4 bytes, big endian), CRC-32 of the
// payload, payload. The payload's first byte says what it is. The head comes
// first, in a compacted journal then the checkpoint; then one delta for each
// second; the end, if the run had one, is last.
// Each frame is one write, so a killed run loses at most what its last second
// recorded, and the file ends in a whole frame or in the beginning of one.
const (
	journalSchema = "runner.journal/7"

	headFrame       = 'H'
	checkpointFrame = 'C'
	deltaFrame      = 'D'
	endFrame        = 'E'

	frameHead = 8
	maxFrame  = 64 << 20
)

// journalWriter appends frames. After a failed write it writes no more, so that
// what stands in the file stays readable.
type journalWriter struct {
	w   io.Writer
	enc encoder
	err error

	file      *os.File // where w is a file, for compact
	name      string   // the file's
	own       bool     // compact opened it
	every     time.Duration
	growth    int64
	compacted time.Duration
	grown     int64 // bytes since then
}

func newJournal(w io.Writer, out *outline) *journalWriter {
	j := &journalWriter{w: w, every: compactEvery, growth: compactGrowth}
	if file, ok := w.(*os.File); ok && file != nil {
		j.file, j.name = file, file.Name()
	}
	j.object(headFrame, out)
	return j
}

func (j *journalWriter) object(kind byte, v any) {
	if j.w == nil {
		return
	}
	text, err := json.Marshal(v)
	if err != nil {
		j.err = err
		return
	}
	j.begin(kind)
	j.enc.b = append(j.enc.b, text...)
	j.write()
}

func (j *journalWriter) delta(d *delta) {
	if j.w == nil || j.err != nil {
		return
	}
	j.begin(deltaFrame)
	j.enc.delta(d)
	j.write()
}

func (j *journalWriter) end(e *EndInfo) {
	j.object(endFrame, e)
	j.close()
}

func (j *journalWriter) begin(kind byte) {
	j.enc.b = append(j.enc.b[:0], 0, 0, 0, 0, 0, 0, 0, 0, kind)
}

func (j *journalWriter) write() {
	if j.err != nil {
		return
	}
	payload := j.enc.b[frameHead:]
	if len(payload) > maxFrame {
		j.err = errors.New("a second's figures are too large")
		return
	}
	binary.BigEndian.PutUint32(j.enc.b, uint32(len(payload)))
	binary.BigEndian.PutUint32(j.enc.b[4:], crc32.ChecksumIEEE(payload))
	_, j.err = j.w.Write(j.enc.b)
	j.grown += int64(len(j.enc.b))
}

// errTorn marks the end of a journal in the middle of a frame.
var errTorn = errors.New("the journal ends in the middle of a record")

// damage is that of a frame before the last one.
type damage struct{ bytes int64 } // from the beginning of that frame to the journal's end

func (d *damage) Error() string { return "it is damaged in the middle" }

// ReadJournal builds the summary of a run from its journal. Without an end, or
// with a torn last record, the summary is partial: it holds what was recorded up
// to the last whole second. If the journal is damaged elsewhere, it holds what was
// recorded before the damage, and a note says how much could not be read. A journal
// whose head is damaged, or whose records are whole but make no sense, is an error.
func ReadJournal(r io.Reader) (*Summary, error) {
	s, end, err := readState(r)
	var d *damage
	switch {
	case errors.As(err, &d) && s != nil:
		s.killed = "the run's end is not known, as its journal is damaged; this is what is known up to the damage"
		s.lose("is damaged", d.bytes)
	case err != nil:
		return nil, fmt.Errorf("read journal: %w", err)
	}
	return s.summary(end), nil
}

// lose notes how much of a journal could not be read.
func (s *state) lose(why string, bytes int64) {
	s.unread = "the journal " + why + ": " + counted(bytes, "byte", "bytes") + " from second " +
		formatNumber(s.at.Seconds(), 3) + " on could not be read, and what they hold is missing"
}

// readState rebuilds a run's state from its journal; the end is nil if the run
// had none. With a *damage the state is that of all before it.
func readState(r io.Reader) (*state, *EndInfo, error) {
	frames := &frameReader{r: bufio.NewReaderSize(r, 64<<10)}
	kind, payload, err := frames.first()
	if err != nil {
		return nil, nil, err
	}
	s, err := readHead(kind, payload)
	if err != nil {
		return nil, nil, err
	}
	end, err := replay(frames, s)
	if frames.torn > 0 {
		s.lose("ends in the middle of a record", frames.torn)
	}
	return s, end, err
}

// maxJudged bounds the series over all thresholds of a journal.
const maxJudged = 2_000_000

func readHead(kind byte, payload []byte) (*state, error) {
	out := &outline{}
	if kind != headFrame {
		return nil, errors.New("it does not begin with a head")
	}
	if err := json.Unmarshal(payload, out); err != nil {
		return nil, fmt.Errorf("its head is malformed: %w", err)
	}
	if out.Schema != journalSchema {
		return nil, fmt.Errorf("its schema is %q, not %q", out.Schema, journalSchema)
	}
	if len(out.Series) > maxSeries || len(out.Groups) > maxListed || len(out.Metrics) > maxMetrics || len(out.Thresholds) > maxListed {
		return nil, errors.New("its head is too large")
	}
	for i := range out.Series {
		if len(out.Series[i].Assertions) > maxAssertions {
			return nil, errors.New("its head is too large")
		}
	}
	if !out.Info.Floor.possible() {
		return nil, errors.New("its head is malformed: a floor that cannot be")
	}
	judged := 0
	for i := range out.Thresholds {
		judged += len(out.Thresholds[i].Series)
	}
	if judged > maxJudged {
		return nil, errors.New("its head is too large")
	}
	return newState(out), nil
}

// maxReplayPages bounds the memory of what a journal can fill: 256 MiB for the
// totals and as much for one second.
const maxReplayPages = 256 << 20 / (pageSlots * 8)

// replay applies all deltas and returns the end, nil if there is none.
func replay(frames *frameReader, s *state) (*EndInfo, error) {
	d := &delta{batch: *s.out.batch(), began: make([]time.Duration, len(s.out.Groups))}
	for first := true; ; first = false {
		kind, payload, err := frames.next()
		if errors.Is(err, io.EOF) || errors.Is(err, errTorn) {
			return nil, nil
		}
		if err != nil {
			return nil, err
		}
		switch kind {
		case endFrame:
			end := &EndInfo{}
			if err := json.Unmarshal(payload, end); err != nil {
				return nil, fmt.Errorf("its end is malformed: %w", err)
			}
			return end, nil
		case checkpointFrame:
			dec := decoder{b: payload}
			if dec.state(s); dec.err != nil {
				return nil, dec.err
			}
			if !first {
				return nil, errRecord
			}
		case deltaFrame:
			dec := decoder{b: payload}
			dec.delta(d)
			if dec.err != nil {
				return nil, dec.err
			}
			if d.from < s.at {
				return nil, errors.New("its seconds are out of order")
			}
			s.apply(d)
			d.release()
			if s.total.pool.made > maxReplayPages {
				return nil, errors.New("it holds more figures than fit into memory")
			}
		default:
			return nil, errRecord
		}
	}
}

// frameReader reads frames one by one.
type frameReader struct {
	r    *bufio.Reader
	buf  bytes.Buffer
	torn int64 // bytes after the last whole frame, with errTorn
}

// first returns the first frame; its errors say what the file is instead.
func (f *frameReader) first() (byte, []byte, error) {
	if begin, err := f.r.Peek(1); err == nil && (begin[0] == '{' || begin[0] == '[') {
		return 0, nil, errors.New("it is JSON, as summary.json is, and not a journal; this needs run.journal")
	}
	kind, payload, err := f.next()
	var d *damage
	switch {
	case err == io.EOF:
		return 0, nil, errors.New("it is empty")
	case errors.Is(err, errTorn):
		return 0, nil, errors.New("its head is cut off or damaged, so nothing in it can be read")
	case errors.As(err, &d):
		return 0, nil, errors.New("its head is damaged, so nothing in it can be read; or it is no journal")
	}
	return kind, payload, err
}

// next returns the next frame's kind and the rest of its payload, valid until the
// next call. It is io.EOF at the end, errTorn where the file ends within a frame
// or its last frame is damaged.
func (f *frameReader) next() (byte, []byte, error) {
	var head [frameHead]byte
	n, err := io.ReadFull(f.r, head[:])
	switch {
	case err == io.EOF:
		return 0, nil, io.EOF
	case err == io.ErrUnexpectedEOF && n > 0:
		f.torn = int64(n)
		return 0, nil, errTorn
	case err != nil:
		return 0, nil, err
	}
	size := binary.BigEndian.Uint32(head[:])
	if size == 0 || size > maxFrame {
		return 0, nil, f.damaged(frameHead, size == 0)
	}
	f.buf.Reset()
	got, err := io.CopyN(&f.buf, f.r, int64(size))
	if err == io.EOF && got < int64(size) {
		f.torn = frameHead + got
		return 0, nil, errTorn
	}
	if err != nil {
		return 0, nil, err
	}
	payload := f.buf.Bytes()
	if crc32.ChecksumIEEE(payload) != binary.BigEndian.Uint32(head[4:]) {
		return 0, nil, f.damaged(frameHead+int64(size), false)
	}
	return payload[0], payload[1:], nil
}

// damaged tells a damaged last frame, or a tail of zeros as a crashed machine
// leaves it, from damage elsewhere; so much of the frame has been read.
func (f *frameReader) damaged(read int64, zeros bool) error {
	for {
		b, err := f.r.ReadByte()
		switch {
		case err == io.EOF:
			if f.torn = read; zeros {
				f.torn = 0 // nothing was written there
			}
			return errTorn
		case err != nil:
			return err
		case zeros && b == 0:
			read++
			continue
		}
		rest, err := io.Copy(io.Discard, f.r)
		if err != nil {
			return err
		}
		return &damage{read + 1 + rest}
	}
}
