package h1

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"
)

// encode applies one content coding; "raw" is deflate without zlib's frame.
func encode(t testing.TB, coding string, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	case "raw":
		w, _ = flate.NewWriter(&b, 6)
	case "br":
		w = brotli.NewWriter(&b)
	case "zstd":
		w, _ = zstd.NewWriter(&b)
	}
	w.Write(data)
	w.Close()
	return b.Bytes()
}

func coded(name string, body []byte) string {
	return fmt.Sprintf("%sContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", ok, name, len(body), body)
}

func TestDecode(t *testing.T) {
	text := []byte(strings.Repeat("the quick brown fox ", 5000))
	for name, tc := range map[string]struct {
		header string
		body   []byte
	}{
		"gzip":     {"gzip", encode(t, "gzip", text)},
		"x-gzip":   {"X-GZIP", encode(t, "gzip", text)},
		"zlib":     {"deflate", encode(t, "deflate", text)},
		"deflate":  {"deflate", encode(t, "raw", text)},
		"br":       {"br", encode(t, "br", text)},
		"zstd":     {"zstd", encode(t, "zstd", text)},
		"identity": {"identity", text},
		"stacked":  {"deflate, identity, gzip\r\nContent-Encoding: br", encode(t, "br", encode(t, "gzip", encode(t, "deflate", text)))},
	} {
		t.Run(name, func(t *testing.T) {
			s := answers(t, coded(tc.header, tc.body))
			c := client(t, Config{})
			for range 3 { // decoders are used again
				res := do(t, c, s.get("/"))
				if !bytes.Equal(res.Body, text) || res.WireBody != int64(len(tc.body)) || res.DecodedBody != int64(len(text)) {
					t.Fatalf("wire %d, decoded %d, body %.30q", res.WireBody, res.DecodedBody, res.Body)
				}
			}
			req := s.get("/")
			req.Decode = false
			if res := do(t, c, req); !bytes.Equal(res.Body, tc.body) || res.DecodedBody != res.WireBody {
				t.Errorf("undecoded: %d bytes", len(res.Body))
			}
		})
	}
}

func TestDecodeErrors(t *testing.T) {
	medium := make([]byte, 3<<20)
	whole := encode(t, "gzip", []byte(strings.Repeat("abc", 1000)))
	for name, tc := range map[string]struct {
		header string
		body   []byte
		edit   func(*Request)
		class  Class
		says   string
	}{
		"unknown":       {"snappy", whole, nil, Decode, "unknown content coding"},
		"not gzip":      {"gzip", []byte("hello, world"), nil, Decode, "not valid gzip"},
		"not deflate":   {"deflate", []byte("\xff\xff\xff\xff"), nil, Decode, "deflate"},
		"not br":        {"br", []byte("\xff\xff\xff\xff"), nil, Decode, "br"},
		"not zstd":      {"zstd", []byte("\xff\xff\xff\xff"), nil, Decode, "zstd"},
		"cut":           {"gzip", whole[:len(whole)-10], nil, Decode, "ends early"},
		"checksum":      {"gzip", append(append([]byte(nil), whole[:len(whole)-8]...), 1, 2, 3, 4, 5, 6, 7, 8), nil, Decode, "not valid"},
		"six deep":      {"gzip,gzip,gzip,gzip,gzip,gzip", whole, nil, Decode, "too many"},
		"gzip ratio":    {"gzip", encode(t, "gzip", medium), nil, BodyTooLarge, "times its size"},
		"br ratio":      {"br", encode(t, "br", medium), nil, BodyTooLarge, "times its size"},
		"zstd ratio":    {"zstd", encode(t, "zstd", medium), nil, BodyTooLarge, "times its size"},
		"deflate ratio": {"deflate", encode(t, "deflate", medium), nil, BodyTooLarge, "times its size"},
		"stacked ratio": {"gzip, gzip", encode(t, "gzip", encode(t, "gzip", medium)), nil, BodyTooLarge, "times its size"},
		"size":          {"gzip", encode(t, "gzip", medium), func(r *Request) { r.MaxRatio, r.MaxBody = -1, 2<<20 }, BodyTooLarge, "2 MiB"},
		"own size":      {"gzip", encode(t, "gzip", medium), func(r *Request) { r.MaxBody = 1 << 19 }, BodyTooLarge, "512 KiB"},
		"no limit":      {"gzip", encode(t, "gzip", medium), func(r *Request) { r.MaxRatio = -1 }, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := answers(t, coded(tc.header, tc.body))
			req, res := s.get("/"), new(Response)
			if tc.edit != nil {
				tc.edit(req)
			}
			err := client(t, Config{}).Do(context.Background(), req, res)
			if classOf(err) != tc.class || err != nil && !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %s with %q", err, tc.class, tc.says)
			}
			if res.Status != 200 || res.Stamps.Done == 0 {
				t.Errorf("status %d, stamps %+v", res.Status, res.Stamps)
			}
		})
	}
}
