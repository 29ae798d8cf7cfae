package grpc

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"regexp"
	"strings"
	"syscall"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"runner/plan/element"
)

func failed(class element.Class, message string, err error) error {
	return &element.Error{Class: class, Message: message, Err: err}
}

// connectFailure classes why there is no connection.
func connectFailure(err error) error {
	var (
		handshake *handshakeError
		dns       *net.DNSError
		system    net.Error
	)
	switch {
	case err == nil:
		return failed(element.Protocol, "the server does not speak HTTP/2 here", nil)
	case errors.As(err, &handshake):
		return failed(element.TLS, "TLS: "+tlsCause(handshake.err), err)
	case errors.As(err, &dns):
		return failed(element.DNS, "the name cannot be resolved", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return failed(element.ConnectRefused, "connection refused", err)
	case errors.As(err, &system) && system.Timeout():
		return failed(element.ConnectTimeout, "no connection within the timeout", err)
	}
	return failed(element.Connect, "no connection", err)
}

func tlsCause(err error) string {
	var (
		unknown  x509.UnknownAuthorityError
		hostname x509.HostnameError
		invalid  x509.CertificateInvalidError
		record   tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &unknown):
		return "the certificate is signed by an unknown authority"
	case errors.As(err, &hostname):
		return "the certificate is not for this name"
	case errors.As(err, &invalid):
		return "the certificate is not valid"
	case errors.As(err, &record):
		return "the server does not speak TLS here"
	}
	return "the handshake failed"
}

// outcome returns the failure of a call that ended with st, nil for the server's
// own status.
func outcome(ctx context.Context, w *watch, st *status.Status, expected bool) error {
	switch err := st.Err(); {
	case st.Code() == codes.ResourceExhausted && strings.Contains(st.Message(), "larger than max"):
		return failed(element.BodyTooLarge, "the answer is larger than max_body", err)
	case w.answered.Load():
		if text := st.Message(); strings.Contains(text, "unexpected HTTP status code") || strings.Contains(text, "unexpected content-type") {
			return failed(element.Protocol, "the answer is not gRPC", err)
		}
		if st.Code() == codes.DeadlineExceeded && !expected {
			if passed(ctx) { // the server has heard of the same timeout, and was first to act on it
				return failed(element.Timeout, "no answer within the timeout", err)
			}
			return failed(element.Timeout, "grpc DEADLINE_EXCEEDED", err)
		}
		return nil
	case st.Code() == codes.OK:
		return nil
	case errors.Is(ctx.Err(), context.DeadlineExceeded) || st.Code() == codes.DeadlineExceeded:
		return failed(element.Timeout, "no answer within the timeout", err)
	case st.Code() == codes.Unavailable && w.requests.Load() == 0:
		return failed(element.ResetReused, "the server has closed the connection", err)
	case st.Code() == codes.Unavailable && w.first.Load() != 0:
		return failed(element.Truncated, "the connection was lost amid the answer", err)
	case st.Code() == codes.Unavailable:
		return failed(element.Reset, "the connection was lost before the answer", err)
	default:
		return failed(element.Protocol, "grpc "+codeName(st.Code())+": "+normal(st.Message()), err)
	}
}

var (
	quoted = regexp.MustCompile(`"[^"]*"|'[^']*'`)
	number = regexp.MustCompile(`[0-9a-fA-F]*[0-9][0-9a-fA-F-]*`)
)

// normal takes out of the server's words what differs from sample to sample.
func normal(text string) string {
	text = strings.Join(strings.Fields(strings.ToValidUTF8(text, "")), " ")
	text = number.ReplaceAllString(quoted.ReplaceAllString(text, `"…"`), "#")
	if r := []rune(text); len(r) > 200 {
		text = string(r[:199]) + "…"
	}
	return text
}

// refusal is the failure of a call with a code that does not pass.
func refusal(st *status.Status) error {
	message := "grpc " + codeName(st.Code())
	if text := normal(st.Message()); text != "" {
		message += ": " + text
	}
	return failed(element.Status, message, st.Err())
}

func passed(ctx context.Context) bool {
	deadline, ok := ctx.Deadline()
	return ok && !time.Now().Before(deadline)
}
