package h1

import (
	"errors"
	"fmt"
	"strings"
)

// ValidMethod returns an error unless the method is a token of HTTP.
func ValidMethod(method string) error {
	if method == "" {
		return errors.New("empty method")
	}
	for i := range len(method) {
		if !token[method[i]] {
			return fmt.Errorf("invalid character %q in the method", method[i])
		}
	}
	return nil
}

// ValidHeader returns an error unless name is a token of HTTP and value holds
// no CR, LF or NUL, which would end the line and let data become headers.
func ValidHeader(name, value string) error {
	if name == "" {
		return errors.New("empty header name")
	}
	for i := range len(name) {
		if !token[name[i]] {
			return fmt.Errorf("invalid character %q in a header name", name[i])
		}
	}
	if at := strings.IndexAny(value, "\r\n\x00"); at >= 0 {
		return fmt.Errorf("invalid character %q in the value of header %s", value[at], clip(name, 50))
	}
	return nil
}

// AppendHeader appends the line "name: value" and CRLF to dst, or returns dst
// unchanged and what ValidHeader has against it.
func AppendHeader(dst []byte, name, value string) ([]byte, error) {
	if err := ValidHeader(name, value); err != nil {
		return dst, err
	}
	dst = append(dst, name...)
	dst = append(dst, ": "...)
	dst = append(dst, value...)
	return append(dst, "\r\n"...), nil
}
