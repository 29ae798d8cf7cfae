package h1

import (
	"errors"
	"io"
)

const (
	firstBody    = 64 << 10 // lent for a body of a promised length at first
	maxChunkLine = 4 << 10
)

// readBody reads the body as the head frames it. What is not needed, or
// belongs to a redirect that will be followed, is counted only.
func (c *Client) readBody(cn *conn, req *Request, res *Response) *Error {
	in := intake{c: c, cn: cn, res: res, limit: orDefault(req.MaxBody, DefaultMaxBody), head: c.buf}
	in.need = req.NeedBody && !(c.follows(req, res) && len(res.Hops) < redirectLimit(req))
	var err *Error
	switch res.frame.kind {
	case byLength:
		err = in.sized(res.frame.length)
	case byChunks:
		err = in.chunks(orDefault(req.MaxHeader, DefaultMaxHeader))
	case untilClose:
		err = in.rest()
	}
	if res.body != nil {
		res.Body = res.body.b[:res.WireBody:res.WireBody]
	}
	if in.need && res.Body == nil {
		res.Body = res.head.b[:0:0]
	}
	res.DecodedBody = res.WireBody
	return err
}

// intake takes a body from a connection.
type intake struct {
	c     *Client
	cn    *conn
	res   *Response
	limit int64 // 0 is none
	need  bool
	head  *buffer // holds the head; must not be written over
}

// fill makes at least one byte readable, in another buffer than the head's.
func (in *intake) fill() error {
	c := in.c
	if c.r < c.w {
		return nil
	}
	if c.buf == in.head {
		c.buf = c.pool.get(coalesce)
	}
	c.r, c.w = 0, 0
	n, err := in.cn.read(c.buf.b)
	if n > 0 {
		c.w = n
		in.res.BytesReceived += int64(n)
		return nil
	}
	return noProgress(err)
}

// noProgress makes an error of a read that gave neither bytes nor an error.
func noProgress(err error) error {
	if err == nil {
		return io.ErrNoProgress
	}
	return err
}

// take counts, and if needed collects, up to n bytes.
func (in *intake) take(n int64) (int64, error) {
	if err := in.fill(); err != nil {
		return 0, err
	}
	c := in.c
	n = min(n, int64(c.w-c.r))
	if in.need {
		in.room(in.res.WireBody + n)
		copy(in.res.body.b[in.res.WireBody:], c.buf.b[c.r:c.r+int(n)])
	}
	c.r += int(n)
	in.res.WireBody += n
	return n, nil
}

// room makes the collecting buffer hold n bytes.
func (in *intake) room(n int64) {
	switch b := in.res.body; {
	case b == nil:
		in.res.body = in.c.pool.get(int(n))
	case int64(len(b.b)) < n:
		in.res.body = in.c.pool.grow(b, int(in.res.WireBody), int(n))
	}
}

func (in *intake) tooLarge() *Error {
	return fail(BodyTooLarge, "the body is larger than "+size(in.limit))
}

func (in *intake) over(n int64) bool { return in.limit > 0 && n > in.limit }

// sized reads a body of a promised length.
func (in *intake) sized(n int64) *Error {
	c := in.c
	if in.over(n) {
		return in.tooLarge()
	}
	if in.need && int64(c.w-c.r) >= n { // all there: leave it in place
		end := c.r + int(n)
		in.res.Body = c.buf.b[c.r:end:end]
		c.r, in.res.WireBody = end, n
		return nil
	}
	if in.need {
		return in.collect(n)
	}
	for in.res.WireBody < n {
		if _, err := in.take(n - in.res.WireBody); err != nil {
			return c.broken(in.cn, err, inBody)
		}
	}
	return nil
}

