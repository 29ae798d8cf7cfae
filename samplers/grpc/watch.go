package grpc

import (
	"context"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/stats"
)

// watch takes the stamps and counts of one call. The transport may still report
// to it after the call is over, so each call has its own.
type watch struct {
	now                      func() time.Duration
	requests, sent, received atomic.Int64
	first                    atomic.Int64 // when the answer began
	answered                 atomic.Bool  // the status is the server's
}

type watchKey struct{}

// watcher hands what the transport reports to the call's watch.
type watcher struct{}

// TagRPC leaves the context as it is.
func (watcher) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// HandleRPC counts.
func (watcher) HandleRPC(ctx context.Context, s stats.RPCStats) {
	w, ok := ctx.Value(watchKey{}).(*watch)
	if !ok {
		return
	}
	switch s := s.(type) {
	case *stats.OutHeader:
		w.requests.Add(1)
	case *stats.OutPayload:
		w.sent.Add(int64(s.WireLength))
	case *stats.InHeader:
		w.first.CompareAndSwap(0, int64(w.now()))
		w.received.Add(int64(s.WireLength))
	case *stats.InPayload:
		w.received.Add(int64(s.WireLength))
	case *stats.InTrailer:
		w.first.CompareAndSwap(0, int64(w.now()))
		w.received.Add(int64(s.WireLength))
		w.answered.Store(true)
	}
}

// TagConn leaves the context as it is.
func (watcher) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn does nothing.
func (watcher) HandleConn(context.Context, stats.ConnStats) {}

// bytesCodec passes messages through that are encoded already.
type bytesCodec struct{}

// Marshal returns the []byte v.
func (bytesCodec) Marshal(v any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer(v.([]byte))}, nil
}

// Unmarshal appends the message to the *[]byte v.
func (bytesCodec) Unmarshal(data mem.BufferSlice, v any) error {
	dst := v.(*[]byte)
	for _, b := range data {
		*dst = append(*dst, b.ReadOnlyData()...)
	}
	return nil
}

// Name is that of the encoding which the messages have.
func (bytesCodec) Name() string { return "proto" }
