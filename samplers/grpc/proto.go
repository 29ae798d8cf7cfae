package grpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"runner/plan/expr"
	"runner/plan/spec"
)

// maxProto is the largest .proto file that is read.
const maxProto = 16 << 20

// finder finds descriptors by their full names.
type finder interface {
	FindDescriptorByName(protoreflect.FullName) (protoreflect.Descriptor, error)
}

// types finds what an Any or an extension is made of.
type types interface {
	protoregistry.MessageTypeResolver
	protoregistry.ExtensionTypeResolver
}

// description is what is known of a server's services.
type description struct {
	finder finder
	types  types
}

// compile reads the .proto files and what they import. Errors begin with the
// file, line and column.
func compile(ctx context.Context, files, imports []spec.Path) (found *description, err error) {
	var first error
	for _, folders := range searchPaths(files, imports) {
		if found, err = compileIn(ctx, files, folders); err == nil {
			return found, nil
		}
		if first == nil {
			first = err
		}
	}
	return nil, first
}

// searchPaths returns the orders in which folders are tried: those of the plan,
// else the plan's own folder and those of the files, either first, since a file
// must have the one name under which others import it.
func searchPaths(files, imports []spec.Path) [][]string {
	var base, own []string
	for _, p := range imports {
		base = append(base, filepath.Clean(p.Full))
	}
	if len(base) > 0 {
		return [][]string{base}
	}
	for _, f := range files {
		if folder, ok := strings.CutSuffix(filepath.ToSlash(f.Full), filepath.ToSlash(filepath.Clean(f.Written))); ok && len(base) == 0 {
			base = append(base, filepath.Clean(folder))
		}
		own = append(own, filepath.Dir(f.Full))
	}
	return [][]string{append(base[:len(base):len(base)], own...), append(own[:len(own):len(own)], base...)}
}

func compileIn(ctx context.Context, files []spec.Path, folders []string) (_ *description, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("the .proto files cannot be compiled: %v", v)
		}
	}()
	written := map[string]string{}
	names := make([]string, len(files))
	for i, f := range files {
		names[i] = importName(f.Full, folders)
		written[names[i]] = f.Written
	}
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: folders, Accessor: open})}
	linked, err := compiler.Compile(ctx, names...)
	if err != nil {
		return nil, inPlan(err, written)
	}
	all := linked.AsResolver()
	return &description{all, all}, nil
}

// inPlan names a file as the plan does.
func inPlan(err error, written map[string]string) error {
	text := err.Error()
	for name, plan := range written {
		if rest, ok := strings.CutPrefix(text, name+":"); ok && name != plan {
			return errors.New(plan + ":" + rest)
		}
	}
	return err
}

// importName returns the name under which a file is imported.
func importName(full string, folders []string) string {
	for _, folder := range folders {
		if rel, err := filepath.Rel(folder, full); err == nil && filepath.IsLocal(rel) {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(full)
}

// limited is a file of which no more than a bound is read.
type limited struct {
	io.Reader
	io.Closer
}

func open(path string) (io.ReadCloser, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	if info, err := f.Stat(); err == nil && !info.Mode().IsRegular() {
		_ = f.Close() // nothing was read
		return nil, fmt.Errorf("%s is no file: %w", filepath.Base(path), os.ErrNotExist)
	}
	return limited{io.LimitReader(f, maxProto), f}, nil
}

// splitCall cuts package.Service/Method, also written with a dot or with a slash
// in front.
func splitCall(text string) (service, method string) {
	text = strings.TrimPrefix(strings.TrimSpace(text), "/")
	at := strings.LastIndexByte(text, '/')
	if at < 0 {
		at = strings.LastIndexByte(text, '.')
	}
	if at < 0 {
		return "", text
	}
	return text[:at], text[at+1:]
}

// unknownCall says that there is no such method.
type unknownCall struct {
	message string
	instead string // the remedy
}

// Error returns the message.
func (e *unknownCall) Error() string { return e.message }

// find returns the method that a call names.
func (d *description) find(text string) (*procedure, error) {
	service, name := splitCall(text)
	found, err := d.finder.FindDescriptorByName(protoreflect.FullName(service))
	s, ok := found.(protoreflect.ServiceDescriptor)
	if err != nil || !ok {
		return nil, &unknownCall{message: fmt.Sprintf("there is no service %s", service)}
	}
	if m := s.Methods().ByName(protoreflect.Name(name)); m != nil {
		return &procedure{name: "/" + service + "/" + name, in: m.Input(), out: m.Output(), many: m.IsStreamingClient(), stream: m.IsStreamingServer(), types: d.types}, nil
	}
	names := make([]string, s.Methods().Len())
	for i := range names {
		names[i] = string(s.Methods().Get(i).Name())
	}
	e := &unknownCall{message: fmt.Sprintf("the service %s has no method %s", service, name), instead: "it has " + strings.Join(names, ", ")}
	if word := expr.DidYouMean(name, names); word != "" {
		e.instead = fmt.Sprintf("did you mean `%s/%s`?", service, word)
	}
	return nil, e
}
