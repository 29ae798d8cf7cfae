package witness

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"strconv"
	"strings"
	"time"
)

// connection is one TCP connection with its requests.
type connection struct {
	server *Server
	raw    *net.TCPConn
	wire   net.Conn // raw, or TLS on top
	in     *bufio.Reader
	number int
	nth    int
	out    int64 // bytes of the answer under way
	failed bool  // a write failed
}

func (s *Server) accept(l net.Listener, secure *tls.Config) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		raw, ok := c.(*net.TCPConn)
		if !ok {
			return
		}
		k := &connection{server: s, raw: raw, wire: raw, number: s.connected(1)}
		if secure != nil {
			k.wire = tls.Server(raw, secure)
		}
		k.in = bufio.NewReaderSize(k.wire, 16<<10)
		go k.serve()
	}
}

func (k *connection) serve() {
	defer k.server.connected(-1)
	defer k.wire.Close()
	for k.one() {
	}
}

// one serves a request; false if the connection is over.
func (k *connection) one() bool {
	r := Record{Book: "?", ID: "-", Conn: k.number}
	b, err := k.request(&r)
	if err != nil {
		if r.In > 0 {
			r.Arrived, r.End = k.server.now(), Partial
			k.server.begin(&r, &behaviour{})
			k.server.end(&r)
		}
		return false
	}
	k.nth++
	r.Nth, k.out, k.failed = k.nth, 0, false
	nth, at := k.server.begin(&r, b)
	time.Sleep(at - k.server.now())
	goOn := k.answer(&r, b, b.misbehaves(nth))
	r.Out = k.out
	if k.failed && r.End == Answered {
		r.End = Gone
	}
	k.server.end(&r)
	return goOn && !k.failed
}

var errRequest = errors.New("malformed request")

// request reads head and body.
func (k *connection) request(r *Record) (*behaviour, error) {
	line, err := k.line(r)
	if err != nil {
		return nil, err
	}
	parts := strings.Split(line, " ")
	if len(parts) != 3 {
		return nil, errRequest
	}
	length, chunked := int64(0), false
	for {
		field, err := k.line(r)
		if err != nil {
			return nil, err
		}
		if field == "" {
			break
		}
		name, value, _ := strings.Cut(field, ":")
		value = strings.TrimSpace(value)
		switch strings.ToLower(name) {
		case "content-length":
			if length, err = strconv.ParseInt(value, 10, 64); err != nil {
				return nil, errRequest
			}
		case "transfer-encoding":
			chunked = value == "chunked"
		case "x-id":
			r.ID = strings.ReplaceAll(value, " ", "_")
		}
	}
	if err := k.body(r, length, chunked); err != nil {
		return nil, err
	}
	r.Arrived = k.server.now()
	b := parseTarget(parts[1])
	r.Book = b.book
	return b, nil
}

func (k *connection) line(r *Record) (string, error) {
	text, err := k.in.ReadString('\n')
	r.In += int64(len(text))
	return strings.TrimRight(text, "\r\n"), err
}

func (k *connection) body(r *Record, length int64, chunked bool) error {
	for {
		if chunked {
			line, err := k.line(r)
			if err != nil {
				return err
			}
			if length, err = strconv.ParseInt(line, 16, 64); err != nil {
				return errRequest
			}
		}
		n, err := io.CopyN(io.Discard, k.in, length)
		r.In += n
		if err != nil || !chunked {
			return err
		}
		if _, err := k.line(r); err != nil || length == 0 {
			return err
		}
	}
}

func selfSigned() (tls.Certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, err
}
