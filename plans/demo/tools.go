package demo

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

const (
	maxDelay = 10 * time.Second
	maxBytes = 16 << 20
	maxHops  = 50
)

// slow answers after ms milliseconds, and up to jitter more.
func (s *shop) slow(w http.ResponseWriter, r *http.Request) {
	limit := int(maxDelay / time.Millisecond)
	ms := number(r, "ms", 200, 0, limit)
	jitter := number(r, "jitter", 0, 0, limit)
	d := time.Duration(ms) * time.Millisecond
	if jitter > 0 {
		d += time.Duration(s.draw() * float64(jitter) * float64(time.Millisecond))
	}
	d = min(d, maxDelay)
	if s.pause(r.Context(), d) {
		send(w, http.StatusOK, typeJSON, fmt.Appendf(nil, `{"waited_ms":%d}`+"\n", d.Milliseconds()))
	}
}

// fail answers with status for exactly share of the requests with the same
// query, and with 200 for the others.
func (s *shop) fail(w http.ResponseWriter, r *http.Request) {
	status := number(r, "status", http.StatusServiceUnavailable, 200, 599)
	ppm := parseShare(r.URL.Query().Get("share"), 1)
	key := strconv.Itoa(status) + " " + strconv.FormatUint(ppm, 10)
	if s.fails.take(key, ppm) {
		if status >= 500 {
			w.Header().Set("Retry-After", "1")
		}
		sendError(w, status, "failing on purpose")
		return
	}
	sendJSON(w, http.StatusOK, map[string]bool{"ok": true})
}

// redirect sends the client n times on and ends at /health.
func (s *shop) redirect(w http.ResponseWriter, r *http.Request) {
	n := number(r, "n", 1, 0, maxHops)
	status := number(r, "status", http.StatusFound, 301, 308)
	if n == 0 {
		s.health(w, r)
		return
	}
	to := "/health"
	if n > 1 {
		to = fmt.Sprintf("/redirect?n=%d&status=%d", n-1, status)
	}
	w.Header().Set("Location", to)
	send(w, status, typeText, []byte("see "+to+"\n"))
}

// filler is the content of /bytes, /gzip and /deflate, repeated.
const filler = "The quick brown fox jumps over the lazy dog, once more for the demo shop. "

func writeFiller(w io.Writer, n int) error {
	for n > 0 {
		part := filler[:min(n, len(filler))]
		if _, err := io.WriteString(w, part); err != nil {
			return err
		}
		n -= len(part)
	}
	return nil
}

func (s *shop) bytes(w http.ResponseWriter, r *http.Request) {
	n := number(r, "n", 1024, 0, maxBytes)
	w.Header()["Content-Type"] = typeData
	w.Header().Set("Content-Length", strconv.Itoa(n))
	if r.Method != http.MethodHead {
		writeFiller(w, n)
	}
}

func (s *shop) gzip(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	s.compressed(w, r, "gzip", z, &b)
}

// deflate uses the zlib format, which is what the name means in HTTP.
func (s *shop) deflate(w http.ResponseWriter, r *http.Request) {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	s.compressed(w, r, "deflate", z, &b)
}

func (s *shop) compressed(w http.ResponseWriter, r *http.Request, name string, z io.WriteCloser, b *bytes.Buffer) {
	n := number(r, "n", 1024, 0, 1<<20)
	fmt.Fprintf(z, `{"compressed":%q,"filler":"`, name)
	writeFiller(z, n)
	io.WriteString(z, "\"}\n")
	z.Close()
	w.Header().Set("Content-Encoding", name)
	send(w, http.StatusOK, typeJSON, b.Bytes())
}

// stream sends chunks of text, one each ms milliseconds.
func (s *shop) stream(w http.ResponseWriter, r *http.Request) {
	chunks := number(r, "chunks", 5, 1, 1000)
	wait := time.Duration(number(r, "ms", 10, 0, 1000)) * time.Millisecond
	w.Header()["Content-Type"] = typeText
	out, start := http.NewResponseController(w), time.Now()
	for i := range chunks {
		if i > 0 && !s.pause(r.Context(), wait) || time.Since(start) > maxDelay {
			return
		}
		if _, err := fmt.Fprintf(w, "chunk %d\n", i+1); err != nil {
			return
		}
		out.Flush()
	}
}

func (s *shop) etag(w http.ResponseWriter, r *http.Request) {
	const tag = `"demo-1"`
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	send(w, http.StatusOK, typeText, []byte("unchanged since the start\n"))
}
