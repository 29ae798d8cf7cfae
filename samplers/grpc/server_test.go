package grpc_test

import (
	"context"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/bufbuild/protocompile"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/dynamicpb"
)

// cart is a service made of the .proto file, without generated code.
type cart struct {
	addr     string
	server   *grpc.Server
	files    protoreflect.FileDescriptor
	resolver interface {
		FindFileByPath(string) (protoreflect.FileDescriptor, error)
		FindDescriptorByName(protoreflect.FullName) (protoreflect.Descriptor, error)
	}
	calls atomic.Int64
	conns atomic.Int64 // connections accepted

	mu       sync.Mutex
	last     string // last message, as JSON
	metadata metadata.MD
}

type counting struct {
	net.Listener
	n *atomic.Int64
}

func (c counting) Accept() (net.Conn, error) {
	conn, err := c.Listener.Accept()
	if err == nil {
		c.n.Add(1)
	}
	return conn, err
}

// serve starts the service; prepare registers what else there is.
func serve(t testing.TB, prepare func(*cart), options ...grpc.ServerOption) *cart {
	t.Helper()
	compiler := protocompile.Compiler{Resolver: protocompile.WithStandardImports(&protocompile.SourceResolver{ImportPaths: []string{"testdata/proto"}})}
	files, err := compiler.Compile(context.Background(), "cart.proto")
	if err != nil {
		t.Fatal(err)
	}
	c := &cart{files: files[0], resolver: files.AsResolver()}
	c.server = grpc.NewServer(append(options, grpc.UnknownServiceHandler(c.handle))...)
	if prepare != nil {
		prepare(c)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	c.addr = ln.Addr().String()
	var all sync.WaitGroup
	all.Go(func() { _ = c.server.Serve(counting{ln, &c.conns}) })
	t.Cleanup(func() { c.server.Stop(); all.Wait() })
	return c
}

func (c *cart) handle(_ any, stream grpc.ServerStream) error {
	c.calls.Add(1)
	full, _ := grpc.Method(stream.Context())
	name, ok := strings.CutPrefix(full, "/shop.v1.Cart/")
	m := c.files.Services().ByName("Cart").Methods().ByName(protoreflect.Name(name))
	if !ok || m == nil {
		return status.Error(codes.Unimplemented, "unknown")
	}
	var in []*dynamicpb.Message
	for {
		q := dynamicpb.NewMessage(m.Input())
		err := stream.RecvMsg(q)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		in = append(in, q)
		if !m.IsStreamingClient() {
			break
		}
	}
	md, _ := metadata.FromIncomingContext(stream.Context())
	c.mu.Lock()
	c.metadata = md
	if len(in) > 0 {
		text, _ := protojson.Marshal(in[len(in)-1])
		c.last = strings.ReplaceAll(string(text), " ", "")
	}
	c.mu.Unlock()
	_ = stream.SetHeader(metadata.Pairs("x-served", "yes"))
	stream.SetTrailer(metadata.Pairs("x-done", "yes"))
	return c.answer(name, m.Output(), in, stream)
}

func (c *cart) answer(name string, out protoreflect.MessageDescriptor, in []*dynamicpb.Message, stream grpc.ServerStream) error {
	user := ""
	if len(in) > 0 {
		user = in[0].Get(in[0].Descriptor().Fields().ByName("user")).String()
	}
	switch {
	case strings.HasPrefix(user, "nobody"):
		return status.Errorf(codes.NotFound, "no cart of user %d", time.Now().UnixNano())
	case user == "late":
		return status.Error(codes.DeadlineExceeded, "upstream was slow")
	case user == "gone":
		return status.Error(codes.Unavailable, "try later")
	}
	times := len(in)
	switch name {
	case "Slow":
		<-stream.Context().Done()
		return status.FromContextError(stream.Context().Err()).Err()
	case "Watch":
		times = int(in[0].Get(in[0].Descriptor().Fields().ByName("times")).Int())
	case "AddAll":
		return stream.SendMsg(reply(out, int64(len(in))))
	}
	for i := range times {
		if err := stream.SendMsg(reply(out, int64(i))); err != nil {
			return err
		}
	}
	return nil
}

func reply(d protoreflect.MessageDescriptor, total int64) *dynamicpb.Message {
	m := dynamicpb.NewMessage(d)
	text := `{"cartId":"c1","total":"9007199254740993","state":"FILLED","items":[{"sku":"A","qty":2}],"at":"2025-01-02T03:04:05Z","price":1.5,"raw":"AQI=","notes":{"k":"v"}}`
	if err := protojson.Unmarshal([]byte(text), m); err != nil {
		panic(err)
	}
	if total > 0 {
		m.Set(d.Fields().ByName("total"), protoreflect.ValueOfInt64(total))
	}
	return m
}
