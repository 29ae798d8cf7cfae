package plans_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/bufbuild/protocompile"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// stock is the service of jobs/proto/stock.proto.
type stock struct {
	addr    string
	calls   atomic.Int64
	service protoreflect.ServiceDescriptor
	server  *grpc.Server
	all     sync.WaitGroup
}

func newStock() (*stock, error) {
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{"jobs/proto"}})}
	files, err := compiler.Compile(context.Background(), "stock.proto")
	if err != nil {
		return nil, err
	}
	s := &stock{service: files[0].Services().ByName("Stock")}
	s.server = grpc.NewServer(grpc.UnknownServiceHandler(s.handle))
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s.addr = ln.Addr().String()
	s.all.Go(func() { _ = s.server.Serve(ln) })
	return s, nil
}

func (s *stock) close() {
	s.server.Stop()
	s.all.Wait()
}

func (s *stock) handle(_ any, stream grpc.ServerStream) error {
	s.calls.Add(1)
	full, _ := grpc.Method(stream.Context())
	m := s.service.Methods().ByName(protoreflect.Name(full[strings.LastIndexByte(full, '/')+1:]))
	if m == nil {
		return status.Error(codes.Unimplemented, full)
	}
	_ = stream.SetHeader(metadata.Pairs("x-served-by", "stock"))
	sum, line := int64(0), dynamicpb.NewMessage(m.Input())
	for {
		err := stream.RecvMsg(line)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		sku, qty := line.Get(line.Descriptor().Fields().ByName("sku")), line.Get(line.Descriptor().Fields().ByName("qty")).Int()
		sum += qty
		if sku.String() == "none" {
			return status.Error(codes.FailedPrecondition, "nothing left of none")
		}
		switch {
		case m.Name() == "Moves":
			for i := range qty {
				err = errors.Join(err, stream.SendMsg(receipt(m, stream, sku, i+1)))
			}
		case m.Name() != "Count":
			err = stream.SendMsg(receipt(m, stream, sku, qty))
		}
		if err != nil || !m.IsStreamingClient() {
			return err
		}
	}
	if m.Name() == "Count" {
		return stream.SendMsg(receipt(m, stream, protoreflect.ValueOfString(""), sum))
	}
	return nil
}

func receipt(m protoreflect.MethodDescriptor, stream grpc.ServerStream, sku protoreflect.Value, qty int64) *dynamicpb.Message {
	r := dynamicpb.NewMessage(m.Output())
	fields := r.Descriptor().Fields()
	md, _ := metadata.FromIncomingContext(stream.Context())
	r.Set(fields.ByName("sku"), sku)
	r.Set(fields.ByName("qty"), protoreflect.ValueOfInt64(qty))
	r.Set(fields.ByName("clerk"), protoreflect.ValueOfString(strings.TrimPrefix(strings.Join(md["authorization"], ""), "Bearer ")))
	for _, tag := range md["x-tag"] {
		r.Mutable(fields.ByName("tags")).List().Append(protoreflect.ValueOfString(tag))
	}
	return r
}
