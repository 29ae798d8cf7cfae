package witness

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// answer does what the URL asks for; false if the connection is over.
func (k *connection) answer(r *Record, b *behaviour, spoiled bool) bool {
	r.End = Answered
	if spoiled {
		r.End = Broken
		return k.misbehave(r, b)
	}
	for range b.early {
		k.write(r, "HTTP/1.1 103 Early Hints\r\nLink: </style.css>; rel=preload\r\n\r\n")
	}
	if b.hops > 0 {
		b.query.Set("hops", strconv.Itoa(b.hops-1))
		r.Status = http.StatusFound
		k.write(r, head(r.Status, "Location: "+b.path+"?"+b.query.Encode()+"\r\nContent-Length: 0\r\n"))
		return true
	}
	r.Status = b.status
	extra := ""
	closes := b.close > 0 && k.nth >= b.close
	if closes {
		extra = "Connection: close\r\n"
	}
	k.whole(r, b, extra)
	return !closes && (b.hangup == 0 || k.nth < b.hangup)
}

func (k *connection) whole(r *Record, b *behaviour, extra string) {
	switch {
	case b.status == http.StatusNoContent || b.status == http.StatusNotModified:
		k.write(r, head(b.status, extra))
	case b.chunks > 0:
		k.write(r, head(b.status, extra+"Transfer-Encoding: chunked\r\nTrailer: X-Sum\r\n")+chunked(b.body, b.chunks))
	case b.drip > 0:
		k.write(r, head(b.status, extra+length(b.body)))
		for i := range 10 {
			time.Sleep(b.drip)
			k.write(r, text(b.body*(i+1)/10-b.body*i/10))
		}
	default:
		k.write(r, head(b.status, extra+length(b.body))+text(b.body))
	}
}

func (k *connection) misbehave(r *Record, b *behaviour) bool {
	switch {
	case b.silent:
		_, _ = k.in.ReadByte() // until the client has had enough
		r.End = Gone
		return false
	case b.garbage:
		k.write(r, "this is no answer at all\r\n\r\n")
		return false
	case b.cut >= 0:
		r.Status = b.status
		k.write(r, head(b.status, length(max(b.body, b.cut+1)))+text(b.cut))
		return false
	}
	answer := head(b.status, length(b.body))
	switch b.reset {
	case "head":
		r.Status = b.status // its line is in the first half
		k.write(r, answer[:len(answer)/2])
		time.Sleep(5 * time.Millisecond) // a reset overtakes what has not been read
	case "body":
		r.Status = b.status
		k.write(r, answer+text(b.body/2))
		time.Sleep(5 * time.Millisecond)
	}
	_ = k.raw.SetLinger(0)
	_ = k.raw.Close()
	return false
}

// write writes and counts; the first byte of an answer ends its hold.
func (k *connection) write(r *Record, answer string) {
	if k.out == 0 && !k.failed {
		r.Hold = k.server.now() - r.Arrived
	}
	n, err := k.wire.Write([]byte(answer))
	k.out += int64(n)
	k.failed = k.failed || err != nil
}

func head(status int, fields string) string {
	return fmt.Sprintf("HTTP/1.1 %d %s\r\nServer: witness\r\n%s\r\n", status, http.StatusText(status), fields)
}

func length(n int) string { return "Content-Length: " + strconv.Itoa(n) + "\r\n" }

func text(n int) string { return strings.Repeat("x", n) }

func chunked(n, chunks int) string {
	var out strings.Builder
	for i := range chunks {
		if size := n*(i+1)/chunks - n*i/chunks; size > 0 {
			fmt.Fprintf(&out, "%x;part=%d\r\n%s\r\n", size, i, text(size))
		}
	}
	out.WriteString("0\r\nX-Sum: 1\r\n\r\n")
	return out.String()
}
