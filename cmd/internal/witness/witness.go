// Package witness is the server that the tests of truth measure against: it does
// on the wire exactly what the URL asks for and writes down every request it saw,
// so that its log can be held against the program's reports. It shares no code
// with the program and runs in a process of its own.
//
// witness.go holds the log and the commands by which a test reads it, behaviour.go
// what a URL may ask for, serve.go the connection, answer.go the answers, client.go
// the test's side of the process.
//
// A target is /BOOK/ANYTHING?behaviour; each book is a log of its own.
package witness

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Ends of a request.
const (
	Answered = "answered" // the whole answer was written
	Broken   = "broken"   // an answer was spoiled on purpose: reset, cut, garbage
	Gone     = "gone"     // the client had gone before the answer was written
	Partial  = "partial"  // the client went before the request was complete
)

// Record is one request as the server saw it.
type Record struct {
	Book    string
	ID      string        // header X-Id
	Conn    int           // the connection's number
	Nth     int           // the request's number on its connection, from 1
	Status  int           // of the answer, 0 if none was begun
	Arrived time.Duration // since the server's start
	Hold    time.Duration // from Arrived to the first byte of the answer
	In, Out int64         // bytes of HTTP
	End     string
}

// Server keeps the books. Its methods are safe for concurrent use.
type Server struct {
	start time.Time

	mu       sync.Mutex
	records  []Record
	books    map[string]*book
	inflight map[string]int
	conns    int
	open     int // connections now
	most     int // connections at once
}

// book is what the requests of one book share.
type book struct {
	first time.Duration // arrival of its first request
	free  time.Duration // when its one line is free, for serial service
	seen  int
}

func newServer() *Server {
	return &Server{start: time.Now(), books: map[string]*book{}, inflight: map[string]int{}}
}

func (s *Server) now() time.Duration { return time.Since(s.start) }

// begin opens a request in its book, and says the how manieth it is and when it may
// be answered.
func (s *Server) begin(r *Record, b *behaviour) (nth int, at time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.inflight[r.Book]++
	k := s.books[r.Book]
	if k == nil {
		k = &book{first: r.Arrived}
		s.books[r.Book] = k
	}
	k.seen++
	at = r.Arrived
	if from := k.first + b.gate; b.stall > 0 && at >= from && at < from+b.stall {
		at = from + b.stall
	}
	if b.serial > 0 {
		k.free = max(k.free, at) + b.serial
		return k.seen, k.free
	}
	return k.seen, at + b.heldFor(k.seen-1)
}

func (s *Server) end(r *Record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.records = append(s.records, *r)
	s.inflight[r.Book]--
}

func (s *Server) connected(by int) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open += by
	s.most = max(s.most, s.open)
	if by > 0 {
		s.conns++
	}
	return s.conns
}

// Main serves on two ports of the loopback, one with TLS, prints their addresses
// and obeys the commands on in until it ends:
//
//	log BOOK   prints the records of a book once none of its requests is under way,
//	           one a line, then "end N"
//	seen BOOK  prints how many requests of a book have come
//	most       prints how many connections were open at once
func Main(in io.Reader, out io.Writer) error {
	certificate, err := selfSigned()
	if err != nil {
		return err
	}
	s := newServer()
	plain, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	secure, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	go s.accept(plain, nil)
	go s.accept(secure, &tls.Config{Certificates: []tls.Certificate{certificate}})
	fmt.Fprintln(out, plain.Addr(), secure.Addr())
	commands := bufio.NewScanner(in)
	for commands.Scan() {
		name, book, _ := strings.Cut(commands.Text(), " ")
		switch name {
		case "log":
			s.print(out, book)
		case "seen":
			s.mu.Lock()
			n := 0
			if k := s.books[book]; k != nil {
				n = k.seen
			}
			fmt.Fprintln(out, n)
			s.mu.Unlock()
		case "most":
			s.mu.Lock()
			fmt.Fprintln(out, s.most)
			s.mu.Unlock()
		}
	}
	return commands.Err()
}

// settle waits until the book has been quiet for a moment.
func (s *Server) settle(book string) {
	quiet := 0
	for range 300 {
		s.mu.Lock()
		busy := s.inflight[book]
		s.mu.Unlock()
		if quiet++; busy > 0 {
			quiet = 0
		}
		if quiet > 3 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

func (s *Server) print(out io.Writer, book string) {
	s.settle(book)
	s.mu.Lock()
	defer s.mu.Unlock()
	w := bufio.NewWriterSize(out, 1<<16)
	n := 0
	for i := range s.records {
		if r := &s.records[i]; r.Book == book {
			n++
			fmt.Fprintln(w, r.ID, r.Conn, r.Nth, r.Status, int64(r.Arrived), int64(r.Hold), r.In, r.Out, r.End)
		}
	}
	fmt.Fprintln(w, "end", n)
	_ = w.Flush()
}

func parseRecord(book, line string) (Record, error) {
	f := strings.Fields(line)
	if len(f) != 9 {
		return Record{}, fmt.Errorf("a record of %d fields: %q", len(f), line)
	}
	var n [7]int64
	for i := range n {
		v, err := strconv.ParseInt(f[i+1], 10, 64)
		if err != nil {
			return Record{}, fmt.Errorf("record %q: %w", line, err)
		}
		n[i] = v
	}
	return Record{Book: book, ID: f[0], Conn: int(n[0]), Nth: int(n[1]), Status: int(n[2]), Arrived: time.Duration(n[3]),
		Hold: time.Duration(n[4]), In: n[5], Out: n[6], End: f[8]}, nil
}
