package h1

import (
	"context"
	"net"
	"testing"
)

// echoServer answers each request of up to 4 KiB, read in one piece, with the same bytes.
func echoServer(b *testing.B, answer string) *server {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	return serveOn(b, l, func(p *peer) {
		buf, out := make([]byte, 4096), []byte(answer)
		for {
			if _, err := p.Conn.Read(buf); err != nil {
				return
			}
			p.Conn.Write(out)
		}
	})
}

// BenchmarkDo is a whole exchange over loopback, the server's share included.
func BenchmarkDo(b *testing.B) {
	s := echoServer(b, typical)
	c := client(b, Config{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	req, res := requestTo(s.addr), new(Response)
	b.ReportAllocs()
	for b.Loop() {
		if err := c.Do(ctx, req, res); err != nil {
			b.Fatal(err)
		}
		res.Release()
	}
}

// BenchmarkClient is the client's own work, on a connection that costs nothing.
func BenchmarkClient(b *testing.B) {
	for name, tc := range allocCases(b) {
		b.Run(name, func(b *testing.B) {
			c := cannedClient(b, tc.answer)
			req, res := requestTo("127.0.0.1:80"), new(Response)
			tc.edit(c, req)
			b.ReportAllocs()
			for b.Loop() {
				if err := c.Do(context.Background(), req, res); err != nil {
					b.Fatal(err)
				}
				res.Release()
			}
		})
	}
}

// BenchmarkParseHead is the parser alone.
func BenchmarkParseHead(b *testing.B) {
	c := NewClient(&Config{}, nil)
	c.buf, c.hop = c.pool.get(0), &hop{method: "GET"}
	c.w = copy(c.buf.b, typical)
	res, req := new(Response), new(Request)
	b.ReportAllocs()
	b.SetBytes(int64(c.w))
	for b.Loop() {
		res.fields, res.frame = res.fields[:0], framing{}
		if err := c.readHead(nil, req, res); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkEncodeTarget(b *testing.B) {
	raw, out := []byte("/products/1234567?color=red&size=42"), []byte(nil)
	b.ReportAllocs()
	for b.Loop() {
		out = EncodeTarget(out[:0], raw)
	}
}
