package h1

import (
	"bytes"
	"errors"
	"io"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"
	"github.com/klauspost/compress/zstd"
)

// coding is one content coding; deflate is two, for servers disagree on it.
type coding int

const (
	gzipped coding = iota
	zlibbed
	deflated
	brotlied
	zstded
	codings = iota
)

const (
	maxStacked  = 5       // content codings on one body
	ratioFloor  = 1 << 20 // bodies up to here may have any ratio
	zstdWindow  = 8 << 20 // RFC 9659's limit for HTTP
	decodeGuess = 4       // first lent buffer: times the wire bytes
)

// decode undoes the content codings of a needed body, the last one first.
func (c *Client) decode(req *Request, res *Response) *Error {
	if !req.Decode || !req.NeedBody || !res.frame.coded || len(res.Body) == 0 {
		return nil
	}
	stack, count, err := res.codings()
	if err != nil {
		return err
	}
	for i := count - 1; i >= 0; i-- {
		out, n, err := c.undo(stack[i], req, res)
		if err != nil {
			return err
		}
		c.pool.put(res.body)
		res.body, res.Body, res.DecodedBody = out, out.b[:n:n], int64(n)
	}
	return nil
}

// codings returns the codings in the order in which they were applied.
func (r *Response) codings() (stack [maxStacked]coding, count int, _ *Error) {
	for i := range r.fields {
		h := r.Header(i)
		if !equalFold(h.Name, "content-encoding") {
			continue
		}
		for list := h.Value; len(list) > 0; {
			var name []byte
			name, list = nextItem(list)
			if len(name) == 0 || equalFold(name, "identity") {
				continue
			}
			k, ok := codingOf(name)
			if !ok {
				return stack, 0, fail(Decode, "unknown content coding")
			}
			if count == maxStacked {
				return stack, 0, fail(Decode, "too many content codings")
			}
			stack[count] = k
			count++
		}
	}
	return stack, count, nil
}

func codingOf(name []byte) (coding, bool) {
	switch {
	case equalFold(name, "gzip"), equalFold(name, "x-gzip"):
		return gzipped, true
	case equalFold(name, "deflate"):
		return zlibbed, true
	case equalFold(name, "br"):
		return brotlied, true
	case equalFold(name, "zstd"):
		return zstded, true
	}
	return 0, false
}

// undo decodes res.Body once, into a lent buffer.
func (c *Client) undo(k coding, req *Request, res *Response) (*buffer, int, *Error) {
	if k == zlibbed && !looksZlib(res.Body) {
		k = deflated
	}
	out, n, err := c.inflate(k, req, res)
	if k == zlibbed && err != nil && err.Class == Decode {
		if raw, m, wrong := c.inflate(deflated, req, res); wrong == nil {
			return raw, m, nil
		}
	}
	return out, n, err
}

func looksZlib(b []byte) bool {
	return len(b) >= 2 && b[0]&15 == 8 && b[0]>>4 <= 7 && (int(b[0])<<8|int(b[1]))%31 == 0
}

func (c *Client) inflate(k coding, req *Request, res *Response) (*buffer, int, *Error) {
	d, _ := c.pool.decoders[k].Get().(*decoder)
	if d == nil {
		d = &decoder{kind: k}
	}
	limit := allowance(req, int64(res.WireBody))
	out := c.pool.get(min(len(res.Body)*decodeGuess, ratioFloor))
	out, n, err := d.run(c.pool, res.Body, out, limit)
	d.src.Reset(nil)
	c.pool.decoders[k].Put(d)
	if err == nil {
		return out, n, nil
	}
	c.pool.put(out)
	return nil, 0, d.wrong(err, req, limit)
}

// errTooMuch ends decoding beyond the limit.
var errTooMuch = errors.New("decoded body too large")

// allowance is how many bytes a body may decode to; negative is any number.
func allowance(req *Request, wire int64) int64 {
	limit := int64(-1)
	if most := orDefault(req.MaxBody, DefaultMaxBody); most > 0 {
		limit = most
	}
	if ratio := orDefault(req.MaxRatio, DefaultMaxRatio); ratio > 0 {
		most := max(wire*int64(ratio), ratioFloor)
		if limit < 0 || most < limit {
			limit = most
		}
	}
	return limit
}

// decoder is a lent decompressor with its source.
type decoder struct {
	kind coding
	src  bytes.Reader
	from io.Reader
}

func (d *decoder) run(pool *Pool, in []byte, out *buffer, limit int64) (*buffer, int, error) {
	d.src.Reset(in)
	if err := d.begin(); err != nil {
		return out, 0, err
	}
	n := 0
	for {
		if n == len(out.b) {
			out = pool.grow(out, n, 0)
		}
		got, err := d.from.Read(out.b[n:])
		n += got
		switch {
		case limit >= 0 && int64(n) > limit:
			return out, n, errTooMuch
		case err == io.EOF:
			return out, n, nil
		case err != nil:
			return out, n, err
		}
	}
}

// begin makes from read the decoded source.
func (d *decoder) begin() error {
	switch d.kind {
	case gzipped:
		if r, ok := d.from.(*gzip.Reader); ok {
			return r.Reset(&d.src)
		}
		r, err := gzip.NewReader(&d.src)
		if err == nil {
			d.from = r
		}
		return err
	case zlibbed:
		if r, ok := d.from.(zlib.Resetter); ok {
			return r.Reset(&d.src, nil)
		}
		r, err := zlib.NewReader(&d.src)
		if err == nil {
			d.from = r
		}
		return err
	case deflated:
		if r, ok := d.from.(flate.Resetter); ok {
			return r.Reset(&d.src, nil)
		}
		d.from = flate.NewReader(&d.src)
	case brotlied:
		if r, ok := d.from.(*brotli.Reader); ok {
			return r.Reset(&d.src)
		}
		d.from = brotli.NewReader(&d.src)
	default:
		if r, ok := d.from.(*zstd.Decoder); ok {
			return r.Reset(&d.src)
		}
		r, err := zstd.NewReader(&d.src, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(zstdWindow))
		if err == nil {
			d.from = r
		}
		return err
	}
	return nil
}

var codingNames = [codings]string{"gzip", "deflate", "deflate", "br", "zstd"}

// wrong words a decoding error.
func (d *decoder) wrong(err error, req *Request, limit int64) *Error {
	name := codingNames[d.kind]
	switch {
	case errors.Is(err, errTooMuch) && limit == orDefault(req.MaxBody, DefaultMaxBody):
		return fail(BodyTooLarge, "the decoded body is larger than "+size(limit))
	case errors.Is(err, errTooMuch):
		return fail(BodyTooLarge, "the body decodes to too many times its size")
	case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &Error{Decode, "the " + name + " body ends early", err}
	}
	return &Error{Decode, "the body is not valid " + name, err}
}