// collect reads a body of n bytes straight into its buffer, which grows as
// bytes arrive, not as they are promised. One byte more is asked for, to see
// what follows the end.
func (in *intake) collect(n int64) *Error {
	c, res := in.c, in.res
	in.room(min(n+1, firstBody))
	res.WireBody = int64(copy(res.body.b, c.buf.b[c.r:c.w]))
	c.r = c.w
	for res.WireBody < n {
		if int64(len(res.body.b)) == res.WireBody {
			in.room(min(n+1, res.WireBody*4))
		}
		got, err := in.cn.read(res.body.b[res.WireBody:])
		if got <= 0 {
			return c.broken(in.cn, noProgress(err), inBody)
		}
		res.WireBody += int64(got)
		res.BytesReceived += int64(got)
	}
	if res.WireBody > n {
		res.WireBody = n
		return fail(Protocol, "bytes after the end of the answer")
	}
	return nil
}

// rest reads until the connection is closed.
func (in *intake) rest() *Error {
	for {
		_, err := in.take(1 << 62)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return in.c.broken(in.cn, err, inBody)
		case in.over(in.res.WireBody):
			return in.tooLarge()
		}
	}
}

// chunks reads chunks and the trailers, which are dropped.
func (in *intake) chunks(trailerLimit int) *Error {
	for {
		n, err := in.chunkSize()
		if err != nil {
			return err
		}
		if n == 0 {
			return in.trailers(trailerLimit)
		}
		if in.over(in.res.WireBody + n) {
			return in.tooLarge()
		}
		for n > 0 {
			took, err := in.take(n)
			if err != nil {
				return in.c.broken(in.cn, err, inBody)
			}
			n -= took
		}
		if err := in.lineEnd(); err != nil {
			return err
		}
	}
}

func (in *intake) next() (byte, *Error) {
	if err := in.fill(); err != nil {
		return 0, in.c.broken(in.cn, err, inBody)
	}
	b := in.c.buf.b[in.c.r]
	in.c.r++
	return b, nil
}

// chunkSize reads a size line; extensions are skipped.
func (in *intake) chunkSize() (int64, *Error) {
	n, digits := int64(0), 0
	for {
		b, err := in.next()
		if err != nil {
			return 0, err
		}
		v := unhex(b)
		if v < 0 {
			if digits == 0 {
				return 0, fail(Protocol, "a chunk size is not a number")
			}
			return n, in.lineRest(b)
		}
		if digits++; digits > 15 {
			return 0, fail(Protocol, "a chunk size is too large")
		}
		n = n<<4 | int64(v)
	}
}

func unhex(b byte) int {
	switch {
	case '0' <= b && b <= '9':
		return int(b - '0')
	case 'a' <= b && b <= 'f':
		return int(b-'a') + 10
	case 'A' <= b && b <= 'F':
		return int(b-'A') + 10
	}
	return -1
}

// lineRest skips what follows a chunk size, of which b is the first byte.
func (in *intake) lineRest(b byte) *Error {
	if b != '\r' && b != '\n' && b != ';' && !blank(b) {
		return fail(Protocol, "a chunk size is not a number")
	}
	var err *Error
	for skipped := 0; b != '\n'; skipped++ {
		last := b
		if b, err = in.next(); err != nil {
			return err
		}
		if last == '\r' && b != '\n' {
			return fail(Protocol, "a CR within a chunk size line")
		}
		if skipped > maxChunkLine {
			return fail(Protocol, "a chunk extension is too long")
		}
	}
	return nil
}

// lineEnd reads the line end after a chunk.
func (in *intake) lineEnd() *Error {
	b, err := in.next()
	if err == nil && b == '\r' {
		b, err = in.next()
	}
	if err == nil && b != '\n' {
		err = fail(Protocol, "a chunk is longer than its size")
	}
	return err
}

func (in *intake) trailers(limit int) *Error {
	length := 0
	for total := 0; ; total++ {
		b, err := in.next()
		if err != nil {
			return err
		}
		switch {
		case limit > 0 && total >= limit:
			return fail(HeaderTooLarge, "the trailers are larger than "+size(int64(limit)))
		case b == '\n' && length == 0:
			return nil
		case b == '\n':
			length = 0
		case b != '\r':
			length++
		}
	}
}
