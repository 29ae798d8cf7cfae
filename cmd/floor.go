package cmd

import (
	"context"
	"fmt"
	"net"
	"sync"
	"time"

	"runner/plan/element"
	"runner/reporters/stats"
	"runner/samplers/http/h1"
)

// How the floor is measured: so many requests after so many to warm up, in no more
// than this time; fewer than the least say nothing.
const (
	floorRequests = 300
	floorWarmUp   = 10
	floorLeast    = 20
	floorTime     = 100 * time.Millisecond
)

// floor measures the floor of a run that sends HTTP requests. Where that fails, the
// run has none and a note that says so.
func (s *session) floor(ctx context.Context) (*stats.Floor, []string) {
	if !sendsHTTP(s.program.Layout()) {
		return nil, nil
	}
	f, err := measureFloor(ctx)
	if err != nil {
		return nil, []string{"the floor of this machine was not measured: " + err.Error()}
	}
	return f, nil
}

// sendsHTTP reports whether one of the http samplers will run.
func sendsHTTP(l element.Layout) bool {
	for i := range l.Series {
		row := &l.Series[i]
		if row.Kind == "http" && (row.Group < 0 || l.Groups[row.Group].Skipped == "") {
			return true
		}
	}
	return false
}

// measureFloor sends requests over the http sampler's transport to a server in this
// process that answers at once, and takes their service times.
func measureFloor(ctx context.Context) (*stats.Floor, error) {
	ctx, cancel := context.WithTimeout(ctx, floorTime)
	defer cancel()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	var server sync.WaitGroup
	server.Go(func() { answerOne(listener) })
	client := h1.NewClient(&h1.Config{}, nil)
	defer func() {
		_ = client.Close() // never fails
		_ = listener.Close()
		server.Wait()
	}()
	req := &h1.Request{Addr: listener.Addr().String(), Method: "GET", KeepAlive: true, NoCookies: true}
	var res h1.Response
	times := make([]time.Duration, 0, floorRequests)
	for i := range floorWarmUp + floorRequests {
		if err = client.Do(ctx, req, &res); err != nil {
			break
		}
		if i >= floorWarmUp {
			times = append(times, res.Stamps.Done-res.Stamps.Sent)
		}
		res.Release()
	}
	if len(times) < floorLeast {
		return nil, fmt.Errorf("only %d requests in %v: %w", len(times), floorTime, err)
	}
	return stats.NewFloor(times), nil
}

// answerOne answers the requests of one connection, each of which comes in one
// piece, until it is closed or its time is over.
func answerOne(listener net.Listener) {
	conn, err := listener.Accept()
	if err != nil {
		return
	}
	defer conn.Close()
	if conn.SetDeadline(time.Now().Add(2*floorTime)) != nil {
		return
	}
	request, answer := make([]byte, 1024), []byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	for {
		if _, err := conn.Read(request); err != nil {
			return
		}
		if _, err := conn.Write(answer); err != nil {
			return
		}
	}
}
