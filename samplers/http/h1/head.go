package h1

import (
	"bytes"
	"strconv"
)

const maxInterim = 16 // 1xx answers before the final one

// bodyKind says how the end of a body is found.
type bodyKind uint8

const (
	noBody bodyKind = iota
	byLength
	byChunks
	untilClose
)

// framing is what the head says about body and connection.
type framing struct {
	kind      bodyKind
	close     bool // the connection ends with this answer
	cookies   bool // there is a Set-Cookie field
	coded     bool // there is a Content-Encoding field
	located   bool // there is a Location field
	sized     bool // there is a Content-Length field
	chunked   bool
	stays     bool // Connection: keep-alive
	length    int64
	headBytes int
}

// readHead reads status line and fields of the final answer.
func (c *Client) readHead(cn *conn, req *Request, res *Response) *Error {
	limit := orDefault(req.MaxHeader, DefaultMaxHeader)
	for range maxInterim {
		if err := c.parseHead(cn, limit, res); err != nil {
			return err
		}
		if res.Status >= 200 || res.Status == 101 {
			return res.setBodyKind(c.hop.method)
		}
		if res.Status == 100 {
			c.aside.goOn()
		}
		c.w = copy(c.buf.b, c.buf.b[c.r:c.w])
		c.r = 0
		res.fields, res.frame, res.Status = res.fields[:0], framing{}, 0
	}
	return fail(Protocol, "too many 1xx answers")
}

// parseHead parses one head that begins at the buffer's start, reading as it goes.
func (c *Client) parseHead(cn *conn, limit int, res *Response) *Error {
	if c.buf.memo.recall(c.buf.b[:c.w], limit, res) {
		c.r = res.frame.headBytes
		return nil
	}
	pos, returns := 0, 0 // returns counts the CRs that belong to line ends
	for first := true; ; first = false {
		end, err := c.line(cn, pos, limit, res)
		if err != nil {
			return err
		}
		next := end + 1
		if end > pos && c.buf.b[end-1] == '\r' {
			end--
			returns++
		}
		line := c.buf.b[pos:end]
		switch {
		case first:
			err = res.statusLine(line, pos)
		case len(line) == 0:
			c.r, res.frame.headBytes = next, next
			if err = checkBytes(c.buf.b[:next], returns); err == nil {
				c.buf.memo.remember(c.buf.b[:next], res)
			}
			return err
		case line[0] == ' ' || line[0] == '\t':
			returns--
			err = res.unfold(c.buf.b, pos, end)
		default:
			err = res.field(line, pos)
		}
		if err != nil {
			return err
		}
		pos = next
	}
}

// line returns the position of the LF that ends the line at pos.
func (c *Client) line(cn *conn, pos, limit int, res *Response) (int, *Error) {
	for scanned := pos; ; {
		if i := bytes.IndexByte(c.buf.b[scanned:c.w], '\n'); i >= 0 {
			if scanned+i >= limit && limit > 0 {
				return 0, fail(HeaderTooLarge, "the header is larger than "+size(int64(limit)))
			}
			return scanned + i, nil
		}
		scanned = c.w
		if limit > 0 && c.w >= limit {
			return 0, fail(HeaderTooLarge, "the header is larger than "+size(int64(limit)))
		}
		if err := c.fillHead(cn, res); err != nil {
			return 0, err
		}
		if pos == 0 && c.w >= 2 && (c.buf.b[0] != 'H' || c.buf.b[1] != 'T') {
			return 0, notHTTP(c.buf.b[:c.w])
		}
	}
}

func (c *Client) fillHead(cn *conn, res *Response) *Error {
	if c.w == len(c.buf.b) {
		c.buf = c.pool.grow(c.buf, c.w, 0)
	}
	n, err := cn.read(c.buf.b[c.w:])
	if n > 0 {
		c.w += n
		c.received(n, res)
		return nil
	}
	at := inHead
	if res.Stamps.FirstByte == 0 {
		at = beforeAnswer
	}
	return c.broken(cn, noProgress(err), at)
}

// received counts n bytes of a head, and stamps the answer's first one.
func (c *Client) received(n int, res *Response) {
	if res.Stamps.FirstByte == 0 {
		res.Stamps.FirstByte = c.clock()
	}
	res.BytesReceived += int64(n)
}

// checkBytes refuses what may not stand in a head: NUL, and CR but at line ends.
func checkBytes(head []byte, returns int) *Error {
	if bytes.IndexByte(head, 0) >= 0 {
		return fail(Protocol, "a NUL byte in the header")
	}
	if bytes.Count(head, cr[:]) != returns {
		return fail(Protocol, "a CR within a header line")
	}
	return nil
}

var cr = [1]byte{'\r'}

func notHTTP(b []byte) *Error {
	if len(b) > 1 && b[0] == 0x15 && b[1] == 0x03 {
		return fail(Protocol, "the server speaks TLS on this port: use https")
	}
	return fail(Protocol, "the answer does not begin with HTTP/1")
}

// statusLine parses "HTTP/1.1 200 Reason"; the reason may be missing.
func (r *Response) statusLine(line []byte, at int) *Error {
	if len(line) < 12 || string(line[:7]) != "HTTP/1." || !digit(line[7]) || line[8] != ' ' {
		return notHTTP(line)
	}
	if !digit(line[9]) || !digit(line[10]) || !digit(line[11]) || line[9] == '0' || len(line) > 12 && line[12] != ' ' {
		return fail(Protocol, "the status is not a number of three digits")
	}
	r.Status = int(line[9]-'0')*100 + int(line[10]-'0')*10 + int(line[11]-'0')
	r.Minor = min(1, int(line[7]-'0'))
	r.reason = field{}
	if len(line) > 13 {
		r.reason = field{value: int32(at + 13), valueEnd: int32(at + len(line))}
	}
	return nil
}

