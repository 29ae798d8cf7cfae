package stats

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	hdr "github.com/HdrHistogram/hdrhistogram-go"
)

// Cookies of HdrHistogram's V2 encoding, plain and compressed, with the mark for
// words of one to nine bytes.
const (
	v2Cookie           = uint32(hdr.V2EncodingCookieBase | 0x10)
	v2CompressedCookie = uint32(hdr.V2CompressedEncodingCookieBase | 0x10)
)

// v2Encoder writes HdrHistogram's V2 compressed encoding, byte for byte as the
// library does, without its cost for each histogram.
type v2Encoder struct {
	plain []byte
	out   bytes.Buffer
	zip   *zlib.Writer
}

// EncodeV2 returns the counts in HdrHistogram's V2 compressed encoding, base64.
func (h *Histogram) EncodeV2() (string, error) { return new(v2Encoder).encode(h) }

func (e *v2Encoder) encode(h *Histogram) (string, error) {
	const head = 40
	e.plain = append(e.plain[:0], make([]byte, head)...)
	next := 0
	h.each(func(index int, n int64) bool {
		switch zeros := index - next; {
		case zeros == 1:
			e.plain = append(e.plain, 0)
		case zeros > 1:
			e.plain = binary.AppendVarint(e.plain, -int64(zeros))
		}
		e.plain = binary.AppendVarint(e.plain, n)
		next = index + 1
		return true
	})
	if next == 0 {
		e.plain = append(e.plain, 0)
	}
	b := binary.BigEndian
	b.PutUint32(e.plain[0:], v2Cookie)
	b.PutUint32(e.plain[4:], uint32(len(e.plain)-head))
	b.PutUint32(e.plain[12:], valueDigits)
	b.PutUint64(e.plain[16:], uint64(lowestValue))
	b.PutUint64(e.plain[24:], uint64(highestValue))
	b.PutUint64(e.plain[32:], math.Float64bits(1))
	return e.compress()
}

func (e *v2Encoder) compress() (string, error) {
	e.out.Reset()
	e.out.Write(make([]byte, 8))
	if e.zip == nil {
		zip, err := zlib.NewWriterLevel(&e.out, zlib.BestCompression)
		if err != nil {
			return "", fmt.Errorf("encode histogram: %w", err)
		}
		e.zip = zip
	} else {
		e.zip.Reset(&e.out)
	}
	if _, err := e.zip.Write(e.plain); err != nil {
		return "", fmt.Errorf("encode histogram: %w", err)
	}
	if err := e.zip.Close(); err != nil {
		return "", fmt.Errorf("encode histogram: %w", err)
	}
	out := e.out.Bytes()
	binary.BigEndian.PutUint32(out, v2CompressedCookie)
	binary.BigEndian.PutUint32(out[4:], uint32(len(out)-8))
	return base64.StdEncoding.EncodeToString(out), nil
}

// maxEncoded bounds the text that DecodeV2 reads; a histogram's own is smaller.
const maxEncoded = 4 << 20

// DecodeV2 reads what EncodeV2 wrote. Minimum, maximum, sum and deviation are not
// part of the encoding: they come back as precise as the buckets are.
func DecodeV2(text string) (*Histogram, error) {
	if len(text) > maxEncoded {
		return nil, errors.New("decode histogram: it is too large")
	}
	lib, err := hdr.Decode([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("decode histogram: %w", err)
	}
	snapshot := lib.Export()
	if snapshot.LowestTrackableValue != lowestValue || snapshot.HighestTrackableValue != highestValue || snapshot.SignificantFigures != valueDigits {
		return nil, errors.New("decode histogram: it has another layout")
	}
	h := &Histogram{}
	for i, n := range snapshot.Counts {
		if n > 0 && i < slots {
			h.recordMany(upperEnd(i), n)
		}
	}
	return h, nil
}

// recordMany adds n values that are known by their bucket.
func (h *Histogram) recordMany(v, n int64) {
	if n < 1 {
		return
	}
	v = max(v, 0)
	h.record(v, nil)
	rest := n - 1
	if rest == 0 {
		return
	}
	h.bump(indexOf(min(v, highestValue)), rest, nil)
	h.n += rest
	h.addSum(v, rest)
	h.squares.addSquares(v, rest)
}
