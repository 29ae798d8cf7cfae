package h1

import (
	"net"
	"strconv"
	"time"
)

// field is one header line; offsets into Response.head.
type field struct{ name, nameEnd, value, valueEnd int32 }

// Header is one field of an answer, its name as received.
type Header struct{ Name, Value []byte }

// Get returns the value of the first field with this name, in any case, and
// whether there is one. It does not allocate.
func (r *Response) Get(name string) ([]byte, bool) {
	for i := range r.fields {
		if f := &r.fields[i]; int(f.nameEnd-f.name) == len(name) && equalFold(r.head.b[f.name:f.nameEnd], name) {
			return r.head.b[f.value:f.valueEnd:f.valueEnd], true
		}
	}
	return nil, false
}

// Values returns the values of all fields with this name, in order.
func (r *Response) Values(name string) [][]byte {
	var values [][]byte
	for i := range r.fields {
		if h := r.Header(i); equalFold(h.Name, name) {
			values = append(values, h.Value)
		}
	}
	return values
}

// Headers returns the number of fields.
func (r *Response) Headers() int { return len(r.fields) }

// Header returns field i, counted from 0 in the order received.
func (r *Response) Header(i int) Header {
	f := r.fields[i]
	return Header{r.head.b[f.name:f.nameEnd:f.nameEnd], r.head.b[f.value:f.valueEnd:f.valueEnd]}
}

// HeaderBytes returns the number of bytes of status line and fields.
func (r *Response) HeaderBytes() int { return r.frame.headBytes }

// URL returns the URL that gave this answer: the request's own, or the last
// redirect's. It is built on demand, so call it before the request changes.
func (r *Response) URL() URL {
	u := URL{TLS: r.tls, Target: string(r.target), Port: defaultPort(r.tls)}
	if u.Target == "" {
		u.Target = "/"
	}
	host, port, err := net.SplitHostPort(r.addr)
	if err != nil {
		host = r.addr
	}
	if n, err := strconv.ParseUint(port, 10, 16); err == nil {
		u.Port = uint16(n)
	}
	u.Host = host
	return u
}

// FinalURL returns URL as text.
func (r *Response) FinalURL() string { return r.URL().String() }

// Release gives the buffers back, and with them all contents that lie in
// them; counts and times stay. Call it as soon as the sample is recorded, so
// that a thread that waits holds no buffer.
func (r *Response) Release() {
	if r.pool != nil {
		r.pool.put(r.head)
		r.pool.put(r.body)
	}
	r.head, r.body, r.Body, r.Reason, r.target = nil, nil, nil, nil, nil
	r.fields = r.fields[:0]
	if cap(r.fields) > 64 {
		r.fields = nil
	}
	r.Hops = r.Hops[:0]
}

func (r *Response) reset(pool *Pool) {
	r.Release()
	fields, hops := r.fields, r.Hops
	*r = Response{} // in place: a literal with fields would be built on the stack and copied
	r.pool, r.fields, r.Hops = pool, fields, hops
}

// forget drops the previous hop's answer and keeps what is summed up.
func (r *Response) forget() {
	r.Status, r.Minor, r.Reason, r.Body = 0, 0, nil, nil
	r.WireBody, r.DecodedBody, r.Stamps.FirstByte = 0, 0, 0
	r.pool.put(r.head)
	r.pool.put(r.body)
	r.head, r.body, r.frame = nil, nil, framing{}
	r.fields = r.fields[:0]
}

func since(from, to time.Duration) time.Duration { return max(0, to-from) }

func equalFold(b []byte, s string) bool {
	if len(b) != len(s) {
		return false
	}
	for i := range b {
		if lower[b[i]] != lower[s[i]] {
			return false
		}
	}
	return true
}
