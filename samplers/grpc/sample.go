package grpc

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/dynamicpb"

	"runner/plan/element"
	"runner/plan/expr"
)

// prepared is what Open computes once, read by all threads afterwards.
type prepared struct {
	link   any        // a linkKey, boxed once
	method *procedure // nil where the server describes it
	tls    *tls.Config
	passes [len(codeNames)]bool
	values [len(codeNames)]map[string]any // shared, read-only
}

// Open reads the files.
func (c *call) Open(ctx context.Context) (err error) {
	p := &c.prepared
	if p.tls, err = c.TLS.config(); err != nil {
		return err
	}
	settings := c.Target.Source() + " " + c.Authority.Source() + " " + c.Connections
	if o := c.TLS; o != nil {
		settings += fmt.Sprintf(" %t %t %q %q %q %q", o.Enabled, o.Insecure, o.CA.Full, o.Cert.Full, o.Key.Full, o.ServerName)
	}
	p.link = linkKey{settings}
	for i, name := range codeNames {
		p.values[i] = map[string]any{"code": name}
		for _, pass := range c.Codes {
			p.passes[i] = p.passes[i] || pass == name
		}
	}
	if p.method != nil || len(c.Proto) == 0 {
		return nil
	}
	d, err := compile(ctx, c.Proto, c.ImportPaths)
	if err != nil {
		return fmt.Errorf("read proto: %w", err)
	}
	method, err := d.find(c.Call)
	if err == nil {
		err = method.freeze(c.trees())
	}
	if err != nil {
		return fmt.Errorf("call %s: %w", c.Call, err)
	}
	p.method = method
	return nil
}

// request is one call, evaluated.
type request struct {
	target, authority string
	metadata          metadata.MD
	timeout           time.Duration
	limit             int // of what is received
	most              int // messages of a stream
}

func (c *call) evaluate(t *element.Thread) (q request, err error) {
	if q.target, err = c.Target.Eval(t); err != nil {
		return q, err
	}
	if !c.Target.IsLiteral() {
		if summary, _ := wrongTarget(q.target); summary != "" {
			return q, failed(element.Expression, "the target is not host and port", nil)
		}
	}
	if c.Authority.IsSet() {
		if q.authority, err = c.Authority.Eval(t); err != nil {
			return q, err
		}
	}
	if q.timeout, err = c.Timeout.Eval(t); err != nil {
		return q, err
	}
	limit, err := c.MaxBody.Eval(t)
	if err != nil {
		return q, err
	}
	most, err := c.MaxMessages.Eval(t)
	if err != nil {
		return q, err
	}
	q.limit, q.most = int(limit), int(most)
	q.metadata = metadata.MD{}
	for i := range c.Metadata.Entries {
		if err := q.add(&c.Metadata.Entries[i].Value, c.Metadata.Entries[i].Name, t); err != nil {
			return q, err
		}
	}
	return q, nil
}

// add evaluates one entry of the metadata; null leaves out an inherited one.
func (q *request) add(text *expr.Text, name string, t *element.Thread) error {
	v, err := text.Eval(t)
	if err != nil || v == nil {
		return err
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, item := range list {
		value, err := expr.FormatText(item)
		if err != nil {
			return fmt.Errorf("metadata %s: %w", name, err)
		}
		q.metadata.Append(name, value)
	}
	return nil
}

// Sample makes the call and fills s with the answer.
func (c *call) Sample(ctx context.Context, t *element.Thread, s *element.Sample) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	q, err := c.evaluate(t)
	if err != nil {
		return err
	}
	p := c.prepared.method
	if p == nil {
		if p, err = c.described(ctx, t, s, &q); err != nil {
			return err
		}
	}
	messages, err := p.messages(c.trees(), t)
	if err != nil {
		return err
	}
	l := t.Local(c.prepared.link, func() any { return &link{tls: c.prepared.tls} }).(*link)
	l.perPass = c.Connections == "iteration"
	limited, cancel := context.WithTimeout(ctx, q.timeout)
	defer cancel()
	x := &exchange{call: c, procedure: p, request: &q, link: l, messages: messages}
	err = x.run(limited, t, s)
	if c.Connections == "none" {
		_ = l.Close() // nothing is lost with it
	}
	if parent := ctx.Err(); err != nil && parent != nil {
		return parent
	}
	return err
}

