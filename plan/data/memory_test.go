package data

import (
	"errors"
	"io"
	"runtime"
	"testing"
)

// endless is a file of any size that is made while it is read.
type endless struct{ at, size int64 }

const endlessRow = "12345,somebody@example.com,\"two\nlines\"\n"

func (e *endless) Read(p []byte) (int, error) {
	const header = "id,email,note\n"
	n := 0
	for n < len(p) && e.at < e.size {
		if e.at < int64(len(header)) {
			k := copy(p[n:], header[e.at:])
			n, e.at = n+k, e.at+int64(k)
			continue
		}
		k := copy(p[n:], endlessRow[(e.at-int64(len(header)))%int64(len(endlessRow)):])
		n, e.at = n+k, e.at+int64(k)
	}
	if n == 0 {
		return 0, io.EOF
	}
	return n, nil
}

func (e *endless) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekStart:
		e.at = offset
	case io.SeekCurrent:
		e.at += offset
	default:
		e.at = e.size + offset
	}
	return e.at, nil
}

func (*endless) Close() error { return nil }

// bigFeeder opens a feeder of so many rows.
func bigFeeder(t testing.TB, pick string, rows int64) *Feeder {
	t.Helper()
	size := int64(len("id,email,note\n")) + rows*int64(len(endlessRow))
	f, err := Open(Config{Name: "d", Path: "d.csv", Pick: pick, Per: "iteration", OnEnd: "stop_thread", Types: map[string]string{"id": "int"}},
		func(string) (io.ReadSeekCloser, error) { return &endless{size: size}, nil })
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func liveHeap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// TestBigFileTakesConstantMemory reads 100,000 rows of 4 MB and looks at what
// lives on the heap on the way.
func TestBigFileTakesConstantMemory(t *testing.T) {
	const rows = 100_000
	for _, pick := range []string{"next", "unique"} {
		before := liveHeap()
		f, th := bigFeeder(t, pick, rows), thread(1, "g")
		for i := range rows {
			r, err := f.Next(th)
			if err != nil || r["id"] != int64(12345) || r["note"] != "two\nlines" {
				t.Fatalf("row %d: %v, %v", i, r, err)
			}
			if i%50_000 == 49_000 {
				if now := liveHeap(); now > before+3<<20 {
					t.Errorf("%s: after %d rows %d KiB live on the heap", pick, i, (now-before)>>10)
				}
			}
		}
		if _, err := f.Next(th); !errors.Is(err, ErrEnd) {
			t.Errorf("after the last row: %v", err)
		}
	}
}

// BenchmarkBigFile reads a file of 300 MB; to be run by hand.
func BenchmarkBigFile(b *testing.B) {
	for _, pick := range []string{"next", "unique"} {
		b.Run(pick, func(b *testing.B) {
			const rows = 300_000_000 / int64(len(endlessRow))
			b.SetBytes(rows * int64(len(endlessRow)))
			for b.Loop() {
				f, th := bigFeeder(b, pick, rows), thread(1, "g")
				for range rows {
					if _, err := f.Next(th); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(liveHeap())/(1<<20), "MiB-live")
			}
		})
	}
}
