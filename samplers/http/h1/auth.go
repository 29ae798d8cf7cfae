package h1

import "io"

// maxRounds bounds the answers to challenges at one place.
const maxRounds = 3

// Attempt describes one attempt on the wire to an Authorizer. It is reused: an
// Authorizer keeps none of it.
type Attempt struct {
	TLS    bool
	Addr   string // host:port
	Host   string // of the Host header
	Method string
	Target []byte
	Head   []byte        // the header lines so far
	Body   []byte        // nil if Reader is there, or there is no body
	Reader io.ReadSeeker // of a streamed body that can be read twice
	Conn   uint64        // tells the client's connections apart
	Round  int           // challenges answered so far at this place
	Closes bool          // in Challenged: the server closes the connection
}

// Authorizer proves to servers who asks. It is used by one Client at a time.
type Authorizer interface {
	// Authorize appends its header lines to head. bare asks for this attempt to
	// go without the request's body.
	Authorize(head []byte, a *Attempt) (out []byte, bare bool, err error)
	// Challenged is told of each answer 401, and reports whether the request is
	// to be sent once more.
	Challenged(a *Attempt, res *Response) bool
}

func (c *Client) authorize(out []byte, cn *conn, req *Request) ([]byte, bool, *Error) {
	if c.place == nil {
		c.place = &Attempt{}
	}
	h, a := c.hop, c.place
	*a = Attempt{TLS: h.tls, Addr: h.addr, Host: h.host, Method: h.method, Target: h.target, Head: req.Head, Conn: cn.id, Round: h.rounds}
	if a.Host == "" {
		a.Host = string(appendAuthority(nil, h.addr, h.tls))
	}
	if len(a.Target) == 0 {
		a.Target = []byte("/")
	}
	switch {
	case h.noBody:
	case req.BodyReader != nil:
		a.Reader, _ = req.BodyReader.(io.ReadSeeker)
	default:
		a.Body = req.Body
	}
	out, bare, err := req.Auth.Authorize(out, a)
	if err == nil {
		return out, bare, nil
	}
	if wrong := AsError(err); wrong != nil {
		return out, bare, wrong
	}
	return out, bare, &Error{LocalResource, "no credentials: " + err.Error(), err}
}

// challenged reports whether the answer is a challenge that the request's
// Authorizer can meet.
func (c *Client) challenged(cn *conn, req *Request, res *Response) bool {
	if res.Status != 401 || req.Auth == nil || c.hop.foreign || c.hop.rounds >= maxRounds {
		return false
	}
	c.place.Closes = res.frame.close
	return req.Auth.Challenged(c.place, res)
}

// repeat makes ready for the same attempt with other credentials.
func (c *Client) repeat(req *Request, res *Response) *Error {
	c.hop.rounds++
	if req.BodyReader != nil && !c.hop.noBody {
		seeker, ok := req.BodyReader.(io.Seeker)
		if !ok {
			return fail(LocalResource, "the body cannot be sent a second time")
		}
		if _, err := seeker.Seek(0, io.SeekStart); err != nil {
			return &Error{LocalResource, "the body cannot be sent a second time", err}
		}
	}
	res.forget()
	return nil
}
