package sql

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"strings"
	"syscall"

	"github.com/go-sql-driver/mysql"

	"runner/plan/element"
	"runner/plan/expr"
)

// failed classes an error, drops a connection that is broken and leaves nothing of an
// answer in the sample.
func (l *link) failed(ctx, limited context.Context, t *element.Thread, s *element.Sample, c *call, err error) error {
	s.Body, s.BodySize = nil, 0
	s.Values = map[string]any{"rows": []any{}, "affected": int64(0), "code": ""}
	e := l.classify(ctx, limited, err, c)
	broken := l.driver.remote()
	if a, ok := l.driver.answer(err); ok && e.Class == element.Status {
		broken = a.fatal
		s.Values["code"] = a.code
		s.Message = e.Message
	}
	if broken || isBad(err) {
		l.drop()
	}
	e.Message = t.Masker.Mask(e.Message)
	s.Message = t.Masker.Mask(s.Message)
	return e
}

var (
	errRows = errors.New("more than max_rows rows")
	errBody = errors.New("the answer is larger than max_body")
)

func (l *link) classify(ctx, limited context.Context, err error, c *call) *element.Error {
	fail := func(class element.Class, message string) *element.Error {
		return &element.Error{Class: class, Message: message, Err: err}
	}
	var own *element.Error
	var connecting *connectError
	early := errors.As(err, &connecting)
	switch {
	case errors.As(err, &own):
		return own
	case ctx.Err() != nil:
		return fail(element.Cancelled, "cancelled while it was running")
	case early && connecting.late:
		return fail(element.ConnectTimeout, "no connection within the time for connecting")
	case limited.Err() != nil:
		return fail(element.Timeout, "no answer within the timeout")
	case errors.Is(err, errRows):
		return fail(element.Protocol, errRows.Error())
	case errors.Is(err, errBody):
		return fail(element.BodyTooLarge, errBody.Error())
	}
	if a, ok := l.driver.answer(err); ok {
		if early && !l.driver.remote() {
			return fail(element.Connect, plainMessage(a.message, nil))
		}
		return fail(element.Status, a.code+": "+plainMessage(a.message, c.args))
	}
	if e := localCause(err); e != nil {
		return e
	}
	if early {
		return connectClass(err)
	}
	return statementClass(err, c)
}

// plainMessage returns what a database says in one line, without the arguments that
// it quotes.
func plainMessage(message string, args []any) string {
	for _, v := range args {
		text, err := expr.FormatText(v)
		if err != nil || text == "" {
			continue
		}
		message = strings.NewReplacer("'"+text+"'", "'…'", `"`+text+`"`, `"…"`).Replace(message)
	}
	return shortened(message, 200)
}

// localCause recognises exhaustion of this machine's own means.
func localCause(err error) *element.Error {
	for errno, message := range map[syscall.Errno]string{
		syscall.EMFILE: "too many open files", syscall.ENFILE: "too many open files",
		syscall.EADDRNOTAVAIL: "no free local port or address", syscall.ENOBUFS: "out of memory for sockets",
	} {
		if errors.Is(err, errno) {
			return &element.Error{Class: element.LocalResource, Message: message, Err: err}
		}
	}
	return nil
}

// connectClass classes what happened before there was a connection.
func connectClass(err error) *element.Error {
	var dns *net.DNSError
	var op *net.OpError
	class, message := element.Connect, "could not connect"
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		class, message = element.DNS, "no such host"
	case errors.As(err, &dns):
		class, message = element.DNS, "the host name could not be resolved"
	case isTLS(err):
		class, message = element.TLS, "the TLS handshake failed"
	case errors.Is(err, syscall.ECONNREFUSED):
		class, message = element.ConnectRefused, "connection refused"
	case errors.Is(err, syscall.ETIMEDOUT):
		class, message = element.ConnectTimeout, "the host does not answer"
	case errors.Is(err, syscall.ENOENT):
		message = "there is no such socket or file"
	case errors.Is(err, syscall.EHOSTUNREACH), errors.Is(err, syscall.ENETUNREACH):
		message = "host or network unreachable"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, mysql.ErrInvalidConn):
		message = "the server closed the connection during the login"
	case errors.As(err, &op):
	default:
		message = "the server does not answer as such a database does"
	}
	return &element.Error{Class: class, Message: message, Err: err}
}

func isTLS(err error) bool {
	var (
		record    tls.RecordHeaderError
		alert     tls.AlertError
		verify    *tls.CertificateVerificationError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
	)
	return errors.As(err, &record) || errors.As(err, &alert) || errors.As(err, &verify) || errors.As(err, &authority) ||
		errors.As(err, &host) || errors.Is(err, mysql.ErrNoTLS) || strings.Contains(err.Error(), "refused TLS") || strings.Contains(err.Error(), "tls: ")
}

// statementClass classes what happened to a statement on an open connection.
func statementClass(err error, c *call) *element.Error {
	class, message := element.Protocol, plainMessage(err.Error(), c.args)
	var op *net.OpError
	switch {
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		class, message = element.Reset, "the connection was reset"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, mysql.ErrInvalidConn), isBad(err):
		class, message = element.ClosedEarly, "the connection was closed before the answer was complete"
	case errors.As(err, &op):
		class, message = element.Reset, "the connection broke"
	}
	return &element.Error{Class: class, Message: message, Err: err}
}
