package grpc

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"strings"

	"google.golang.org/grpc/codes"

	"runner/plan/expr"
)

// codeNames are the status codes by number.
var codeNames = [...]string{"OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS", "PERMISSION_DENIED",
	"RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED", "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"}

// known returns a code that has a name; all others are UNKNOWN.
func known(c codes.Code) codes.Code {
	if int(c) < len(codeNames) {
		return c
	}
	return codes.Unknown
}

func codeName(c codes.Code) string { return codeNames[known(c)] }

// Check reports what spans several fields, and what the .proto files do not have.
func (c *call) Check(report func(field, code, summary, detail string)) {
	for _, name := range c.Codes {
		if !knownCode(name) {
			detail := "the codes are " + strings.Join(codeNames[:], ", ")
			if word := expr.DidYouMean(strings.ToUpper(name), codeNames[:]); word != "" {
				detail = "write " + word
			}
			report("codes", "unknown-code", fmt.Sprintf("%q is no status code of gRPC", name), detail)
		}
	}
	if text, literal := c.Target.Literal(); literal {
		if summary, detail := wrongTarget(text); summary != "" {
			report("target", "bad-target", summary, detail)
		}
	}
	for i := range c.Metadata.Entries {
		if name := c.Metadata.Entries[i].Name; !metadataName(name) {
			report("metadata", "metadata-name", fmt.Sprintf("%q cannot be the name of metadata", name), "use letters, digits and - _ . and do not begin with grpc- or :")
		}
	}
	switch service, name := splitCall(c.Call); {
	case service == "" || name == "" || strings.Contains(service, "/"):
		report("call", "bad-call", fmt.Sprintf("%q is no method", c.Call), "write package, service and method, as in shop.v1.Cart/Add")
		return
	case len(c.Proto) == 0 && !c.Reflection:
		report("proto", "no-description", "nothing describes the method", "write proto: [cart.proto], or reflection: true if the server offers it")
		return
	}
	c.checkMethod(report)
}

func knownCode(name string) bool {
	return slices.Contains(codeNames[:], name)
}

// wrongTarget tells what is wrong with a target.
func wrongTarget(text string) (summary, detail string) {
	if scheme, rest, ok := strings.Cut(text, "://"); ok {
		detail = "write " + strings.Trim(rest, "/")
		if scheme == "https" || scheme == "grpcs" {
			detail += ", and tls: true beside it"
		}
		return "a target is host and port, without a scheme", detail
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || port == "" || strings.ContainsAny(host, "/ ?#") {
		return fmt.Sprintf("%q is not host and port", text), "write a target as in localhost:9090"
	}
	return "", ""
}

func metadataName(name string) bool {
	if name == "" || strings.HasPrefix(strings.ToLower(name), "grpc-") {
		return false
	}
	for i := range len(name) {
		switch c := name[i]; {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_', c == '.':
		default:
			return false
		}
	}
	return true
}

// checkMethod looks for the method and the fields of its message in the .proto
// files; one that cannot be read is reported by those who open it.
func (c *call) checkMethod(report func(field, code, summary, detail string)) {
	if len(c.Proto) == 0 {
		return
	}
	for _, p := range c.Proto {
		if info, err := os.Stat(p.Full); err != nil || !info.Mode().IsRegular() {
			return
		}
	}
	d, err := compile(context.Background(), c.Proto, c.ImportPaths)
	if err != nil {
		report("proto", "bad-proto", err.Error(), "correct the file, or write where its imports are: import_paths: [folder]")
		return
	}
	p, err := d.find(c.Call)
	var unknown *unknownCall
	if errors.As(err, &unknown) {
		detail := unknown.instead
		if detail == "" {
			detail = "correct the name, or add the .proto file that has it"
		}
		report("call", "unknown-method", unknown.message+" in the .proto files", detail)
		return
	}
	if len(c.Messages) > 1 && !p.many {
		report("messages", "one-message", fmt.Sprintf("%s takes one message", c.Call), "write message: {…}")
		return
	}
	where := "message"
	if len(c.Messages) > 0 {
		where = "messages"
	}
	for _, tree := range c.trees() {
		if summary, detail := unknownField(p.in, tree.Node(), ""); summary != "" {
			report(where, "unknown-field", summary, detail)
			return
		}
	}
	if err := p.freeze(c.trees()); err != nil {
		report(where, "bad-message", err.Error(), "write what the .proto file asks for")
		return
	}
	c.prepared.method = p
}