// described lets the server describe the method, once in a run, before the sample
// begins.
func (c *call) described(ctx context.Context, t *element.Thread, s *element.Sample, q *request) (*procedure, error) {
	d := t.Plan.Value(c, func() any { return &described{} }).(*described)
	began := t.Now()
	defer func() {
		took := t.Now() - began
		s.Due, s.Dispatched, s.FreeSince = s.Due+took, s.Dispatched+took, s.FreeSince+took
	}()
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.method != nil {
		return d.method, nil
	}
	ctx, cancel := context.WithTimeout(metadata.NewOutgoingContext(ctx, q.metadata), q.timeout)
	defer cancel()
	conn, err := newDialing(t.Clock.Now).open(ctx, c.prepared.tls, q.target, q.authority)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	service, _ := splitCall(c.Call)
	found, err := ask(ctx, conn, service)
	if err != nil {
		return nil, failed(element.Protocol, "reflection: "+normal(status.Convert(err).Message()), err)
	}
	p, err := found.find(c.Call)
	if err != nil {
		return nil, failed(element.Expression, err.Error(), err)
	}
	if err := p.freeze(c.trees()); err != nil {
		return nil, err
	}
	d.method = p
	return p, nil
}

// exchange is one call under way.
type exchange struct {
	call      *call
	procedure *procedure
	request   *request
	link      *link
	messages  [][]byte
	sizes     []int // where the messages end in link.received
	header    metadata.MD
	trailer   metadata.MD
}

// run connects and makes the call. A connection that was closed before anything
// went out is made again, once.
func (x *exchange) run(ctx context.Context, t *element.Thread, s *element.Sample) error {
	for again := false; ; again = true {
		if err := x.link.ready(ctx, t, s, x.request.target, x.request.authority); err != nil {
			return err
		}
		w := &watch{now: t.Clock.Now}
		s.Sent = t.Now()
		err := x.exchange(ctx, w)
		s.Done = t.Now()
		s.Requests += int(w.requests.Load())
		s.BytesSent, s.BytesReceived = w.sent.Load(), w.received.Load()
		if first := time.Duration(w.first.Load()); first != 0 {
			s.FirstByte = max(first, s.Sent)
			s.Phases.Wait, s.Phases.Receive = max(0, s.FirstByte-s.Sent), max(0, s.Done-s.FirstByte)
		} else {
			s.Phases.Wait = max(0, s.Done-s.Sent)
		}
		st := status.Convert(err)
		if errors.Is(err, errTooMuch) {
			return failed(element.BodyTooLarge, errTooMuch.Error(), err)
		}
		failure := outcome(ctx, w, st, x.call.prepared.passes[known(st.Code())])
		var e *element.Error
		if errors.As(failure, &e) && e.Class == element.ResetReused && !again {
			_ = x.link.Close() // the server has closed it
			continue
		}
		if failure != nil {
			return failure
		}
		return x.fill(s, st)
	}
}

var errTooMuch = errors.New("the answer is larger than max_body")

