package grpc

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	reflection "google.golang.org/grpc/reflection/grpc_reflection_v1"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/dynamicpb"
)

// maxFiles is how many files a server may describe one method with.
const maxFiles = 2000

// The reflection service and the name it had before; their messages are alike.
const (
	reflectionV1    = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
	reflectionAlpha = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo"
)

// described is what a server has said of itself, shared by all threads.
type described struct {
	mu     sync.Mutex
	method *procedure
}

// ask lets the server describe a service.
func ask(ctx context.Context, conn *grpc.ClientConn, service string) (*description, error) {
	found, err := askAs(ctx, conn, reflectionV1, service)
	if status.Code(err) == codes.Unimplemented {
		found, err = askAs(ctx, conn, reflectionAlpha, service)
	}
	if status.Code(err) == codes.Unimplemented {
		return nil, errors.New("the server offers none")
	}
	return found, err
}

func askAs(ctx context.Context, conn *grpc.ClientConn, name, service string) (*description, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := conn.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, name)
	if err != nil {
		return nil, err
	}
	files := map[string]*descriptorpb.FileDescriptorProto{}
	err = fetch(stream, files, &reflection.ServerReflectionRequest{
		MessageRequest: &reflection.ServerReflectionRequest_FileContainingSymbol{FileContainingSymbol: service}})
	if err != nil {
		return nil, err
	}
	for missing := missingOf(files); missing != ""; missing = missingOf(files) {
		if len(files) > maxFiles {
			return nil, fmt.Errorf("the server describes itself with more than %d files", maxFiles)
		}
		err := fetch(stream, files, &reflection.ServerReflectionRequest{
			MessageRequest: &reflection.ServerReflectionRequest_FileByFilename{FileByFilename: missing}})
		if err != nil {
			return nil, err
		}
		if files[missing] == nil {
			return nil, fmt.Errorf("the server does not describe %s", missing)
		}
	}
	set := &descriptorpb.FileDescriptorSet{}
	for _, f := range files {
		set.File = append(set.File, f)
	}
	all, err := protodesc.NewFiles(set)
	if err != nil {
		return nil, fmt.Errorf("read the server's description: %w", err)
	}
	return &description{all, dynamicpb.NewTypes(all)}, nil
}

func missingOf(files map[string]*descriptorpb.FileDescriptorProto) string {
	for _, f := range files {
		for _, name := range f.GetDependency() {
			if files[name] == nil {
				return name
			}
		}
	}
	return ""
}

// fetch asks one question and keeps the files of the answer.
func fetch(stream grpc.ClientStream, files map[string]*descriptorpb.FileDescriptorProto, q *reflection.ServerReflectionRequest) error {
	if err := stream.SendMsg(q); err != nil && !errors.Is(err, io.EOF) { // at EOF RecvMsg tells what is wrong
		return err
	}
	answer := &reflection.ServerReflectionResponse{}
	if err := stream.RecvMsg(answer); err != nil {
		return err
	}
	if e := answer.GetErrorResponse(); e != nil {
		return errors.New(e.GetErrorMessage())
	}
	for _, text := range answer.GetFileDescriptorResponse().GetFileDescriptorProto() {
		f := &descriptorpb.FileDescriptorProto{}
		if err := proto.Unmarshal(text, f); err != nil {
			return fmt.Errorf("read the server's description: %w", err)
		}
		files[f.GetName()] = f
	}
	return nil
}