func digit(c byte) bool { return '0' <= c && c <= '9' }

// field parses "name: value".
func (r *Response) field(line []byte, at int) *Error {
	colon := 0
	for colon < len(line) && token[line[colon]] {
		colon++
	}
	switch {
	case colon == len(line), line[0] == ':':
		return fail(Protocol, "a header line without a name")
	case line[colon] != ':':
		return fail(Protocol, "an invalid character in a header name")
	}
	begin, end := colon+1, len(line)
	for begin < end && blank(line[begin]) {
		begin++
	}
	for end > begin && blank(line[end-1]) {
		end--
	}
	r.fields = append(r.fields, field{int32(at), int32(at + colon), int32(at + begin), int32(at + end)})
	return r.frame.note(line[:colon], line[begin:end])
}

func blank(b byte) bool { return b == ' ' || b == '\t' }

// unfold joins a continued line (obsolete, but harmless) to the field before
// it: the line end becomes blanks.
func (r *Response) unfold(buf []byte, pos, end int) *Error {
	if len(r.fields) == 0 {
		return fail(Protocol, "the header begins with a continued line")
	}
	last := &r.fields[len(r.fields)-1]
	if pos >= 2 && buf[pos-2] != '\r' {
		return fail(Protocol, "a continued line after a bare LF")
	}
	for i := int(last.valueEnd); i < pos; i++ {
		buf[i] = ' '
	}
	for end > pos && blank(buf[end-1]) {
		end--
	}
	last.valueEnd = max(last.valueEnd, int32(end))
	if r.frame.framed(buf[last.name:last.nameEnd]) {
		return fail(Protocol, "a continued line in a framing header")
	}
	return nil
}

func (f *framing) framed(name []byte) bool {
	return equalFold(name, "content-length") || equalFold(name, "transfer-encoding") || equalFold(name, "connection")
}

// note remembers the fields that matter to the transport.
func (f *framing) note(name, value []byte) *Error {
	switch len(name) {
	case 8:
		f.located = f.located || equalFold(name, "location")
	case 10:
		switch {
		case equalFold(name, "connection"):
			f.connection(value)
		case equalFold(name, "set-cookie"):
			f.cookies = true
		}
	case 14:
		if equalFold(name, "content-length") {
			return f.contentLength(value)
		}
	case 16:
		f.coded = f.coded || equalFold(name, "content-encoding")
	case 17:
		if equalFold(name, "transfer-encoding") {
			return f.transferEncoding(value)
		}
	}
	return nil
}

func (f *framing) connection(value []byte) {
	for len(value) > 0 {
		var item []byte
		item, value = nextItem(value)
		switch {
		case equalFold(item, "close"):
			f.close = true
		case equalFold(item, "keep-alive"):
			f.stays = true
		}
	}
}

// contentLength takes one number, or the same number several times.
func (f *framing) contentLength(value []byte) *Error {
	if len(value) == 0 {
		return fail(Protocol, "an empty Content-Length")
	}
	for len(value) > 0 {
		var item []byte
		item, value = nextItem(value)
		n, ok := decimal(item)
		if !ok {
			return fail(Protocol, "Content-Length is not a valid number")
		}
		if f.sized && n != f.length {
			return fail(Protocol, "different values of Content-Length")
		}
		f.sized, f.length = true, n
	}
	return nil
}

func decimal(b []byte) (int64, bool) {
	if len(b) == 0 || len(b) > 18 {
		return 0, false
	}
	n := int64(0)
	for _, c := range b {
		if !digit(c) {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

func (f *framing) transferEncoding(value []byte) *Error {
	for len(value) > 0 {
		var item []byte
		item, value = nextItem(value)
		switch {
		case equalFold(item, "chunked") && !f.chunked:
			f.chunked = true
		case equalFold(item, "identity"), len(item) == 0:
		default:
			return fail(Protocol, "unsupported Transfer-Encoding")
		}
	}
	return nil
}

// nextItem cuts the first item of a comma-separated list.
func nextItem(list []byte) (item, rest []byte) {
	item = list
	if i := bytes.IndexByte(list, ','); i >= 0 {
		item, rest = list[:i], list[i+1:]
	}
	return bytes.Trim(item, " \t"), rest
}

// setBodyKind applies the rules of RFC 9112 6.3 and 9.3 to a complete head.
func (r *Response) setBodyKind(method string) *Error {
	f := &r.frame
	if r.Minor == 0 && !f.stays || f.chunked && (f.sized || r.Minor == 0) {
		f.close = true
	}
	switch {
	case r.Status == 101:
		f.kind, f.close = noBody, true
	case method == "HEAD" || r.Status == 204 || r.Status == 304:
		f.kind = noBody
	case f.chunked:
		f.kind = byChunks
	case f.sized:
		f.kind = byLength
	default:
		f.kind, f.close = untilClose, true
	}
	return nil
}

// size prints a limit as people write it.
func size(n int64) string {
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return strconv.FormatInt(n>>20, 10) + " MiB"
	case n >= 1<<10 && n%(1<<10) == 0:
		return strconv.FormatInt(n>>10, 10) + " KiB"
	}
	return strconv.FormatInt(n, 10) + " B"
}