// exchange sends and receives all messages; io.EOF is none of its errors.
func (x *exchange) exchange(ctx context.Context, w *watch) error {
	ctx, cancel := context.WithCancel(context.WithValue(metadata.NewOutgoingContext(ctx, x.request.metadata), watchKey{}, w))
	defer cancel()
	p := x.procedure
	desc := &grpc.StreamDesc{ServerStreams: p.stream, ClientStreams: p.many}
	stream, err := x.link.conn.NewStream(ctx, desc, p.name, grpc.ForceCodecV2(bytesCodec{}), grpc.MaxCallRecvMsgSize(x.request.limit))
	if err != nil {
		return err
	}
	sent := make(chan error, 1)
	if p.many {
		go func() { sent <- x.send(stream) }()
	} else {
		sent <- x.send(stream)
	}
	err = x.receive(stream)
	x.header, _ = stream.Header() // the error is that of receive
	cancel()
	if failure := <-sent; err == nil && failure != nil && !errors.Is(failure, io.EOF) && ctx.Err() == nil {
		err = failure
	}
	x.trailer = stream.Trailer()
	return err
}

// send sends all messages; what is wrong is told by the receiving side.
func (x *exchange) send(stream grpc.ClientStream) error {
	for _, m := range x.messages {
		if err := stream.SendMsg(m); err != nil {
			return err
		}
	}
	return stream.CloseSend()
}

// receive reads messages until the end of the stream or its bounds.
func (x *exchange) receive(stream grpc.ClientStream) error {
	l := x.link
	l.received, x.sizes = l.received[:0], x.sizes[:0]
	for {
		err := stream.RecvMsg(&l.received)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		}
		x.sizes = append(x.sizes, len(l.received))
		switch {
		case len(l.received) > x.request.limit:
			return errTooMuch
		case !x.procedure.stream, len(x.sizes) >= x.request.most:
			return nil
		}
	}
}

// fill puts the answer into s.
func (x *exchange) fill(s *element.Sample, st *status.Status) error {
	code := known(st.Code())
	s.Status, s.Message, s.Values = int(st.Code()), st.Message(), x.call.prepared.values[code]
	if s.Needs&element.NeedHeaders != 0 {
		for _, md := range []metadata.MD{x.header, x.trailer} {
			for _, name := range slices.Sorted(maps.Keys(md)) {
				for _, v := range md[name] {
					s.Headers = append(s.Headers, element.Header{Name: []byte(name), Value: []byte(v)})
				}
			}
		}
	}
	if err := x.body(s); err != nil {
		return err
	}
	if !x.call.prepared.passes[code] {
		return refusal(st)
	}
	return nil
}

// body writes the messages as JSON.
func (x *exchange) body(s *element.Sample) error {
	l := x.link
	s.BodySize = int64(len(l.received))
	if s.Needs&element.NeedBody == 0 || len(x.sizes) == 0 && !x.procedure.stream {
		return nil
	}
	w := &writer{dst: l.body[:0], types: x.procedure.types, limit: 16 * x.request.limit}
	if x.procedure.stream {
		w.dst = append(w.dst, '[')
	}
	start := 0
	for i, end := range x.sizes {
		if i > 0 {
			w.dst = append(w.dst, ',')
		}
		m := dynamicpb.NewMessage(x.procedure.out)
		options := proto.UnmarshalOptions{AllowPartial: true, RecursionLimit: 100, Resolver: x.procedure.types}
		if err := options.Unmarshal(l.received[start:end], m); err != nil {
			return failed(element.Decode, "the answer is not the message that the .proto file describes", err)
		}
		switch err := w.message(m); {
		case errors.Is(err, errTooLarge):
			return failed(element.BodyTooLarge, errTooLarge.Error(), err)
		case err != nil:
			return failed(element.Decode, "the answer cannot be written as JSON", err)
		}
		start = end
	}
	if x.procedure.stream {
		w.dst = append(w.dst, ']')
	}
	l.body = w.dst
	s.Body, s.BodySize = l.body, int64(len(l.body))
	return nil
}

// Describe says what was called.
func (c *call) Describe(t *element.Thread, _ *element.Sample) string {
	target, err := c.Target.Eval(t)
	if err != nil {
		target = c.Target.Source()
	}
	return "grpc " + c.Call + " at " + target
}
