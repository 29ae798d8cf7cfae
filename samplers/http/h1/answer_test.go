package h1

import (
	"context"
	"fmt"
	"net"
	"strings"
	"testing"
)

const ok = "HTTP/1.1 200 OK\r\n"

// outcome is what a table expects of one answer.
type outcome struct {
	class  Class
	status int
	body   string
	kept   bool // the connection is used again
}

func TestAnswers(t *testing.T) {
	for name, tc := range map[string]struct {
		method string
		parts  []string
		want   outcome
	}{
		"length":                     {"GET", []string{ok + "Content-Length: 5\r\n\r\nhello"}, outcome{"", 200, "hello", true}},
		"length in pieces":           {"GET", []string{ok + "Content-Le", "ngth: 5\r\n", "\r", "\nhe", "llo"}, outcome{"", 200, "hello", true}},
		"length zero":                {"GET", []string{ok + "Content-Length: 0\r\n\r\n"}, outcome{"", 200, "", true}},
		"same length twice":          {"GET", []string{ok + "Content-Length: 2, 2\r\nContent-Length: 2\r\n\r\nhi"}, outcome{"", 200, "hi", true}},
		"bare line feeds":            {"GET", []string{"HTTP/1.1 200 OK\nContent-Length: 2\n\nhi"}, outcome{"", 200, "hi", true}},
		"no reason":                  {"GET", []string{"HTTP/1.1 200\r\nContent-Length: 2\r\n\r\nhi"}, outcome{"", 200, "hi", true}},
		"continued line":             {"GET", []string{ok + "X: a\r\n b\r\nContent-Length: 2\r\n\r\nhi"}, outcome{"", 200, "hi", true}},
		"chunked":                    {"GET", []string{ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n6;a=b;c=\"d\"\r\n world\r\n0\r\n\r\n"}, outcome{"", 200, "hello world", true}},
		"chunked bytewise":           {"GET", strings.Split(ok+"Transfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n", ""), outcome{"", 200, "abc", true}},
		"chunked with trailers":      {"GET", []string{ok + "Transfer-Encoding: chunked\r\n\r\n00003 \r\nabc\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n"}, outcome{"", 200, "abc", true}},
		"chunked wins over length":   {"GET", []string{ok + "Content-Length: 99\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"}, outcome{"", 200, "a", false}},
		"identity coding":            {"GET", []string{ok + "Transfer-Encoding: identity\r\nContent-Length: 1\r\n\r\na"}, outcome{"", 200, "a", true}},
		"until close":                {"GET", []string{ok + "\r\nall", " of it"}, outcome{"", 200, "all of it", false}},
		"connection close":           {"GET", []string{ok + "Connection: x, Close\r\nContent-Length: 1\r\n\r\na"}, outcome{"", 200, "a", false}},
		"HTTP/1.0":                   {"GET", []string{"HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na"}, outcome{"", 200, "a", false}},
		"HTTP/1.0 keep-alive":        {"GET", []string{"HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\nContent-Length: 1\r\n\r\na"}, outcome{"", 200, "a", true}},
		"HEAD":                       {"HEAD", []string{ok + "Content-Length: 500\r\n\r\n"}, outcome{"", 200, "", true}},
		"HEAD chunked":               {"HEAD", []string{ok + "Transfer-Encoding: chunked\r\n\r\n"}, outcome{"", 200, "", true}},
		"204":                        {"GET", []string{"HTTP/1.1 204 No Content\r\n\r\n"}, outcome{"", 204, "", true}},
		"304 with length":            {"GET", []string{"HTTP/1.1 304 Not Modified\r\nContent-Length: 7\r\n\r\n"}, outcome{"", 304, "", true}},
		"1xx first":                  {"GET", []string{"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </a>\r\nContent-Length: 9\r\n\r\n" + ok + "Content-Length: 1\r\n\r\na"}, outcome{"", 200, "a", true}},
		"1xx in pieces":              {"GET", []string{"HTTP/1.1 102 Processing\r\n\r", "\nHTTP/1.", "1 200 OK\r\nContent-Length: 1\r\n\r\na"}, outcome{"", 200, "a", true}},
		"101":                        {"GET", []string{"HTTP/1.1 101 Switching Protocols\r\n\r\n"}, outcome{"", 101, "", false}},
		"1xx without end":            {"GET", []string{strings.Repeat("HTTP/1.1 100 Continue\r\n\r\n", 17)}, outcome{Protocol, 0, "", false}},
		"bytes after length":         {"GET", []string{ok + "Content-Length: 1\r\n\r\nab"}, outcome{Protocol, 200, "", false}},
		"bytes after large length":   {"GET", []string{ok + "Content-Length: 9000\r\n\r\n" + strings.Repeat("x", 9001)}, outcome{Protocol, 200, "", false}},
		"bytes after chunks":         {"GET", []string{ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1"}, outcome{Protocol, 200, "", false}},
		"bytes after HEAD":           {"HEAD", []string{ok + "Content-Length: 1\r\n\r\na"}, outcome{Protocol, 200, "", false}},
		"bytes after 204":            {"GET", []string{"HTTP/1.1 204 No Content\r\nContent-Length: 1\r\n\r\na"}, outcome{Protocol, 204, "", false}},
		"lengths differ":             {"GET", []string{ok + "Content-Length: 1\r\nContent-Length: 2\r\n\r\nab"}, outcome{Protocol, 200, "", false}},
		"lengths differ in a list":   {"GET", []string{ok + "Content-Length: 1,2\r\n\r\nab"}, outcome{Protocol, 200, "", false}},
		"length negative":            {"GET", []string{ok + "Content-Length: -1\r\n\r\n"}, outcome{Protocol, 200, "", false}},
		"length signed":              {"GET", []string{ok + "Content-Length: +1\r\n\r\na"}, outcome{Protocol, 200, "", false}},
		"length overflows":           {"GET", []string{ok + "Content-Length: 99999999999999999999\r\n\r\n"}, outcome{Protocol, 200, "", false}},
		"length empty":               {"GET", []string{ok + "Content-Length:\r\n\r\n"}, outcome{Protocol, 200, "", false}},
		"chunk size overflows":       {"GET", []string{ok + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n"}, outcome{Protocol, 200, "", false}},
		"chunk size negative":        {"GET", []string{ok + "Transfer-Encoding: chunked\r\n\r\n-1\r\n"}, outcome{Protocol, 200, "", false}},
		"chunk size missing":         {"GET", []string{ok + "Transfer-Encoding: chunked\r\n\r\n\r\n"}, outcome{Protocol, 200, "", false}},
		"chunk too long":             {"GET", []string{ok + "Transfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n"}, outcome{Protocol, 200, "", false}},
		"chunk extension endless":    {"GET", []string{ok + "Transfer-Encoding: chunked\r\n\r\n1;" + strings.Repeat("x", 5000)}, outcome{Protocol, 200, "", false}},
		"trailers endless":           {"GET", []string{ok + "Transfer-Encoding: chunked\r\n\r\n0\r\n" + strings.Repeat("X: y\r\n", 60000)}, outcome{HeaderTooLarge, 200, "", false}},
		"coding unsupported":         {"GET", []string{ok + "Transfer-Encoding: gzip, chunked\r\n\r\n"}, outcome{Protocol, 200, "", false}},
		"chunked twice":              {"GET", []string{ok + "Transfer-Encoding: chunked, chunked\r\n\r\n"}, outcome{Protocol, 200, "", false}},
		"not HTTP":                   {"GET", []string{"SSH-2.0-OpenSSH\r\n"}, outcome{Protocol, 0, "", false}},
		"HTTP/2":                     {"GET", []string{"HTTP/2.0 200 OK\r\n\r\n"}, outcome{Protocol, 0, "", false}},
		"TLS alert":                  {"GET", []string{"\x15\x03\x01\x00\x02\x02\x46"}, outcome{Protocol, 0, "", false}},
		"status of letters":          {"GET", []string{"HTTP/1.1 OK? OK\r\n\r\n"}, outcome{Protocol, 0, "", false}},
		"status of four digits":      {"GET", []string{"HTTP/1.1 2000 OK\r\n\r\n"}, outcome{Protocol, 0, "", false}},
		"field without colon":        {"GET", []string{ok + "nonsense\r\n\r\n"}, outcome{Protocol, 200, "", false}},
		"blank before colon":         {"GET", []string{ok + "Content-Length : 1\r\n\r\na"}, outcome{Protocol, 200, "", false}},
		"NUL in a field":             {"GET", []string{ok + "X: a\x00b\r\n\r\n"}, outcome{Protocol, 200, "", false}},
		"CR in a field":              {"GET", []string{ok + "X: a\rb\r\n\r\n"}, outcome{Protocol, 200, "", false}},
		"continued first line":       {"GET", []string{ok + " X: a\r\n\r\n"}, outcome{Protocol, 200, "", false}},
		"continued length":           {"GET", []string{ok + "Content-Length: 1\r\n 0\r\n\r\na"}, outcome{Protocol, 200, "", false}},
		"header too large":           {"GET", []string{ok + "X: " + strings.Repeat("x", 300<<10) + "\r\n\r\n"}, outcome{HeaderTooLarge, 200, "", false}},
		"too many fields":            {"GET", []string{ok + strings.Repeat("X: y\r\n", 60000) + "\r\n"}, outcome{HeaderTooLarge, 200, "", false}},
		"large header":               {"GET", []string{ok + "X: " + strings.Repeat("x", 200<<10) + "\r\nContent-Length: 1\r\n\r\na"}, outcome{"", 200, "a", true}},
		"closed before the answer":   {"GET", []string{""}, outcome{ClosedEarly, 0, "", false}},
		"closed within the header":   {"GET", []string{ok + "Content-"}, outcome{ClosedEarly, 200, "", false}},
		"closed within the body":     {"GET", []string{ok + "Content-Length: 5\r\n\r\nhe"}, outcome{Truncated, 200, "he", false}},
		"closed within a chunk":      {"GET", []string{ok + "Transfer-Encoding: chunked\r\n\r\n5\r\nhe"}, outcome{Truncated, 200, "he", false}},
		"closed within the trailers": {"GET", []string{ok + "Transfer-Encoding: chunked\r\n\r\n0\r\nX: "}, outcome{Truncated, 200, "", false}},
		"body promised too large":    {"GET", []string{ok + "Content-Length: 33554433\r\n\r\n"}, outcome{BodyTooLarge, 200, "", false}},
		"chunk promised too large":   {"GET", []string{ok + "Transfer-Encoding: chunked\r\n\r\n2000001\r\n"}, outcome{BodyTooLarge, 200, "", false}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, need := range []bool{true, false} {
				checkAnswer(t, tc.method, tc.parts, tc.want, need)
			}
		})
	}
}

func checkAnswer(t *testing.T, method string, parts []string, want outcome, need bool) {
	t.Helper()
	s := answersOnce(t, parts...)
	c := client(t, Config{})
	req, res := s.get("/"), new(Response)
	req.Method, req.NeedBody = method, need
	err := c.Do(context.Background(), req, res)
	if classOf(err) != want.class {
		t.Fatalf("need %v: error %v, want class %q", need, err, want.class)
	}
	if res.Status != want.status {
		t.Errorf("need %v: status %d, want %d", need, res.Status, want.status)
	}
	if need && (want.class == "" || want.class == Truncated) && string(res.Body) != want.body {
		t.Errorf("body %q, want %q", res.Body, want.body)
	}
	if want.class == "" && res.WireBody != int64(len(want.body)) {
		t.Errorf("need %v: %d body bytes, want %d", need, res.WireBody, len(want.body))
	}
	if !need && res.Body != nil {
		t.Errorf("a body that nobody needs: %q", res.Body)
	}
	if got := len(c.conns) == 1; got != want.kept {
		t.Errorf("need %v: connection kept %v, want %v", need, got, want.kept)
	}
	for i := range res.Headers() {
		_ = res.Header(i)
	}
}

func TestLargeBodies(t *testing.T) {
	big := strings.Repeat("0123456789abcdef", 1<<15) // 512 KiB
	var chunked strings.Builder
	chunked.WriteString(ok + "Transfer-Encoding: chunked\r\n\r\n")
	for i := 0; i < len(big); i += 1 << 13 {
		chunked.WriteString("2000\r\n" + big[i:i+1<<13] + "\r\n")
	}
	chunked.WriteString("0\r\n\r\n")
	for name, answer := range map[string]string{
		"length": ok + "Content-Length: 524288\r\n\r\n" + big, "chunked": chunked.String(), "close": ok + "\r\n" + big,
	} {
		t.Run(name, func(t *testing.T) {
			for _, need := range []bool{true, false} {
				s := answersOnce(t, answer)
				req := s.get("/")
				req.NeedBody = need
				res := do(t, client(t, Config{}), req)
				if res.WireBody != int64(len(big)) || res.BytesReceived != int64(len(answer)) || need && string(res.Body) != big {
					t.Errorf("need %v: %d body bytes of %d received", need, res.WireBody, res.BytesReceived)
				}
			}
			req := answersOnce(t, answer).get("/")
			req.MaxBody = 1000
			if err := client(t, Config{}).Do(context.Background(), req, new(Response)); classOf(err) != BodyTooLarge {
				t.Errorf("beyond MaxBody: %v", err)
			}
		})
	}
}

func TestEarlyAnswerToLargeBody(t *testing.T) {
	s := serve(t, func(p *peer) {
		p.r.ReadString('\n')
		p.say("HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
		p.Conn.(interface{ CloseWrite() error }).CloseWrite()
		for range 100 {
			if _, err := p.r.Discard(1 << 14); err != nil {
				return
			}
		}
	})
	req := s.get("/")
	req.Method, req.Body = "POST", make([]byte, 16<<20)
	if res := do(t, client(t, Config{}), req); res.Status != 413 {
		t.Errorf("status %d", res.Status)
	}
}

// An answer whose head is remembered reads as one that is parsed, and one that
// differs in a byte is parsed.
func TestRememberedHeads(t *testing.T) {
	heads := []string{
		ok + "Content-Length: 2\r\nX: a\r\n\r\nhi",
		ok + "Content-Length: 2\r\nX: a\r\n\r\nho",
		ok + "Content-Length: 2\r\nX: d\r\n\r\nhi",
		ok + "Content-Length: 3\r\nX: a\r\n\r\nhoo",
		ok + "Content-Length: 2\r\nX: b\r\nY: c\r\n\r\nhi",
		"HTTP/1.1 404 Not Found\r\nContent-Length: 2\r\nX: a\r\n\r\nhi",
		ok + "X: a\r\n folded\r\nContent-Length: 2\r\n\r\nhi",
		"HTTP/1.1 100 Continue\r\n\r\n" + ok + "Content-Length: 2\r\n\r\nhi",
		ok + "Transfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n",
	}
	read := func(pool *Pool, head string, limit int) (string, error) {
		c := client(t, Config{Pool: pool, Dial: func(context.Context, string, string) (net.Conn, error) {
			return &canned{answer: []byte(head)}, nil
		}})
		req, res := requestTo("127.0.0.1:80"), new(Response)
		req.MaxHeader = limit
		err := c.Do(context.Background(), req, res)
		text := fmt.Sprint(res.Status, res.Minor, string(res.Reason), string(res.Body), res.HeaderBytes(), res.BytesReceived)
		for i := range res.Headers() {
			h := res.Header(i)
			text += fmt.Sprintf("|%s=%s", h.Name, h.Value)
		}
		res.Release()
		return text, err
	}
	pool := NewPool()
	for i := range 4 * len(heads) * len(heads) {
		head := heads[(i/len(heads)+i*(i%2))%len(heads)] // each after itself and after each other
		want, wrong := read(NewPool(), head, 0)
		if got, err := read(pool, head, 0); got != want || err != nil || wrong != nil {
			t.Fatalf("%q: %v, %v\n%s\n%s", head, err, wrong, got, want)
		}
	}
	if _, err := read(pool, heads[0], 0); err != nil {
		t.Fatal(err)
	}
	if _, err := read(pool, heads[0], 30); classOf(err) != HeaderTooLarge {
		t.Errorf("a remembered head above the limit: %v", err)
	}
}
