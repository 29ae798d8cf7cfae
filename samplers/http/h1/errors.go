package h1

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"syscall"
)

// Class is the stable name of a cause of failure, as reports print it.
type Class string

// The classes of this transport.
const (
	DNS            Class = "dns"              // the name was not resolved
	ConnectRefused Class = "connect_refused"  // nobody listens
	ConnectTimeout Class = "connect_timeout"  // no connection within Timeouts.Connect
	Connect        Class = "connect"          // any other failure to connect
	TLS            Class = "tls"              // handshake or certificate
	Timeout        Class = "timeout"          // Timeouts.Total passed
	Reset          Class = "reset"            // the peer reset the connection
	ResetReused    Class = "reset_reused"     // a kept connection was closed as the request went out
	ClosedEarly    Class = "closed_early"     // closed before the answer's head was complete
	Truncated      Class = "truncated"        // closed within the body
	Protocol       Class = "protocol"         // the answer is not valid HTTP
	Decode         Class = "decode"           // the content coding is unknown or damaged
	BodyTooLarge   Class = "body_too_large"   // MaxBody or MaxRatio exceeded
	HeaderTooLarge Class = "header_too_large" // MaxHeader exceeded
	Redirect       Class = "redirect"         // too many redirects, or one that cannot be followed
	LocalResource  Class = "local_resource"   // this machine is out of descriptors, ports or memory
	Cancelled      Class = "cancelled"        // the context ended
)

// Error is what every method of Client fails with. Message is short and holds
// no addresses and no ports, so equal causes have equal messages.
type Error struct {
	Class   Class
	Message string
	Err     error // the cause, if there is one
}

// Error returns class and message.
func (e *Error) Error() string { return string(e.Class) + ": " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

func fail(class Class, message string) *Error { return &Error{Class: class, Message: message} }

// localCause recognises exhaustion of this machine's own means.
func localCause(err error) *Error {
	var errno syscall.Errno
	if errors.As(err, &errno) {
		switch errno {
		case syscall.EMFILE, syscall.ENFILE:
			return &Error{LocalResource, "too many open files", err}
		case syscall.EADDRNOTAVAIL, syscall.EADDRINUSE:
			return &Error{LocalResource, "no free local port or address", err}
		case syscall.ENOBUFS, syscall.ENOMEM:
			return &Error{LocalResource, "out of memory for sockets", err}
		}
	}
	var dns *net.DNSError
	if errors.As(err, &dns) && strings.Contains(dns.Err, "too many open files") {
		return &Error{LocalResource, "too many open files", err}
	}
	return nil
}

func dnsError(err error) *Error {
	if local := localCause(err); local != nil {
		return local
	}
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns) && dns.IsNotFound:
		return &Error{DNS, "no such host", err}
	case errors.As(err, &dns) && dns.IsTimeout:
		return &Error{DNS, "the name server did not answer", err}
	}
	return &Error{DNS, "the host name could not be resolved", err}
}

func dialError(err error) *Error {
	if local := localCause(err); local != nil {
		return local
	}
	var errno syscall.Errno
	if errors.As(err, &errno) {
		switch errno {
		case syscall.ECONNREFUSED:
			return &Error{ConnectRefused, "connection refused", err}
		case syscall.ETIMEDOUT:
			return &Error{ConnectTimeout, "the host does not answer", err}
		case syscall.EHOSTUNREACH, syscall.EHOSTDOWN:
			return &Error{Connect, "host unreachable", err}
		case syscall.ENETUNREACH, syscall.ENETDOWN:
			return &Error{Connect, "network unreachable", err}
		case syscall.EACCES, syscall.EPERM:
			return &Error{Connect, "connecting is not permitted", err}
		case syscall.ECONNRESET, syscall.ECONNABORTED:
			return &Error{Connect, "connection reset while connecting", err}
		}
	}
	return &Error{Connect, "could not connect", err}
}

func tlsError(err error) *Error { return &Error{TLS, tlsMessage(err), err} }

func tlsMessage(err error) string {
	var (
		record    tls.RecordHeaderError
		alert     tls.AlertError
		authority x509.UnknownAuthorityError
		host      x509.HostnameError
		invalid   x509.CertificateInvalidError
	)
	switch {
	case errors.As(err, &record):
		return "the server does not speak TLS on this port"
	case errors.As(err, &authority):
		return "certificate signed by unknown authority"
	case errors.As(err, &host):
		return "the certificate is not valid for this host"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		return "the certificate has expired or is not yet valid"
	case errors.As(err, &invalid):
		return "the certificate is not acceptable"
	case errors.As(err, &alert):
		return "the server sent " + alert.Error()
	case isReset(err), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "the server closed the connection during the handshake"
	}
	return plainTLS(err)
}

// plainTLS keeps crypto/tls's own words, which name neither address nor port;
// anything longer or from elsewhere is summed up.
func plainTLS(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	text := err.Error()
	if at := strings.LastIndex(text, "tls: "); at >= 0 && len(text)-at <= 120 {
		return text[at+len("tls: "):]
	}
	return "the handshake failed"
}

func isReset(err error) bool {
	return errors.Is(err, syscall.ECONNRESET) || errors.Is(err, syscall.EPIPE) ||
		errors.Is(err, syscall.ECONNABORTED) || errors.Is(err, net.ErrClosed) || errors.Is(err, io.ErrClosedPipe)
}

func isTimeout(err error) bool {
	if err == nil {
		return false
	}
	if errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded) {
		return true
	}
	var t net.Error
	return errors.As(err, &t) && t.Timeout()
}

// AsError returns the *Error in err, or nil.
func AsError(err error) *Error {
	if err == nil {
		return nil // without the allocation that errors.As needs
	}
	var e *Error
	if errors.As(err, &e) {
		return e
	}
	return nil
}
